# SPDX-License-Identifier: GPL-2.0-only
# Writes the files of GDB commands: each is written as a whole or not at all, and never replaces a file that GDB still
# reads.
import contextlib
import os

import gdb

from gtp.files.atomic import made
from gtp.run import source

MAGIC = b"\x7fTRACE0\n"
NO_FILES = ("/dev/", "/proc/", "/sys/")


def is_opened(path):
    """Return whether a file is the one that GDB reads as a trace file."""
    return source.is_trace_file() and os.path.exists(source.opened()) and os.path.samefile(path, source.opened())


def has_trace(path):
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def checked(path, is_trace):
    """Return the path of the file itself, with links resolved. Raise an error if the file cannot or should not be
    written."""
    given = os.path.abspath(os.path.expanduser(path))
    real = os.path.realpath(given)
    if given.startswith(NO_FILES) or os.path.exists(real) and not (os.path.isfile(real) or os.path.isdir(real)):
        raise gdb.GdbError("%s is no ordinary file, and would be replaced by one" % path)
    if os.path.isdir(real):
        if os.listdir(real):
            raise gdb.GdbError("%s is a folder that is not empty: remove it, or say another name" % path)
    elif os.path.exists(real):
        if is_opened(real):
            raise gdb.GdbError("%s is the trace file that GDB reads; say another name" % path)
        if not os.access(real, os.W_OK):
            raise gdb.GdbError("%s: Permission denied" % path)
        if not is_trace and has_trace(real):
            raise gdb.GdbError("%s is a trace file, and would be replaced: remove it, or say another name" % path)
    return real


@contextlib.contextmanager
def whole(path, is_trace=False):
    """Context manager: yield a new path to write to, and replace the file at PATH at the end. After an error, the old
    file stays.

    IS_TRACE: the new file is a trace file, which may replace another one.
    """
    try:
        with made(checked(path, is_trace)) as part:
            yield part
    except OSError as error:
        raise gdb.GdbError("%s: %s" % (path, error.strerror)) from None
