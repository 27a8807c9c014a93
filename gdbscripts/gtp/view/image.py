# SPDX-License-Identifier: GPL-2.0-only
"""Reads the names that vmlinux contains for errors and for the bits of flags.

The names are read from the vmlinux file, not from the target. A trace file does not contain them, and reading them from
a live kernel would take packets.
"""
import functools
import struct

import gdb

from gtp.gdblib import gdbcall
from gtp.run import kaslr
from gtp.text import infosymbol

PER_CPU = ".data..percpu"
LONGEST = 64  # a name has fewer bytes than this
MOST = 1024  # the maximum number of entries of a table of names
ENTRY = struct.Struct("<QQ")  # struct trace_print_flags
FLAGS = "trace_print_flags"
# lib/errname.c has two arrays of names: for the errors up to 133, and for the kernel's own, which start at 512.
ERRORS = (("names_0", 0), ("names_512", 512))


class Image:
    """The contents of a vmlinux file whose symbols GDB has moved by the KASLR offset."""

    def __init__(self, linked, moved):
        self.linked, self.moved = linked, moved

    def read(self, address, size):
        return self.linked.read(address, size, self.moved)

    def string(self, address):
        """Return the name at an address, or None if there is no printable string."""
        text = self.read(address, LONGEST).split(b"\0", 1)[0] if address else b""
        try:
            return text.decode("ascii") if 0 < len(text) < LONGEST and text.decode("ascii").isprintable() else None
        except UnicodeDecodeError:
            return None

    def text(self, symbol):
        """Return the string in a char array of vmlinux, given the array's symbol."""
        value = symbol.value()
        return self.read(int(value.address), value.type.sizeof).split(b"\0", 1)[0].decode("ascii", "replace")


def current():
    """Return the Image of the main symbol file, or None if that is not a vmlinux."""
    found = kaslr.loaded()
    return Image(*found) if found else None


def static(name):
    """Return the gdb.Symbol of an array in vmlinux by its name. Return None if there is none, or it is not an array."""
    symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    return symbol if symbol is not None and symbol.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY else None


def kept(function):
    """Wrap FUNCTION(image, symbol, name) to be called with a variable's name, and remember its results. FUNCTION is
    called again after the symbols were moved, or other symbols were loaded. The result is empty if there is no such
    variable."""
    known = {}

    @functools.wraps(function)
    def asked(name):
        symbol = static(name)
        if symbol is None:
            return ()
        key = name, gdb.current_progspace().filename, int(symbol.value().address)
        if key not in known:
            image = current()
            known[key] = function(image, symbol, name) if image else ()
        return known[key]
    return asked


@kept
def names(image, symbol, name):
    """Return [(index, text)] for an array of string pointers in vmlinux."""
    data = image.read(int(symbol.value().address), symbol.type.sizeof)
    texts = [image.string(word) for word, in struct.iter_unpack("<Q", data[:len(data) & -8])]
    return [(i, text) for i, text in enumerate(texts) if text]


def errors():
    """Return {number: name} of the kernel's errors, such as {2: "ENOENT", 512: "ERESTARTSYS"}. The kernel prints
    -ENOENT for -2."""
    return {first + i: text[1:] for name, first in ERRORS for i, text in names(name) if text.startswith("-E")}


def is_table(symbol):
    """Return whether a variable is an array of struct trace_print_flags."""
    return symbol.type.strip_typedefs().target().unqualified().strip_typedefs().tag == FLAGS


@kept
def table(image, symbol, name):
    """Return [(mask, name)] for an array of struct trace_print_flags, in its order."""
    data, found = image.read(int(symbol.value().address), min(symbol.type.sizeof, MOST * ENTRY.size)), []
    for mask, pointer in ENTRY.iter_unpack(data[:len(data) - len(data) % ENTRY.size]) if is_table(symbol) else ():
        text = image.string(pointer)
        if text is None:
            break
        found.append((mask, text))
    return found


def enumerated(word):
    """Return {value: name} for the enum named WORD, or for the enum that has a constant WORD. Return {} if there is no
    such enum."""
    symbol = gdb.lookup_static_symbol(word, gdb.SYMBOL_STRUCT_DOMAIN) or gdb.lookup_static_symbol(word)
    kind = symbol.type.strip_typedefs().unqualified() if symbol is not None and symbol.type is not None else None
    if kind is None or kind.code != gdb.TYPE_CODE_ENUM:
        return {}
    return names_of(kind)


def names_of(kind):
    """Return {value: name} of an enum type. If a value has several names, the first is taken."""
    found = {}
    for field in kind.fields():
        found.setdefault(field.enumval, field.name)
    return found


def symbol_of(address):
    """Return NAME+OFFSET for an address, or None. A per-CPU variable has no address of its own, so its symbol may be a
    small number."""
    found = infosymbol.parse(gdbcall.execute("info symbol %d" % address))
    if found is None or found.section.startswith(PER_CPU):
        return None
    return "%s+%#x" % (found.name, found.offset) if found.offset else found.name
