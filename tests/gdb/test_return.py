# SPDX-License-Identifier: GPL-2.0-only
# Tests $ret, $latency and $entry_clock at tracepoints at the first instructions of functions. Each test runs twice: with a
# pad that follows the calls, and with a kretprobe.
import contextlib
import sys

from fixture import KMOD, load as load_gdbtp, load_tables
from inner import Inner
from lib import *
from others import *
from where import matching

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.run import aggregations

CROWD = 300
ALL_AT_ONCE = 2000
KILLED = 20
SIGNALS = 30  # the number of signals that a process sends itself and handles
DEEP = 500
FOLLOWED = "jump, follows the call"
BY_KERNEL = "kretprobe"


def each_way(name):
    """Make a test for each of the two mechanisms: a pad that follows the calls, and a kretprobe."""
    def for_each(function):
        for way in (FOLLOWED, BY_KERNEL):
            def turn(way=way):
                cmd("monitor jumps " + ("on" if way == FOLLOWED else "off"))
                try:
                    function(way)
                finally:
                    connect()
                    cmd("monitor jumps on")
            test("%s: %s" % (way, name))(turn)
    return for_each


def returning(way, where, *actions):
    """Define a tracepoint that fires at the return, start a run, and check its mechanism. Return its number."""
    num = trace(where, *(actions or ("collect $ret",)))
    cmd("tstart")
    equal(mechanism(num), way)
    return num


def finished(calls_made, num):
    """End the run. Check that each call is a hit, and that nothing was missed or inside another hit."""
    cmd("tstop")
    equal((nested(), missed()), (0, 0))
    equal(hits(num), calls_made)


@each_way("$ret is what the function returns, $kret the same; a negative int is one with a cast")
def value_returned(way):
    other = trace("*gtp_target_out", "collect $ret, n")
    num = returning(way, "*gtp_target_obj", "collect o->id, $ret, $kret")
    for i in range(4):
        target("call obj %d" % i)
        target("call out %d" % i)
    cmd("tstop")
    rows = [(number("o->id"), number("$ret"), number("$kret")) for _ in frames() if number("$tracepoint") == num]
    equal(rows, [(100 + i, -5, -5) for i in range(4)])
    rows = [(number("n"), number("(int)$ret")) for _ in frames() if number("$tracepoint") == other]
    equal(rows, [(i, -i) for i in range(4)])


@each_way("registers are the entry's, the frame's pc too; memory is as of the return")
def out_parameter(way):
    returning(way, "*gtp_target_out", "collect $regs, n, out, *out, $ret")
    target("call out 21")
    cmd("tstop")
    for _ in frames():
        equal((number("n"), number("*out"), number("(int)$ret")), (21, 42, -21))
        equal(number("$pc"), address("&gtp_target_out"))


@each_way("$latency is as long as the call slept, $entry_clock when it began")
def clocks(way):
    returning(way, "*gtp_target_wait", "collect $clock, $entry_clock, $latency")
    begins = there.clock_ns()
    target("crowd 1")
    inside = there.clock_ns()
    shell()("sleep 0.05")
    leaves = there.clock_ns()
    target("release")
    ends = there.clock_ns()
    cmd("tstop")
    (clock, entry, latency), = collected("$clock", "$entry_clock", "$latency")
    equal(clock - entry, latency)
    check(leaves - inside <= latency <= ends - begins,
          "%d ns, not between %d and %d" % (latency, leaves - inside, ends - begins))


@each_way("a condition without $ret and $latency is decided at the entry")
def at_the_entry(way):
    num = returning(way, "*gtp_target_out if n > 2 && *out == 1000", "collect n, *out, $ret")
    for i in range(5):
        target("call out %d" % i)
    finished(2, num)
    equal(collected("n", "*out"), [(3, 6), (4, 8)])


@each_way("a condition with them is decided at the return")
def at_the_return(way):
    slow = trace("*gtp_target_obj if $latency > 1000000000000")
    fast = trace("*gtp_target_obj if $latency < 1000000000000")
    num = returning(way, "*gtp_target_out if (int)$ret < -2 && *out == 2 * n", "collect n")
    for i in range(5):
        target("call out %d" % i)
        target("call obj 1")
    finished(2, num)
    equal((hits(slow), hits(fast)), (0, 5))
    equal([number("n") for _ in frames() if number("$tracepoint") == num], [3, 4])


@test("entry and return of one function, both in one run")
def both_ends():
    entry = trace("*gtp_target_obj", "collect o->id")
    num = trace("*gtp_target_obj", "collect $ret")
    cmd("tstart")
    made = looped("obj", 50)["obj"]
    finished(made, num)
    equal((hits(entry), made), (made, 50 * CPUS))


@each_way("exact counts on all CPUs, with interrupts that return too")
def counts(way):
    irq = trace("*gtp_target_irq", "collect n, $ret")
    add = trace("*gtp_target_add", "collect a, b, $ret")
    cmd("set circular-trace-buffer on")
    num = returning(way, "*gtp_target_obj", "collect $ret")
    made = looped("mix", 300)
    cmd("tstop")
    skipped = nested() + missed()
    note("skipped", skipped, made)
    if way == FOLLOWED:
        equal(skipped, 0)
    check(made["obj"] >= 300 * CPUS, "too few calls: %s" % made)
    equal(hits(num) + hits(add) + hits(irq) + skipped, made["obj"] + made["add"] + made["irq"])
    check(skipped <= made["irq"], "%d skipped, %d interrupts" % (skipped, made["irq"]))
    check(hits(add), "no hit")
    for num_, right in ((add, "a + b"), (irq, "n ^ 1")):
        if hits(num_):  # perhaps all interrupts came inside a kprobe's handler
            cmd("tfind tracepoint %d" % num_)
            equal(number("$ret"), number(right))


@each_way("a function that calls itself %d deep: each call returns what it should" % DEEP)
def recursion(way):
    num = returning(way, "*gtp_target_recurse", "collect n, $ret")
    target("call recurse %d" % DEEP)
    finished(DEEP + 1, num)
    equal(collected("n", "$ret"), [(i, i) for i in range(DEEP + 1)])


@each_way("a tail call: both functions return the same")
def tail_call(way):
    other = trace("*gtp_target_add", "collect a, b, $ret")
    num = returning(way, "*gtp_target_tail", "collect n, $ret")
    target("call tail 7")
    cmd("tstop")
    equal((hits(num), hits(other)), (1, 1))
    equal(collected("$ret"), [8, 8])


@test("arguments and structures on the stack are where the function expects them")
def on_the_stack():
    other = trace("*gtp_target_triple", "collect n, $ret")
    num = returning(BY_KERNEL, "*gtp_target_eight", "collect a, $ret")
    target("call eight 3")
    target("call triple 5")
    cmd("tstop")
    equal((hits(num), hits(other)), (1, 1))
    equal(collected("$ret"), [3 + 300 + 4000, 5 + 60 + 700 + 5])


@each_way("%d tasks that sleep in the function at once: all their returns" % CROWD)
def crowd(way):
    num = returning(way, "*gtp_target_wait", "collect n, $ret, $latency")
    target("crowd %d" % CROWD)
    equal(hits(num), 0)
    target("release")
    finished(CROWD, num)
    rows = collected("n", "$ret", "$latency")
    equal(sorted(row[:2] for row in rows), [(i, 2 * i) for i in range(CROWD)])
    check(min(row[2] for row in rows) > 0, "a latency of 0")


def only():
    """Return the run's only aggregation as {key: count} and {key: sum}."""
    one, = aggregations.read().all
    equal(one.noroom, [], "what found no room")
    return {entry.keys[0]: entry.count for entry in one.entries}, {entry.keys[0]: entry.summary for entry in one.entries}


@each_way("%d tasks that sleep in the function at once: each return is counted, and no frame is left" % ALL_AT_ONCE)
def all_at_once(way):
    for name in ("key_n", "sum_ret"):
        cmd("tvariable $" + name)
    num = returning(way, "*gtp_target_wait", "teval $key_n = (long)n", "teval $sum_ret = $ret")
    target("crowd %d" % ALL_AT_ONCE)
    equal(hits(num), 0)
    target("release")
    counts, sums = only()
    finished(ALL_AT_ONCE, num)
    equal(counts, {i: 1 for i in range(ALL_AT_ONCE)})
    equal(sums, {i: [2 * i] for i in range(ALL_AT_ONCE)})
    matches("Collected 0 trace frames", cmd("tstatus"))


@each_way("$latency as the value of an aggregation: what gtp hist makes, with a condition on it")
def histogram(way):
    said = cmd("gtp hist $latency by n at *gtp_target_wait if $latency > 1000")
    name = matches(r"\$(hist_latency\S*);", said).group(1)
    num = number("$tpnum")
    cmd("gtp stats $latency at *gtp_target_obj if $latency > 1000000000000")
    cmd("tstart")
    equal(mechanism(num), way)
    target("crowd 5")
    inside = there.clock_ns()
    shell()("sleep 0.05")
    leaves = there.clock_ns()
    target("release")
    target("call obj 1")
    cmd("tstop")
    equal(hits(num), 5)
    entries = {one.name: one for one in aggregations.read().all}[name].entries
    equal(sorted(entry.keys[0] for entry in entries), list(range(5)))
    for entry in entries:
        value_, least, most = entry.summary
        equal((entry.count, value_, value_), (1, least, most))
        check(least >= leaves - inside, "%d ns, and it slept %d" % (least, leaves - inside))
        equal(entry.buckets, {least.bit_length() + 1: 1})
    check("$latency" in cmd("gtp show " + name), cmd("gtp show " + name))
    equal(hits(num + 1), 0)


def followed():
    """Return the number of followed calls that have not returned yet, or are still in gdbtp's code."""
    return int(matches(r"(-?\d+) calls are followed", cmd("monitor jumps")).group(1))


HANDLES = """
import os, signal
signal.signal(signal.SIGUSR1, lambda *_: None)
for _ in range(%d):
    os.kill(os.getpid(), signal.SIGUSR1)
print("handled", os.getpid(), flush=True)
""" % SIGNALS


@each_way("tasks that SIGKILL ends inside of get_signal() never return from it, others do, and none is left over")
def killed(way):
    num = returning(way, "*get_signal", "collect $current_task_pid, $ret")
    text = shell()("for i in $(seq %d); do sleep 1000 & echo killed $!; kill -9 $!; wait $!; done 2>/dev/null; "
                   "python3 -c %s" % (KILLED, quoted(HANDLES)))
    cmd("tstop")
    check(hits(num) > 0, "no hit")
    rows = collected("$current_task_pid", "(char)$ret")
    handler = int(matches(r"^handled (\d+)$", text).group(1))
    equal(rows.count((handler, 1)), SIGNALS)
    dead = {int(pid) for pid in re.findall(r"^killed (\d+)$", text, re.M)}
    equal(len(dead), KILLED)
    equal([row for row in rows if row[0] in dead and row[1]], [])
    until(lambda: followed() == 0, "the calls of dead tasks to be forgotten")


@each_way("a task that ends inside never returns, and leaves nothing that matters")
def exits_inside(way):
    num = returning(way, "*gtp_target_exit", "collect n, $ret")
    for i in range(50):
        target("call exit %d" % i)
    target("call out 1")
    finished(0, num)


def callers():
    """Return the names of the functions on the stack that gtp_target_stack() saw, starting with gtp_target_stack()."""
    with there.open("/proc/gtp_target") as file:
        return re.findall(r"^stack \d+ (\w+)", file.read(), re.M)


@test("stack traces from inside show the callers, on a task's stack and on the interrupt stack")
def stacks():
    for call, gate in (("stack", "gtp_gates_framed"), ("irqstack", "gtp_gates_bare")):
        target("call %s 1" % call)
        wanted = callers()
        check(wanted[0] == "gtp_target_stack" and len(wanted) >= 6, wanted)
        num = returning(FOLLOWED, "*gtp_target_stack", "collect $ret")
        target("call %s 1" % call)
        seen = callers()
        finished(1, num)
        check(gate in seen, "no gate in %s" % seen)
        equal([name for name in seen if name != gate], wanted)
        cmd("delete")


def printed_stack():
    """Return the last stack that the kernel printed, starting with gtp_target_stack(). A question mark means a word that may
    look like code by chance."""
    text = shell()("dmesg").rpartition("Call Trace:")[2]
    found = re.findall(r"^.*? ((?:\? )?)(\w+)\+0x\w+/0x\w+", text, re.M)
    names = [mark + name for mark, name in found]
    return names[names.index("gtp_target_stack"):]


@test("a stack that the kernel prints shows the callers beyond the gate, and marks none of them as unreliable")
def printed():
    for call, gate in (("stack", "gtp_gates_framed"), ("irqstack", "gtp_gates_bare")):
        target("call %s 1" % call)
        wanted = printed_stack()
        check(len([name for name in wanted if "?" not in name]) >= 6, wanted)
        num = returning(FOLLOWED, "*gtp_target_stack", "collect $ret")
        target("call %s 1" % call)
        seen = printed_stack()
        finished(1, num)
        equal(seen[1], gate)
        equal([name for name in seen[2:] if "?" not in name], [name for name in wanted[1:] if "?" not in name])
        cmd("delete")


def traced_stack():
    """Return the functions in the stack of ftrace's only record of the fixture's call."""
    with there.open(os.path.join(TRACING, "trace")) as file:
        stacks_ = [re.findall(r"^ => (\w+)", text, re.M) for text in file.read().split("<stack trace>")]
    found, = [stack for stack in stacks_ if "gtp_target_stack" in stack and "dump_stack_lvl" not in stack]
    return found


# The fixture saves stacks of up to this many addresses. KASAN saves longer ones at each allocation. A trace that
# contains these, too, would never be read to its end.
SAVED = "size == 32"


@test("ftrace's stacktrace of a kprobe inside shows the callers beyond the gate")
def ftraced():
    write("kprobe_events", "p:gtp_inside stack_trace_save size=%si")
    write("events/kprobes/gtp_inside/filter", SAVED)
    write("events/kprobes/gtp_inside/trigger", "stacktrace if " + SAVED)
    try:
        write("events/kprobes/gtp_inside/enable", "1")
        stacks_ = []
        for follows in (False, True):
            if follows:
                num = returning(FOLLOWED, "*gtp_target_stack", "collect $ret")
            shell()("echo >%s/trace" % TRACING)
            target("call stack 1")
            stacks_.append(traced_stack())
        finished(1, num)
    finally:
        write("events/kprobes/gtp_inside/enable", "0")
        write("events/kprobes/gtp_inside/trigger", "!stacktrace")
        write("kprobe_events", "-:gtp_inside")
    wanted, seen = stacks_
    check("gtp_target_stack" in wanted and len(wanted) >= 6, wanted)
    equal(seen[seen.index("gtp_target_stack") + 1], "gtp_gates_framed")
    equal([name for name in seen if name != "gtp_gates_framed"], wanted)


LIVE_PATCH = "/sys/kernel/livepatch/gtp_livepatch/"


@test("a live patch completes while tasks sleep inside: the kernel can rely on their stacks")
def live_patch():
    if not os.path.exists(KMOD + "/gtp_livepatch.ko"):
        skip("this kernel has no live patches")
    num = returning(FOLLOWED, "*gtp_target_wait", "collect $ret")
    target("crowd 20")
    equal(followed(), 20)
    # Nothing wakes these tasks, so the kernel must see on their sleeping stacks that they are not in the old function.
    shell()("insmod %s/gtp_livepatch.ko" % KMOD)
    try:
        until(lambda: shell()("cat %stransition" % LIVE_PATCH) == "0\n", "the transition")
        equal(shell()("cat /proc/cmdline"), "patched\n")
        equal(followed(), 20)
    finally:
        target("release")
        shell()("echo 0 >%senabled" % LIVE_PATCH)
        until(lambda: not there.exists(LIVE_PATCH), "the way back")
        shell()("rmmod gtp_livepatch")
    finished(20, num)


POOL = 8192
SINKERS, SUNK = 28, 450


@test("more concurrent calls on full stacks than there are records: each is reported or counted as missed")
def full_pool():
    for name in ("key_n", "sum_ret"):
        cmd("tvariable $" + name)
    num = returning(FOLLOWED, "*gtp_target_sink", "teval $key_n = (long)n", "teval $sum_ret = $ret")
    target("crowd %d %d" % (SINKERS, SUNK))
    calls, lost, inside = SINKERS * (SUNK + 1), missed(), followed()
    note("%d calls, %d followed, %d missed" % (calls, inside, lost))
    equal(inside + lost, calls)
    check(lost > 0 and inside > POOL * 3 / 4, "%d followed, %d missed" % (inside, lost))
    target("release")
    counts, sums = only()
    cmd("tstop")
    equal((hits(num), nested(), missed()), (inside, 0, lost))
    equal(sum(counts.values()), inside)
    equal(sums, {n: [n * count] for n, count in counts.items()})
    equal(followed(), 0)


@test("another tracepoint at the same returns joins the run: calls that are already inside are not reported to it")
def joins():
    num = returning(FOLLOWED, "*gtp_target_wait if n > 2", "collect n, $ret")
    target("crowd 6")
    # GDB sends a new tracepoint before it knows the actions.
    other = trace("*gtp_target_wait if $ret >= 4")
    equal(mechanism(other), FOLLOWED)
    target("release")
    target("crowd 5")
    target("release")
    cmd("tstop")
    equal((hits(num), hits(other)), (3 + 2, 3))


@test("a CPU that goes offline and comes back leaves no calls of its idle task")
def offline():
    for back_first in (True, False):
        num = returning(FOLLOWED, "*do_idle if $latency == -1")
        shell()("echo 0 >/sys/devices/system/cpu/cpu1/online")
        try:
            if not back_first:
                cmd("tstop")
                until(lambda: followed() == 0, "the idle task's calls to be forgotten")
        finally:
            shell()("echo 1 >/sys/devices/system/cpu/cpu1/online")
        if back_first:
            cmd("tstop")
            until(lambda: followed() == 0, "the idle task's calls to be forgotten")
        equal(hits(num), 0)
        cmd("delete")


def sleepers():
    """Return the stacks of the tasks that the fixture's `crowd' has started, from /proc, as names of functions."""
    found = []
    for path in matching("/proc/[0-9]*/stack"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), there.open(path) as file:
            names = re.findall(r"\] (\w+)", file.read())
            if "gtp_target_wait" in names:
                found.append(names)
    return found


@test("stacks of tasks that sleep inside show the callers")
def sleeping_stacks():
    target("crowd 3")
    wanted = sleepers()
    target("release")
    equal(len(wanted), 3)
    num = returning(FOLLOWED, "*gtp_target_wait", "collect $ret")
    target("crowd 3")
    equal(followed(), 3)
    seen = sleepers()
    target("release")
    finished(3, num)
    equal([names.count("gtp_gates_framed") for names in seen], [1, 1, 1])
    equal([[name for name in names if name != "gtp_gates_framed"] for names in seen], wanted)
    equal(followed(), 0)


@each_way("a run ends with tasks inside: they return, no frame comes of it, and a new run does not know them")
def run_ends_first(way):
    num = returning(way, "*gtp_target_wait", "collect n, $ret")
    target("crowd 20")
    cmd("tstop")
    equal(hits(num), 0)
    cmd("tstart")
    target("release")
    target("crowd 5")
    target("release")
    finished(5, num)


@each_way("tasks inside when gdbtp goes return to where they came from")
def module_goes(way):
    num = returning(way, "*gtp_target_wait", "collect n, $ret")
    target("crowd 20")
    equal(hits(num), 0)
    cmd("tstop")
    disconnect()
    if way == FOLLOWED:
        matches("is in use", shell()("! rmmod gdbtp"))
        target("release")
    # Followed calls of an earlier run may keep the module in use for a moment.
    until(lambda: shell()("rmmod gdbtp || true") == "", "rmmod")
    if way == BY_KERNEL:
        target("release")
    load_gdbtp()
    load_tables()
    connect()
    cmd("monitor jumps " + ("on" if way == FOLLOWED else "off"))
    num = returning(way, "*gtp_target_wait", "collect n, $ret")
    target("crowd 3")
    target("release")
    finished(3, num)


@test("a place that is no function's first instruction is refused with the reason")
def refusals():
    inside = place()
    num = trace("*%#x" % inside, "collect $ret")
    matches(r"first instruction; this is gtp_target_add\+0x.*\(an inlined copy has none\)", refused("tstart"))
    other = trace("*gtp_target_obj", "collect $ret")
    text = cmd("tstart")
    matches(r"tracepoint %d is not armed .*first instruction" % num, text)
    target("call obj 1")
    cmd("tstop")
    equal(hits(other), 1)


@each_way("a dprintf with $ret prints when the function returns")
def dprintf(way):
    cmd("maint packet QTinit")
    disconnect()
    with Inner("set dprintf-style agent", 'dprintf gtp_target_out,"out %d is %d\\n",n,(int)$ret') as gdb_:
        text = gdb_.during("call out 9", "call out 10")
        equal(re.findall(r"^out .*", text, re.M), ["out 9 is -9", "out 10 is -10"])
        gdb_.leave()


run()
