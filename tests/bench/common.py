# SPDX-License-Identifier: GPL-2.0-only
# Common code of the measurements inside the guest: the bench module, GDB, checks of the figures.
#
# The TSC measures the time of a call. Under QEMU's -icount shift=0 it counts instructions. A cost is the time of a call with
# a probe minus that of a call without.
import os
import re
import statistics
import subprocess
import sys

import gdb

import fixture
import kernel
from kernel import RELEASE
from tap import Failure as Wrong, check

TRACING = kernel.TRACING
HANDED_ON = RELEASE, Wrong

BENCH = "/proc/gtp_bench"

BUILT = os.path.join(fixture.TOP, "build/bench")
CALLS, REPEATS = 2000, 5
ALL = 2 * CALLS * REPEATS  # every function is measured twice; the first measurement only warms up the caches


def say(text):
    print(text)
    sys.stdout.flush()


def order(line):
    """Write a line to the bench module's file, from a separate process: gdbtp does not trace the tasks of the GDB that is
    connected."""
    subprocess.run(["sh", "-c", 'echo "$1" >' + BENCH, "sh", line], check=True)


def answers(word):
    with open(BENCH) as f:
        return [line.split()[1:] for line in f if line.startswith(word + " ")]


def measure(name):
    """For each repetition, return the number of instructions per call, including those of the loop."""
    order("measure %s %d %d" % (name, CALLS, REPEATS))
    return [int(ticks) / CALLS for ticks, in answers("ticks")]


def warmly(name):
    """Measure a function twice, with ALL calls together. Return the figures of the second measurement."""
    measure(name)
    return measure(name)


def above(ticks, bare):
    """Return by how much TICKS exceeds BARE: the difference of the minima, and the difference of the medians."""
    return tuple(f(ticks) - f(bare) for f in (min, statistics.median))


def figure(cost):
    """Return a cost as text: the smallest figure, and the median if it differs by an instruction or more."""
    if not cost:
        return "-"
    low, median = cost
    return "%.0f" % low if median - low < 1 else "%.0f/%.0f" % (low, median)


def calibrate(measure=measure):
    """Check that MEASURE finds a cost of exactly 100 for 100 nops. Otherwise the figures are not numbers of instructions."""
    nothing, nops = min(measure("empty")), min(measure("nops"))
    check(nops - nothing == 100,
          "100 nops take %s ticks: this machine does not count instructions" % (nops - nothing))


def cmd(*lines):
    return gdb.execute("\n".join(lines), to_string=True)


def status(pattern):
    text = cmd("monitor status")
    found = re.search(pattern, text)
    check(found, "monitor status has no %r:\n%s" % (pattern, text))
    return int(found.group(1))


def check_hits(what, frames, hits=None, here=1, calls=ALL):
    """Check the counts of the tracepoints at the place; HERE is their number. If FRAMES is true, each call must be a hit
    that left a frame, for each tracepoint. Otherwise each tracepoint must have HITS hits (0 if None), and no frames."""
    wanted = calls * here if frames else 0
    hits = [(calls if frames else 0) if hits is None else hits] * here
    told = cmd("monitor status")
    got = ([int(n) for n in re.findall(r"tracepoint \d+ at \S+ (\d+) hits", told)], status(r"(\d+) collected"),
           sum(kernel.not_seen(told)))
    check("the trace is running" in told, what + ": the run has ended")
    check(got == (hits, wanted, 0),
          "%s: %s hits, %d frames, %d lost; wanted %s and %d" % (what, *got, hits, wanted))


def load_symbols():
    places = {}
    for name in (".text", ".data"):
        with open("/sys/module/gtp_bench/sections/" + name) as f:
            places[name] = f.read().strip()
    cmd("add-symbol-file %s/gtp_bench.ko %s -s .data %s" % (
        fixture.KMOD, places[".text"], places[".data"]))


def set_up():
    for setting in ("confirm off", "pagination off", "width 0"):
        cmd("set " + setting)
    fixture.load_fixture("gtp_bench")
    fixture.load()
    fixture.load_tables()
    cmd("target remote /proc/gtp")
    load_symbols()


def write(path, text):
    """Write to a file of tracefs. Opening the file for writing removes all probes, or all records, that the file lists."""
    with open(kernel.TRACING + path, "w") as f:
        f.write(text)


def records():
    """Return the number of records that ftrace has written since its buffer was last emptied."""
    with open(kernel.TRACING + "per_cpu/cpu0/stats") as f:
        stats = dict(line.split(": ") for line in f.read().splitlines())
    return int(stats["entries"]) + int(stats["overrun"])


def bpftrace_env():
    """Return an environment in which bpftrace finds the kernel's headers, which Debian splits into two folders."""
    headers = os.environ["GTP_HEADERS"]
    common = re.sub(r"-cloud-amd64$|-amd64$", "-common", headers)
    return dict(os.environ, BPFTRACE_KERNEL_SOURCE=common, BPFTRACE_KERNEL_BUILD=headers,
                BPFTRACE_PERF_RB_PAGES="4096")
