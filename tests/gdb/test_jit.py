# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
# Tests expressions as machine code: the compiler is switched on and off, its state is shown, and code that finds no room in
# the area for machine code is interpreted.
import re

from lib import *


def engine(on):
    cmd("monitor jit " + ("on" if on else "off"))


def in_use():
    return int(matches(r"(\d+) of \d+ bytes", cmd("monitor jit")).group(1))


def error_in(text):
    """Return why the run ended, without the tracepoint's number, which differs each time."""
    return matches(r"stopped by an error \((.*), tracepoint \d+\)", text).group(1)


def both_engines(work):
    """Call WORK with the interpreter and with the compiler. Check that the results are equal, and return the result."""
    results = []
    try:
        for on in (False, True):
            fresh()
            engine(on)
            results.append(work(on))
    finally:
        engine(True)
    equal(results[1], results[0], "with machine code, as without it")
    return results[1]


@test("the same frames with machine code as without")
def same_frames():
    seen = ("o->id", "o->small", "o->big", "o->low", "o->values[n - 1]", "n", "$n")

    def work(on):
        cmd("tvariable $n = 0")
        trace("gtp_target_obj if o->id > 101 && (n & 1 || o->medium == 60002) && o->parent != 0",
              "collect o->id, o->small, o->big, o->low, o->values[n - 1], n",
              "collect *o, o->parent->name", "collect/s o->name", "teval $n = $n + n", "collect $n")
        cmd("tstart")
        check((in_use() > 1000) == on, cmd("monitor jit"))
        for i in (0, 1, 2, 3, 3, 2):
            target("call obj %d" % i)
        cmd("tstop")
        rows = collected(*seen)
        equal(len(rows), 4, "frames")
        return rows

    both_engines(work)


@test("an error is the same error with machine code")
def same_error():
    def work(on):
        trace("gtp_target_ptr", "collect p", "collect *(long *)p")
        cmd("tstart")
        target("call ptr 18")
        text = cmd("tstatus")
        cmd("tfind start")
        return error_in(text), number("p")

    check("0x18" in both_engines(work)[0], "the address is told")


@test("an unmapped user address is an error with that address, with machine code and without")
def user_address():
    def work(on):
        trace("gtp_target_ptr", "collect *(char *)p@4")
        cmd("tstart")
        target("call ptr 1000")
        return error_in(cmd("tstatus"))

    check("0x1000" in both_engines(work), "the address is told")


@test("monitor disas shows bytecode, and GDB itself the machine code")
def disassembled():
    num = trace("gtp_target_add if a == 12345", "collect a + b")
    cmd("tstart")
    text = cmd("monitor disas %d" % num)
    matches(r"const16 12345", text)
    places = re.findall(r"disassemble (0x[0-9a-f]+,\+\d+)", text)
    check(len(places) >= 2, text)
    for place in places:
        matches(r"\b(ret|jmp)\b", cmd("disassemble " + place))
    cmd("tstop")
    matches("only while the trace is running", cmd("monitor disas %d" % num))


@test("monitor jit and disas refuse what they do not know")
def refusals():
    for command in ("jit maybe", "disas", "disas x", "disas 999"):
        refused("monitor " + command)


@test("code that has no room in the arena is interpreted, which is reported; its hits are the same")
def arena_full():
    empty = in_use()
    room = int(matches(r"\d+ of (\d+) bytes", cmd("monitor jit")).group(1))
    long = " && ".join("o->values[%d] != %d" % (i % 4, 1000 + i) for i in range(180))
    nums = [trace("gtp_target_obj if " + long)]
    cmd("tstart")
    each = in_use() - empty
    cmd("tstop")
    nums += [trace("gtp_target_obj if " + long) for _ in range(room // each + 2)]
    check(len(nums) <= 64, "%d, more than one address takes" % len(nums))
    text = cmd("tstart")
    told = int(matches(r"(\d+) tracepoints? (?:is|are) interpreted.*no room", text).group(1))
    note("%d of %d interpreted" % (told, len(nums)))
    check(1 <= told < len(nums), text)
    target("call obj 1")
    cmd("tstop")
    equal([hits(num) for num in nums], [1] * len(nums))
    equal(in_use(), empty, "bytes in use")


@test("run after run leaves the arena as it was")
def many_runs():
    empty = in_use()
    trace("gtp_target_add if a == 3", "collect a, b, a * b")
    for _ in range(25):
        cmd("tstart")
        check(in_use() > empty, "no machine code")
        cmd("tstop")
        equal(in_use(), empty, "bytes in use")
    run_trace("call add 3 4")
    equal(collected("a", "b"), [(3, 4)])


run()
