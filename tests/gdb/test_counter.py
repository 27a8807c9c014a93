# SPDX-License-Identifier: GPL-2.0-only
# Tests samples by counters of the processor, in a guest that gets such counters from gtp_pmu.ko: they count nanoseconds, and
# interrupt any code by NMI.
import fixture as modules
from lib import *
from sampling import *

INTERRUPTS_ON = 0x200  # in the flags
WORK = "for i in 1 2 3 4; do find /proc/self /sys/class >/dev/null; dd if=/dev/zero of=/tmp/load bs=64k count=20 2>/dev/null; " \
       "rm /tmp/load; /bin/true; done"


@test("each period of a counter is a hit, or is counted as lost")
@with_counters()
@sampled_self
def counted():
    num = gtp_sample("cycles:4000000 collect $cpu_id, $cs, $irq_count")
    with Timed() as run, Spinner() as spinner:
        spinner.run_for(SECOND)
    accounted(num, run, 250)
    rows = collected("$cpu_id", "$cs", "$irq_count")
    equal(len(rows), hits(num), "frames")
    equal({cpu for cpu, _, _ in rows}, set(range(CPUS)), "CPUs")
    equal({context for _, code, context in rows if code & 3}, {0}, "contexts of programs")


@test("counters see code that has interrupts off, and the clock does not")
@with_counters(300)
@sampled_self
def interrupts_off():
    off = "if ($eflags & %d) == 0" % INTERRUPTS_ON
    counter, clock = gtp_sample("cycles:300000 " + off), gtp_sample("3000hz " + off)
    cmd("tstart")
    shell()(WORK)
    until(lambda: hits(counter) > 50, "hits in code that has interrupts off")
    cmd("tstop")
    note("%d hits by a counter, %d by the clock" % (hits(counter), hits(clock)))
    equal(hits(clock), 0, "hits by the clock")


@test("NMIs during all kinds of hits: no call is lost, and each stack is what the kernel's unwinder says")
@with_counters(200)
@sampled_self
def anywhere():
    before = {what: int(modules.parameter("stack_" + what)) for what in ("walked", "handed", "differed")}
    modules.parameter("stack_walk", 2)
    try:
        samples = [gtp_sample("cycles:200000 by $kstack, $ustack, current->comm"),
                   gtp_sample("instructions:700000 if $current_task_pid > 0 collect $kstack, $regs, $bt")]
        add = trace("gtp_target_add", "collect $kstack")
        read = trace("vfs_read", "collect $kstack, $ustack")
        cmd("set circular-trace-buffer on")
        calls_before = fixture()["add"]
        cmd("tstart")
        for _ in range(3):
            target("loop add 300")
            shell()(WORK)
        cmd("tstop")
    finally:
        modules.parameter("stack_walk", 1)
    made = fixture()["add"] - calls_before
    note("%s hits of samples, %d calls, %d hits of reads, %d nested" % ([hits(num) for num in samples], made, hits(read), nested()))
    equal(hits(add), made, "hits of calls")
    check(all(hits(num) > 500 for num in samples), "hits of samples")
    after = {what: int(modules.parameter("stack_" + what)) - n for what, n in before.items()}
    note(after)
    equal(after["differed"], 0, "stacks that differ")


@test("no counter is free: tstart says so, and arms the other tracepoints")
@with_counters()
def taken():
    nums = [gtp_sample(what) for what in ("cycles:1000000", "cycles:2000000", "cycles:3000000", "100hz")]
    text = cmd("tstart") + cmd("monitor status") + cmd("tstatus")
    matches("the processor has no counter free for cycles", text)
    until(lambda: all(hits(nums[i]) > 10 for i in (0, 1, 3)), "hits")
    equal(hits(nums[2]), 0)
    cmd("tstop")
    cmd("delete")
    num = gtp_sample("cycles:3000000")
    cmd("tstart")
    until(lambda: hits(num) > 10, "hits of the counter that was refused before")
    cmd("tstop")


@test("perf throttles a counter after its first interrupt in a tick: each time counts as a missed hit")
@with_counters(250)
@sampled_self
def throttled():
    with there.open(RATE) as file:
        before = file.read().strip()
    shell()("echo 1 >" + RATE)
    try:
        num = gtp_sample("cycles:4000000")
        with Timed(), Spinner() as spinner:
            spinner.run_for(SECOND)
    finally:
        shell()("echo %s >%s" % (before, RATE))
    seen, lost = hits(num) + nested(), missed()
    note("%d hits, %d missed" % (seen, lost))
    check(seen > 100, "hits")
    check(lost >= seen - 2 * CPUS, "each of %d hits stops the counter, but only %d are missed" % (seen, lost))


@test("CPUs go and come back while NMIs interrupt them")
@with_counters(300)
@sampled_self
def hotplug():
    last = CPUS - 1
    num = gtp_sample("cycles:300000 by $kstack, $ustack, $cpu_id")
    cmd("tstart")
    for _ in range(3):
        shell()("for n in 0 1; do echo $n >/sys/devices/system/cpu/cpu%d/online; done" % last)
    before = missed()
    with Spinner(last) as spinner:
        spinner.run_for(SECOND // 4)
    check(missed() > before + 100, "%d hits were missed before, now %d" % (before, missed()))
    cmd("tstop")
    check(hits(num) > 100, "hits")


run()
