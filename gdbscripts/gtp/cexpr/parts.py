# SPDX-License-Identifier: GPL-2.0-only
"""The numbers, pointers and strings that a structure consists of, each of which can be a key of an aggregation."""
import re

import gdb

from gtp.cexpr import ctype, octets

SIMPLE = re.compile(r"[\w$]+(?:(?:\.|->)\w+|\[\w+\])*")
MOST = 64  # the maximum number of parts of one structure: far more than the keys that an aggregation can have


class Unsaid(Exception):
    """A structure has a part that is not a number, pointer or string; the text is that part's name and type."""

    def __init__(self, kind, path=""):
        super().__init__("%s (%s)" % (path, ctype.describe(kind)) if path else ctype.describe(kind))
        self.kind, self.path = kind, path

    def within(self, name):
        """Return this error for the outer structure that contains the structure as its member NAME, or as an unnamed
        member if NAME is empty."""
        return Unsaid(self.kind, ".".join(filter(None, (name, self.path))))


def suffixes(kind):
    """Return for each part of a structure the text that follows the structure's name. For other types, return one empty
    text."""
    kind = ctype.plain(kind)
    if ctype.is_bytes(kind):
        return octets.suffixes(ctype.count(kind))
    if ctype.is_array(kind) and not ctype.is_text(kind.target()):
        found = suffixes(kind.target())
        return ["[%d]%s" % (i, rest) for i in range(min(ctype.count(kind), MOST)) for rest in found]
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return [text for field in fields(kind) for text in of_field(field)]
    if kind.code == gdb.TYPE_CODE_UNION:
        return of_union(kind)
    if not ctype.is_array(kind) and not ctype.is_pointer(kind) and ctype.kind_of(kind) is None:
        raise Unsaid(kind)
    return [""]


def fields(kind):
    return [field for field in kind.fields() if ctype.place(field) is not None and (field.type.sizeof or not ctype.is_array(field.type))]


def of_field(field):
    try:
        rest = suffixes(field.type)
    except Unsaid as unsaid:
        raise unsaid.within(field.name) from None
    return ["." + field.name + text for text in rest] if field.name else rest


def of_union(kind):
    """Return the suffixes of the parts of that union member which covers all of the union's bytes with the fewest
    parts."""
    whole = []
    for field in fields(kind):
        try:
            if field.type.sizeof == kind.sizeof and not field.bitsize and covers(field.type):
                whole.append((len(of_field(field)), ctype.is_bytes(field.type), of_field(field)))
        except Unsaid:
            pass
    if not whole:
        raise Unsaid(kind)
    return min(whole, key=lambda one: one[:2])[2]  # fewest parts first, then a member that is not an array of bytes


def covers(kind):
    """Return whether a type's parts contain all of its bytes. Bytes that are padding in one member of a union may
    contain data of another member."""
    kind = ctype.plain(kind)
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return sum(f.bitsize or 8 * f.type.sizeof for f in fields(kind)) == 8 * kind.sizeof and all(
            covers(f.type) for f in fields(kind))
    return not ctype.is_array(kind) or not ctype.is_text(kind.target()) and covers(kind.target())


def texts(text, found):
    """Return the text with each suffix in FOUND appended."""
    if found == [""]:
        return [text]
    base = text if SIMPLE.fullmatch(text) else "(%s)" % text
    return [base + rest for rest in found]
