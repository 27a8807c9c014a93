# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
# Tests built-in variables, by comparing them with the fixture's values of the same moment. Also tests actions that enable
# and disable tracepoints.
import time

from lib import *
from others import instructions, looped, mechanism, without

HERE = "(*(struct gtp_target_context *)$rdi)"
CONTEXTS = ("hardirq_count", "softirq_count", "irq_count")
ROUNDS = 2000
OPTIMIZATION = "/proc/sys/debug/kprobes-optimization"


# Values ------------------------------------------------------------------------------------------

def in_every_context():
    """Call gtp_target_context() in a known order. The last calls are in NMIs. Return the number of calls."""
    for where in ("task", "bh", "soft", "hard", "kthread", "task"):
        target("call context " + where)
    before = fixture()["nmi"]
    target("nmi 3")
    return fixture()["nmi"] - before


def contexts_at(where):
    """Trace the calls at a place. Return a row of variables for each call, a row of the fixture's values for each call, and
    the mechanism of the probe."""
    num = trace(where, "collect $%s" % ", $".join(CONTEXTS + ("current_task_user", "task_pt_regs")),
                "collect " + HERE)
    cmd("tstart")
    how = mechanism(num)
    nmis = in_every_context()
    seen, lost = hits(num), nested() + missed()
    cmd("tstop")
    equal(seen + lost, 6 + nmis, "hits and what was not seen")
    ours = collected(*("$" + name for name in CONTEXTS + ("current_task_user", "task_pt_regs")))
    theirs = collected(*("%s.%s" % (HERE, name) for name in ("hardirqs", "softirqs", "irqs", "user")))
    regs = collected("(unsigned long)%s.regs" % HERE)
    cmd("delete %d" % num)
    equal([row[:4] for row in ours], theirs, "contexts, and whether the task is a user's")
    for row, where_ in zip(ours, regs):
        check(where_ in (0, row[4] % 2**64), "registers at 0x%x, not at 0x%x" % (row[4] % 2**64, where_))
    return ours, how


def told_apart(ours):
    """Check that the variables distinguish the contexts of the six calls that are not in NMIs."""
    task, disabled, soft, hard, kthread, again = ours[:6]
    equal((task[:4], again[:4]), ((0, 0, 0, 1),) * 2, "in a system call")
    check(disabled[1] and not disabled[0], "softirqs disabled: %s" % (disabled,))
    check(soft[1] and not soft[0] and soft[1] != disabled[1], "in a softirq: %s" % (soft,))
    check(hard[0] and hard[2] & hard[0], "in an interrupt: %s" % (hard,))
    equal(kthread[:4], (0, 0, 0, 0), "in a kernel thread")
    for row in ours[6:]:
        check(row[2] & ~(row[0] | row[1]), "in an NMI, without its bit: %s" % (row,))


@test("contexts, user registers: as the kernel's macros say in the traced code, in NMIs too")
def contexts():
    ours, how = contexts_at("gtp_target_context")
    note("by", how)
    told_apart(ours)


@test("the same on an ftrace site, on a breakpoint, interpreted")
def other_ways():
    behind = "*%s" % instructions("gtp_target_context", r"\bmov\b.*\(%rdi\)")[0]
    shell()("cat %s; echo 0 >%s" % (OPTIMIZATION, OPTIMIZATION))
    try:
        for off in (("jumps",), ("jumps", "jit")):
            for where in ("gtp_target_context", behind):
                with without(*off):
                    ours, how = contexts_at(where)
                note("without", *off, "by", how)
                check(how.startswith("kprobe"), how)
                told_apart(ours)
    finally:
        shell()("echo 1 >" + OPTIMIZATION)


@test("conditions on them are right in a pad: exact counts")
def conditions():
    nums = {cond: trace("gtp_target_context if " + cond) for cond in ("$hardirq_count", "$softirq_count == 0",
                                                                      "$current_task_user == 0")}
    alone = trace("*%s if $irq_count" % instructions("gtp_target_context", r"\bmov\b.*\(%rdi\)")[0])
    cmd("tstart")
    for where in ("task", "bh", "hard", "kthread", "kthread", "hard", "hard"):
        target("call context " + where)
    equal((hits(nums["$hardirq_count"]), hits(nums["$softirq_count == 0"]), hits(alone)), (3, 6, 4), "hits")
    check(hits(nums["$current_task_user == 0"]) in range(2, 6), "kernel threads, and whom interrupts hit")
    note("by", mechanism(alone))


@test("$rdtsc is between the fixture's own readings; $cpu_number is the number of possible CPUs")
def counter():
    trace("gtp_target_context", "collect $rdtsc, $cpu_number", "collect " + HERE)
    run_trace(*["call context task"] * 5)
    rows = collected(HERE + ".tsc", "$rdtsc")
    equal(len(rows), 5, "frames")
    flat = [reading for row in rows for reading in row]
    equal(flat, sorted(set(flat)), "readings in their order")
    with there.open("/sys/devices/system/cpu/possible") as file:
        last = re.search(r"(\d+)\s*$", file.read()).group(1)
    equal(set(collected("$cpu_number")), {int(last) + 1}, "CPUs")


@test("$xtime_sec and $xtime_nsec are the time of day of the hit, one reading for all of it")
def time_of_day():
    trace("gtp_target_leaf if $xtime_nsec < 1000000000", "collect $xtime_nsec", "collect $xtime_sec, n",
          "collect $xtime_nsec")
    times = []
    cmd("tstart")
    for n in range(4):
        before = there.clock_ns(time.CLOCK_REALTIME)
        target("call leaf %d" % n)
        times.append((before, there.clock_ns(time.CLOCK_REALTIME)))
    cmd("tstop")
    rows = collected("n", "$xtime_sec * 1000000000 + $xtime_nsec")
    equal([row[0] for row in rows], list(range(4)))
    for (_, seen), (before, after) in zip(rows, times):
        check(before <= seen <= after, "%d is not in %d to %d" % (seen, before, after))


def from_gdb(line):
    """Give the fixture an order from GDB's own process."""
    with there.open("/proc/gtp_target", "w") as file:
        file.write(line)


@test("$self_trace: hits of GDB's own tasks count at that tracepoint's place, and at no other")
def self_trace():
    own = trace("gtp_target_leaf", "collect n", "teval $self_trace = 1")
    other = trace("gtp_target_add", "collect a")
    cmd("tstart")
    for line in ("call leaf 5", "call add 1 2"):
        from_gdb(line)
        target(line)
    equal((hits(own), hits(other)), (2, 1), "hits")


# Triggers ----------------------------------------------------------------------------------------

def disabled(where, *actions):
    num = trace(where, *actions)
    cmd("disable %d" % num)
    return num


def b_after_a():
    """Let tracepoint A enable tracepoint B, and let a third tracepoint disable B. Check that B counts the calls in between.
    Return B's mechanism."""
    b = disabled("gtp_target_leaf", "collect n")
    trace("gtp_target_add", "teval $enable = %d" % b)
    trace("gtp_target_obj", "teval $disable = %d" % b)
    cmd("tstart")
    how = mechanism(b)
    for line in ("call leaf 1", "call add 1 2", "call leaf 2", "call leaf 3", "call obj 1", "call leaf 4", "call add 1 2",
                 "call leaf 5"):
        target(line)
    equal(hits(b), 3, "hits of B")
    cmd("tstop")
    seen = [number("n") for _ in frames() if number("$tracepoint") == b]
    equal(seen, [2, 3, 5], "calls between A and the other")
    cmd("delete")
    return how


@test("B only after A: exactly the calls in between, with each mechanism")
def triggers():
    for off in ((), ("jit",), ("jumps",), ("jumps", "jit")):
        with without(*off):
            note("without", *off, "by", b_after_a())


@test("each run begins with GDB's settings; enable and disable in between")
def runs():
    b = disabled("gtp_target_leaf")
    trace("gtp_target_add", "teval $enable = %d" % b)
    for say, counts in (("", (0, 1)), ("enable", (1, 2)), ("disable", (0, 1))):
        if say:
            cmd("%s %d" % (say, b))
        cmd("tstart")
        target("call leaf 1")
        equal(hits(b), counts[0], "before A, after " + (say or "nothing"))
        target("call add 1 2")
        target("call leaf 1")
        equal(hits(b), counts[1], "after A")
        check("enabled" in cmd("monitor status"), "monitor status does not say it")
        cmd("tstop")
    cmd("tstart")
    target("call add 1 2")
    cmd("disable %d" % b)
    target("call leaf 1")
    equal(hits(b), 0, "when GDB has disabled it again")


@test("on all CPUs: no hit before A, all hits after it; an aggregation as well")
def on_all_cpus():
    cmd("tvariable $count_leaf")
    b, c = disabled("gtp_target_leaf"), disabled("gtp_target_leaf", "teval $count_leaf = 1")
    trace("gtp_target_str", "teval $enable = %d" % b, "teval $enable = %d" % c)
    cmd("tstart")
    looped("leaf", ROUNDS)
    equal((hits(b), hits(c)), (0, 0), "before A")
    before = nested() + missed()
    target("call str now")
    made = looped("leaf", ROUNDS)["leaf"]
    lost = nested() + missed() - before
    equal((hits(b) + lost, hits(c) + lost), (made, made), "after A")


@test("A in the middle of calls on all CPUs: no frame of B is older than A's")
def in_the_middle():
    b = disabled("gtp_target_leaf", "collect $clock")
    a = trace("gtp_target_add", "collect $clock", "teval $enable = %d" % b)
    cmd("tstart")
    busy = background("loop leaf 1000000000")
    shell()("gtp_leafs() { sed -n 's/^count leaf //p' /proc/gtp_target; }; n=$(gtp_leafs); "
            "while [ $(gtp_leafs) = $n ]; do :; done")
    equal(hits(b), 0, "before A")
    address_ = address("&gtp_target_add")
    shell()("echo at %x >/proc/gtp_target" % address_)
    until(lambda: hits(b) > 100, "no hit of B")
    target("end")
    busy.wait()
    cmd("tstop")
    order = [number("$tracepoint") for _ in zip(range(50), frames())]
    cmd("tfind none")
    equal(order, [a] + [b] * (len(order) - 1), "frames")


@test("one shot: a tracepoint that disables itself has at most one hit on each CPU")
def one_shot():
    num = int(matches(r"racepoint (\d+) at", cmd("trace gtp_target_leaf")).group(1))
    cmd("commands %d" % num, "teval $disable = %d" % num, "end")
    cmd("tstart")
    looped("leaf", ROUNDS)
    check(1 <= hits(num) <= CPUS, "%d hits on %d CPUs" % (hits(num), CPUS))
    seen = hits(num)
    looped("leaf", ROUNDS)
    equal(hits(num), seen, "later")


@test("from NMIs, and of kernel tracepoints")
def from_nmis():
    b = disabled("gtp_target_leaf")
    trace("*__traceiter_gtp_target_count", "teval $enable = %d" % b)
    cmd("tstart")
    target("call leaf 1")
    target("nmi 3")
    target("call leaf 1")
    target("call leaf 1")
    equal(hits(b), 2, "after the NMIs")


@test("numbers that no tracepoint has are refused or counted; reading is refused")
def refusals():
    num = trace("gtp_target_leaf", "teval $enable = 999")
    text = refused("tstart")
    check("there is no tracepoint 999" in text, text)
    cmd("delete %d" % num)
    trace("gtp_target_leaf", "teval $enable = (long)n")
    cmd("tstart")
    target("call leaf 12345")
    check(re.search(r"no target: 1 times", cmd("monitor status")), cmd("monitor status"))
    cmd("tstop")
    cmd("delete")
    trace("gtp_target_leaf", "collect $disable")
    text = refused("tstart")
    check("no expression can read it" in text, text)


# The user's variables ----------------------------------------------------------------------------

@test("sums of additions and subtractions, in actions and conditions, negative ones included")
def sums():
    for variable in ("$n = 100", "$taken = 0", "$seen = 0"):
        cmd("tvariable " + variable)
    trace("gtp_target_add if ($seen += 1) > 1", "teval $n = $n + a", "teval $taken = $taken - b - 1",
          "collect $n, $taken, $seen")
    cmd("tstart")
    for a, b in ((7, 7), (5, 3), (-9, 4), (0, -2)):
        target("call add %d %d" % (a, b))
    equal((number("$n"), number("$taken"), number("$seen")), (96, -8, 4), "while the run goes on")
    cmd("tstop")
    equal(collected("$n", "$taken", "$seen"), [(105, -4, 2), (96, -9, 3), (96, -8, 4)])


@test("what joins a run may only add to variables that the run only adds to")
def joining():
    cmd("tvariable $n = 0")
    trace("gtp_target_leaf", "teval $n = $n + 1")
    cmd("tstart")
    target("call leaf 1")
    trace("gtp_target_add if ($n = $n + 10) != 0")
    target("call add 1 2")
    text = refused("trace gtp_target_add if ($n = 5) == 5")
    check("n is only added to in this run, without a lock: tstop and tstart again" in text, text)
    target("call add 1 2")
    target("call leaf 1")
    equal(number("$n"), 22)
    cmd("tstop")
    cmd("tstart")
    target("call add 1 2")
    target("call leaf 1")
    equal(number("$n"), 6)


run()
