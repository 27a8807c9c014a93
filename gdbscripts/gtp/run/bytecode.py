# SPDX-License-Identifier: GPL-2.0-only
# Turns GDB's agent expressions into Python functions that take a frame. Such a function computes the value that the
# kernel would have computed at the hit.
import re

import gdb

from gtp.gdblib import gdbcall

MASK = 2**64 - 1
LINE = re.compile(r"^\s*(\d+)  (\w+)(?: (-?\d+))?$", re.M)
LONGEST = 20000  # the longest Python text that is compiled for an expression, in characters; GDB evaluates longer ones


class Unknown(Exception):
    """bytecode.py cannot turn the expression into a function. GDB may still be able to evaluate it."""


class Failure(Exception):
    """The expression has no value in this frame; the message says why."""


def signed(x):
    return x - 2**64 if x >> 63 else x


def divide(a, b, is_signed, remainder):
    """Divide as C does, which truncates. Both a and b are unsigned words."""
    if b == 0:
        raise Failure("division by zero")
    if not is_signed:
        return a % b if remainder else a // b
    a, b = signed(a), signed(b)
    quotient = abs(a) // abs(b)
    if (a < 0) != (b < 0):
        quotient = -quotient
    return (a - quotient * b if remainder else quotient) & MASK


def shift(a, n, kind):
    """Shift as the module does at a hit: a shift by 64 or more gives 0, or copies of the sign."""
    if kind == "lsh":
        return a << n & MASK if n < 64 else 0
    if kind == "rsh_unsigned":
        return a >> n if n < 64 else 0
    return signed(a) >> min(n, 63) & MASK


BINARY = {
    "add": "({0}+{1}&M)", "sub": "({0}-{1}&M)", "mul": "({0}*{1}&M)",
    "div_signed": "divide({0},{1},1,0)", "div_unsigned": "divide({0},{1},0,0)",
    "rem_signed": "divide({0},{1},1,1)", "rem_unsigned": "divide({0},{1},0,1)",
    "lsh": "shift({0},{1},'lsh')", "rsh_signed": "shift({0},{1},'rsh_signed')",
    "rsh_unsigned": "shift({0},{1},'rsh_unsigned')",
    "bit_and": "({0}&{1})", "bit_or": "({0}|{1})", "bit_xor": "({0}^{1})",
    "equal": "({0}=={1})", "less_signed": "(signed({0})<signed({1}))", "less_unsigned": "({0}<{1})",
}
UNARY = {
    "log_not": "(not {0})", "bit_not": "({0}^M)",
    "ref8": "f.word({0},1)", "ref16": "f.word({0},2)", "ref32": "f.word({0},4)", "ref64": "f.word({0},8)",
}
# All values are unsigned 64-bit numbers. GDB prints the constants in bytecode as signed numbers; Source converts them.
LEAF = {"reg": "f.reg({0})", "getv": "f.var({0})",
        "const8": "{0}", "const16": "{0}", "const32": "{0}", "const64": "{0}"}
STACK = {"dup": lambda s: s + s[-1:], "pop": lambda s: s[:-1], "swap": lambda s: s[:-2] + (s[-1], s[-2]),
         "trace": lambda s: s[:-2], "trace_quick": lambda s: s, "tracev": lambda s: s}


def extended(value, kind, bits):
    """Return Python text that extends the lower BITS bits of a value, as ext and zero_ext do."""
    if bits >= 64:
        return value
    low = 2**bits - 1
    if kind == "zero_ext":
        return "(%s&%d)" % (value, low)
    top = 1 << (bits - 1)
    return "(((%s&%d)^%d)-%d&M)" % (value, low, top, top)


class Source:
    """The translation of a bytecode listing to the text of a Python expression."""

    def __init__(self, listing):
        lines = [(int(at), name, int(operand or 0) & MASK) for at, name, operand in LINE.findall(listing)]
        self.lines = lines
        self.place = {at: i for i, (at, _, _) in enumerate(lines)}
        if not lines:
            raise Unknown(listing)

    def at(self, i, stack):
        """Return the text for the listing from line i on. The stack consists of Python expressions; the last one is its
        top."""
        while True:
            _, name, operand = self.lines[i]
            i += 1
            if name == "end":
                return stack[-1]
            if name == "goto":
                i = self.place[operand]
            elif name == "if_goto":
                return self.branch(i, self.place[operand], stack)
            else:
                stack = self.step(name, operand, stack)

    def branch(self, falls, jumps, stack):
        value, stack = stack[-1], stack[:-1]
        if value.isdigit():
            return self.at(jumps if int(value) else falls, stack)
        text = "(%s if %s else %s)" % (self.at(jumps, stack), value, self.at(falls, stack))
        if len(text) > LONGEST:
            raise Unknown("too long")
        return text

    def step(self, name, operand, stack):
        if name in LEAF:
            return stack + (LEAF[name].format(operand),)
        if name in BINARY:
            return stack[:-2] + (BINARY[name].format(*stack[-2:]),)
        if name in UNARY:
            return stack[:-1] + (UNARY[name].format(stack[-1]),)
        if name in ("ext", "zero_ext"):
            return stack[:-1] + (extended(stack[-1], name, operand),)
        if name in STACK:
            return STACK[name](stack)
        raise Unknown(name)


def function(listing):
    """Translate a listing that `maint agent-eval` prints. Return a function that takes a Frame and returns an unsigned
    64-bit number."""
    names = {"M": MASK, "signed": signed, "divide": divide, "shift": shift}
    try:
        return eval("lambda f: " + Source(listing).at(0, ()), names)
    except (KeyError, IndexError, RecursionError, SyntaxError, MemoryError) as error:
        raise Unknown(str(error)) from None


def listed(expression):
    """Return GDB's listing of a scalar expression's bytecode at the pc of the selected trace frame. Raise Unknown if
    GDB cannot compile the expression."""
    try:
        return gdbcall.execute("maint agent-eval (%s)" % expression)
    except gdb.error as error:
        raise Unknown(str(error)) from None


def lines(expression):
    """Return (byte, name, operand or "") for each instruction of a scalar expression's bytecode."""
    return LINE.findall(listed(expression))


def compiled(expression):
    """Return function() of a scalar expression's bytecode at the pc of the selected trace frame. Raise Unknown if GDB
    cannot compile the expression, or bytecode.py cannot translate it."""
    return function(listed(expression))
