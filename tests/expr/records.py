# SPDX-License-Identifier: GPL-2.0-only
# Tests that gdbtp finds the arguments of a system call in the record of raw_syscalls:sys_enter, by reading the machine code
# that fills the record. Runs GDB on tests/expr/units/records.c, whose functions are like those of differently configured
# kernels.
import os
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]
gdb.execute("source " + os.path.join(TOP, "gdbscripts/gtp.py"))

import tap
from gtp.places import events, recordcode


def args(name):
    """Return C for each argument in the record of an event, or None if the arguments are refused."""
    event = events.Event("raw_syscalls:" + name, 0, "long id; unsigned long[6] args")
    pointer = gdb.lookup_type("struct pt_regs").pointer()
    found = event.copies([("regs", pointer), ("id", gdb.lookup_type("long"))])
    tap.equal(found["id"], "id")
    return found.get("args")


@tap.test("a kernel without 32-bit calls: each argument is the register that the code copies, whichever that is")
def native():
    for kernel in ("native", "checked"):  # `checked` has KASAN's checks
        tap.equal(args(kernel), ["regs->" + name for name in ("di", "si", "dx", "r10", "r8", "r9")])
    tap.equal(args("others"), ["regs->" + name for name in ("bp", "r15", "si", "di", "cx", "ax")])


@tap.test("a kernel with 32-bit calls: either register, depending on the task")
def compat():
    both = zip(("di", "si", "dx", "r10", "r8", "r9"), ("bx", "cx", "dx", "si", "di", "bp"))
    tap.equal(args("compat"), ["regs->dx" if wide == "dx" else "(%s ? regs->%s : regs->%s)" % (recordcode.NOT_COMPAT, wide, narrow)
                               for wide, narrow in both])


@tap.test("an argument that the code computes, or that a called function may overwrite, is refused")
def refused():
    for name in ("copied", "handed", "computed", "sometimes"):
        tap.equal(args(name), None, name)


def main():
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
