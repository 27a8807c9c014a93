# SPDX-License-Identifier: GPL-2.0-only
"""A pretty-printer, with which GDB's own `print` shows the types of bytype.py as `gtp table` does.

With a format, as in print/x, and with print -raw, GDB shows the plain value. `disable pretty-printer global gdbtp`
turns the printer off.
"""
import gdb
import gdb.printing

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.formats.tracefile import Unavailable
from gtp.view import bytype, cells

NAME = "gdbtp"


class Memory:
    """GDB's current memory, with the methods of a Frame. At BASE it has the bytes of one value, in place of the real
    memory."""

    def __init__(self, data=b"", base=0):
        self.data, self.base = data, base

    def read(self, address, size):
        skip = address - self.base
        if 0 <= skip and skip + size <= len(self.data):
            return self.data[skip:skip + size]
        try:
            return gdb.selected_inferior().read_memory(address, size).tobytes()
        except (gdb.error, OverflowError):
            raise Unavailable from None

    def string(self, address, size):
        """Return the bytes of a string up to its NUL, if there is one in the first SIZE bytes. Memory may end right after
        it."""
        found = b""
        try:
            while len(found) < size and b"\0" not in found:
                found += self.read(address + len(found), 1)
        except Unavailable:
            pass
        return found

    @staticmethod
    def value(text):
        """Return the value of an expression, as an unsigned number."""
        return int(cexpr.value(text)) % 2**64

    def word(self, address, size):
        return int.from_bytes(self.read(address, size), "little")


def bytes_of(value):
    """Return the bytes of a value, with zeros as its padding: the value may not be in memory, but in registers or in an
    older frame. Raise GDB's error if a byte is not known."""
    bare = ctype.plain(value.type)
    if bare.code == gdb.TYPE_CODE_ARRAY:
        first = bare.range()[0]
        return b"".join(bytes_of(value[first + i]) for i in range(ctype.count(bare)))
    if bare.code not in ctype.AGGREGATES:
        return (int(value) % 2**(8 * bare.sizeof)).to_bytes(bare.sizeof, "little")
    found = bytearray(bare.sizeof)
    for field in bare.fields():
        part = bytes_of(value[field])
        found[field.bitpos // 8:field.bitpos // 8 + len(part)] = part
    return bytes(found)


def text_of(value, show):
    """Return the text for a gdb.Value from SHOW, a function that forms.Form.show() returned, or None."""
    try:
        if ctype.plain(value.type).code not in cells.AGGREGATES:
            return show(Memory(), int(value) % 2**64)
        base = 0 if value.address is None else int(value.address) % 2**64
        return show(Memory(bytes_of(value), base), base)
    except (gdb.error, Unavailable):
        return None


class Printer:
    """Prints a value as its text."""

    def __init__(self, value, text):
        self.value, self.text = value, text

    def to_string(self):
        """Return the text. With a format, return what GDB shows without this class. GDB sets the format after it has
        chosen the printer."""
        options = gdb.print_options()
        return self.value.format_string(**{**options, "raw": True}) if options.get("format") else self.text


class Printers(gdb.printing.PrettyPrinter):
    """GDB's pretty-printer entry for all types that bytype knows. Returns a Printer for a value that has a text."""

    def __init__(self):
        super().__init__(NAME)

    def __call__(self, value):
        show = bytype.show(value.type)
        text = text_of(value, show) if show else None
        return None if text is None else Printer(value, text)


# If the scripts are sourced again, the new entry replaces the old one.
gdb.printing.register_pretty_printer(None, Printers(), replace=True)
