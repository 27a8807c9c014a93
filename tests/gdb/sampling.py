# SPDX-License-Identifier: GPL-2.0-only
# Common code of the tests of samples: a program that only computes, and bounds of the number of hits.
import os
import subprocess

import fixture as modules
from lib import *

SECOND = 10**9
TICK = 10**7  # no kernel here has a longer tick, in ns
RBX, R12 = 0x123456789abcdef0, 0x0fedcba987654321
SPIN = """
.globl _start, first, last
_start:	movabs $%#x, %%rbx
	movabs $%#x, %%r12
	xor %%ebp, %%ebp
first:	inc %%rax
	lea 1(%%rax), %%rcx
last:	jmp first
""" % (RBX, R12)
RATE = "/proc/sys/kernel/perf_event_max_sample_rate"


def gtp_sample(arg):
    return int(matches(r"Tracepoint (\d+): ", cmd("gtp sample " + arg)).group(1))


class Spinner:
    """A program that only changes rax and rcx, in a loop, on one CPU. addresses: those of its symbols."""

    def __init__(self, cpu=1):
        path = os.path.join(scratch(), "spin")
        subprocess.run(["gcc", "-nostdlib", "-static", "-x", "assembler", "-o", path, "-"], input=SPIN, text=True, check=True)
        text = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.addresses = {name: int(at, 16) for at, _, name in map(str.split, text.splitlines())}
        self.cpu = cpu
        self.process = there.popen(["taskset", "-c", str(cpu), path])

    def __enter__(self):
        self.pid = until(self.found, "the program runs")
        return self

    def __exit__(self, *_):
        shell()("kill -KILL %d" % self.pid)
        self.process.wait()

    def found(self):
        return int(shell()("pidof -s spin || echo 0"))

    def ran(self):
        """Return for how many ns the program has run, and how often it began to, as the scheduler counts."""
        run, _, times = map(int, shell()("cat /proc/%d/schedstat" % self.pid).split())
        return run, times

    def run_for(self, ns):
        """Wait until the program has run for that long. Return for how long it did, and in how many pieces."""
        run, times = self.ran()
        until(lambda: self.ran()[0] >= run + ns, "the program runs for %d ns" % ns)
        now = self.ran()
        return now[0] - run, now[1] - times + 1


class Timed:
    """A trace run. inner: a time in ns during all of which it was going on; outer: a time that contains it."""

    def __enter__(self):
        self.begun = there.clock_ns()
        cmd("tstart")
        self.started = there.clock_ns()
        return self

    def __exit__(self, *_):
        now = there.clock_ns()
        cmd("tstop")
        self.inner, self.outer = now - self.started, there.clock_ns() - self.begun


def between(n, low, high, what):
    note("%s: %d, from %d to %d are possible" % (what, n, low, high))
    check(low <= n <= high, "%s: %d is not in %d to %d" % (what, n, low, high))


def accounted(num, run, hz, cpus=CPUS):
    """Check that each period of each CPU is a hit or is counted as lost. The first and the last one are not complete, and
    the first one that is missing is not counted."""
    seen, (inside, lost) = hits(num), (nested(), missed())
    note("%d hits, %d nested, %d missed" % (seen, inside, lost))
    between(seen + inside + lost, run.inner * hz // SECOND * cpus - 3 * cpus, run.outer * hz // SECOND * cpus + 2 * cpus,
            "hits and lost hits")


def sampled_self(test_function):
    """Decorate a test in which GDB's own tasks are sampled as well, so that no hit is left out."""
    def wrapper():
        cmd("monitor self-trace on")
        try:
            test_function()
        finally:
            cmd("monitor self-trace off")
    return wrapper


def with_counters(every_us=1000):
    """Decorate a test in which the machine has two counters. An NMI comes every so many microseconds."""
    def decorate(test_function):
        def wrapper():
            shell()("insmod %s/gtp_pmu.ko every_us=%d overflow=%#x" % (
                modules.KMOD, every_us, kallsyms()["perf_event_overflow"]))
            try:
                test_function()
            finally:
                if running():
                    cmd("tstop")
                shell()("rmmod gtp_pmu")
        return wrapper
    return decorate
