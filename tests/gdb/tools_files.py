# SPDX-License-Identifier: GPL-2.0-only
"""Provocations for the lines of docs/tools-files.md."""
import contextlib
import ctypes
import mmap
import os
import time

import tap
from process import LIBC, SLOW, call, child, get, made, named, path, put, read_late, status
from provoke import delayed, disk, in_cgroup, memory_cgroup, read_disk
from toolbox import PAGE, SECOND, calling_itself, cold, ext4, known_as, slow_disk, timed, tool

READS = 16 << 20  # a part of the disk that the file system does not use


# Files -------------------------------------------------------------------------------------------

@tool("statsnoop")
def stats():
    there = made("tool-there")
    with calling_itself("tool-stat") as name:
        os.stat(there)
        with contextlib.suppress(FileNotFoundError):
            os.stat(path("tool-missing"))
    return [[name, 0, there], [name, -2, path("tool-missing")]]


def write_and_read(where):
    """Write and read a file in pieces. Return the bytes."""
    fd = os.open(where, os.O_RDWR | os.O_CREAT)
    for count in (1000, 24):
        os.write(fd, b"x" * count)
    os.lseek(fd, 0, os.SEEK_SET)
    while os.read(fd, 700):
        pass
    os.close(fd)
    return 1024


@tool("filetop")
def file_bytes():
    with calling_itself("tool-filetop") as name:
        total = write_and_read(path("tool-bytes"))
    return [[i, ["tool-bytes", name], {"sum": total}] for i in (0, 1)]


@tool("dirtop")
def directory_bytes():
    os.mkdir(path("tool-folder"))
    total = sum(write_and_read(path("tool-folder/" + name)) for name in ("one", "two"))
    return [[i, ["tool-folder"], {"sum": total}] for i in (0, 1)]


@tool("fileslower")
def slow_read():
    os.mkfifo(path("tool-slow"))
    fd = os.open(path("tool-slow"), os.O_RDWR)
    name = named("tool-slower")
    least, most = read_late(fd, fd)
    return [[name, 1, [max(least, 10**7), most], "tool-slow"]]


@tool("filelife")
def short_life():
    folder = path("tool-life")
    os.mkdir(folder)
    call("mount", b"tool", folder.encode(), b"tmpfs", 0, None)
    begun = time.time_ns() - SECOND // 100  # the kernel stamps files with the time of its last tick
    file = folder + "/tool-lived"
    os.close(os.open(file, os.O_CREAT))
    made_at = time.time_ns()
    os.utime(file, (1, 1))
    # Wait for a whole second, so that the time of creation differs from the time of the last change.
    tap.until(lambda: time.time_ns() > made_at + SECOND, "a second")
    before = time.time_ns()
    with calling_itself("tool-life") as name:
        os.unlink(file)
    after = time.time_ns()
    call("umount", folder.encode())
    return [[name, [before // SECOND - made_at // SECOND, after // SECOND - begun // SECOND], "tool-lived"]]


@tool("ext4dist")
def ext4_calls():
    fd, took = os.open(cold("tool-dist"), os.O_RDWR), []
    other = os.open(made("tool-elsewhere", PAGE), os.O_RDWR)
    with slow_disk(), calling_itself("tool-ext4dist") as name:
        with timed(took):
            os.read(fd, PAGE)
        for file in (fd, fd, other):
            os.write(file, b"x")
        os.read(other, PAGE)
        os.fsync(fd)
        os.fsync(other)
    return [[0, [name], {"count": 1, "sum": [SLOW, took[0]]}], [1, [name], {"count": 2}],
            [2, [name], {"count": 1, "sum": [SLOW, None]}]]


@tool("ext4slower")
def ext4_slow():
    fd, took = os.open(cold("tool-cold"), os.O_RDONLY), []
    os.mkfifo(path("tool-no-ext4"))
    slow = os.open(path("tool-no-ext4"), os.O_RDWR)
    with slow_disk(), calling_itself("tool-ext4slow") as name:
        with timed(took):
            os.pread(fd, PAGE, 0)
        os.pread(fd, PAGE, 0)
        read_late(slow, slow)
    return [[name, PAGE, [SLOW, took[0]], "tool-cold"]]


@tool("cachestat")
def cached_pages():
    pages, dirty = 16, 4
    fd = os.open("/dev/" + disk(), os.O_RDWR)
    delayed(0)
    at = READS + (12 << 20)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    os.posix_fadvise(fd, at, pages * PAGE, os.POSIX_FADV_DONTNEED)
    with calling_itself("tool-cache") as name:
        for _ in range(2):
            for i in range(pages):
                data = os.pread(fd, PAGE, at + i * PAGE)
        for i in range(pages - dirty, pages):
            os.pwrite(fd, data, at + i * PAGE)
    os.close(fd)
    return [[0, [name], {"count": [2 * pages, 4 * pages]}], [1, [name], {"count": pages}], [2, [name], {"count": dirty}]]


def resident(fd, pages):
    """Return the numbers of those pages of a file that are in the page cache."""
    there = (ctypes.c_ubyte * pages)()
    with mmap.mmap(fd, pages * PAGE, mmap.MAP_PRIVATE) as area:
        first = ctypes.c_char.from_buffer(area)
        call("mincore", ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(pages * PAGE), there)
        del first
    return [i for i in range(pages) if there[i] & 1]


@tool("readahead")
def reads_ahead():
    pages, took = 64, []
    fd = os.open(cold("tool-ahead", pages), os.O_RDONLY)
    assert not resident(fd, pages)
    with calling_itself("tool-ahead") as name, timed(took):
        os.pread(fd, PAGE, 0)
        ahead = resident(fd, pages)
        assert ahead[0] == 0 and len(ahead) > 2, ahead
        tap.until(lambda begun=time.monotonic_ns(): time.monotonic_ns() > begun + SLOW, "the time before the first use")
        for i in ahead[1:-1]:  # the last one stays unused
            for _ in range(2):
                os.pread(fd, PAGE, i * PAGE)
    used = len(ahead) - 1
    return [[0, [name], {"count": used, "sum": [(used - 1) * SLOW, used * took[0]], "max": [SLOW, took[0]]}]]


@tool("dcsnoop")
def names_not_cached():
    with calling_itself("tool-dcsnoop") as name:
        for missing in ("tool-none", "tool-neither"):
            with contextlib.suppress(FileNotFoundError):
                os.stat(path(missing))
    return [[name, "tool-none"], [name, "tool-neither"]]


@tool("dcstat")
def lookups():
    there, parts = made("tool-looked-up"), path("x").count("/")
    missing = [path("tool-missing-%d" % i) for i in range(3)]
    with calling_itself("tool-dcstat") as name:
        for _ in range(5):
            os.stat(there)
        for where in missing:
            with contextlib.suppress(FileNotFoundError):
                os.stat(where)
    # A name that is not in the cache may be looked up again by slower code.
    return [[0, [name], {"count": [8 * parts, 11 * parts]}], [1, [name], {"count": 3}]]


@tool("vfsstat")
def calls_of_files():
    file = made("tool-counted")
    with calling_itself("tool-vfsstat") as name:
        fd = os.open(file, os.O_RDWR)
        for _ in range(2):
            os.write(fd, b"x")
        for _ in range(3):
            os.read(fd, 1)
    return [[0, [name], {"count": 3}], [1, [name], {"count": 2}], [2, [name], {"count": 1}]]


@tool("syncsnoop")
def syncs():
    fd = os.open(made("tool-sync"), os.O_RDWR)
    with calling_itself("tool-sync") as name:
        for _ in range(2):
            os.fsync(fd)
        for _ in range(3):
            os.fdatasync(fd)
    return [[0, [{"symbol": "__x64_sys_fsync"}, name], {"count": 2}],
            [0, [{"symbol": "__x64_sys_fdatasync"}, name], {"count": 3}]]


@tool("writeback")
def writes_back():
    pages, took = 100, []
    fd = os.open(os.path.join(ext4(), "tool-dirty"), os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x" * PAGE * pages)
    with timed(took):
        call("syncfs", fd)
    return [pages, took[0]]


# Disks -------------------------------------------------------------------------------------------

def direct_reads(name, offsets, count):
    """Read from the disk itself, without the page cache."""
    fd = os.open("/dev/" + disk(), os.O_RDONLY | os.O_DIRECT)
    area = mmap.mmap(-1, count)
    with calling_itself(name):
        for at in offsets:
            os.preadv(fd, [area], READS + at)
    os.close(fd)


@tool("biolatency")
def disk_times():
    took = []
    with slow_disk(), timed(took):
        direct_reads("tool-biolatency", [0], PAGE)
    return [disk(), took[0]]


@tool("biosnoop")
def disk_requests():
    took = []
    with slow_disk(), timed(took):
        direct_reads("tool-biosnoop", [1 << 20], 65536)
    return [disk(), os.getpid(), (READS + (1 << 20)) // 512, 65536, 0, [SLOW, took[0]]]


def reads_of(name):
    direct_reads(name, range(0, 8 * 65536, 65536), 65536)
    return 8, 8 * 65536


@tool("biostacks")
def disk_stacks():
    name, took = "tool-biostacks", []
    with timed(took):
        times, total = reads_of(name)
    return [name, total, "blkdev_", times, took[0]]


@tool("biotop")
def disk_bytes():
    name, took = "tool-biotop", []
    with timed(took):
        times, total = reads_of(name)
    return [[0, [name, disk()], {"sum": total}], [1, [os.getpid()], {"count": [times, None], "sum": [times, None]}]]


@tool("bitesize")
def disk_sizes():
    times, _ = reads_of("tool-bitesize")
    return [[0, [disk()], {"bucket": {18: [times, None]}}]]  # bucket 18 begins at 65536


@tool("biopattern")
def disk_pattern():
    assert disk() == "sda", "the lines name sda"
    direct_reads("tool-pattern", range(0, 50 * PAGE, PAGE), PAGE)
    direct_reads("tool-pattern", range(30 * PAGE, 0, -PAGE), PAGE)
    return [[0, [1], {"count": [49, None]}], [0, [0], {"count": [30, None]}]]


# Memory ------------------------------------------------------------------------------------------

@tool("drsnoop")
def reclaims():
    name, source, took = named("tool-reclaim"), disk(), []
    with memory_cgroup(12) as folder, timed(took), child(in_cgroup, folder, lambda: read_disk(source)) as pid:
        assert status(pid) == 0
    return [pid, name, took[0]]


@tool("compactsnoop")
def compacts():
    zones, took = sum(int(line.split()[1]) > 0 for line in get("/proc/zoneinfo").splitlines() if "present " in line), []
    name = known_as("tool-compact")
    with timed(took):
        put("/proc/sys/vm/compact_memory", "1")
    return [[name, -1, {"in": ""}, [0, took[0]]]] * zones


@tool("slabratetop")
def takes_objects():
    times, where = 3000, path("x")
    for _ in range(times):
        with contextlib.suppress(FileNotFoundError):
            os.stat(where)
    return [[0, ["names_cache"], {"sum": [times * PAGE, 2 * times * PAGE]}]]


@tool("memleak")
def messages():
    """Leave some messages in a queue, whose memory is then not freed."""
    class Message(ctypes.Structure):
        _fields_ = [("type", ctypes.c_long), ("text", ctypes.c_char * 100)]

    message = Message(1, b"x")
    queue = call("msgget", 0, 0o600)
    for _ in range(20):
        call("msgsnd", queue, ctypes.byref(message), 100, 0)
    for _ in range(12):
        call("msgrcv", queue, ctypes.byref(message), 100, 0, 0)
    return [8, "do_msgsnd"]


@tool("shmsnoop")
def shares_memory():
    with calling_itself("tool-shm") as name:
        key = call("shmget", 0, PAGE, 0o600)
        LIBC.shmat.restype = ctypes.c_void_p
        at = LIBC.shmat(key, None, 0)
        call("shmdt", ctypes.c_void_p(at))
        call("shmctl", key, 0, None)
    return [[name, 0], [name, key], [name, at], [name, 0]]  # the calls shmctl, shmget, shmat, shmdt, in any order
