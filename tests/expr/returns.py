# SPDX-License-Identifier: GPL-2.0-only
# Tests that $ret has the type that its function is declared to return. Runs GDB on tests/expr/units. The tests put garbage
# into the bits of rax above the declared type, because functions that gcc compiled may leave garbage there.
#
# GDB's evaluator does not know $ret, so a convenience variable takes its place in the evaluated text.
import os
import re
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]
gdb.execute("source " + os.path.join(TOP, "gdbscripts/gtp.py"))

import tap
from gtp import cexpr

# (function, rax, value of $ret). The bits of rax above the declared type are undefined.
VALUES = (("ret_int", 0xfffffffe, -2), ("ret_int", 0x1234567800000005, 5), ("ret_unsigned", 0xfffffffffffffffe, 0xfffffffe),
          ("ret_short", 0xabcd8000, -0x8000), ("ret_char", 0x17f, 0x7f), ("ret_char", 0x80, -0x80),
          ("ret_bool", 0xffffff01, 1), ("ret_bool", 0xffffff00, 0), ("ret_byte", 0xfff0, 0xf0),
          ("ret_shade", 0xdead00000001, 1), ("ret_long", 0xfffffffffffffffe, -2),
          ("ret_ulong", 0xfffffffffffffffe, 0xfffffffffffffffe), ("ret_pointer", 0xfffffffffffffffe, 0xfffffffffffffffe))


def pc_of(function):
    return int(gdb.parse_and_eval("(unsigned long)" + function))


def translated(function, text):
    try:
        return cexpr.condition(text, pc_of(function))
    except gdb.GdbError as error:
        return str(error)


def with_rax(text, rax):
    """Return the value of a text in which $ret stands for the register rax. RAX is the register's value."""
    gdb.set_convenience_variable("rax_", gdb.Value(rax - 2**64 if rax >> 63 else rax).cast(gdb.lookup_type("long")))
    return int(gdb.parse_and_eval(re.sub(r"\$k?ret\b", "$rax_", text)))


@tap.test("$ret and $kret have the sign and the width of what the function is declared to return")
def values():
    for name in ("$ret", "$kret"):
        for function, rax, wanted in VALUES:
            made = translated(function, name)
            tap.equal(with_rax(made, rax), wanted, "%s of %s, %s" % (name, function, made))


@tap.test("$ret < 0 of an int function holds for its errors, and not for others")
def negative():
    for function in ("ret_int", "ret_short"):
        made = translated(function, "$ret < 0")
        tap.equal([with_rax(made, rax) for rax in (0xfffffffe, 0x8000fffe, 0, 5)], [1, 1, 0, 0], made)


@tap.test("what counts or collects has the declared type")
def types():
    for function, kind in (("ret_int", "int"), ("ret_bool", "_Bool"), ("ret_shade", "enum shade"), ("ret_pointer", "struct big *"),
                           ("ret_long", "long"), ("ret_byte", "unsigned char")):
        tap.equal(str(cexpr.number("$ret", pc_of(function))[1]), kind, function)
    tap.equal(cexpr.collected("$ret, $latency", pc_of("ret_int"))[0], ["(int)$ret", "$latency"])
    tap.equal(translated("ret_pointer", "$ret->number"), "((struct big *)$ret)->number")
    tap.equal(translated("ret_long", "$ret < 0"), "$ret < 0")


@tap.test("of nothing, of a structure, and of a pointer below 0 the user reads what to write instead")
def refusals():
    for function, text, wanted in (("ret_nothing", "$ret", "ret_nothing returns nothing"),
                                   ("ret_large", "$ret", r"returns struct big in memory.*\(\(struct big \*\)\$ret\)->member"),
                                   ("ret_small", "$ret", r"returns struct small in rax\b.*\(unsigned long\)\$ret"),
                                   ("ret_two", "$ret", "returns struct two in rax and rdx"),
                                   ("ret_pointer", "$ret < 0", r"no pointer is less than 0.*IS_ERR")):
        tap.matches(wanted, translated(function, text))
    tap.equal(translated("ret_large", "((struct big *)$ret)->number"), "((struct big *)$ret)->number")
    tap.equal(with_rax(translated("ret_pointer", "IS_ERR($ret)"), 2**64 - 2), 1)


@tap.test("inside a function $ret is the number that it was")
def inside():
    pc = pc_of("ret_int") + 1
    tap.equal(cexpr.condition("$ret", pc) if gdb.block_for_pc(pc) else "$ret", "$ret")


def main():
    gdb.execute("set confirm off")
    for name in ("cpu_id", "current_task", "ret", "kret", "latency"):
        gdb.execute("tvariable $" + name, to_string=True)
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
