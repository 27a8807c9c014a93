# SPDX-License-Identifier: GPL-2.0-only
"""Provocations for the lines of docs/tools-tasks.md."""
import contextlib
import os
import pty
import signal
import socket
import threading
import time

import tap
from process import SLOW, child, get, named, path, put, spin, status, wait_forever
from provoke import disk, receiver
from toolbox import PAGE, SECOND, calling_itself, cold, known_as, provocations, slow_disk, timed, tool

GETPPID = 110  # the number of the system call getppid


# Processes ---------------------------------------------------------------------------------------

@tool("exitsnoop")
def exits():
    name, rows = named("tool-exit"), []
    for code, sig in (42, 0), (0, int(signal.SIGUSR1)):
        took = []
        with timed(took):
            with child(os._exit, code) if code else child(lambda: os.kill(os.getpid(), signal.SIGUSR1)) as pid:
                status(pid)
        rows.append([pid, name, code, sig, [1, took[0]]])
    return rows


@tool("killsnoop")
def kills():
    with child(wait_forever) as pid:
        with calling_itself("tool-kill") as name:
            os.kill(pid, signal.SIGTERM)
            with contextlib.suppress(ProcessLookupError):
                os.kill(2**22 + 1, signal.SIGUSR1)
        status(pid)
    return [[name, pid, int(signal.SIGTERM), 0], [name, 2**22 + 1, int(signal.SIGUSR1), -3]]


@tool("pidpersec")
def forks():
    for _ in range(5):
        with child(lambda: None) as pid:
            status(pid)
    return 5


@tool("threadsnoop")
def threads():
    name, ids = known_as("tool-threads"), []
    for _ in range(2):
        thread = threading.Thread(target=lambda: ids.append(threading.get_native_id()))
        thread.start()
        thread.join()
    return [[name, number] for number in ids]


# Scheduler ---------------------------------------------------------------------------------------

def spin_as(name, seconds):
    known_as(name)
    os.sched_setaffinity(0, {1})
    spin(seconds)


def spun(name, seconds, count=1):
    """Let COUNT child processes with this name compute on CPU 1. Return the nanoseconds that they ran on a CPU, in all."""
    total = 0
    with contextlib.ExitStack() as stack:
        for pid in [stack.enter_context(child(spin_as, name, seconds)) for _ in range(count)]:
            # The child is dead, but has not been reaped, so its counts still exist.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            total += int(get("/proc/%d/schedstat" % pid).split()[0])
    return total


@tool("cpudist")
def on_cpu():
    name, seconds = "tool-cpudist", 0.2
    ran = spun(name, seconds)
    # The task computes under another name at first, so the time under this name is a little shorter.
    return [[0, [name], {"sum": [int(seconds * SECOND * 0.9), ran * 21 // 20]}]]


@tool("wakeuptime")
def wakes():
    put("/proc/sys/kernel/sched_schedstats", "1")
    os.sched_setaffinity(0, {0})  # so that the waker and the sleeper run on the same CPU
    reader, writer = os.pipe()
    name, took = "tool-wakeup", []

    def sleep():
        known_as(name)
        os.read(reader, 1)

    with timed(took), child(sleep) as pid:
        tap.until(lambda: get("/proc/%d/comm" % pid).strip() == name and get("/proc/%d/stat" % pid).split(") ")[1][0] == "S",
                  "the sleeper")
        begun = time.monotonic_ns()
        time.sleep(SLOW / SECOND)
        least = time.monotonic_ns() - begun
        os.write(writer, b"x")
        status(pid)
    put("/proc/sys/kernel/sched_schedstats", "0")
    return [name, [least, took[0]], "pipe_write"]


@tool("offwaketime")
def sleeps_and_wakes():
    os.sched_setaffinity(0, {0})
    reader, writer = os.pipe()
    name, took = "tool-offwake", []

    def sleep():
        known_as(name)
        os.read(reader, 1)

    with timed(took), child(sleep) as pid:
        tap.until(lambda: get("/proc/%d/comm" % pid).strip() == name and get("/proc/%d/stat" % pid).split(") ")[1][0] == "S",
                  "the sleeper")
        begun = time.monotonic_ns()
        time.sleep(SLOW / SECOND)
        least = time.monotonic_ns() - begun
        os.write(writer, b"x")
        status(pid)
    return [name, [least // 1000, took[0] // 1000], "pipe_read", "pipe_write"]


def samples_in(nanoseconds):
    """Return the range of the number of samples at 99 Hz in a time. A CPU of a guest loses some interrupts."""
    count = nanoseconds * 99 // SECOND
    return [count // 4, count + count // 4 + 2]


@tool("profile")
def samples():
    name = "tool-profile"
    return [[0, [None, None, name], {"count": samples_in(spun(name, 0.3))}]]


@tool("cpuwalk")
def samples_of_cpus():
    name = "tool-cpuwalk"
    return [[0, [1, name], {"count": samples_in(spun(name, 0.3))}]]


@tool("runqlen")
def queue():
    ran = spun("tool-runqlen", 0.5, 3)
    # While three tasks compute on the CPU, two of them wait.
    return [[0, [1], {"sum": [samples_in(ran // 3)[0], None], "max": [2, None]}]]


# Interrupts, locks -------------------------------------------------------------------------------

@tool("hardirqs")
def interrupts():
    with open("/dev/" + disk(), "rb") as file:
        return len(file.read(1))


@tool("softirqs")
def soft_interrupts():
    where = receiver().getsockname()
    for _ in range(5):
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", where)
    return 5


provocations["softirqslower"] = soft_interrupts


@tool("klockstat")
def waits_for_mutex():
    fd, took = os.open(cold("tool-lock", 8), os.O_RDONLY), []
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)

    # Both share the file's position, which has a mutex: one waits while the other one reads.
    def read_as(name):
        known_as(name)
        while os.read(fd, PAGE):
            pass

    with slow_disk(), timed(took), child(read_as, "tool-klock") as first, child(read_as, "tool-klock") as second:
        status(first)
        status(second)
    return ["tool-klock", [SLOW, 2 * took[0]], "__fdget_pos"]


# Calls -------------------------------------------------------------------------------------------

@tool("syscount")
def system_calls():
    took = []
    with timed(took), calling_itself("tool-syscount") as name:
        for _ in range(7):
            os.getppid()
    return [[0, [GETPPID, name], {"count": 7}], [1, [GETPPID, name], {"count": 7, "sum": [7, took[0]]}]]


@tool("wqlat")
def queued_work():
    # The write makes a work item on each CPU update the CPU's counts, and waits for all of them.
    took = []
    with timed(took):
        for _ in range(5):
            put("/proc/sys/vm/stat_refresh", "1")
    many = 5 * len(os.sched_getaffinity(1))
    return [[0, [{"symbol": "refresh_vm_stats"}], {"count": many, "sum": [many, took[0] * len(os.sched_getaffinity(1))]}]]


@tool("funccount")
def functions():
    for i in range(7):
        os.symlink("x", path("tool-link-%d" % i))
    for i in range(3):
        os.unlink(path("tool-link-%d" % i))
    return [[0, [{"symbol": "vfs_symlink"}], {"count": 7}], [0, [{"symbol": "vfs_unlink"}], {"count": [3, None]}]]


@tool("funcinterval")
def intervals():
    at = []
    for i in range(3):
        os.mkdir(path("tool-gone-%d" % i))
        at.append(time.monotonic_ns())
        os.rmdir(path("tool-gone-%d" % i))
        at.append(time.monotonic_ns())
        time.sleep(SLOW / SECOND)
    return [[0, [], {"count": 3, "sum": [at[4] - at[1], at[5] - at[0]], "min": 0}]]


@tool("argdist")
def arguments():
    fd = os.open("/dev/zero", os.O_RDONLY)
    with calling_itself("tool-argdist") as name:
        for count in (5, 1000, 1023):
            os.read(fd, count)
    return [[0, [name], {"count": 3, "sum": 2028, "bucket": {4: 1, 11: 2}}]]  # these buckets begin at 4 and 512


@tool("ttysnoop")
def terminal():
    _, slave = pty.openpty()
    assert os.ttyname(slave) == "/dev/pts/0", "the lines name pts0"
    with calling_itself("tool-tty") as name:
        os.write(slave, b"tool says\0")
    return [[name, 10, "tool says"]]
