# SPDX-License-Identifier: GPL-2.0-only
"""Casts to integers and pointers, as C and C++ make them."""
from gtp.cexpr import ctype, registers
from gtp.cexpr.operand import UNARY, Operand, cast, number


def is_odd(operand):
    """Return whether GDB has a type for the operand with which it does not compute as with an integer."""
    return operand.enumerator or ctype.is_enum(operand.type) or ctype.is_bool(operand.type) or operand.text == registers.FLAGS


def to_integer(lower, to, kind, operand):
    """Return the Operand cast to the integer KIND, which is kind_of() TO."""
    if ctype.is_enum(kind):
        lower.differ("a cast to an enum does nothing in GDB")
    shown = kind if ctype.is_enum(kind) else ctype.integer(to)
    if operand.constant is not None and operand.kind:
        return number(operand.constant, to, cast(to, operand) if to[0] < 4 else None).but(seen=to, type=shown)
    return Operand(shown, cast(to, operand), UNARY, to)


def to_pointer(lower, kind, operand):
    """Return the Operand cast to a pointer."""
    spelled = ctype.spell(kind, lower.scope)
    if spelled is None:
        return operand.but(type=kind, seen=None, named=False, lvalue=False)
    return Operand(kind, "(%s)%s" % (spelled, operand.within(UNARY)), UNARY, named=True, constant=operand.constant)
