# SPDX-License-Identifier: GPL-2.0-only
"""Refuses the divisions over which GDB 13 ends.

GDB 13 divides 64-bit numbers with the processor's instruction, which traps if the quotient does not fit: -2^63 / -1. GDB
also computes both sides of && and ||, the operand of sizeof, and constants that it only compiles. So refuse an expression
if any division in it, whether C would reach it or not, has these operands.
"""
import gdb

from gtp.cexpr import syntax
from gtp.cexpr.error import Error
from gtp.cexpr.parse import DEEP, Parser
from gtp.gdblib import gdbcall

DIVIDING = ("/", "%", "/=", "%=")
LEAST = -2**63
UNFIT = "the quotient of -2^63 and -1 does not fit into 64 bits"
UNSEEN = "a division in a function's type is not understood"


def is_type(name):
    """Return whether GDB takes a name for a type, at the selected frame if there is one."""
    try:
        block = gdb.selected_frame().block()
    except (gdb.error, RuntimeError):
        block = None
    try:
        symbol = gdb.lookup_symbol(name, block)[0] if block else gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
        if symbol is not None:
            return symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF
        gdb.lookup_type(name)
    except gdb.error:
        return False
    return True


def operands(node):
    """Return the two operands of a division, or None for any other node."""
    if isinstance(node, syntax.Binary) and node.op in DIVIDING:
        return node.left, node.right
    if isinstance(node, syntax.Assign) and node.op in DIVIDING:
        return node.target, node.value
    return None


def balanced(tokens, node):
    """Return the (start, end) of a node's text with the brackets that belong to it. The start and end of a node leave
    out brackets around its first or last operand."""
    first = next(i for i, token in enumerate(tokens) if token.start >= node.start)
    last = next(i for i, token in enumerate(tokens) if token.end >= node.end)
    depth = least = 0
    for token in tokens[first:last + 1]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        least = min(least, depth)
    return tokens[first + least].start, tokens[last + depth - least].end


def number(text):
    """Return an expression's value as a number. Return None if it has none: then GDB does not get as far as the
    division."""
    try:
        return int(gdbcall.unchecked(text))
    except (gdb.error, RuntimeError, OverflowError, ValueError):
        return None


def refuse(text):
    """Raise gdb.error if GDB would end over an expression. GDB itself refuses text that is not understood here, or the
    user has typed it: text from a file has been parsed before."""
    if "/" not in text and "%" not in text:
        return
    try:
        parser = Parser(text, is_type)
        nodes = {id(node): node for node in syntax.walk(parser.whole())}  # x ?: y has the node of x twice
        found = [pair for pair in map(operands, nodes.values()) if pair]
    except Error:
        return
    except RecursionError:
        raise gdb.error(DEEP) from None
    if len(found) != sum(token.kind == "op" and token.text in DIVIDING for token in parser.tokens):
        raise gdb.error(UNSEEN)
    for pair in reversed(found):  # inner divisions come first, so that GDB survives to compute the outer ones
        left, right = (text[slice(*balanced(parser.tokens, node))] for node in pair)
        if number(right) == -1 and number(left) == LEAST:
            raise gdb.error(UNFIT)


gdbcall.refusals.append(refuse)
