# SPDX-License-Identifier: GPL-2.0-only
"""The list of provocations for the lines of docs/tools-*.md, and the code that these provocations share.

For lines with rows, the result of a provocation is the list of the expected rows' cells. For aggregations it is a list
of [index of the aggregation, keys, figures]. A number of a row or a figure may be given as [least, most].
"""
import contextlib
import mmap
import os
import time

from process import PR_SET_NAME, SLOW, call, run
from provoke import delayed, disk
from provoking import registering

PAGE = mmap.PAGESIZE
SECOND = 10**9
EXT4 = "/run/gtp-ext4"

provocations = {}

# A decorator for functions that provoke a tool's events. Its argument is the first name in the heading of the tool's
# lines.
tool = registering(provocations)


def known_as(name):
    """Give this task a name, by one system call that opens no file."""
    assert len(name) < 16
    call("prctl", PR_SET_NAME, name.encode(), 0, 0, 0)
    return name


@contextlib.contextmanager
def calling_itself(name):
    """Context manager: this task has the name NAME only in the block."""
    known_as(name)
    yield name
    known_as("tool-done")


@contextlib.contextmanager
def timed(took):
    """Context manager: append to a list how many nanoseconds the block took."""
    began = time.monotonic_ns()
    yield
    took.append(time.monotonic_ns() - began)


# The disk ------------------------------------------------------------------------------------

def ext4():
    """Return the folder of a file system on the disk."""
    if not os.path.ismount(EXT4):
        where = "/dev/" + disk()
        delayed(0)
        os.makedirs(EXT4, exist_ok=True)
        run("mkfs.ext4", "-q", "-O", "^has_journal", where)
        call("mount", where.encode(), EXT4.encode(), b"ext4", 0, None)
    return EXT4


def cold(name, pages=1):
    """Write a file on the disk, and drop its pages from the page cache. Return its path."""
    file = os.path.join(ext4(), name)
    fd = os.open(file, os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x" * PAGE * pages)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    return file


@contextlib.contextmanager
def slow_disk():
    delayed(SLOW)
    yield
    delayed(0)
