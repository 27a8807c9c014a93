# SPDX-License-Identifier: GPL-2.0-only
# Tests that no expression ends GDB or keeps it busy. GDB 13 computes -2^63 / -1 with an instruction that traps. Runs in GDB on
# tests/expr/units.
import os
import sys
import time

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

import tap
from gtp import cexpr
from gtp.cexpr import compiler, division
from gtp.commands import prefix  # noqa: F401  the prefix of the commands
from gtp.gdblib import gdbcall
from gtp.view import columns

LEFT = ("$least", "((long)1 << 63)", "(-9223372036854775807L - 1)", "(3 + $least - 3)", "~0x7fffffffffffffff", "($least)", "*$at")
RIGHT = ("-1", "$minus", "(2 - 3)", "(int)-1", "'\\377'", "~0", "(($minus))", "$minus * 1")
# GDB computes the operands of sizeof and of both sides of && and || for their types.
AROUND = ("%s", "1 + (%s)", "(%s) * 2", "0 && %s", "1 || %s", "sizeof(%s)", "%s ?: 3", "0 ? 1 : %s", "units[%s]", "3 / (%s)", "(%s) / 3",
          "(int (*)(typeof(%s)))1")
FINE = {"$least / 1": -2**63, "$least / -2": 2**62, "($least + 1) / -1": 2**63 - 1, "1 / $minus": -1, "$least % 3": -2,
        "$least / (unsigned long)-1": 0, "(int)-5 / -1": 5, "7 / 2 * 2": 6, "(1 + 2) * (3 + 4) / (2 + 1)": 7, "6 / 3 / -1": -2,
        "(unsigned long)$least / $minus": 0}
CONSTANT = {"(-9223372036854775807L - 1) / -1": "-9223372036854775808 / -1 does not fit into long",
            "1 + (-9223372036854775807L - 1) % -1": "-9223372036854775808 / -1 does not fit into long",
            "(int)0x80000000 / -1": "-2147483648 / -1 does not fit into int"}


def error_of(function, *given):
    """Return the first line of the error that a function raises, or None."""
    try:
        function(*given)
    except (gdb.error, gdb.GdbError) as error:
        return str(error).splitlines()[0]
    return None


@tap.test("GDB does not get a division whose quotient does not fit, wherever it is in the expression")
def unfit():
    for op in ("/", "%"):
        for left in LEFT:
            for right in RIGHT if left == LEFT[0] else RIGHT[:1]:
                for around in AROUND if right == RIGHT[0] else AROUND[:1]:
                    text = around % ("%s %s %s" % (left, op, "(%s)" % right if "*" in right else right))
                    tap.check(error_of(gdbcall.value, text) in (division.UNFIT, division.UNSEEN), text)
    for text in ("$least /= -1", "$least %= $minus"):
        tap.equal(error_of(gdbcall.value, text), division.UNFIT, text)


@tap.test("other divisions have their values, and a division by zero has GDB's error")
def fine():
    for text, value in FINE.items():
        tap.equal(int(gdbcall.value(text)), value, text)
    tap.equal(error_of(gdbcall.value, "$least / 0"), "Division by zero")


@tap.test("a constant quotient that does not fit is an error of the expression")
def constants():
    for text, wanted in CONSTANT.items():
        tap.equal(error_of(cexpr.condition, text, None), wanted, text)
        tap.equal(error_of(cexpr.collected, text, None), wanted, text)


@tap.test("in a table, a quotient that does not fit is due to the values of a frame")
def of_frame():
    error = gdb.error(division.UNFIT)
    tap.equal((columns.is_of_value(error), columns.words_of(error)), (True, "<%s>" % division.UNFIT))


@tap.test("an expression that is nested too deeply is refused with a sentence")
def deep():
    for text in ("(" * 3000 + "1" + ")" * 3000, "-" * 3000 + "1"):
        tap.matches("too many brackets", error_of(cexpr.condition, text, None))
        tap.equal(error_of(gdbcall.value, text + " / 1"), division.DEEP)


@tap.test("long numbers and open quotes are looked at once, not in every way in which they can be divided")
def bounded():
    start = time.process_time()
    compiler.check("12345678901234 + 12345678901234 + (long)entry", int(gdbcall.value("$pc")), False)
    tap.matches("quote is not closed", error_of(cexpr.condition, "1 == '" + r"\111" * 14, None))
    took = time.process_time() - start
    tap.check(took < 3, "%.1f s" % took)


def main():
    gdb.execute("set confirm off")
    gdb.execute("set $least = (long)1 << 63")
    gdb.execute("set $minus = (long)-1")
    gdb.execute("break in_values")
    gdb.execute("run >/dev/null")
    gdb.execute("set $at = (long *)$sp")
    gdb.execute("set var *$at = $least")
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
