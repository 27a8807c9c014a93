# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a sample: how much longer fixed work takes while the clock interrupts it, divided by the number of
# interrupts. Like hit.py, this runs in a guest that counts instructions: the TSC and the clocks count one ns for each.
#
# perf's own events, with the fields and call chains of `perf record -g', stand for perf: no process reads their ring, so
# the figures have only the kernel's part of the work.
import ctypes
import mmap
import os
import struct
import subprocess
import sys
import traceback

from common import BUILT, RELEASE, calibrate, check, cmd, say, set_up, status

import gdb
import fixture
import kernel

HZ, SECOND = 5000, 10**9
PERIOD = SECOND // HZ
CALLS = 5000000  # of the program's empty function
BYTES, READS = 1 << 20, 100
PROGRAM = os.path.join(BUILT, "user/bench")
READER = """
import os, sys, time
fd, buffer = os.open("/dev/zero", os.O_RDONLY), bytearray(%d)
for line in sys.stdin:
    begun = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    for _ in range(%d):
        os.readv(fd, [buffer])
    print(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - begun, flush=True)
""" % (BYTES, READS)
PERF_EVENT_OPEN, SOFTWARE, CPU_CLOCK = 298, 1, 0
IP, TID, TIME, CALLCHAIN, CPU, PERIOD_FIELD = 1, 2, 4, 1 << 5, 1 << 7, 1 << 8


class Worker:
    """A process that does the same work at each order, and answers with the ticks that it took."""

    def __init__(self, name, order, *command):
        self.name, self.order = name, order
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.bare = self.ticks()

    def once(self):
        self.process.stdin.write(self.order)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        check(answer, "%s: the process ended" % self.name)
        return int(answer)

    def ticks(self):
        """Do the work twice. Return the lesser number of ticks: the first time warms up the caches."""
        return min(self.once() for _ in range(2))


class Perf:
    """perf's event cpu-clock on the only CPU, with a ring that nobody reads."""

    def __init__(self, fields):
        attr = struct.pack("<IIQQQQ", SOFTWARE, 128, CPU_CLOCK, PERIOD, fields, 0).ljust(128, b"\0")
        self.attr = ctypes.create_string_buffer(attr, 128)

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.syscall(*map(ctypes.c_long, (PERF_EVENT_OPEN, ctypes.addressof(self.attr), -1, 0, -1, 0)))
        check(self.fd >= 0, "perf_event_open: errno %d" % ctypes.get_errno())
        # Mapped read-only, so that the kernel overwrites what was not read.
        self.ring = mmap.mmap(self.fd, 129 * mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ)

    def __exit__(self, *_):
        self.ring.close()
        os.close(self.fd)


class Sample:
    def __init__(self, what):
        self.what = what

    def __enter__(self):
        cmd("gtp sample %dhz %s" % (HZ, self.what))
        cmd("tstart")

    def __exit__(self, *_):
        lost = sum(kernel.not_seen(cmd("monitor status")))
        collected = status(r"(\d+) collected")
        cmd("tstop")
        cmd("delete")
        check(not lost, "%s: %d lost hits" % (self.what, lost))
        check((collected > 0) == ("collect" in self.what), "%s: %d frames" % (self.what, collected))


NEVER = "if $current_task_pid == 0x7fffffff"
ROWS = {
    "perf, no fields": lambda: Perf(0),
    "perf, the fields of perf record": lambda: Perf(IP | TID | TIME | CPU | PERIOD_FIELD),
    "perf, the fields of perf record -g": lambda: Perf(IP | TID | TIME | CPU | PERIOD_FIELD | CALLCHAIN),
    "gtp sample, false condition": lambda: Sample(NEVER),
    "gtp sample by $cpu_id": lambda: Sample("by $cpu_id"),
    "gtp sample by $kstack": lambda: Sample("by $kstack"),
    "gtp sample by $kstack, $ustack": lambda: Sample("by $kstack, $ustack"),
    "gtp sample by $kstack, $ustack, $current_task_pid": lambda: Sample("by $kstack, $ustack, $current_task_pid"),
    "gtp sample collect $kstack": lambda: Sample("collect $kstack"),
    "gtp sample collect $regs": lambda: Sample("collect $regs"),
}


def cost(worker, row):
    with ROWS[row]():
        ticks = worker.ticks()
    return (ticks - worker.bare) * PERIOD / ticks


def main():
    set_up()
    cmd("source " + os.path.join(fixture.TOP, "gdbscripts/gtp.py"))
    cmd("set circular-trace-buffer on")
    calibrate()
    workers = [Worker("a program", "measure empty %d 1\n" % CALLS, PROGRAM),
               Worker("a read of /dev/zero", "\n", "/usr/bin/python3", "-c", READER)]
    say("# %s: instructions per sample; %d Hz for %s" % (
        RELEASE, HZ, " and ".join("%.0f ms" % (worker.bare / 1e6) for worker in workers)))
    say("%-50s%14s%22s" % ("", *(worker.name for worker in workers)))
    for row in ROWS:
        say("%-50s%14.0f%22.0f" % (row, *(cost(worker, row) for worker in workers)))


try:
    main()
except Exception:  # without this, gdb would exit with status 0 after an exception
    traceback.print_exc(file=sys.stdout)
    gdb.execute("quit 1")
