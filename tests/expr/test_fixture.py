# SPDX-License-Identifier: GPL-2.0-only
# Tests that the module computes the same value for a translated expression as gcc's code in the fixture computes for the
# original expression, at the same hit.
import functools

import gdb

from lib import *

load_symbols()

from gtp import cexpr
from gtp.cexpr import compiler

SEEDS = (1, 5, 0x2f, 0x12d, 0x9e3779b1)
BATCH = 32
MOST_SHOWN = 15
FUNCTION = "gtp_target_expr"


def rows():
    """Return the texts in the fixture's table: the C that gcc has compiled."""
    count = number("gtp_target_exprs_count")
    return [string("gtp_target_exprs[%d].text" % i) for i in range(count)]


def translations(texts):
    """Return (number, text for GDB) for each text that can be translated, and the errors of the others."""
    pc, good, wrong = address("(long)" + FUNCTION), [], []
    for i, text in enumerate(texts):
        try:
            good.append((i, cexpr.condition(text, pc)))
        except gdb.GdbError as error:
            wrong.append("%s: %s" % (text, error))
    return good, wrong


@functools.lru_cache(None)
def translated():
    return translations(rows())


@test("every expression of the fixture is translated")
def all_translated():
    good, wrong = translated()
    note("%d expressions" % len(good))
    check(len(good) > 200, "%d rows" % len(good))
    check(not wrong, "\n".join(wrong[:MOST_SHOWN]))


@functools.lru_cache(None)
def fits(text):
    """Return whether an action has room for a text's bytecode."""
    try:
        compiler.check("$v0 = (long)(%s)" % text, address("(long)" + FUNCTION), True)
    except compiler.TooLong:
        return False
    return True


def set_tracepoints(pairs):
    """Set tracepoints that give $v0, $v1... the values. Return (number, pairs) of each. An expression that does not fit
    into an action is a condition."""
    where = "*" + FUNCTION
    points = []
    short = [pair for pair in pairs if fits(pair[1])]
    for start in range(0, len(short), BATCH):
        batch = short[start:start + BATCH]
        actions = ["collect $v%d = (long)(%s)" % (i, text) for i, (_, text) in enumerate(batch)]
        points.append((trace(where, *actions), batch))
    for pair in pairs:
        if pair not in short:
            points.append((trace("%s if ($v0 = (long)(%s)) || 1" % (where, pair[1]), "collect $v0"), [pair]))
    return points


def run_with(seed):
    cmd("tstart")
    target("call expr %d" % seed)
    cmd("tstop")
    matches("Trace stopped by a tstop", cmd("tstatus"))


def seed_test(seed):
    def body():
        texts = rows()
        pairs, _ = translated()
        points = set_tracepoints(pairs)
        run_with(seed)
        cmd("tfind none")
        cmd("maint flush dcache")
        wanted = [number("gtp_target_exprs[%d].value" % i) for i in range(len(texts))]
        lines = []
        for num, batch in points:
            cmd("tfind tracepoint %d" % num)
            check(number("$trace_frame") >= 0, "no frame: %s" % cmd("tstatus"))
            for i, (row, text) in enumerate(batch):
                got = number("$v%d" % i)
                if got != wanted[row]:
                    lines.append("%s: %d, gcc: %d (%s)" % (texts[row], got, wanted[row], text))
        note("%d values compared" % len(pairs))
        check(not lines, "%d differ\n%s" % (len(lines), "\n".join(lines[:MOST_SHOWN])))
    test("seed %#x: what gcc computed is what the module computed" % seed)(body)


def before():
    fresh()
    for i in range(BATCH):
        cmd("tvariable $v%d" % i)


for each in SEEDS:
    seed_test(each)


@test("gtp collect and gtp if make an ordinary tracepoint; print and gtp print accept the names that were typed")
def by_name():
    num = trace("*" + FUNCTION)
    cmd("gtp collect s->all, s->mood, s->yes, s->deep, s->next->high_port")
    cmd("gtp collect %d n, $v0 = n, $v1++" % num)
    cmd('gtp if %d s->name == "shape" && s->yes && s->on' % num)
    listed = cmd("info tracepoints %d" % num)
    matches(r"trace only if .*\n\s+collect .*collect \$v0 = n \+ 0", listed)
    cmd("tstart")
    for seed in (1, 37, 3):
        target("call expr %d" % seed)
    cmd("tstop")
    equal(len(list(frames())), 1, "frames")
    cmd("tfind start")
    shape = 38
    equal(number("s->all"), shape * 0x1b873593 % 2**32)
    equal(number("s->next->high_port"), (shape + 1) * 0x0123456789abcdef >> 16 & 0xffff)
    equal(number("s->deep[2]"), shape * 0x1b873593 >> 16 & 0xff)
    matches(r"= true", cmd("gtp print s->yes"))
    matches(r"= 1$", cmd("gtp print s->yes == true"))
    matches(r"0x%x\b" % (shape * 0x1b873593 % 2**32), cmd("gtp print/x s->all"))
    matches(r"GTP_TARGET_", cmd("gtp print s->mood"))
    equal(number("$v0"), number("n"))
    equal(number("$v1"), 1)


@test("$locals: variables with a location are collected, one line names the others")
def locals_told():
    trace("*gtp_target_locals")
    told = cmd("gtp collect $args, $locals")
    matches(r"^no location at 0x[0-9a-f]+: .*$|^$", told.strip())
    run_trace("call locals 4")
    equal(collected("n"), [4])


@test("after a refusal the tracepoint is unchanged")
def nothing_half():
    num = trace("*" + FUNCTION, "collect n")
    before_ = cmd("info tracepoints %d" % num)
    matches("no member", refused("gtp collect s->byte, s->nosuch"))
    matches("no member", refused("gtp if %d s->nosuch" % num))
    matches("no tracepoint 99", refused("gtp if 99 n"))
    equal(cmd("info tracepoints %d" % num), before_)
    matches("takes expressions", refused("gtp collect"))
    matches("takes a tracepoint's number", refused("gtp if n"))
    matches("takes an expression", refused("gtp print"))


@test("gtp if N without an expression removes the condition")
def condition_off():
    num = trace("*" + FUNCTION)
    cmd("gtp if %d s->all == 3" % num)
    matches("trace only if", cmd("info tracepoints %d" % num))
    cmd("gtp if %d" % num)
    check("trace only if" not in cmd("info tracepoints %d" % num), "the condition is there")


@test("a per-CPU variable of the kernel, live")
def live_per_cpu():
    for cpu in range(CPUS):
        matches(r"= %d$" % cpu, cmd("gtp print per_cpu(runqueues, %d).cpu" % cpu))


run(symbols=False, before=before)
