# SPDX-License-Identifier: GPL-2.0-only
"""Translates $name in an expression: trace state variables, the hit's registers, numbers kept in convenience
variables."""
import re

import gdb

from gtp.cexpr import ctype
from gtp.cexpr.ctype import INT, LONG, UINT
from gtp.cexpr.error import Error
from gtp.cexpr.operand import UNARY, Operand, number
from gtp.gdblib import gdbcall

LEGACY = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")
POINTERS = ("rsp", "rbp", "rip")
ALIASES = {"pc": "rip", "sp": "rsp", "fp": "rbp"}
WHOLE = tuple("r" + name for name in LEGACY) + tuple("r%d" % n for n in range(8, 16)) + ("rip",)
FLAGS = "(unsigned int)$eflags"
NARROW = ("cs", "ss", "ds", "es", "fs", "gs")


def parts():
    """Return {name: (register, bytes, bit)} of the pseudo-registers, such as eax and al."""
    found = {}
    for name in LEGACY:
        found["e" + name], found[name] = ("r" + name, 4, 0), ("r" + name, 2, 0)
        found[name[0] + "l" if name.endswith("x") else name + "l"] = ("r" + name, 1, 0)
        if name.endswith("x"):
            found[name[0] + "h"] = ("r" + name, 1, 8)
    for n in range(8, 16):
        for suffix, size in (("d", 4), ("w", 2), ("l", 1)):
            found["r%d%s" % (n, suffix)] = ("r%d" % n, size, 0)
    del found["sp"]
    return found


PARTS = parts()


def trace_variables():
    """Return the names of GDB's trace state variables."""
    return re.findall(r"^\$(\w+)", gdbcall.execute("info tvariables"), re.M)


def is_trace_variable(name):
    return name in trace_variables()


def missing(text):
    """Return the trace state variables in a text for which the selected frame has no value."""
    there = set(trace_variables())
    return [name for name in re.findall(r"\$(\w+)", text) if name in there and
            gdbcall.value("$" + name).type.code == gdb.TYPE_CODE_VOID]


def variable(name):
    """Return a trace state variable as an Operand."""
    return Operand(ctype.integer(LONG), "$" + name, seen=LONG)


def operand(node):
    """Return the Operand of a Dollar node."""
    name = node.name
    if is_trace_variable(name):
        return variable(name)
    name = ALIASES.get(name, name)
    if name in POINTERS:
        return Operand(gdb.lookup_type("void").pointer(), "$" + name, named=True)
    if name in WHOLE:
        return Operand(ctype.integer(LONG), "$" + name, seen=LONG)
    if name == "eflags":
        return Operand(ctype.integer(UINT), FLAGS, UNARY, UINT)
    if name in NARROW:
        return Operand(ctype.integer(INT), "$" + name, seen=INT)
    if name in PARTS:
        return part(*PARTS[name])
    return convenience(node)


def part(register, size, bit):
    """Return SIZE bytes of a register, starting at BIT, as an Operand. It is signed, because GDB shows these
    pseudo-registers signed."""
    text = "$%s" % register
    if bit:
        text = "(%s >> %d)" % (text, bit)
    return Operand(ctype.integer((size, False)), "(%s)%s" % (ctype.NAMES[size, False], text), UNARY, (size, False))


def convenience(node):
    """Return the number that a convenience variable has now, as a constant: the kernel does not know these
    variables."""
    value = gdb.convenience_variable(node.name) if node.name else None
    if value is None:
        raise Error("there is no register or trace state variable $%s" % node.name, node.start,
                    "tvariable $%s makes a variable%s." % (node.name or "n", "" if is_trace_variable("cpu_id") else
                                                           "; target remote /proc/gtp brings those of the kernel"))
    if ctype.is_pointer(value.type):
        return number(int(value), ctype.ULONG).but(type=value.type, seen=None)
    if ctype.kind_of(value.type) is None:
        raise Error("$%s is not a number" % node.name, node.start)
    return number(int(value), ctype.promoted(ctype.kind_of(value.type)))


def current(node):
    """Return the Operand of `current`, the task that runs at the hit."""
    if not is_trace_variable("current_task"):
        raise Error("current is known once GDB is connected", node.start, "Say target remote /proc/gtp first.")
    kind = gdb.lookup_type("struct task_struct").pointer()
    return Operand(kind, "((struct task_struct *)$current_task)", named=True)


def cpu(node):
    """Return the Operand of the number of the hit's CPU."""
    if not is_trace_variable("cpu_id"):
        raise Error("the CPU's number is known once GDB is connected", node.start, "Say target remote /proc/gtp first.")
    return variable("cpu_id")
