# SPDX-License-Identifier: GPL-2.0-only
"""Translates casts to integers and pointers, with the results that C and C++ define."""
from gtp.cexpr import ctype, registers
from gtp.cexpr.operand import UNARY, Operand, cast, number


def is_odd(operand):
    """Return whether GDB gives the operand a type with which GDB does not compute as with an integer: an enum, a bool,
    or that of the flags register."""
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
    moves = moved(operand.type, kind)
    if moves:
        lower.differ("GDB's compiler does not move a pointer to the part of a base class")
        word = "(long)%s" % operand.within(UNARY)
        return Operand(kind, "(%s)(%s ? %s + %d : 0l)" % (spelled, word, word, moves), UNARY, named=True)
    return Operand(kind, "(%s)%s" % (spelled, operand.within(UNARY)), UNARY, named=True, constant=operand.constant)


def moved(have, wanted):
    """Return the number of bytes by which C++ moves a pointer that is cast from type HAVE to type WANTED. C++ moves it
    if the part of a base class does not begin where the class begins."""
    if not ctype.is_pointer(have) or not ctype.is_pointer(wanted):
        return 0
    have, wanted = (ctype.plain(ctype.plain(kind).target()) for kind in (have, wanted))
    up, down = base_offset(have, wanted), base_offset(wanted, have)
    return up if up is not None else -(down or 0)


def base_offset(kind, base):
    """Return the offset in bytes at which the part of the class BASE begins in the class KIND. Return None if BASE is
    not a base class of KIND, or is a virtual one."""
    for field in ctype.plain(kind).fields() if ctype.is_aggregate(kind) else ():
        if not field.is_base_class or ctype.place(field) is None:
            continue
        inner = 0 if ctype.plain(field.type) == ctype.plain(base) else base_offset(field.type, base)
        if inner is not None:
            return inner + field.bitpos // 8
    return None
