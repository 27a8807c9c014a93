# SPDX-License-Identifier: GPL-2.0-only
"""A file or folder that is made beside its place, and put there when it is whole. Knows nothing of GDB."""
import contextlib
import os
import shutil
import tempfile


def keep_mode(old, new):
    """The new file belongs to the one, and is readable for those, that the old one is."""
    if os.path.isfile(old):
        with contextlib.suppress(PermissionError):
            shutil.chown(new, os.stat(old).st_uid, os.stat(old).st_gid)
        shutil.copymode(old, new)


@contextlib.contextmanager
def made(path):
    """A new path to write to. The file at PATH, or at the end of a link there, stays until all is written."""
    real = os.path.realpath(path)
    folder = tempfile.mkdtemp(prefix=".gtp.", dir=os.path.dirname(real))
    try:
        part = os.path.join(folder, os.path.basename(real))
        yield part
        keep_mode(real, part)
        os.replace(part, real)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
