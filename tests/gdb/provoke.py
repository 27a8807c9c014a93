# SPDX-License-Identifier: GPL-2.0-only
"""Provokes in the guest the events that the recipes of docs/recipes.md trace, and returns the result that each recipe must
have seen.

See provoking.py for how it is run.
"""
import contextlib
import ctypes
import errno
import fcntl
import glob
import mmap
import os
import pty
import resource
import signal
import socket
import struct
import subprocess
import time

import tap
from process import (LIBC, SLOW, as_pid_1, blocked_in, call, child, comm, deaf_network, get, is_named, made, named,
                     on_or_waiting, path, put, read_late, renamed, report, reporter, run, schedstat, spin, status, switches,
                     wait_forever)
from provoking import main, recipe

PTRACE_ATTACH, PTRACE_DETACH = 16, 17
TIMES = 2  # how often a provocation repeats its events
PAGE = mmap.PAGESIZE


# Files -------------------------------------------------------------------------------------------

@recipe("Which process opens a file?")
def opens():
    name = comm()
    os.close(os.open("/etc/passwd", os.O_RDONLY | os.O_NONBLOCK))
    large = 0o100000  # the flag that the kernel adds for a 64-bit program
    return [[name, os.O_NONBLOCK | large, "/etc/passwd"]]


@recipe("Which files are looked for and cannot be opened?")
def opens_nothing():
    name = comm()
    for missing in ("/none/at/all", "/etc/no-such-file"):
        with contextlib.suppress(FileNotFoundError):
            os.open(missing, os.O_RDONLY)
    return [[name, -2, "/none/at/all"], [name, -2, "/etc/no-such-file"]]


@recipe("Who reads much at once, and from where?")
def reads():
    name = comm()
    fd = os.open("/dev/zero", os.O_RDONLY)
    for count in (1000, 3000000):
        os.read(fd, count)
    return [[name, 3000000, "zero"]]


@recipe("Which files are written, by their whole paths?")
def writes():
    name = comm()
    with open(path("recipe whole"), "wb", buffering=0) as file:
        for count in (1000, 300000):
            file.write(bytes(count))
        return [[name, 300000, as_pid_1(file.fileno())]]


@recipe("Which file is slow?")
def slow_file():
    name = "recipe-slow"
    os.mkfifo(path(name))
    fd = os.open(path(name), os.O_RDWR)
    reads = [read_late(fd, fd) for _ in range(TIMES)]
    began = time.monotonic_ns()
    os.write(fd, b"x")
    # The child's write takes no longer than the read that waits for it.
    wrote = time.monotonic_ns() - began + sum(most for _, most in reads)
    return [name, [TIMES, *map(sum, zip(*reads))], [TIMES + 1, 0, wrote]]


@recipe("Who changes the mode of a file?")
def chmods():
    name = comm()
    os.chmod(made("recipe-mode"), 0o640)
    return [[name, 0o640, "recipe-mode"]]


@recipe("Who removes files?")
def removes():
    name = comm()
    os.unlink(made("recipe-goes"))
    return [[name, "recipe-goes"]]


@recipe("Who renames files, and to what?")
def renames():
    name = comm()
    os.rename(made("recipe-old"), path("recipe-new"))
    return [[name, "recipe-old", "recipe-new"]]


@recipe("Who mounts what?")
def mounts():
    name = comm()
    os.mkdir(path("mnt"))
    call("mount", b"recipe-source", path("mnt").encode(), b"tmpfs", 0, None)
    call("umount", path("mnt").encode())
    return [[name, "recipe-source", "tmpfs"]]


@recipe("Who writes to /proc/sys?")
def sysctls():
    name = comm()
    with open("/proc/sys/vm/swappiness", "r+", encoding="ascii") as file:
        number = file.read()
        file.seek(0)
        file.write(number)
    return [[name, "swappiness"]]


# Disks -------------------------------------------------------------------------------------------

DISKS = "/sys/bus/pseudo/drivers/scsi_debug/"


def disk():
    """Return the name of a disk in memory. delayed() makes it slow."""
    if not os.path.isdir(DISKS):
        run("modprobe", "sd_mod")
        run("modprobe", "scsi_debug", "dev_size_mb=32", "delay=0")
    block, = tap.until(lambda: glob.glob(DISKS + "adapter0/host*/target*/*/block/sd*"), "the disk")
    name = os.path.basename(block)
    tap.until(lambda: os.path.exists("/dev/" + name), "/dev/" + name)
    return name


def delayed(nanoseconds):
    """Make the disk take NANOSECONDS for each command. Wait until it is idle: while it has a command, the kernel refuses
    this."""
    disk()

    def ready():
        try:
            put(DISKS + ("ndelay" if nanoseconds else "delay"), str(nanoseconds))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True
    tap.until(ready, "the disk to be idle")


@recipe("Which fsyncs are slow?")
def fsyncs():
    name = comm()
    fd = os.open("/dev/" + disk(), os.O_RDWR)
    delayed(SLOW)
    os.pwrite(fd, b"x" * PAGE, 0)
    quick = os.open(made("quick", 10), os.O_RDWR)
    measured = []
    for which in (fd, quick):
        began = time.monotonic_ns()
        os.fsync(which)
        measured.append([name, which, time.monotonic_ns() - began])
    os.close(fd)
    delayed(0)
    return measured


@recipe("How large are the requests to the disks?")
def requests():
    name = disk()
    fd = os.open("/dev/" + name, os.O_RDWR | os.O_DIRECT)
    os.pwrite(fd, mmap.mmap(-1, 65536), 1 << 20)
    os.close(fd)
    return [name, (1 << 20) // 512, 65536, 1]


# Network -----------------------------------------------------------------------------------------

def listener(backlog=7):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(backlog)
    return server


@recipe("Who connects to where?")
def connects():
    name, server = comm(), listener()
    socket.create_connection(server.getsockname())
    return [[name, "{127, 0, 0, 1}", server.getsockname()[1]]]


@recipe("Whose connections are accepted?")
def accepts():
    name, server = comm(), listener()
    client = socket.create_connection(server.getsockname())
    server.accept()
    return [[name, server.getsockname()[1], client.getsockname()[1]]]


@recipe("Who listens on which port?")
def listens():
    name, server = comm(), listener(5)
    return [[name, server.getsockname()[1], 5]]


@recipe("Which TCP segments are retransmitted?")
def sends_again():
    with deaf_network("gtprecipe", "192.0.2.1/24"):
        client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
        client.bind(("192.0.2.1", 0))
        port = client.getsockname()[1]
        with contextlib.suppress(TimeoutError):
            client.connect(("192.0.2.9", 4444))
    return [port, 4444, "{192, 0, 2, 9}"]


def receiver(port=0):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", port))
    return server


@recipe("Who sends UDP datagrams, how long, and to which port?")
def sends():
    name, server = comm(), receiver()
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.sendto(b"x" * 77, server.getsockname())
    return [[name, 77, server.getsockname()[1]]]


@recipe("Who asks the DNS, and for what?")
def asks():
    name, server = comm(), receiver(53)
    question = b"\3www\7example\3org\0" + struct.pack(">HH", 1, 1)
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.sendto(struct.pack(">6H", 1, 0x100, 1, 0, 0, 0) + question, server.getsockname())
    client.sendto(b"x" * 20, receiver().getsockname())
    return [[name, r"\003www\aexample\003org"]]


@recipe("Which packets are dropped, where and why?")
def drops():
    gone = receiver()
    where = gone.getsockname()
    gone.close()
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", where)
    return ["SKB_DROP_REASON_NO_SOCKET", {"in": "udp"}, 0x800, where[1]]


# Processes ---------------------------------------------------------------------------------------

@recipe("Which programs are run, with which argument?")
def runs():
    pid = os.posix_spawn("/bin/test", ["test", "recipe-words", "-a", "more"], {"PATH": "/bin"})
    assert status(pid) == 0
    return [[pid, "test", "/bin/test", "recipe-words"]]


@recipe("Which programs are run, with all their arguments?")
def runs_with_all():
    pid = os.posix_spawn("/bin/test", ["test", "(", "recipe words", "=", "x", ")"], {"PATH": "/bin"})
    assert status(pid) == 1
    return [[pid, "test", '"test", "(", "recipe words", "=", "x", ")"']]


@recipe("Who starts processes?")
def forks():
    name, pids = comm(), []
    for _ in range(TIMES):
        with child(lambda: None) as pid:
            pids.append(pid)
    return [[name, os.getpid(), pid] for pid in pids]


@recipe("Which processes fail?")
def fails():
    name, pids = comm(), []
    for how in (lambda: os._exit(0), lambda: os._exit(42), lambda: os.kill(os.getpid(), signal.SIGUSR1)):
        with child(how) as pid:
            pids.append(pid)
            status(pid)
    return [[pids[1], name, 42, 0], [pids[2], name, 0, int(signal.SIGUSR1)]]


@recipe("Who kills whom?")
def kills():
    name = comm()
    with child(wait_forever) as pid:
        tap.until(lambda: is_named(pid, "victim"), "the victim's name")
        os.kill(pid, signal.SIGTERM)
        assert status(pid) == -signal.SIGTERM
    return [[name, int(signal.SIGTERM), "victim", pid]]


def crash():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.c_char.from_address(0xdead000).value


@recipe("Which programs crash, and at which address?")
def crashes():
    name = comm()
    with child(crash) as pid:
        assert status(pid) == -signal.SIGSEGV
    return [[pid, name, "0xdead000"]]


@recipe("Who looks into other processes (ptrace, /proc/PID/mem)?")
def attaches():
    name = comm()
    with child(wait_forever) as pid:
        tap.until(lambda: is_named(pid, "victim"), "the victim's name")
        call("ptrace", PTRACE_ATTACH, pid, None, None)
        os.waitpid(pid, 0)
        call("ptrace", PTRACE_DETACH, pid, None, None)
    return [[name, "victim", pid, 2]]


@recipe("Which capabilities does a program ask for?")
def asks_capabilities():
    name = named("nginx")
    os.setuid(1234)
    with contextlib.suppress(PermissionError):
        os.chroot("/")
    setuid, chroot = 7, 18  # CAP_SETUID and CAP_SYS_CHROOT
    return [[name, setuid, 0], [name, chroot, 1234]]


@recipe("Who becomes another user?")
def becomes():
    name = comm()
    os.setuid(0)
    os.setuid(1234)
    return [[name, 0, 1234]]


@recipe("Who loads modules?")
def loads():
    module = "gtp_target2"
    insmod = subprocess.Popen(["insmod", "%s/%s.ko" % (os.environ["GTP_KMOD"], module)])
    assert insmod.wait() == 0
    run("rmmod", module)
    return [[insmod.pid, "insmod", module]]


@recipe("Who sets the clock?")
def sets_clock():
    name, now = comm(), time.time_ns()
    time.clock_settime_ns(time.CLOCK_REALTIME, now)
    return [[name, now // 10**9]]


# Memory ------------------------------------------------------------------------------------------

@recipe("Who allocates, how much, and from where?")
def allocates():
    name = comm()
    read, _ = os.pipe()
    slots = fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, 128 * PAGE) // PAGE
    return [name, {"in": "pipe"}, slots, 8192]


@recipe("From where is most memory allocated?")
def allocates_messages():
    length, given = 1000, 2048  # a message has a head of 48 bytes
    queue = call("msgget", 0, 0o600)
    message = struct.pack("l", 1) + b"x" * length
    for _ in range(100):
        call("msgsnd", queue, message, length, 0)
        call("msgrcv", queue, ctypes.create_string_buffer(len(message)), length, 0, 0)
    call("msgctl", queue, 0, None)
    return {"in": "load_msg", "bytes": 100 * given}


@recipe("Which files are paged in, and by whom?")
def faults():
    name, pages = comm(), 4
    with open(made("recipe-pages", pages * PAGE), "r+b") as file:
        area = mmap.mmap(file.fileno(), pages * PAGE)
    first = ctypes.addressof(ctypes.c_char.from_buffer(area))
    for i in range(pages):
        area[i * PAGE] = 1
    return [[name, first + i * PAGE, "recipe-pages"] for i in range(pages)]


@contextlib.contextmanager
def memory_cgroup(megabytes):
    """Context manager: make a cgroup with this much memory. Yield its folder."""
    top = path("cgroup")
    os.makedirs(top, exist_ok=True)
    call("mount", b"cgroup", top.encode(), b"cgroup2", 0, None)
    try:
        put(top + "/cgroup.subtree_control", "+memory")
        os.mkdir(top + "/recipe")
        put(top + "/recipe/memory.max", "%dM" % megabytes)
        yield top + "/recipe"
        tap.until(lambda: "populated 0" in get(top + "/recipe/cgroup.events"), "the cgroup to be empty")
        os.rmdir(top + "/recipe")
    finally:
        call("umount", top.encode())


def in_cgroup(folder, function):
    put(folder + "/cgroup.procs", str(os.getpid()))
    function()


def read_disk(name):
    fd = os.open("/dev/" + name, os.O_RDONLY)
    while os.read(fd, 1 << 20):
        pass


@recipe("Which tasks have to make room in their memory cgroup?")
def reclaims():
    name, source = comm(), disk()
    with memory_cgroup(12) as folder, child(in_cgroup, folder, lambda: read_disk(source)) as pid:
        assert status(pid) == 0
    return [pid, name]


def take_all():
    named("hungry")
    area = mmap.mmap(-1, 256 << 20, mmap.MAP_PRIVATE)
    for i in range(0, len(area), PAGE):
        area[i] = 1


@recipe("Whom does the OOM killer kill?")
def kills_by_memory():
    with memory_cgroup(16) as folder, child(in_cgroup, folder, take_all) as pid:
        assert status(pid) == -signal.SIGKILL
    return [[pid, "hungry", pid, "hungry"]]


# Time --------------------------------------------------------------------------------------------

@recipe("Who waits long for a CPU?")
def waits_for_cpu():
    name = comm()
    # Stay on one CPU: a task that is moved to another CPU's queue ends its wait without a switch.
    os.sched_setaffinity(0, {1})
    with child(spin, 0.3), child(spin, 0.3) as pid:
        # The child is dead, but has not been reaped yet, so its counts still exist.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        waited, times = schedstat(pid)
    return [name, pid, waited, times]


def spin_as(into, word):
    """Rename this task. Report the new name, and the kernel's counts up to the renaming. Then spin."""
    report(into, *renamed(word, lambda: schedstat(os.getpid())))
    spin(0.3)


@recipe("How long do tasks wait for a CPU?")
def waits_by_name():
    os.sched_setaffinity(0, {1})
    with child(spin, 0.3), reporter(spin_as, "queued") as (pid, (name, before)):
        # The child is dead, but has not been reaped yet, so its counts still exist.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        waited, times = (now - was for now, was in zip(schedstat(pid), before))
    return [name, waited, times]


PAUSE = 34  # the number of the system call pause


def sleep_as(into, word):
    """Rename this task. Report the new name, and the kernel's counts up to the renaming. Then sleep TIMES times, and
    pause."""
    report(into, *renamed(word, lambda: switches(os.getpid())))
    for _ in range(TIMES):
        LIBC.usleep(1000)
    while True:
        LIBC.pause()


@recipe("Where do tasks go to sleep?")
def sleeps_as():
    with reporter(sleep_as, "asleep") as (pid, (name, before)):
        tap.until(lambda: blocked_in(pid, PAUSE), "the task to pause")
        times = switches(pid) - before
    return [name, times, "sys_pause"]


def sleep_for(into):
    """Sleep. Report the task's name, the duration, and for how much of it the task may have run or waited for a CPU."""
    name = named("asleep %d" % os.getpid())
    before, began = on_or_waiting(), time.monotonic_ns()
    for _ in range(TIMES):
        LIBC.usleep(20000)
    took = time.monotonic_ns() - began
    report(into, name, took, on_or_waiting() - before)
    while True:
        LIBC.pause()


@recipe("Where do tasks spend their time asleep?")
def asleep_by_stack():
    with reporter(sleep_for) as (_, reported):
        return reported + ["nanosleep"]


@recipe("Who is moved to another CPU?")
def moves():
    name = comm()
    for cpu in (0, 1, 0):
        os.sched_setaffinity(0, {cpu})
    return [name, os.getpid(), 1, 0]


READ = 0  # the number of the system call read


def read_one(fd):
    named("second")
    os.read(fd, 1)


@recipe("Who waits for a lock?")
def waits_for_lock():
    # While a terminal's reader waits for input, it holds a mutex.
    other, terminal = pty.openpty()
    with child(os.read, terminal, 1) as first:
        tap.until(lambda: blocked_in(first, READ), "the first reader")
        with child(read_one, terminal) as second:
            tap.until(lambda: is_named(second, "second") and blocked_in(second, READ), "the second reader")
            os.write(other, b"a\n")
            assert status(first) == 0 and status(second) == 0
    mutex = 32
    return [second, "second", mutex]


@recipe("Which softirqs run?")
def receives():
    where = receiver().getsockname()
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(3):
        client.sendto(b"x", where)


@recipe("What do work queues run, and how long?")
def queues_work():
    # The write makes a work item on each CPU update the CPU's counts, and waits for all of them.
    for _ in range(TIMES):
        put("/proc/sys/vm/stat_refresh", "1")
    return [TIMES, {"in": "refresh_vm_stats"}]


@recipe("Who sleeps, and for how long?")
def sleeps():
    name = comm()
    LIBC.usleep(12345)
    return [[name, 12345000]]


@recipe("How long do reads take, by process?")
def slow_read():
    return [named("slow reader"), *read_late(*os.pipe())]


def no_dummies():
    """Unload dummy, but not the disk's driver: 7.3's scsi_debug leaves a thread of its SCSI host running, which would
    then execute the freed code of scsi_mod."""
    subprocess.run(["modprobe", "-q", "-r", "dummy"], check=False)


if __name__ == "__main__":
    main(no_dummies)
