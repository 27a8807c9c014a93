# SPDX-License-Identifier: GPL-2.0-only
"""Helpers for provoke.py: functions of the C library, a process's name, its children, its files."""
import contextlib
import ctypes
import functools
import json
import os
import signal
import subprocess
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME = 15
SLOW = 20_000_000  # in ns: the time of each command of the test's disk, and the time that a read in read_late() waits


def call(name, *args):
    """Return a function of the C library that raises OSError when it returns -1."""
    result = getattr(LIBC, name)(*args)
    if result == -1:
        raise OSError(ctypes.get_errno(), "%s: %s" % (name, os.strerror(ctypes.get_errno())))
    return result


def named(name):
    """Give this task a name. Return the part of the name that the kernel keeps."""
    call("prctl", PR_SET_NAME, name.encode(), 0, 0, 0)
    return get("/proc/self/comm").strip()


def renamed(word, reading):
    """Rename this task. Return its new name and the value of READING(), which was the same before and after the renaming."""
    for i in range(100):
        before, name = reading(), named("%s %d" % (word, i))
        if reading() == before:
            return name, before
    raise AssertionError("no moment without a switch: %s" % before)


def comm():
    return named("recipe")


@functools.lru_cache(None)
def scratch():
    """Return a folder for the files of this process and of those that it forks from now on."""
    return tempfile.mkdtemp(prefix="gtp-recipes-")


def path(name):
    return os.path.join(scratch(), name)


def as_pid_1(fd):
    """Return the path of an open file as a task with process 1's root directory reads it in /proc/PID/fd, because this task
    may be in a chroot."""
    links = os.open("/proc/%d/fd" % os.getpid(), os.O_RDONLY)
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.chroot("/proc/1/root")
        os.write(into, os.readlink(b"%d" % fd, dir_fd=links))
        os._exit(0)
    os.waitpid(pid, 0)
    return os.fsdecode(os.read(out, 4096))


def made(name, size=0):
    """Make a new file of SIZE bytes in the scratch folder. Return its path."""
    with open(path(name), "wb") as file:
        file.write(b"x" * size)
    return path(name)


@contextlib.contextmanager
def child(function, *args):
    """Context manager: run the function in a child process. Kill the child at the end if it still exists."""
    pid = os.fork()
    if pid == 0:
        try:
            function(*args)
        finally:
            os._exit(0)
    try:
        yield pid
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@contextlib.contextmanager
def reporter(function, *args):
    """Context manager: run the function in a child process, which writes a line of JSON to its first argument, a
    descriptor. Yield the child's pid and the value of that line."""
    out, into = os.pipe()
    with child(function, into, *args) as pid:
        os.close(into)  # so that the read ends if the child does
        with os.fdopen(out) as file:
            text = file.readline()
        assert text, "the child process ended before it reported"
        yield pid, json.loads(text)


def report(into, *values):
    os.write(into, json.dumps(values).encode() + b"\n")


def wait_forever():
    named("victim")
    while True:
        signal.pause()


def status(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def blocked_in(pid, number):
    """Return whether the process waits inside a system call of that number."""
    return get("/proc/%d/syscall" % pid).split()[0] == str(number)


def is_named(pid, name):
    return get("/proc/%d/comm" % pid).strip() == name


def get(where):
    with open(where, encoding="ascii") as file:
        return file.read()


def put(where, text):
    with open(where, "w", encoding="ascii") as file:
        file.write(text)


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def deaf_network(name, address):
    """Context manager: make a network device that drops all packets, so that nothing answers. ADDRESS is this machine's
    address on it."""
    run("modprobe", "dummy", "numdummies=0")
    run("ip", "link", "add", name, "type", "dummy")
    run("ip", "address", "add", address, "dev", name)
    run("ip", "link", "set", name, "up")
    yield
    run("ip", "link", "delete", name)


# Work that takes time ----------------------------------------------------------------------------

def read_late(reader, writer):
    """Read data that a child writes SLOW nanoseconds later. Return the minimum and the maximum duration of the read."""
    begins = time.monotonic_ns()

    def write_late():
        time.sleep(SLOW / 1e9)
        os.write(writer, b"x")

    with child(write_late):
        before = time.monotonic_ns()
        os.read(reader, 1)
    # The child's sleep may have begun before the read.
    return SLOW - (before - begins), time.monotonic_ns() - begins


def spin(seconds):
    while time.process_time() < seconds:
        pass


def schedstat(pid):
    """Return the kernel's counts for a process: the nanoseconds that the process waited for a CPU, and how often it got a
    CPU."""
    _, waited, times = get("/proc/%d/schedstat" % pid).split()
    return int(waited), int(times)


def on_or_waiting():
    """Return the nanoseconds that this task has run, and those that it has waited for a CPU."""
    return time.thread_time_ns() + schedstat(os.getpid())[0]


def switches(pid):
    """Return how often a task has gone to sleep, by the kernel's count."""
    return int(get("/proc/%d/status" % pid).split("\nvoluntary_ctxt_switches:")[1].split()[0])
