# SPDX-License-Identifier: GPL-2.0-only
"""Translates integers of 16 bytes: bytecode computes with 8 bytes at a time, so each integer is two halves.

A result can be compared, tested, or cast to a type of at most 8 bytes.
"""
from gtp.cexpr import ctype
from gtp.cexpr.ctype import INT, LONG, ULONG, describe
from gtp.cexpr.error import Error
from gtp.cexpr.operand import BOTH, EITHER, EQUAL, PRIMARY, Operand, at, cast, number

BYTES, BITS = 16, 64
ORDERED = {"<": ("<", "<"), "<=": ("<", "<="), ">": (">", ">"), ">=": (">", ">=")}
BITWISE = ("&", "|", "^")
WAY_OUT = "Compare it, or cast it: (unsigned long)x, (unsigned long)(x >> 64)."


def is_wide(kind):
    """Return whether a type is an integer of 16 bytes."""
    stripped = ctype.plain(kind)
    return stripped.code in ctype.INTEGERS and stripped.sizeof == BYTES


def made(kind, low, high):
    """Return an Operand of a 16-byte KIND. LOW and HIGH are the texts of its halves. The caller adds parentheses to
    them where they are needed."""
    return Operand(kind, "", halves=(low, high))


def parenthesized(text):
    return "(%s)" % text


def halves(operand, node):
    """Return (low, high), the halves of a 16-byte number. Both are texts of type unsigned long in GDB."""
    if operand.halves is not None:
        return operand.halves
    if not is_wide(operand.type):
        return widened(operand)
    if operand.place is None or operand.bits or not operand.lvalue:
        raise Error("%s is not in memory here" % describe(operand.type), node.start, "Trace the function's first instruction.")
    base, offset = operand.place
    return tuple(parenthesized(at((base, offset + n), ctype.NAMES[ULONG] + " *")) for n in (0, 8))


def widened(operand):
    """Return the halves of a number of 8 bytes or less."""
    if operand.constant is not None:
        value = operand.constant % (1 << 2 * BITS)
        return tuple(number(value >> shift, ULONG).within(PRIMARY) for shift in (0, BITS))
    low = parenthesized(cast(ULONG, operand))
    if operand.kind[1]:
        return low, number(0, ULONG).text
    return low, "((unsigned long)(%s >> 63))" % parenthesized(cast(LONG, operand))


def numeric(lower, operand, node):
    """Return an operand of a 16-byte operation. Convert a shorter number to 16 bytes."""
    if is_wide(operand.type):
        return operand
    operand = lower.rvalue(operand, node)
    if operand.kind is None:
        raise Error("a pointer has no meaning here", node.start, "Cast it to unsigned long.")
    return operand


def binary(lower, node, left, right):
    """Return the Operand of a Binary node of which at least one side has 16 bytes."""
    lower.differ("GDB does not compute with 16 bytes")
    if node.op in ("&&", "||"):
        sides = [tested(lower, *side) for side in ((left, node.left), (right, node.right))]
        level = BOTH if node.op == "&&" else EITHER
        return Operand(ctype.integer(INT), (" %s " % node.op).join(side.within(level) for side in sides), level, INT,
                       limits=(0, 1))
    left, right = numeric(lower, left, node.left), numeric(lower, right, node.right)
    if node.op in ("<<", ">>"):
        return shifted(node, left, right)
    sides = [operand for operand in (left, right) if operand.kind is None]
    kind = next((side.type for side in sides if not ctype.plain(side.type).is_signed), sides[0].type)
    low, high = zip(halves(left, node.left), halves(right, node.right))
    if node.op in ORDERED or node.op in ("==", "!="):
        return compared(node.op, kind, low, high)
    if node.op in BITWISE:
        return made(kind, *(parenthesized(("%s %s %s" % (a, node.op, b))) for a, b in (low, high)))
    if node.op in ("+", "-"):
        return added(node.op, kind, low, high)
    raise Error("%s of 16 bytes is more than a hit computes with" % node.op, node.at, WAY_OUT)


def compared(op, kind, low, high):
    """Return the Operand of a comparison of 16-byte numbers; its type is int."""
    signed = ctype.plain(kind).is_signed
    top = ["((long)%s)" % text if signed else text for text in high]
    if op in ("==", "!="):
        joint, level = (" && ", BOTH) if op == "==" else (" || ", EITHER)
        text = joint.join("%s %s %s" % (a, op, b) for a, b in (low, high))
        return Operand(ctype.integer(INT), text, level, INT, limits=(0, 1))
    strict, last = ORDERED[op]
    text = "%s %s %s || %s == %s && %s %s %s" % (top[0], strict, top[1], *high, low[0], last, low[1])
    return Operand(ctype.integer(INT), text, EITHER, INT, limits=(0, 1))


def added(op, kind, low, high):
    """Return the Operand of a 16-byte sum or difference. The carry or borrow of the low halves goes to the high
    ones."""
    total = parenthesized("%s %s %s" % (low[0], op, low[1]))
    carry = "(%s < %s)" % ((total, low[0]) if op == "+" else low)
    return made(kind, total, "(%s %s %s %s (unsigned long)%s)" % (high[0], op, high[1], op, carry))


def shifted(node, left, right):
    """Return the Operand of a 16-byte number shifted by a constant."""
    if right.constant is None:
        raise Error("16 bytes are shifted by a constant only", node.right.start)
    if not is_wide(left.type):
        raise Error("a shift by 16 bytes", node.at)
    by, (low, high) = right.constant, halves(left, node.left)
    if not 0 <= by < 2 * BITS:
        raise Error("a shift of 128 bits by %d" % by, node.at)
    signed = ctype.plain(left.type).is_signed
    top, sign = ("((long)%s)" % high, "((unsigned long)((long)%s >> 63))" % high) if signed else (high, number(0, ULONG).text)
    if by == 0:
        return made(left.type, low, high)
    if node.op == ">>":
        down = "((unsigned long)(%s >> %d))"
        if by >= BITS:
            return made(left.type, down % (top, by - BITS), sign)
        return made(left.type, "(%s >> %d | %s << %d)" % (low, by, high, BITS - by), down % (top, by))
    if by >= BITS:
        return made(left.type, number(0, ULONG).text, "(%s << %d)" % (low, by - BITS))
    return made(left.type, "(%s << %d)" % (low, by), "(%s << %d | %s >> %d)" % (high, by, low, BITS - by))


def unary(lower, node, operand):
    """Translate !x, ~x, -x and +x of a 16-byte number."""
    lower.differ("GDB does not compute with 16 bytes")
    if node.op == "!":
        return Operand(ctype.integer(INT), "%s == 0" % anything(operand, node), EQUAL, INT, limits=(0, 1))
    if node.op == "-":
        low, high = zip(widened(number(0, INT)), halves(operand, node))
        return added("-", operand.type, low, high)
    low, high = halves(operand, node)
    return made(operand.type, low, high) if node.op == "+" else made(operand.type, "(~%s)" % low, "(~%s)" % high)


def anything(operand, node):
    """Return text that is nonzero if and only if a 16-byte number is nonzero."""
    return "(%s | %s)" % halves(operand, node)


def tested(lower, operand, node):
    """Return the Operand of a 16-byte number used as a side of && or ||."""
    if is_wide(operand.type):
        lower.differ("GDB does not compute with 16 bytes")
        return Operand(ctype.integer(INT), "%s != 0" % anything(operand, node), EQUAL, INT, limits=(0, 1))
    return lower.rvalue(operand, node)


def narrowed(lower, operand, node):
    """Return the Operand of a 16-byte number's low half, from which a cast takes its bits. A cast to bool uses tested()
    instead."""
    lower.differ("GDB does not compute with 16 bytes")
    return Operand(ctype.integer(ULONG), halves(operand, node)[0], PRIMARY, ULONG)


def converted(lower, kind, operand, node):
    """Return the Operand of a cast to 16 bytes."""
    lower.differ("GDB does not compute with 16 bytes")
    return made(kind, *halves(numeric(lower, operand, node), node))
