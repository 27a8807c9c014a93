# SPDX-License-Identifier: GPL-2.0-only
# Tests samples: the clock interrupts every CPU, and each period is either a hit or counted as lost. The kernel's own clock
# and its accounting of a task's time give the bounds of the counts.
import os
import subprocess
import sys

import fixture as modules
from lib import *
from sampling import *

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.formats import ustack
from gtp.run import kstack


@test("every CPU is interrupted: each period of the clock is a hit, or is counted as lost")
@sampled_self
def clock():
    num = gtp_sample("50hz collect $cpu_id, $clock")
    with Timed() as run, Spinner() as spinner:
        spinner.run_for(2 * SECOND)
    accounted(num, run, 50)
    rows = collected("$cpu_id", "$clock")
    equal(len(rows), hits(num), "frames")
    lost = nested() + missed()
    for cpu in range(CPUS):
        times = [when for which, when in rows if which == cpu]
        equal(times, sorted(times), "times on CPU %d" % cpu)
        between(len(times), run.inner * 50 // SECOND - 3 - lost, run.outer * 50 // SECOND + 2, "hits on CPU %d" % cpu)


@test("a program that runs alone on its CPU has the hits that its time says")
@sampled_self
def busy():
    with Spinner() as spinner:
        num = gtp_sample("200hz if $current_task_pid == %d" % spinner.pid)
        with Timed() as run:
            ran, pieces = spinner.run_for(3 * SECOND)
        lost = nested() + missed()
        between(hits(num), (ran - 2 * TICK) * 200 // SECOND - 2 * pieces - lost, run.outer * 200 // SECOND + 2,
                "hits in %d pieces of %d ns, %d lost" % (pieces, ran, lost))


@test("a program's own registers and pc; $kstack says that it is in the program, $ustack begins there")
def in_program():
    with Spinner() as spinner:
        num = gtp_sample("100hz if $current_task_pid == %d collect $regs, $kstack, $ustack, $irq_count, $cpu_id" % spinner.pid)
        cmd("tstart")
        until(lambda: hits(num) >= 50, "50 hits")
        cmd("tstop")
        at = spinner.addresses
        inside = 0
        for _ in frames():
            stack, whose = ustack.parted(kstack.addresses(number("$ustack")))
            equal(ustack.pid(whose), spinner.pid)
            if number("$cs") & 3 == 0:  # the kernel itself, in an interrupt or a system call's way
                continue
            inside += 1
            equal((number("$cpu_id"), number("$irq_count")), (spinner.cpu, 0))
            pc = number("(unsigned long)$pc")
            check(at["first"] <= pc <= at["last"], "pc %#x" % pc)
            equal((number("$rbx"), number("$r12"), number("$rbp")), (RBX, R12, 0))
            check(number("$rcx") - number("$rax") in (0, 1), "rax and rcx")
            equal(stack[0], pc, "$ustack")
            matches(r"\[in the program\]", cmd("gtp stacks $kstack"))
        check(inside > 40, "%d of the hits are in the program" % inside)


@test("kernel code: $kstack begins at the pc, leads to the system call, and is followed to its end")
def in_kernel():
    dd = there.popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M"], stderr=subprocess.DEVNULL)
    try:
        pid = until(lambda: int(shell()("pidof -s dd || echo 0")), "dd runs")
        num = gtp_sample("100hz if $current_task_pid == %d collect $regs, $kstack" % pid)
        cmd("tstart")
        until(lambda: hits(num) >= 50, "50 hits")
        cmd("tstop")
    finally:
        shell()("kill -KILL %d" % pid)
        dd.wait()
    reads = 0
    for _ in frames():
        if number("$cs") & 3:
            continue
        stack = kstack.addresses(number("$kstack"))
        names = kstack.Symbols().names(stack)
        equal(stack[0], number("(unsigned long)$pc") % 2**64)
        if "read_zero" in names:
            reads += 1
            matches("entry_SYSCALL_64", names[-1])
    check(reads > 25, "%d stacks lead from read_zero to the system call" % reads)


@test("hits by keys, by `by' and as a place of gtp count; programs are not in the kernel's stacks")
@sampled_self
def by_keys():
    with Spinner() as spinner:
        cmd("gtp sample 50hz by $kstack, $ustack, current->comm")
        cmd("gtp count by $cpu_id at sample 50hz if $current_task_pid == %d" % spinner.pid)
        with Timed():
            spinner.run_for(2 * SECOND)
    equal(len(list(frames())), 0, "frames")
    rows = re.findall(r"(?m)^ *(?:(\d+) +(\d+))$", cmd("gtp show count_sample_50hz_2"))
    counts = [tuple(map(int, row)) for row in rows]
    check(len(counts) == 1 and spinner.cpu in counts[0], "%s" % counts)
    folded = cmd("gtp stacks count_sample_50hz --by current->comm --folded")
    spins = [line for line in folded.splitlines() if line.startswith("spin;")]
    innermost = [int(line.rsplit(" ", 1)[0].rsplit(";", 1)[1], 16) for line in spins if re.search(r";0x[0-9a-f]+ \d+$", line)]
    at = spinner.addresses
    check(any(at["first"] <= where <= at["last"] for where in innermost), folded)
    check("[in the program]" not in folded, folded)
    # The end of the run may come between the two tracepoints of a hit: then only the first one counts it.
    between(sum(int(line.rsplit(" ", 1)[1]) for line in spins) - max(counts[0]), 0, 1, "the last hit")


@test("perf throttles a sample that interrupts too often: what is missing is counted")
@sampled_self
def throttled():
    with there.open(RATE) as file:
        before = file.read().strip()
    shell()("echo 500 >" + RATE)
    try:
        num = gtp_sample("5000hz if $cpu_id < 0")
        with Timed() as run, Spinner() as spinner:
            spinner.run_for(SECOND)
    finally:
        shell()("echo %s >%s" % (before, RATE))
    lost = missed()
    equal(hits(num), 0)
    # In each tick perf allows 500 / HZ interrupts, rounded up, and one more: 2,000 a second at most, with 1000 Hz.
    between(lost, run.inner * (5000 - 2000) // SECOND * CPUS - 3 * CPUS, run.outer * 5000 // SECOND * CPUS + 2 * CPUS, "missed")


@test("an event that the machine does not have is refused by a sentence, and the other tracepoints are armed")
def no_counter():
    if there.exists("/sys/bus/event_source/devices/cpu"):
        skip("this machine has counters")
    bad, good = gtp_sample("cycles:1000000"), gtp_sample("100hz")
    text = cmd("tstart")
    matches("no counter of cycles that could interrupt it", text + cmd("monitor status") + cmd("tstatus"))
    until(lambda: hits(good) > 10, "hits")
    cmd("tstop")
    equal(hits(bad), 0)


@test("addresses that are no samples are refused by a sentence; the lines of plain GDB work")
def plain():
    for where, words in ((0x4311000000989680, "there is no event 0x11"), (0x430a000000989680, "there is no event 0xa"),
                         (0x4310000000000000, "a period of 0"), (0x431000000000270f, "9999 ns is too short")):
        num = trace("*%#x" % where)
        matches(words, refused("tstart"))
        cmd("delete %d" % num)
    for words, action in (("only functions have", "collect $latency"), ("only watchpoints have", "collect $watch_val")):
        num = trace("*(0x4310000000000000 | 10000000)", action)
        matches(words, refused("tstart"))
        cmd("delete %d" % num)
    num = trace("*(0x4310000000000000 | 10000000)", "collect $cpu_id")
    cmd("tstart")
    until(lambda: hits(num) > 10, "hits")
    cmd("tstop")
    check(set(collected("$cpu_id")) <= set(range(CPUS)), "CPUs")


@test("a sample that joins a run has hits from there on; two samples of one event have the same hits")
def joins():
    first = gtp_sample("100hz")
    cmd("tstart")
    until(lambda: hits(first) > 10, "hits")
    second = gtp_sample("50hz")
    before = hits(second)
    same = gtp_sample("50hz")
    after = hits(second)
    matches("the run that is on keeps its actions", cmd("gtp sample 20hz collect $cpu_id"))
    until(lambda: hits(same) > 10, "hits")
    cmd("tstop")
    # The end of the run may come between the two on each CPU.
    between(hits(second) - hits(same), before, after + CPUS, "hits before the other one had joined")


@test("a CPU that goes and comes back is sampled again: its hits are missed in this run, and hits in the next")
@sampled_self
def hotplug():
    last = CPUS - 1
    online = "/sys/devices/system/cpu/cpu%d/online" % last
    shell()("echo 0 >" + online)
    try:
        num = gtp_sample("100hz collect $cpu_id")
        with Timed() as run:
            before = missed()
            shell()("echo 1 >" + online)
            begun = there.clock_ns()
            with Spinner(last) as spinner:
                spinner.run_for(SECOND)
            ended = there.clock_ns()
            shell()("echo 0 >" + online)
            with Spinner(0) as spinner:
                spinner.run_for(SECOND // 2)
            shell()("echo 1 >" + online)
        between(missed() - before, (ended - begun) * 100 // SECOND - 3, run.outer * 100 // SECOND * CPUS, "missed")
        between(hits(num) + nested() + missed(),
                run.inner * 100 // SECOND * (CPUS - 1) + (ended - begun) * 100 // SECOND - 3 * CPUS,
                run.outer * 100 // SECOND * CPUS + 2 * CPUS, "hits and lost hits")
        check(last not in collected("$cpu_id"), "hits on a CPU without a buffer")
    finally:
        shell()("echo 1 >" + online)
    with Timed() as run, Spinner(last) as spinner:
        spinner.run_for(SECOND)
    accounted(num, run, 100)
    check(last in collected("$cpu_id"), "no hits on CPU %d" % last)


@test("no memory for a sample: tstart says so, and nothing is left")
def memory():
    num = gtp_sample("100hz")
    failed = 0
    for n in range(1, 60):
        modules.parameter("fail_alloc", n)
        text = cmd("maint packet QTStart")
        modules.parameter("fail_alloc", 0)
        if '"OK"' in text:
            cmd("maint packet QTStop")
            break
        failed += "no memory for a sample" in text
    equal(failed, 2)
    cmd("tstart")
    until(lambda: hits(num) > 10, "hits")
    cmd("tstop")


@test("gdbtp is unloaded while a run goes on without GDB: no event is left")
@sampled_self
def module():
    gtp_sample("1000hz")
    cmd("set disconnected-tracing on")
    cmd("tstart")
    disconnect()
    modules.unload()
    with Spinner() as spinner:
        spinner.run_for(SECOND // 2)
    modules.load()
    modules.load_tables()
    connect()
    cmd("monitor self-trace on")
    cmd("delete")
    num = gtp_sample("50hz")
    with Timed() as run, Spinner() as spinner:
        spinner.run_for(SECOND)
    accounted(num, run, 50)


run()
