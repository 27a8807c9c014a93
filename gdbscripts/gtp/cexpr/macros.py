# SPDX-License-Identifier: GPL-2.0-only
"""Translates the kernel's macros: numbers, other names of members (sk_state), expressions with arguments (S_ISREG)."""
import functools
import re

from gtp.cexpr import headers, syntax
from gtp.cexpr.error import Error
from gtp.cexpr.parse import Parser

MARK = "gtp_from_here"
ASM = """#include <%s>
void gtp(void);
void gtp(void)
{
	asm volatile("\\n->gtp %%c0 %%c1 %%c2" : : "i"(%s), "i"(sizeof(%s)), "i"((typeof(%s))-1 < (typeof(%s))1));
}
"""
DEEPEST = 8


@functools.lru_cache(None)
def constant(path, name):
    """Return (value, kind) if a macro is a plain number, or None."""
    for header in headers.defining(path, name, "")[:headers.MOST_TRIES]:
        out = headers.compiler(path, ASM % ((header,) + (name,) * 4), "-S")
        found = out and re.search(r"^->gtp \$?(-?\d+) \$?(\d+) \$?(\d+)$", out, re.M)
        if found:
            value, size, signed = map(int, found.groups())
            if size in (1, 2, 4, 8):
                return value, (max(size, 4), size >= 4 and not signed)
    return None


@functools.lru_cache(None)
def expansion(path, name, call):
    """Return the text to which a call expands, or None. The call is the macro's name, with arguments if it takes
    any."""
    for header in headers.defining(path, name, "(" if call != name else "")[:headers.MOST_TRIES]:
        out = headers.compiler(path, "#include <%s>\n%s %s\n" % (header, MARK, call), "-E", "-P")
        if out and MARK in out:
            text = " ".join(out.split(MARK)[-1].split())
            if text and text.replace(" ", "") != call.replace(" ", ""):
                return text
    return None


def number(name):
    """Return (value, kind) of a macro. Return None if there is no such macro, or if missing() returns a reason."""
    try:
        return constant(headers.folder(), name)
    except headers.Missing:
        return None


def missing():
    """Return the reason why macros are unknown, or None if they are known."""
    try:
        headers.compiler(headers.folder(), "", "-E")
    except headers.Missing as reason:
        return str(reason)
    return None


def member(name):
    """Return the members that a macro such as sk_state stands for: ["__sk_common", "skc_state"], or None."""
    try:
        text = expansion(headers.folder(), name, name)
    except headers.Missing:
        return None
    if text and re.fullmatch(r"\w+(\s*\.\s*\w+)*", text) and not text[0].isdigit():
        return [word.strip() for word in text.split(".")]
    return None


def expanded(lower, node):
    """Return the Operand of a call NAME(a, b) of a macro with arguments, or None if there is no such macro."""
    source = lower.source(node)
    try:
        text = expansion(headers.folder(), node.name, source) if source else None
    except headers.Missing:
        return None
    if text is None:
        return None
    return inside(lower, text, node)


def inside(lower, text, node):
    """Return the Operand of TEXT, the expansion of the macro at NODE."""
    if lower.depth >= DEEPEST:
        return None
    try:
        inner = Parser(text, lower.scope.is_type).whole()
        for part in syntax.walk(inner):
            part.start, part.end = node.start, node.end
        return lower.nested(inner, text)
    except Error as error:
        raise Error("%s is a macro, and in its text %s" % (node.name, error.what), node.start,
                    "It stands for %s" % text if len(text) < 200 else None) from None
