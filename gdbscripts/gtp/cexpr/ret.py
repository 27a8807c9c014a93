# SPDX-License-Identifier: GPL-2.0-only
"""Translates $ret to the declared return type of the function: to the kernel module, $ret is all of rax, a number of 64
bits.

If the return type is narrower than rax, the rest of rax is undefined.
"""
import gdb

from gtp.cexpr import ctype
from gtp.cexpr.error import Error
from gtp.cexpr.operand import UNARY, Operand, cast
from gtp.formats import space
from gtp.gdblib import blocks

NAMES = ("ret", "kret")
IN_RAX = 8  # the size of rax, in bytes
IN_REGISTERS = 16


def declared(pc):
    """Return the return type and the name of the function that begins at pc. Return None and None elsewhere, or without
    debug information. In a program, pc may also be anywhere inside the function, such as after the prologue."""
    for block in blocks.functions(pc) if pc is not None else ():
        function = block.function
        if block.superblock.is_static and (space.has(pc) or int(function.value().address) == pc):
            return ctype.plain(function.type).target(), function.name
    return None, None


def operand(lower, node, plain):
    """Return the Operand of $ret in its declared type. PLAIN is the Operand of all of rax as a number."""
    kind, name = declared(lower.scope.pc)
    if kind is None or ctype.kind_of(kind) == ctype.LONG:
        return plain if kind is None else plain.but(type=kind)
    code = ctype.code(kind)
    if code == gdb.TYPE_CODE_VOID:
        raise Error("%s returns nothing" % name, node.start, "$latency, and what it writes through pointers, are known.")
    lower.differ("$ret is of another type than long")
    lower.unclear = True
    if ctype.is_pointer(kind):
        spelled = ctype.spell(kind, lower.scope)
        text = "(%s)%s" % (spelled, plain.text) if spelled else plain.text
        return Operand(kind, text, UNARY, named=spelled is not None)
    if code in ctype.AGGREGATES:
        raise Error(aggregate(kind, name), node.start, advice(kind, plain.text))
    integral = ctype.kind_of(kind)
    if integral is None:
        raise Error("%s returns %s, which is not in rax" % (name, ctype.describe(kind)), node.start)
    return Operand(kind, cast(integral, plain), UNARY, integral)


def aggregate(kind, name):
    if kind.sizeof > IN_REGISTERS:
        return "%s returns %s in memory" % (name, ctype.describe(kind))
    return "%s returns %s in %s" % (name, ctype.describe(kind), "rax" if kind.sizeof <= IN_RAX else "rax and rdx")


def advice(kind, text):
    """Return a hint for $ret of a function that returns a structure: what rax holds, and the expression to write."""
    if kind.sizeof > IN_REGISTERS:
        return "Its address is in rax: ((%s *)%s)->member." % (ctype.describe(kind), text)
    return "Its first 8 bytes are (unsigned long)%s." % text


def is_structure(pc):
    """Return whether the function at PC returns a structure. If it does, a cast of $ret casts rax."""
    kind, _ = declared(pc)
    return kind is not None and ctype.code(kind) in ctype.AGGREGATES
