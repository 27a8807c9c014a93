# SPDX-License-Identifier: GPL-2.0-only
"""Makes a file or folder under another name, and renames it to the final path when it is complete."""
import contextlib
import os
import shutil
import tempfile


def keep_mode(old, new):
    """Give the new file the owner and the mode of the old one, if there is an old one."""
    if os.path.isfile(old):
        with contextlib.suppress(PermissionError):
            shutil.chown(new, os.stat(old).st_uid, os.stat(old).st_gid)
        shutil.copymode(old, new)


@contextlib.contextmanager
def made(path):
    """Context manager: yield a new path to write to. At the end, rename it to PATH, or to the target if PATH is a
    link."""
    real = os.path.realpath(path)
    folder = tempfile.mkdtemp(prefix=".gtp.", dir=os.path.dirname(real))
    try:
        part = os.path.join(folder, os.path.basename(real))
        yield part
        keep_mode(real, part)
        os.replace(part, real)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
