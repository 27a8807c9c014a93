# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside GDB: finds the columns of the rows for one traced place, and the dprintf argument for each column."""
import functools
import re
from typing import NamedTuple

import gdb

from gtp import cexpr
from gtp.cexpr import compiler, ctype, parse, variables
from gtp.gdblib import gdbcall
from gtp.places import names
from gtp.view import bytype, formdict, forms

FRAMES_ONLY = ("$regs", "$_sdata", "$_ret", "$_locals")
BANNER = "linux_banner"


class NotCarried(gdb.GdbError):
    """A dprintf cannot print this value, but a frame can hold it."""


class Column(NamedTuple):
    """A column of the table. title: the expression as typed. argument: of the dprintf. kind: see gtp.shell.decode.
    room: the length of a char array, else 0. null: for a pointer to a string, an expression that is true if it is NULL."""
    title: str
    argument: str
    kind: dict
    room: int
    null: str = ""


def described(kind):
    """Describe a gdb.Type for gtp.shell.decode, which formats the value without GDB. Return a dict."""
    bare = ctype.plain(kind)
    if ctype.is_octets(bare):
        return {"kind": "bytes", "size": ctype.count(bare)}
    if bare.code == gdb.TYPE_CODE_ARRAY:
        return {"kind": "string"}
    if bare.code == gdb.TYPE_CODE_PTR:
        if ctype.may_be_text(bare.target()):
            return {"kind": "string"}
        return {"kind": "pointer", "function": ctype.is_function(bare.target())}
    size, unsigned = ctype.kind_of(kind)
    if bare.code == gdb.TYPE_CODE_BOOL:
        return {"kind": "bool"}
    if bare.code == gdb.TYPE_CODE_ENUM:
        values = {field.enumval: field.name for field in reversed(bare.fields())}
        return {"kind": "enum", "size": size, "signed": not unsigned, "names": values,
                "flags": all(n >= 0 and n & (n - 1) == 0 for n in values)}
    return {"kind": "char" if bare.name == "char" else "int", "size": size, "signed": not unsigned}


@functools.lru_cache(maxsize=None)
def empty():
    """Return the address of an empty string in the kernel: the NUL that ends linux_banner, an array without a length. The
    kernel is the same for the life of this GDB, so read the banner only once."""
    banner = gdbcall.value("(char *)&" + BANNER)
    return int(banner) + len(banner.string().encode())


def or_empty(argument, pc):
    """Return (an expression that yields the string pointer ARGUMENT, or empty() if it is NULL, because reading NULL is
    an error; an expression that is true if it is NULL). Return ARGUMENT and "" if GDB compiles no such expression."""
    text = "(%s) ? (%s) : (char *)%#x" % (argument, argument, empty())
    try:
        compiler.check(text, pc, False)
    except compiler.Refused:
        return argument, ""
    return text, "(%s) == 0" % argument


def view(text, form, kind, pc):
    """Return formdict.described() for the Form that the user gave or the type has by itself, or None if there is no such
    Form."""
    form = form or (bytype.of_return(kind, pc) if text in bytype.RETURNED else bytype.form(kind))
    return form and formdict.described(form, kind)


def column(title, text, number, pc, form=None, viewed=True):
    """Return the Column of an expression. Raise NotCarried if a dprintf cannot print it. If VIEWED, also use the Form
    that the type has by itself."""
    if text in FRAMES_ONLY:
        raise NotCarried("%s is not a single value" % text)
    argument, kind = cexpr.printed(names.expand(text, number, pc), pc)
    if argument is None:
        raise NotCarried("%s is %s" % (title, ctype.describe(kind) if ctype.is_aggregate(kind) else "an array"))
    told, null = described(kind), ""
    found = view(text, form, kind, pc) if form or viewed and told["kind"] != "string" else None
    if form and not found and not (form.name == "mac" and told["kind"] == "bytes"):
        raise NotCarried("/%s of %s" % (form.name, text))
    if found:
        told = {**(told if told["kind"] != "string" else {"kind": "pointer"}), "view": found}
    elif ctype.is_pointer(kind) and told["kind"] == "string":
        argument, null = or_empty(argument, pc)
    return Column(title, argument, told, kind.sizeof if told["kind"] == "string" and ctype.is_array(kind) else 0, null)


def typed(text, number, pc, viewed=True):
    """Return the Columns for the user's text after --collect."""
    found = []
    for _, piece in parse.split(text):
        if piece in ("$args", "$locals"):
            found += some(variables.symbols(pc, piece == "$args"), number, pc, viewed)
        else:
            form, text = forms.parsed(piece)
            found.append(column(text, text, number, pc, form, viewed))
    return found


def some(titles, number, pc, viewed=True):
    """Return the Columns for those of TITLES that a dprintf at PC can print. Print a pointer to a buffer as an address,
    because the buffer may not be a string."""
    found = []
    for at, title in enumerate(titles):
        try:
            one = column(title, title, number, pc, viewed=viewed)
            if one.kind["kind"] == "string" and not one.room and not is_text(titles[at:at + 2], number, pc):
                argument, _ = cexpr.printed("(void *)(%s)" % names.expand(title, number, pc), pc)
                one = Column(title, argument, {"kind": "pointer"}, 0)
            found.append(one)
        except (gdb.error, gdb.GdbError):
            pass
    return found


def is_text(pair, number, pc):
    """Return whether to treat an argument as a pointer to a NUL-terminated string: it points to const char and no
    length follows. PAIR is the argument's name and that of the next argument."""
    texts = [names.expand(title, number, pc) for title in pair]
    try:
        # gdbtp adds a cast to a system call's argument; then only the expression's text still contains `const'.
        target = ctype.plain(cexpr.printed(texts[0], pc)[1]).target()
        constant = "const char *" in texts[0] or target != target.unqualified()
        return constant and not (texts[1:] and ctype.kind_of(cexpr.printed(texts[1], pc)[1]) == ctype.ULONG)
    except (gdb.error, gdb.GdbError):
        return False


def usual(verb, number, pc, viewed=True):
    """Return the Columns to show without --collect: a function's arguments, or the fields of an event that are known at
    a hit."""
    own = names.of(number, pc) if verb != "trace" else None
    if own is None:
        return some(variables.symbols(pc, True), number, pc, viewed)
    if verb == "event" and own.stands_for:
        return some([name for name in own.stands_for if not re.match(r"__", name)], number, pc, viewed)
    return some(own.all(), number, pc, viewed)
