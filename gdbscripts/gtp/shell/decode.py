# SPDX-License-Identifier: GPL-2.0-only
"""Formats values as in C, by descriptions of their types, which inside/values.py has made in GDB.

A description is a dict: kind is int, bool, char, enum, pointer, bytes or string; size in bytes and signed where that matters;
names {number: name} of an enum, flags when its names are bits; view: the value in another form, see gtp.view.formdict.
"""
import bisect

from gtp.text import spell
from gtp.text.harmless import ESCAPES, printable
from gtp.text.units import octets

NULL = "(null)"
KERNEL = 0xffffffff80000000  # the lowest address of the kernel's image and its modules


def integer(kind):
    bits, signed = 8 * kind["size"], kind["signed"]
    low, top = (1 << bits) - 1, 1 << (bits - 1)
    return (lambda x: ((x & low) ^ top) - top) if signed else (lambda x: x & low)


def enum(kind):
    number, names = integer(kind), {int(n): name for n, name in kind["names"].items()}

    def bits(x):
        """Return the names of the bits that are set in a number, or None if one of them has no name."""
        found = [name for n, name in names.items() if n and x & n == n and not n & (n - 1)]
        known = sum(n for n in names if n and x & n == n and not n & (n - 1))
        return " | ".join(found) if known == x and found else None

    def text(x):
        x = number(x)
        return names.get(x) or kind.get("flags") and bits(x) or str(x)
    return text


def char(kind):
    number = integer(kind)

    def text(x):
        c = x & 0xff
        return "%d '%s'" % (number(x), printable(bytes([c])) if 32 <= c < 127 or c in ESCAPES else "\\%03o" % c)
    return text


class Symbols:
    """Symbols of the kernel and its modules. /proc/kallsyms is read when the first symbol is looked up."""

    def __init__(self, path="/proc/kallsyms"):
        self.path, self.starts, self.names = path, None, []

    def read(self):
        rows = []
        try:
            with open(self.path, encoding="ascii", errors="replace") as file:
                for line in file:
                    address, kind, name = line.split()[:3]
                    if kind not in "aAuU" and not name.startswith("__pfx_"):
                        rows.append((int(address, 16), name))
        except (OSError, ValueError):
            rows = []
        rows.sort(key=lambda row: row[0])
        self.starts, self.names = [row[0] for row in rows], [row[1] for row in rows]

    def __call__(self, address, near):
        """Return the name of an address, with the offset after it if NEAR, or None."""
        if address < KERNEL:
            return None
        if self.starts is None:
            self.read()
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or not self.starts[at]:
            return None
        behind = address - self.starts[at]
        if behind and not near:
            return None
        return self.names[at] + ("+%#x" % behind if behind else "")


def pointer(kind, symbols):
    def text(x):
        name = symbols(x, kind.get("function", False)) if x else None
        return "%#x <%s>" % (x, name) if name else "%#x" % x
    return text


def number(kind, symbols):
    """Return a function that turns an unsigned 64-bit number into text: as KIND's `view' says, if KIND has a `view'
    that can show the number, otherwise as plain() does."""
    raw = plain(kind, symbols)
    if not kind.get("view"):
        return raw
    show = spell.carried(kind["view"])
    return lambda x: show(x) or raw(x)


def plain(kind, symbols):
    """Return a function that turns an unsigned 64-bit number into text, without regard to KIND's `view'."""
    if kind["kind"] == "pointer":
        return pointer(kind, symbols)
    if kind["kind"] == "bool":
        return lambda x: "true" if x & 0xff else "false"
    if kind["kind"] == "enum":
        return enum(kind)
    if kind["kind"] == "char":
        return char(kind)
    if kind["kind"] == "bytes":
        return lambda x: octets(x, kind["size"])
    value = integer(kind)
    return lambda x: str(value(x))


def string(data):
    """Return the text of a string's bytes."""
    return printable(data) if data else '""'


def cell(kind, symbols=None):
    """Return the function that turns a record's field into the text of a table cell."""
    if kind["kind"] == "string":
        return string
    text = number(kind, symbols or Symbols())
    return lambda field: text(int(field, 16))
