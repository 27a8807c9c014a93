# SPDX-License-Identifier: GPL-2.0-only
# Functions' returns: $ret, $latency and $entry_clock at tracepoints at their first instructions.
from fixture import load_tables
from inner import Inner
from lib import *
from others import *

CROWD = 300
DEEP = 500


def returning(where, *actions, passcount=None):
    """A tracepoint that is reported at the return, in a run; its number."""
    num = trace(where, *(actions or ("collect $ret",)), passcount=passcount)
    cmd("tstart")
    return num


def finished(calls_made, num):
    """The run is over: each call is a frame, and nothing was missed or inside another hit."""
    cmd("tstop")
    equal((nested(), missed()), (0, 0))
    equal(hits(num), calls_made)


@test("$ret is what the function returns, $kret the same; a negative int is one with a cast")
def value_returned():
    other = trace("*gtp_target_out", "collect $ret, n")
    num = returning("*gtp_target_obj", "collect o->id, $ret, $kret")
    for i in range(4):
        target("call obj %d" % i)
        target("call out %d" % i)
    cmd("tstop")
    rows = [(number("o->id"), number("$ret"), number("$kret")) for _ in frames() if number("$tracepoint") == num]
    equal(rows, [(100 + i, -5, -5) for i in range(4)])
    rows = [(number("n"), number("(int)$ret")) for _ in frames() if number("$tracepoint") == other]
    equal(rows, [(i, -i) for i in range(4)])


@test("registers are the entry's, the frame's pc too; memory is as of the return")
def out_parameter():
    returning("*gtp_target_out", "collect $regs, n, out, *out, $ret")
    target("call out 21")
    cmd("tstop")
    for _ in frames():
        equal((number("n"), number("*out"), number("(int)$ret")), (21, 42, -21))
        equal(number("$pc"), address("&gtp_target_out"))


@test("$latency is as long as the call slept, $entry_clock when it began")
def clocks():
    returning("*gtp_target_nap", "collect $clock, $entry_clock, $latency")
    target("call nap 50")
    cmd("tstop")
    rows = collected("$clock", "$entry_clock", "$latency")
    equal(len(rows), 1)
    clock, entry, latency = rows[0]
    equal(clock - entry, latency)
    check(50e6 <= latency < 30e9, "%d ns" % latency)


@test("a condition without $ret and $latency is decided at the entry")
def at_the_entry():
    num = returning("*gtp_target_out if n > 2 && *out == 1000", "collect n, *out, $ret")
    for i in range(5):
        target("call out %d" % i)
    finished(2, num)
    equal(collected("n", "*out"), [(3, 6), (4, 8)])


@test("a condition with them is decided at the return")
def at_the_return():
    slow = trace("*gtp_target_obj if $latency > 1000000000000")
    fast = trace("*gtp_target_obj if $latency < 1000000000000")
    num = returning("*gtp_target_out if (int)$ret < -2 && *out == 2 * n", "collect n")
    for i in range(5):
        target("call out %d" % i)
        target("call obj 1")
    finished(2, num)
    equal((hits(slow), hits(fast)), (0, 5))
    equal([number("n") for _ in frames() if number("$tracepoint") == num], [3, 4])


@test("entry and return of one function, both in one run")
def both_ends():
    entry = trace("*gtp_target_obj", "collect o->id")
    num = returning("*gtp_target_obj", "collect $ret")
    made = looped("obj", 50)["obj"]
    finished(made, num)
    equal((hits(entry), made), (made, 50 * CPUS))


@test("exact counts on all CPUs, with interrupts that return too")
def counts():
    irq = trace("*gtp_target_irq", "collect n, $ret")
    add = trace("*gtp_target_add", "collect a, b, $ret")
    cmd("set circular-trace-buffer on")
    num = returning("*gtp_target_obj", "collect $ret")
    made = looped("mix", 300)
    cmd("tstop")
    skipped = nested() + missed()
    note("skipped", skipped, made)
    equal(made["obj"], 300 * CPUS)
    equal(hits(num) + hits(add) + hits(irq) + skipped, made["obj"] + made["add"] + made["irq"])
    check(skipped <= made["irq"], "%d skipped, %d interrupts" % (skipped, made["irq"]))
    for num_, right in ((add, "a + b"), (irq, "n ^ 1")):
        cmd("tfind tracepoint %d" % num_)
        equal(number("$ret"), number(right))


@test("a function that calls itself %d deep: each call returns what it should" % DEEP)
def recursion():
    num = returning("*gtp_target_recurse", "collect n, $ret")
    target("call recurse %d" % DEEP)
    finished(DEEP + 1, num)
    equal(collected("n", "$ret"), [(i, i) for i in range(DEEP + 1)])


@test("a tail call: both functions return the same")
def tail_call():
    other = trace("*gtp_target_add", "collect a, b, $ret")
    num = returning("*gtp_target_tail", "collect n, $ret")
    target("call tail 7")
    cmd("tstop")
    equal((hits(num), hits(other)), (1, 1))
    equal(collected("$ret"), [8, 8])


@test("arguments and structures on the stack are where the function looks for them")
def on_the_stack():
    other = trace("*gtp_target_triple", "collect n, $ret")
    num = returning("*gtp_target_eight", "collect a, $ret")
    target("call eight 3")
    target("call triple 5")
    cmd("tstop")
    equal((hits(num), hits(other)), (1, 1))
    equal(collected("$ret"), [3 + 300 + 4000, 5 + 60 + 700 + 5])


@test("%d tasks that sleep in the function at once: all their returns" % CROWD)
def crowd():
    num = returning("*gtp_target_wait", "collect n, $ret, $latency")
    target("crowd %d" % CROWD)
    equal(hits(num), 0)
    target("release")
    finished(CROWD, num)
    rows = collected("n", "$ret", "$latency")
    equal(sorted(row[:2] for row in rows), [(i, 2 * i) for i in range(CROWD)])
    check(min(row[2] for row in rows) > 0, "a latency of 0")


@test("a task that ends inside never returns, and leaves nothing that matters")
def exits_inside():
    num = returning("*gtp_target_exit", "collect n, $ret")
    for i in range(50):
        target("call exit %d" % i)
    target("call out 1")
    finished(0, num)


@test("a run ends with tasks inside: they return, no frame comes of it, and a new run does not know them")
def run_ends_first():
    num = returning("*gtp_target_wait", "collect n, $ret")
    target("crowd 20")
    cmd("tstop")
    equal(hits(num), 0)
    cmd("tstart")
    target("release")
    target("crowd 5")
    target("release")
    finished(5, num)


@test("tasks inside when gdbtp goes return to where they came from")
def module_goes():
    num = returning("*gtp_target_wait", "collect n, $ret")
    target("crowd 20")
    equal(hits(num), 0)
    cmd("tstop")
    disconnect()
    shell()("rmmod gdbtp")
    target("release")
    shell()("insmod $GTP_MODULE")
    load_tables()
    connect()
    num = returning("*gtp_target_wait", "collect n, $ret")
    target("crowd 3")
    target("release")
    finished(3, num)


@test("a place that is no function's first instruction is refused in words")
def refusals():
    inside = place()
    num = trace("*%#x" % inside, "collect $ret")
    matches(r"first instruction on; this is gtp_target_add\+0x", refused("tstart"))
    other = trace("*gtp_target_obj", "collect $ret")
    text = cmd("tstart")
    matches(r"tracepoint %d is not armed .*first instruction" % num, text)
    target("call obj 1")
    cmd("tstop")
    equal(hits(other), 1)


@test("a dprintf with $ret prints when the function returns")
def dprintf():
    cmd("maint packet QTinit")
    disconnect()
    with Inner("set dprintf-style agent", 'dprintf gtp_target_out,"out %d is %d\\n",n,(int)$ret') as gdb_:
        text = gdb_.during("call out 9", "call out 10")
        equal(re.findall(r"^out .*", text, re.M), ["out 9 is -9", "out 10 is -10"])
        gdb_.leave()


run()
