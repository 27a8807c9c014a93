# SPDX-License-Identifier: GPL-2.0-only
"""`there` gives access to the machine of the tested kernel: to its files, its processes and its clock.

For a GDB in the guest, `there` is the machine on which the test runs. For a GDB on the host, `there` is the guest, at the
other end of a connection. GTP_AGENT is then a folder with the sockets that tests/vm/hub.c has made. A test that uses `there`
for all that it asks of the kernel works in both cases.
"""
import glob
import os
import subprocess
import time


class Handle:
    """An open file: each read and each write is one system call."""

    def __init__(self, path, flags):
        self.fd = os.open(path, flags | os.O_NOCTTY)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def get(self, count, offset=-1):
        return os.read(self.fd, count) if offset < 0 else os.pread(self.fd, count, offset)

    def write(self, data, offset=-1):
        return os.write(self.fd, data) if offset < 0 else os.pwrite(self.fd, data, offset)

    def close(self):
        os.close(self.fd)


class Here:
    """The machine of the tested kernel if this program runs on it. agent.Guest documents the methods."""
    here = True
    line = "/proc/gtp"
    handle = staticmethod(Handle)
    open = staticmethod(open)
    exists = staticmethod(os.path.exists)
    isdir = staticmethod(os.path.isdir)
    listdir = staticmethod(os.listdir)
    mkdir = staticmethod(os.mkdir)
    rmdir = staticmethod(os.rmdir)
    popen = staticmethod(subprocess.Popen)
    run = staticmethod(subprocess.run)
    release = os.uname().release
    cpus = sorted(os.sched_getaffinity(0))
    pid = property(lambda self: os.getpid())

    @staticmethod
    def clock_ns(clock=time.CLOCK_MONOTONIC):
        return time.clock_gettime_ns(clock)


def found():
    if "GTP_AGENT" not in os.environ:
        return Here()
    from agent import Guest  # pylint: disable=import-outside-toplevel # not needed in a guest
    return Guest(os.environ["GTP_AGENT"])


there = found()


def matching(pattern):
    """Return the paths on that machine that match a pattern. As for glob.glob(), * may be in any part."""
    if there.here:
        return glob.glob(pattern)
    import fnmatch  # pylint: disable=import-outside-toplevel
    paths = [""]
    for part in pattern.strip("/").split("/"):
        if any(c in part for c in "*?["):
            paths = ["%s/%s" % (path, name) for path in paths if there.isdir(path or "/")
                     for name in fnmatch.filter(there.listdir(path or "/"), part)]
        else:
            paths = ["%s/%s" % (path, part) for path in paths]
    return [path for path in paths if there.exists(path)]
