# SPDX-License-Identifier: GPL-2.0-only
# Tests $ret, $latency and $entry_clock at the returns of functions in programs. Compares them with the values that the
# programs compute themselves.
import os

from lib import *
from programs import BUILT, PROGRAM, Process, base_of, copy, gtp_trace, line_of, linked, running_program


def rows(num, *expressions):
    """Return the values of expressions in each frame of one tracepoint."""
    return [tuple(number(e) for e in expressions) for _ in frames() if number("$tracepoint") == num]


def triangle(n):
    return n * (n + 1) // 2


# function of tests/program -> (n, the value that it returns) for each return during "each FUNCTION 6"
RETURNS = {
    "two_ends": [(0, 0), (1, -1), (2, 6), (3, -3), (4, 12), (5, -5)],
    "narrow": [(n, -n) for n in range(6)],
    "depth": [(k, triangle(k)) for n in range(6) for k in range(n + 1)],
    "chooses": [(0, 7), (1, 9), (2, 13), (3, -97), (4, 1), (5, 640)],
    "jumps_on": [(n, 5 * n + 5) for n in range(6)],
    "jumps_out": [(n, 2 * n) for n in (1, 2, 4, 5)],
    "throws": [(n, 4 * n) for n in (0, 2, 4)],
    "catches": [(n, 1000 + (-n if n % 2 else 4 * n)) for n in range(6)],
    "interrupted": [(n, n + 4) for n in range(6)],
    "forks": [(n, n) for n in range(6)],
    "ends_thread": [(n, n) for n in (0, 2, 4)],
}


@test("$ret and the arguments of the entry, however calls end: recursion, a tail call, longjmp, exceptions, signals, fork")
def returns():
    nums = {name: gtp_trace("-x %s %s" % (PROGRAM, name), "n, (int)$ret") for name in RETURNS}
    with running_program() as one:
        cmd("tstart")
        for name in RETURNS:
            if name != "throws":  # throws() is called by catches()
                one("each %s 6" % name)
        cmd("tstop")
    wanted = dict(RETURNS, two_ends=RETURNS["two_ends"] + [(100, 300)] * 6)  # the signal's handler calls two_ends(), too
    equal({name: rows(num, "n", "(int)$ret") for name, num in nums.items()}, wanted)
    equal((nested(), missed()), (0, 0))
    cmd("tfind tracepoint %d" % nums["narrow"])
    cmd("tfind tracepoint")
    equal(cmd("gtp print $ret").split()[-1], "-1")


@test("a call that ends by a jump into a library is counted as missed; other calls of its function are reported")
def leaves():
    num = gtp_trace("-x %s leaves" % PROGRAM, "n, $ret")
    with running_program() as one:
        cmd("tstart")
        one("each leaves 6")
        cmd("tstop")
    equal((rows(num, "n", "$ret"), missed()), ([(1, 1), (3, 3), (5, 5)], 3))


@test("conditions on $ret and $latency at the return, others at the entry; memory is as at the return, and is faulted in")
def return_conditions():
    nums = [gtp_trace("-x %s work if %s" % (PROGRAM, text), "n, $ret") for text in
            ("$ret == 30", "n % 4 == 1", "$latency > 0 && p->y == 33 && n == 11", "$ret > 0 && n < 0")]
    text = gtp_trace("-x %s work if n == 7000" % PROGRAM, "$ret, $latency, $entry_clock", "/s text")
    entry = gtp_trace("-x %s work" % PROGRAM, "n")
    path = "/tmp/gtp-program/text"
    shell()("mkdir -p /tmp/gtp-program && head -c 4096 /dev/zero >%s && printf 'far away' >>%s && head -c 4088 /dev/zero >>%s" %
            (path, path, path))
    with running_program() as one:
        cmd("tstart")
        one("call 0 20")
        one("map " + path)
        cmd("tstop")
    equal([hits(num) for num in nums + [entry]], [1, 5, 1, 0, 21])
    equal(rows(nums[1], "n", "$ret"), [(n, 3 * n) for n in range(1, 20, 4)])
    cmd("tfind start")
    cmd("tfind tracepoint %d" % text)
    equal((number("$ret"), string("text")), (7001, "far away"))
    check(0 < number("$latency") < 10**10, "$latency")


@test("threads on all CPUs: each return is reported with the value of its own call")
def returns_together():
    cmd("set circular-trace-buffer on")
    num = gtp_trace("-x %s depth if n %% 10 == 9" % PROGRAM, "n, $ret")
    every = gtp_trace("-x %s depth if $ret >= 0" % PROGRAM)
    with running_program() as one:
        cmd("tstart")
        made = int(one("each_threads %d depth 30" % (2 * CPUS)))
        cmd("tstop")
    equal(made, 2 * CPUS * sum(map(triangle, range(30))))
    equal((hits(num), hits(every)), (2 * CPUS * (21 + 11 + 1), 2 * CPUS * 465))
    equal((nested(), missed()), (0, 0))
    equal({(n, v) for n, v in rows(num, "n", "$ret")}, {(n, triangle(n)) for n in (9, 19, 29)})


CROWD = 2000


@test("thousands of threads inside a function: each returns once, even after others were killed there; no room is lost")
def return_crowd():
    cmd("set circular-trace-buffer on")
    num = gtp_trace("-x %s stays if $ret >= 0" % PROGRAM)
    every = gtp_trace("-x %s stays" % PROGRAM)
    killed = 9  # 18,000 calls are more than gdbtp can follow at a time
    cmd("tstart")
    for _ in range(killed):
        one = Process(PROGRAM)
        one("crowd 50 40")
        one.kill()
    entered = killed * 50 * 40
    equal((hits(num), hits(every), missed()), (0, entered, 0))
    with running_program() as one:
        one("crowd %d 1" % CROWD)
        equal((hits(num), hits(every), missed()), (0, entered + CROWD, 0))
        equal(int(one("crowd_goes")), CROWD * (CROWD - 1))
        equal((hits(num), hits(every), missed()), (CROWD, entered + CROWD, 0))
        one("crowd %d 1" % CROWD)
        cmd("tstop")
        cmd("tstart")
        equal(int(one("crowd_goes")), CROWD * (CROWD - 1))
        equal((hits(num), hits(every), missed()), (0, 0, 0))
        one("crowd 3 2")
        one("crowd_goes")
        equal((hits(num), hits(every), missed()), (6, 6, 0))
        cmd("tstop")


@test("a function whose first instruction returns; a call that execs never returns, and the new program's calls are exact")
def return_ends():
    short = gtp_trace("-x %s nothing" % PROGRAM, "$rdi, $latency")
    becomes = gtp_trace("-x %s becomes" % PROGRAM, "$ret")
    begins = gtp_trace("-x %s becomes" % PROGRAM)
    deep = gtp_trace("-x %s depth" % PROGRAM, "n, $ret")
    with running_program() as one:
        cmd("tstart")
        for _ in range(3):
            one("each nothing 4")
            one("each depth 3")
            one.process.stdin.write("exec\n")
        one("pid")
        cmd("tstop")
    equal([hits(num) for num in (short, becomes, begins, deep)], [12, 0, 3, 18])
    equal(missed(), 0)
    equal(rows(short, "$rdi"), [(n,) for n in range(4)] * 3)
    equal(rows(deep, "n", "$ret"), [(k, triangle(k)) for n in range(3) for k in range(n + 1)] * 3)


@test("more concurrent calls than there is room for: each call is reported or counted as missed")
def return_room():
    cmd("set circular-trace-buffer on")
    num = gtp_trace("-x %s depth if $ret >= 0" % PROGRAM)
    with running_program() as one:
        cmd("tstart")
        equal(int(one("deep 20000")), triangle(20000))
        seen, lost = hits(num), missed()
        equal(seen + lost, 20001)
        check(8192 < seen <= 16384, "%d were reported" % seen)
        equal(int(one("deep 100")), triangle(100))
        cmd("tstop")
    equal((hits(num), missed()), (seen + 101, lost))


@test("unoptimised code; an instruction after a push; inlined copies, jumps back to the place and unknown ends are refused")
def return_places():
    slow = gtp_trace("-x %s slow_sum" % PROGRAM, "n, $ret")
    pushed = gtp_trace("-x %s *%#x" % (PROGRAM, linked(PROGRAM)["pushed"] + 1), "$ret")
    with running_program() as one:
        cmd("tstart")
        one("slow 6")
        one("pushed 4")
        cmd("tstop")
    equal((rows(slow, "n", "$ret"), rows(pushed, "$ret")), ([(6, 21)], [(2 * n,) for n in range(4)]))
    matches("is inlined there", refused("gtp trace -x %s obey if $ret == 1" % PROGRAM))
    matches("jumps back to", refused("gtp trace -x %s slow.c:%d if $ret == 1" % (PROGRAM, line_of("step"))))
    cmd("delete")
    trace("*%#x" % (base_of(cmd("gtp lib " + PROGRAM)) + linked(PROGRAM)["_start"]), "collect $ret")
    matches("not known where this function of a program returns", refused("tstart"))


@test("wrong lists of returns are refused, and the right one still counts")
def return_lists():
    base = base_of(cmd("gtp lib " + PROGRAM))
    where = linked(PROGRAM)["work"]
    at, code = "%x" % (base + where), "r%x" % where
    for packet, words in (("%s:0:" % at, "no list of returns"), ("%s:0:%s;" % (at, code), "no list of returns"),
                          ("%s:4:%s" % (at, code), "no list of returns"), ("%s:10008:%s" % (at, code), "no list of returns"),
                          ("%s:0:%s" % (at, ",".join([code] * 513)), "no list of returns"),
                          ("%s:0:%s,r10" % (at, code), "has no code there"), ("%s:0:rffffffffffffffff" % at, "has no code there"),
                          ("%x:0:%s" % (base + linked(PROGRAM)["total"], code), "has no code there"),
                          ("%x:0:%s" % (where, code), "not known any more")):
        matches('"E\\..*' + words, cmd("maint packet QGtpExits:" + packet))
    num = gtp_trace("-x %s work" % PROGRAM, "n, $ret")
    with running_program() as one:
        cmd("tstart")
        one("call 1 2")
        cmd("tstop")
        equal((rows(num, "n", "$ret"), missed()), ([(1, 3), (2, 6)], 0))


@test("a file that was changed after GDB had read it: no probe at a place that no longer returns")
def changed():
    path, where = copy("changed"), linked(PROGRAM)["nothing"]
    num = trace("*%#x" % (base_of(cmd("gtp lib --at %s %s" % (path, PROGRAM))) + where), "collect $latency")
    with running_program(path) as one:
        cmd("tstart")
        one("each nothing 2")
        cmd("tstop")
    equal(hits(num), 2)
    # In this program an address is also an offset in the file. Put a nop where the function returned.
    shell()(r"printf '\220' | dd of=%s bs=1 seek=%d conv=notrunc status=none" % (path, where))
    matches("does not end at %#x, where GDB has read" % where, refused("tstart"))


# This must be the last test: once GDB knows the program without debug information, it chooses other places in
# functions.
@test("$ret without debug information, by .eh_frame: arguments are in registers; names that nothing describes are refused")
def without_debug_information():
    bare = os.path.join(BUILT, "bare")
    nums = {name: gtp_trace("-x %s %s" % (bare, name), "(int)$rdi, (int)$ret") for name in RETURNS}
    with running_program(bare) as one:
        cmd("tstart")
        for name in RETURNS:
            if name != "throws":  # catches() calls throws()
                one("each %s 6" % name)
        cmd("tstop")
    wanted = dict(RETURNS, two_ends=RETURNS["two_ends"] + [(100, 300)] * 6)  # the signal's handler calls it, too
    equal({name: rows(num, "(int)$rdi", "(int)$ret") for name, num in nums.items()}, wanted)
    equal((nested(), missed()), (0, 0))
    cmd("delete")
    matches("has neither debug information nor a range in .eh_frame", refused("gtp trace -x %s _init if $ret == 1" % bare))


run()
