# SPDX-License-Identifier: GPL-2.0-only
"""Untrusted expressions and types, from a trace file, a target or a remote machine.

GDB evaluates any text that it is given, and `$_shell("...")` is an expression to GDB. A collected expression was
compiled for a hit, so it contains no call, no assignment and no string literal. Refuse an expression that contains one
of these. Types are looked up by their names, never evaluated.
"""
import re

import gdb

from gtp.cexpr import syntax, typename
from gtp.cexpr.error import Error
from gtp.cexpr.lower import Lower
from gtp.cexpr.names import Scope
from gtp.cexpr.parse import DEEP, Parser
from gtp.gdblib import words

LONGEST = 4096  # the maximum length of an expression, in characters; an action has less than 200 bytes of bytecode
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
REFUSED = {syntax.Call: "a call", syntax.Assign: "an assignment", syntax.String: "a string"}
CANNOT = "%s cannot have been collected"


def parser(text, scope):
    """Return a Parser for an untrusted text. Raise an Error if the text can be neither an expression nor a type."""
    if CONTROL.search(text):
        raise Error("it has control characters")
    if len(text) > LONGEST:
        raise Error("it is too long")
    found = Parser(text, scope.is_type)
    for token, after in zip(found.tokens, found.tokens[1:]):
        # The parser skips the parameters of a function's type, so it does not check them.
        if token.kind == "dollar" and after.text == "(":
            raise Error(CANNOT % "a call", token.start)
    return found


def check(text, pc):
    """Raise Error unless the expression at pc only reads memory, registers and variables, so that GDB may evaluate
    it."""
    try:
        for node in syntax.walk(parser(text, Scope(pc)).whole()):
            if type(node) in REFUSED:
                raise Error(CANNOT % REFUSED[type(node)], node.start)
    except RecursionError:
        raise Error(DEEP) from None


def refusal(text, pc):
    """Return why GDB must not evaluate the expression, or None."""
    try:
        check(text, pc)
    except Error as error:
        return error.what
    return None


def integer(name):
    """Return GDB's name for an integer type, such as unsigned long for `long int unsigned'. Return any other name
    unchanged."""
    found = name.split()
    if not set(found) <= {"int", "long", "short", "char", "signed", "unsigned"}:
        return name
    sign = "unsigned " if "unsigned" in found else "signed " if "signed" in found and "char" in found else ""
    return sign + next((word for word in ("char", "short", "long") if word in found), "int")


def looked_up(text):
    """Look a type up as type_named() does, in C's language."""
    try:
        scope = Scope(gdb.selected_frame().pc())
    except gdb.error:
        scope = Scope(None)
    found = parser(text, scope)
    known = typename.around(scope.block, text)
    if known is not None:
        return known
    node = found.type_name()
    found.must_end()
    if isinstance(node.base, str):
        node.base = integer(node.base)
    if not all(part is node or isinstance(part, syntax.Number) for part in syntax.walk(node)):
        return None
    return Lower(scope, text).type(node)


def type_named(text):
    """Return the gdb.Type of a name as in a C cast, in GDB's current scope, or None if there is none."""
    try:
        with words.in_c():
            return looked_up(text.strip())
    except (Error, gdb.error, RecursionError):
        return None
