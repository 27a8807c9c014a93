# SPDX-License-Identifier: GPL-2.0-only
# Tests several tracepoints at one jump. Each must have its own condition, count and frames. Only for a guest with one host
# thread (see tests/vm/README.md).
from jumps import *
from lib import *
from others import *


@test("the place takes a jump")
def takes_one():
    load_table("gtp_target")
    jumping()
    cmd("tstop")
    restored()


@test("a tracepoint that joins a place whose only condition is false gets its hits, as a jump and on a kprobe")
def joins_a_false_one():
    for switches in (), ("jumps",):
        with without(*switches):
            never = trace("*0x%x if $rdi == 1000" % place())
            cmd("tstart")
            target("call add 1 2")
            num = trace("*0x%x" % place())
            equal(mechanism(num), "kprobe" if switches else "jump")
            for n in (2, 1000):
                target("call add %d 2" % n)
            cmd("tstop")
        equal((hits(never), hits(num)), (1, 2))
        equal(collected("$tracepoint"), [num, never, num])
        cmd("tfind none")
        cmd("delete")


def several(rounds):
    """Set several tracepoints at one place. Return pairs: a tracepoint's number, and which calls on a CPU are hits of this
    tracepoint."""
    def below(step):
        return range(0, rounds, step)
    return [
        (trace("*0x%x if a %% 2 == 0" % place(), "collect a"), below(2)),
        (trace("*0x%x if a %% 3 == 0" % place()), below(3)),
        (trace("*0x%x" % place(), "collect a"), below(1)),
        (trace("*0x%x if *(long *)(a %% 4 ? $rsp : 8) | 1" % place()), [n for n in below(1) if n % 4]),
        (trace("*0x%x if a %% 5 == 0" % place(), "collect a"), below(5)),
        (trace("*0x%x if $cpu_id >= 0" % place(), "collect a"), below(1)),
        (trace("*0x%x if a %% 7 == 0" % place(), "collect a"), below(7)),
    ]


@test("several at a place, one of which fails and one needs C: each counts its own hits, as on a kprobe", once=True)
def chain():
    rounds = 120
    cmd("monitor stop-on-error off")
    for switches in (), ("jumps",):
        with without(*switches):
            tps = several(rounds)
            cmd("tstart")
            equal(mechanism(tps[0][0]), "kprobe" if switches else "jump")
            equal(looped("add", rounds)["add"], rounds * CPUS)
            equal(nested() + missed(), 0)
            cmd("tstop")
        expected = [len(values) * CPUS for _, values in tps]
        equal([hits(num) for num, _ in tps], expected)
        matches(r", %d errors" % (rounds // 4 * CPUS), cmd("monitor status"))
        rows = collected("$tracepoint")
        equal([rows.count(num) for num, _ in tps], expected)
        cmd("tfind none")
        cmd("delete")
    cmd("monitor stop-on-error on")
    restored()


@test("a condition on flags that no instruction reads, after another tracepoint's condition", once=True)
def chain_flags():
    site = instructions("gtp_target_obj", r"\bnop[lw]|\bcall\b")[0]
    places = instructions("gtp_target_obj", r"\+\d+>:")
    where = places[places.index(site) + 1]
    flags = {}
    for switches in (), ("jumps",):
        with without(*switches):
            # The comparisons in these conditions would leave the zero and the carry flag set.
            first = [trace("*0x%x if n %s" % (where, what)) for what in ("!= 3", "> 4")]
            num = {bit: trace("*0x%x" % where) for bit in (0, 2, 4, 6, 7, 11)}
            for bit, each in num.items():
                cmd("gtp if %d ($eflags >> %d) & 1" % (each, bit))
            cmd("tstart")
            equal(mechanism(first[0]), "kprobe" if switches else "jump")
            target("call obj 3")
            cmd("tstop")
            equal([hits(n) for n in first], [0, 0])
            flags[switches] = {bit: hits(each) for bit, each in num.items()}
            cmd("delete")
    equal(len(set(map(str, flags.values()))), 1)
    restored()


@test("several at a place: the order of their frames in one call, and another tracepoint that joins")
def chain_order():
    first = [trace("*0x%x if a > %d" % (place(), n), "collect a") for n in (0, 10, 20)]
    cmd("tstart")
    target("call add 15 0")
    last = trace("*0x%x if a > 5" % place())
    is_jump(last)
    for n in (1, 25):
        target("call add %d 0" % n)
    cmd("tstop")
    equal(collected("$tracepoint"), first[:2] + first[:1] + first + [last])
    cmd("tfind none")
    restored()


@test("calls on all CPUs reach a pass count: exactly that many hits and frames, alone and beside other tracepoints", once=True)
def counted_by_pads():
    count = ROUNDS * CPUS // 2 + 1
    for beside in [False, True] * 10:
        others = [trace("*0x%x if a < 0" % place())] if beside else []
        num = trace("*0x%x if a >= 0" % place(), "collect a", passcount=count)
        cmd("tstart")
        is_jump(num)
        looped("add")
        until(lambda: not running(), "a run that goes on behind its pass count")
        matches("Trace stopped by tracepoint %d" % num, cmd("tstatus"))
        equal((hits(num), [hits(n) for n in others]), (count, [0] * len(others)))
        matches("Collected %d trace frames" % count, cmd("tstatus"))
        cmd("delete")
    restored()


run(before=begin)
