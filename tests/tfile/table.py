# SPDX-License-Identifier: GPL-2.0-only
# Job: compare the cells of `gtp table` with GDB's output, frame by frame, value by value.
#
# GDB sources this file, with the program of types.c. `run-things SEED` makes a run on the target. `compare SEED` compares all
# columns of random frames with the text that GDB prints after tfind. If they differ, GDB exits with a failure.
import os
import random
import re
import sys

import gdb

HITS = 200
CHOSEN = 40
COLLECT = "*t, n, $clock, $cpu_id"
# Some of these columns are not collected, some are optimised out, and some never change.
COLUMNS = """t->id, t->small, t->byte, t->tiny, t->flag, t->letter, t->state, t->mode, t->low, t->high, t->wide,
t->name, t->address, t->text, t->bytes, t->call, t->next, t->data, t->numbers, t->ratio, t->inner, t->pair,
t->pair[1].tag, t->u, t->u.parts[n & 3], t->hidden, t, n, *t, *t->next, t->next->id, t->next->name, t->next->next,
counter, limits, limits[n & 3], motto, &counter, $pc, $rdi, n % 1000 * 3 - t->inner.x, n / 7, -n % 5,
(unsigned) n >> 3, ~n, !n, n > 5 && t->flag, n < 0 || t->id == 3, n & 1 ? t->id : t->small, t->state == BUSY,
t->name[n & 7], *t->name@3, &t->inner, t->inner.y * 2, (long) t->next == (long) &things[0],
t->numbers[(unsigned) n % 4], t->wide * 3, t->wide / 3, t->wide % 1000, $clock, $cpu_id, sizeof(*t), t->state, $tpnum,
$trace_frame, n >> (unsigned long) (t->id & 3), n >> 1u, (long) n >> (unsigned long) (n & 7), n << 1u"""
# GDB 16 truncates a negative number as if it were positive: (char) (int) 0x800000e7 is 25, not -25.
CUT = ", n * 3 - t->id, (char) n, (short) (n * 70000), n << 4"


# Add this file's folder to Python's path, because GDB does not do so for a file that it sources.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename)), "../lib"))
import cells  # noqa: E402


def hit(where, *arguments):
    pc = gdb.decode_line(where)[1][0].pc
    gdb.execute("monitor hit %#x %s" % (pc, " ".join(str(a) for a in arguments)), to_string=True)


def run(seed):
    chance = random.Random(seed)
    things = [int(gdb.parse_and_eval("(long) &things[%d]" % i)) for i in range(4)]
    gdb.execute("set trace-buffer-size 2000000")
    gdb.execute("trace visit")
    gdb.execute("commands\ncollect %s\nend" % COLLECT)
    gdb.execute("trace visit if n > 0")
    gdb.execute("commands\ncollect t->id, t->inner, $args\nend")
    gdb.execute("tstart")
    for _ in range(HITS):
        hit("visit", chance.choice(things), chance.choice((chance.randrange(-9, 9), chance.getrandbits(32))))
    gdb.execute("tstop")


class Compare(gdb.Command):
    """compare SEED [online]: compare named columns, all collected columns, and partly collected structs."""

    def __init__(self):
        super().__init__("compare", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        seed, _, where = arg.partition(" ")
        columns, whole = " ".join(COLUMNS.split("\n")), ((1, ""),)
        if int(gdb.parse_and_eval("(char) (int) 0x800000e7")) != -25:
            print("# this GDB cuts negative numbers wrongly: those columns are left out")
        else:
            columns += CUT
        if where == "online":
            # Leave out constants. GDB sends QTro only with a load address, so the target does not know where constants are.
            columns, whole = re.sub(r"(t->text|t->bytes|\*t|limits[^,]*|motto), ", "", columns), ()
        bad = []
        parts = "t->id, t->inner, t->inner.x, t->name, n, *t, *t->next"
        for number, what in ((1, columns), (2, parts), (2, "")) + whole:
            different, count = cells.compare(number, what, seed, CHOSEN)
            bad += different
            print("# tracepoint %d, %d rows, %d differences" % (number, count, len(different)))
        for line in bad[:40]:
            print("# seed %s: %s" % (seed, line))
        gdb.execute("quit %d" % bool(bad))


class Run(gdb.Command):
    """run-things SEED: make a run with hits of visit()."""

    def __init__(self):
        super().__init__("run-things", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        run(arg)


Run()
Compare()
