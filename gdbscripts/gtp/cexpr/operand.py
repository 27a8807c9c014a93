# SPDX-License-Identifier: GPL-2.0-only
"""The translation of a node: text for GDB's compiler, and its types in C and in GDB."""
from dataclasses import dataclass, replace
from typing import Optional, Tuple

import gdb

from gtp.cexpr import ctype

# Levels of precedence, as far as the need for parentheses depends on them.
PRIMARY, UNARY, PRODUCT, SUM, SHIFT, ORDER, EQUAL = 16, 15, 13, 12, 11, 10, 9
AND, XOR, OR, BOTH, EITHER, CHOICE = 8, 7, 6, 5, 4, 3


@dataclass
class Operand:
    """One value or object in a translated expression.

    type: its type in C. text, level: GDB's expression, and its precedence. seen: the kind that GDB gives to an
    integer's text; None for others. place: (text of a pointer, bytes after it) for an object in memory. bits: (bit
    after place, width) for a bit field. named: the text denotes the object with its own type, so that . -> [] and * can
    follow it in GDB. constant: the value, if it is known. limits: the known limits of the value. enumerator: the
    operand is a named constant of an enum. halves: for a computed integer of 16 bytes, the texts of its unsigned
    halves, the lower one first. pieces, inside: for a structure in registers, its Pieces, and the bit of them at which
    it begins. percpu: the text of the static per-CPU variable that this is, or is a part of, at its address in the
    file; else "".
    """
    type: gdb.Type
    text: str
    level: int = PRIMARY
    seen: Optional[Tuple[int, bool]] = None
    place: Optional[Tuple[str, int]] = None
    bits: Optional[Tuple[int, int]] = None
    named: bool = False
    constant: Optional[int] = None
    percpu: str = ""
    lvalue: bool = False

    limits: Optional[Tuple[int, int]] = None
    pieces: Optional[tuple] = None
    halves: Optional[Tuple[str, str]] = None
    inside: int = 0
    enumerator: bool = False

    def within(self, level):
        """Return the operand's text, in parentheses if an operator of precedence LEVEL binds more tightly."""
        return self.text if self.level >= level else "(%s)" % self.text

    def but(self, **changes):
        return replace(self, **changes)

    @property
    def kind(self):
        """Return (bytes, unsigned) of an integer."""
        return ctype.kind_of(self.type)

    @property
    def range(self):
        """Return the smallest and the largest value that an integer may have."""
        if self.constant is not None:
            return self.constant, self.constant
        return self.limits or ctype.limits(self.kind)


def number(value, kind, text=None):
    """Return the Operand of a constant. TEXT is the constant as the user wrote it, unless it was computed."""
    value = ctype.wrapped(value, kind)
    text = text or ctype.literal(value, kind)
    level = PRIMARY if text[0] in "0123456789(" else UNARY
    return Operand(ctype.integer(kind), text, level, ctype.promoted(kind), constant=value)


def cast(kind, operand, level=UNARY):
    """Return text that casts the operand to an integer kind."""
    return "(%s)%s" % (ctype.NAMES[kind], operand.within(level))


def address(place):
    """Return the text of a char pointer to a place, and the level of its precedence."""
    base, offset = place
    if offset:
        return "(char *)%s %s %d" % (base, "+" if offset > 0 else "-", abs(offset)), SUM
    return "(char *)%s" % base, UNARY


def at(place, spelled):
    """Return the text of a dereferenced pointer to a place: *(SPELLED)place."""
    base, offset = place
    if offset:
        return "*(%s)(%s)" % (spelled, address(place)[0])
    return "*(%s)%s" % (spelled, base)


def in_memory(kind, place, scope, percpu=""):
    """Return the Operand of an object of a type at a place."""
    integral = ctype.kind_of(kind)
    if integral:
        text = at(place, ctype.NAMES[integral] + " *")
        return Operand(kind, text, UNARY, integral, place, percpu=percpu, lvalue=True)
    spelled = ctype.spell_pointer(kind, scope)
    if spelled:
        return Operand(kind, at(place, spelled), UNARY, None, place, named=True, percpu=percpu, lvalue=True)
    if ctype.is_pointer(kind):
        return Operand(kind, at(place, "void **"), UNARY, None, place, percpu=percpu, lvalue=True)
    text, level = address(place)
    text = text if level >= PRIMARY else "(%s)" % text
    return Operand(kind, "*%s@%d" % (text, kind.sizeof), SHIFT, None, place, percpu=percpu, lvalue=True)
