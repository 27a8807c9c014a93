# SPDX-License-Identifier: GPL-2.0-only
"""Translates binary operators with C's conversions, pointers and constants. Finds out whether GDB's own evaluation
gives the same value."""
import gdb

from gtp.cexpr import ctype, strings, syntax, wide
from gtp.cexpr.ctype import INT, LONG, describe
from gtp.cexpr.error import Error
from gtp.cexpr.operand import (AND, BOTH, CHOICE, EITHER, EQUAL, OR, ORDER, PRODUCT, SHIFT, SUM, UNARY, XOR, Operand,
                               address, cast, in_memory, number)

BINARY = {"*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "+": SUM, "-": SUM, "<<": SHIFT, ">>": SHIFT, "<": ORDER,
          "<=": ORDER, ">": ORDER, ">=": ORDER, "==": EQUAL, "!=": EQUAL, "&": AND, "^": XOR, "|": OR, "&&": BOTH,
          "||": EITHER}
COMPARING = ("<", "<=", ">", ">=", "==", "!=")


def binary(lower, node):
    """Return the Operand of a Binary node."""
    text = strings.comparison(lower, node)
    if text is not None:
        return text
    if node.op == "@":
        return repeated(lower, node)
    left, right = lower.operand(node.left), lower.operand(node.right)
    if wide.is_wide(left.type) or wide.is_wide(right.type):
        return wide.binary(lower, node, left, right)
    left = lower.rvalue(left, node.left)
    right = lower.distance(node.right, left, right)
    if right.kind is None and left.kind is not None:
        left = lower.distance(node.left, right)
    if node.op in ("&&", "||"):
        return truth(node.op, left, right)
    if left.kind is None or right.kind is None:
        return pointers(lower, node, left, right)
    if node.op in ("<<", ">>"):
        return shifted(lower, node, left, right)
    if node.op in ("/", "%") and right.constant == 0:
        raise Error("division by zero", node.at)
    return integers(lower, node, left, right)


def integers(lower, node, left, right):
    """Convert two integers to one type."""
    kind, seen = ctype.usual(left.kind, right.kind), ctype.usual(left.seen, right.seen)
    comparing = node.op in COMPARING
    if kind != seen and not agree(node.op, left, right, (kind, seen)):
        lower.differ("GDB takes %s for another type than C does" % joined(node.op, left, right))
        left, right, seen = lower.straight(left), lower.straight(right), kind
    value = fold(node, left, right, kind)
    result, seen = (INT, INT) if comparing else (kind, seen)
    if value is not None:
        return number(value, result, ctype.literal(value, seen)).but(seen=seen)
    return Operand(ctype.integer(result), joined(node.op, left, right), BINARY[node.op], seen,
                   limits=known(node.op, left, right, kind))


def truth(op, left, right):
    return Operand(ctype.integer(INT), joined(op, left, right), BINARY[op], INT, limits=(0, 1))


def shifted(lower, node, left, right):
    kind, seen = ctype.promoted(left.kind), ctype.usual(left.seen, right.seen)
    value = fold(node, left, right, kind)
    if value is not None:
        return number(value, kind)
    if kind != seen and not agree(node.op, left, right, (kind, seen)):
        lower.differ("GDB takes the type of a shift from both sides")
        left, right, seen = lower.as_kind(left, kind), lower.as_kind(right, kind), kind
    return Operand(ctype.integer(kind), joined(node.op, left, right), SHIFT, seen,
                   limits=known(node.op, left, right, kind))


def pointers(lower, node, left, right):
    """Translate arithmetic and comparisons with pointers."""
    if node.op in COMPARING:
        if node.op == "<" and left.kind is None and right.constant == 0:
            raise Error("no pointer is less than 0", node.at, "Write IS_ERR(p), and (long)p or PTR_ERR(p) for the error.")
        return truth(node.op, left, right)
    if node.op == "-" and left.kind is None and right.kind is None:
        return difference(lower, node, left, right)
    if node.op == "+" and left.kind is not None:
        left, right = right, left
    if node.op not in ("+", "-") or right.kind is None:
        raise Error("%s between pointers has no meaning" % node.op if right.kind is None and left.kind is None else
                    "%s of a pointer has no meaning" % node.op, node.at, "Cast it to unsigned long.")
    size = step(lower, left.type, node)
    if left.named:
        return left.but(text=joined(node.op, left, right), level=SUM, constant=None, lvalue=False)
    base, offset = moved((left.within(UNARY), 0), right if node.op == "+" else negated(right), size)
    text, level = address((base, offset))
    return left.but(text=text, level=level, constant=None, lvalue=False)


def difference(lower, node, left, right):
    """Return p - q in elements, which may be negative."""
    size = step(lower, left.type, node)
    if size == 1 and left.named and right.named:
        return Operand(ctype.integer(LONG), joined("-", left, right), SUM, LONG)
    text = "%s - %s" % (cast(LONG, left), cast(LONG, right))
    if size == 1:
        return Operand(ctype.integer(LONG), text, SUM, LONG)
    lower.differ("GDB divides the difference of pointers without sign")
    return Operand(ctype.integer(LONG), "(%s) / %d" % (text, size), PRODUCT, LONG)


def repeated(lower, node):
    """Translate GDB's object@count, an array of COUNT objects."""
    left = lower.operand(node.left)
    if isinstance(node.left, syntax.Unary) and node.left.op == "&":
        raise Error("@ makes an array of an object in memory, and an address is none", node.left.start,
                    "Write the object: %s@%s." % (lower.source(node.left.operand), lower.source(node.right)))
    length = lower.value(node.right).constant
    if length is None:
        raise Error("the count after @ must be a constant, since GDB has no code for another one", node.right.start,
                    "%s@16 is always 16 of them." % lower.source(node.left))
    if not left.lvalue or left.place is None or left.bits:
        raise Error("the object before @ must be in memory", node.left.start)
    if length < 1:
        raise Error("the number after @ must be at least 1", node.right.start)
    kind = left.type.array(length - 1)
    if left.named or ctype.spell_pointer(left.type, lower.scope) or left.kind:
        return left.but(type=kind, text="%s@%d" % (left.within(SUM), length), level=SHIFT, named=False, seen=None)
    return in_memory(gdb.lookup_type("char").array(kind.sizeof - 1), left.place, lower.scope).but(type=kind)


# Helpers -----------------------------------------------------------------------------------------

def joined(op, left, right):
    level = BINARY[op]
    return "%s %s %s" % (left.within(level), op, right.within(level + 1))


def choice(test, yes, no):
    return "%s ? %s : %s" % (test.within(EITHER), yes.within(CHOICE + 1), no.within(CHOICE + 1))


def outcome(op, left, right):
    """Return the smallest and the largest possible result of an operation on two integers, or None if they are not
    known."""
    (a, b), (c, d) = left.range, right.range
    if op in COMPARING:
        return 0, 1
    if op == "+":
        return a + c, b + d
    if op == "-":
        return a - d, b - c
    if min(a, c) < 0 or op == "<<" and d > 64:
        return None
    if op in ("*", "<<"):
        return 0, b * d if op == "*" else b << d
    return 0, (1 << max(b.bit_length(), d.bit_length())) - 1


def agree(op, left, right, kinds):
    """Return whether an operation has the same value in each of KINDS. This is certain only if the operands and the
    result fit into all of KINDS."""
    ranges = [left.range, right.range, outcome(op, left, right)]
    return all(r is not None and ctype.holds(kind, *r) for kind in kinds for r in ranges)


def known(op, left, right, kind):
    """Return the limits of an operation's result if they are narrower than the limits of the result's kind, else
    None."""
    limits = outcome(op, left, right)
    return limits if limits is not None and ctype.holds(kind, *limits) else None


def negated(operand):
    if operand.constant is not None:
        return number(-operand.constant, LONG)
    return operand.but(text="-" + cast(LONG, operand), level=UNARY, seen=LONG)


def moved(place, index, size):
    """Return the place in memory that is INDEX elements of SIZE bytes after PLACE."""
    if place is None:
        return None
    if index.constant is not None:
        return place[0], place[1] + index.constant * size
    scaled = index.within(PRODUCT) if size == 1 else "%s * %d" % (cast(LONG, index), size)
    text, level = address(place)
    return "(%s + %s)" % (text if level >= SUM else "(%s)" % text, scaled), 0


def step(lower, kind, node):
    """Return the number of bytes by which a pointer of a type moves when 1 is added to it."""
    target, same = lower.complete(kind)
    if not same:
        raise Error("%s is only declared here, and several files have one" % describe(target), node.start,
                    "Cast it: (struct 'FILE'::name *)p.")
    if ctype.code(target) == gdb.TYPE_CODE_VOID or ctype.is_function(target):
        return 1
    if target.sizeof == 0:
        raise Error("%s has no size" % describe(target), node.start)
    return target.sizeof


def fold(node, left, right, kind):
    """Return the value of an operation on two constants, or None."""
    if left.constant is None or right.constant is None:
        return None
    shift = node.op in ("<<", ">>")
    a, b = ctype.wrapped(left.constant, kind), right.constant if shift else ctype.wrapped(right.constant, kind)
    if shift and not 0 <= b < 8 * kind[0]:
        raise Error("a shift of %d bits by %d" % (8 * kind[0], b), node.at)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if node.op in ("/", "%") else 0
    if not ctype.holds(kind, quotient, quotient):
        raise Error("%d / %d does not fit into %s" % (a, b, describe(ctype.integer(kind))), node.at)
    value = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: quotient,
             "%": lambda: a - quotient * b, "<<": lambda: a << b, ">>": lambda: a >> b, "&": lambda: a & b,
             "|": lambda: a | b, "^": lambda: a ^ b, "<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b,
             ">=": lambda: a >= b, "==": lambda: a == b, "!=": lambda: a != b}[node.op]()
    return ctype.wrapped(int(value), kind)
