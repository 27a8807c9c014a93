# SPDX-License-Identifier: GPL-2.0-only
"""Translates comparisons of an array or pointer with a string in quotes.

An array is compared in the widest pieces that fit. Through a pointer, bytes are compared one by one, up to the first
byte that differs or ends the string, because the page after the string may not be mapped.
"""
import gdb

from gtp.cexpr import ctype, syntax
from gtp.cexpr.ctype import INT
from gtp.cexpr.error import Error
from gtp.cexpr.operand import BOTH, EQUAL, PRIMARY, UNARY, Operand, at

COMPARE = ("strcmp", "strncmp")
FULL = 'Write x == "..." or $_streq(x, "...").'


def comparison(lower, node):
    """Return the Operand of x == "..." or x != "...", or None for any other comparison."""
    left, right = node.left, node.right
    for side, other in ((left, right), (right, left)):
        if isinstance(side, syntax.Call) and side.name in COMPARE:
            if node.op not in ("==", "!=") or not (isinstance(other, syntax.Number) and other.value == 0):
                raise Error("%s() can only be compared with 0 for equality" % side.name, node.at, FULL)
    if node.op not in ("==", "!=") or not isinstance(left, syntax.String) and not isinstance(right, syntax.String):
        return None
    text, other = (left, right) if isinstance(left, syntax.String) else (right, left)
    if isinstance(other, syntax.String):
        raise Error("one side of the comparison must be the kernel's", node.start)
    same = equal(lower, other, text.data + b"\0")
    return same if node.op == "==" else negated(same)


def negated(operand):
    return Operand(ctype.integer(INT), "!" + operand.within(UNARY), UNARY, INT)


def streq(lower, node):
    """Translate $_streq(a, b)."""
    subject, text = arguments(node, 2)
    return equal(lower, subject, text.data + b"\0")


def prefix(lower, node):
    """Translate $_strprefix(a, "ng"), and the kernel's strstarts()."""
    subject, text = arguments(node, 2)
    return equal(lower, subject, text.data)


def strcmp(lower, node):
    """Translate strcmp(a, "x"), as in !strcmp(): the value is 0 if the strings are equal, else 1."""
    subject, text = arguments(node, 2)
    return negated(equal(lower, subject, text.data + b"\0"))


def strncmp(lower, node):
    subject, text = arguments(node, 3)
    length = lower.constant(node.arguments[2])
    return negated(equal(lower, subject, (text.data + b"\0")[:length]))


def arguments(node, number):
    """Return the expression and the string of a call that compares them. For strcmp they may be in any order."""
    if len(node.arguments) != number:
        raise Error("%s takes %d arguments" % (node.name, number), node.start)
    first, second = node.arguments[:2]
    if isinstance(first, syntax.String) and not isinstance(second, syntax.String):
        first, second = second, first
    if not isinstance(second, syntax.String) or isinstance(first, syntax.String):
        raise Error("one side of the comparison must be a string in quotes", node.start, FULL)
    return first, second


def equal(lower, subject, data):
    """Return an expression that tests whether the bytes at SUBJECT begin with DATA."""
    if b"\0" in data[:-1]:
        raise Error("the string has a zero inside", subject.end)
    operand = lower.operand(subject)
    lower.unplaced(operand, subject)
    # An array of one element is treated as a pointer: old code ends a structure with such an array for a string of any
    # length.
    if ctype.is_array(operand.type) and is_char(operand.type) and ctype.count(operand.type) > 1 and operand.place:
        parts = wide(operand, subject, data)
    else:
        pointer = lower.rvalue(characters(lower, operand) or operand, subject)
        if not ctype.is_pointer(pointer.type) or not is_char(pointer.type):
            raise Error("a string is compared with a char array or a char pointer", subject.start)
        parts = narrow(pointer, data)
    lower.differ("GDB's compiler knows no strings")
    if not parts:
        return Operand(ctype.integer(INT), "1", PRIMARY, INT, constant=1)
    return Operand(ctype.integer(INT), " && ".join(parts), BOTH if len(parts) > 1 else EQUAL, INT)


def characters(lower, operand):
    """Return the Operand of a pointer to a std::string's characters, or of a char pointer whose type has another name.
    Return None for anything else."""
    kind, member = operand.type, "_M_dataplus"
    if ctype.is_aggregate(kind) and operand.named and ctype.member(kind, member) and ctype.member(kind, "_M_string_length"):
        lower.differ("GDB takes no std::string for its characters")
        text = "%s.%s._M_p" % (operand.within(PRIMARY), member)
    elif ctype.is_pointer(kind) and is_char(kind) and kind.unqualified().code == gdb.TYPE_CODE_TYPEDEF:
        lower.differ("GDB sees no string in a type of another name")
        text = operand.within(UNARY)
    else:
        return None
    return Operand(gdb.lookup_type("char").pointer(), "(char *)%s" % text, UNARY, named=True)


def is_char(kind):
    element = ctype.kind_of(ctype.plain(kind).target())
    return element is not None and element[0] == 1


def wide(operand, subject, data):
    """Return comparisons of an array's bytes, each as wide as the array allows."""
    room = ctype.count(operand.type)
    if len(data) == room + 1 and not data[-1]:
        data = data[:-1]  # the string fills the array, so there is no terminator to compare
    if len(data) > room:
        raise Error("the array has %d bytes, and can never hold that" % room, subject.start)
    parts, done = [], 0
    base, offset = operand.place
    while done < len(data):
        left = len(data) - done
        size = next(s for s in (8, 4, 2, 1) if s <= room - done and (s <= left or s // 2 < left))
        piece = data[done:done + size]
        parts.append(chunk((base, offset + done), size, piece))
        done += len(piece)
    return parts


def chunk(place, size, piece):
    """Return a comparison of SIZE bytes at a place with a piece of the string. Bytes beyond the piece are masked out."""
    value = int.from_bytes(piece, "little")
    kind = (size, True)
    load = at(place, ctype.NAMES[kind] + " *")
    suffix = "ul" if size == 8 else "u" if size == 4 else ""
    if len(piece) < size:
        load = "(%s & %#x%s)" % (load, (1 << 8 * len(piece)) - 1, suffix)
    return "%s == %#x%s" % (load, value, suffix) if size > 1 else "%s == %d" % (load, value)


def narrow(pointer, data):
    """Return comparisons of the string at a pointer, one for each byte."""
    base = pointer.within(UNARY)
    return ["%s == %d" % (at((base, i), "unsigned char *"), byte) for i, byte in enumerate(data)]
