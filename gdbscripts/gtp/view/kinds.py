# SPDX-License-Identifier: GPL-2.0-only
# The kinds of values in a column, for formats that distinguish numbers from text, and functions that read such values.
#
# To add a kind, extend of_type() in this file, and cell(), which decides whether the kind's values are texts or
# numbers. Extend common() if a column can have different kinds at two places; export/frames.py makes texts of both.
# Extend kind_of_field() in columns.py if a field of $_sdata can have the kind. Then extend each format, because all
# formats treat an unknown kind as an integer: export/perfetto.py, including check_counters(), export/ctf2.py,
# export/tsdl.py and report/data.py. The test is gdb/export.
import collections

import gdb

from gtp.view import cells

INT, ENUM, BOOL, POINTER, STRING, TEXT, NOTHING = "int", "enum", "bool", "pointer", "string", "text", "nothing"

# what: one of the above. bits, signed: of a number. names: {value: name} of an enum. A STRING is text from the kernel;
# TEXT is GDB's output for a structure, an array or a floating-point number; a NOTHING never has a value. viewed: the text
# says more than the number, as in -2 (ENOENT).
Kind = collections.namedtuple("Kind", "what bits signed names viewed", defaults=(0, False, None, False))

# One column at one place. text(frame) returns the text that a table shows; value(frame) returns an int of the KIND, or
# a str. Both may raise Unavailable or Failure. If the column never has a value at this place, value(frame) returns
# None.
Cell = collections.namedtuple("Cell", "kind text value")

OF_VARIABLE = Kind(INT, 64, True)
OF_CLOCK = Kind(INT, 64)
OF_STRING = Kind(STRING)
OF_TEXT = Kind(TEXT)
OF_NOTHING = Kind(NOTHING)


def of_type(kind):
    """Return the Kind of a gdb.Type's values."""
    bare = kind.strip_typedefs()
    bits = 8 * bare.sizeof
    if bare.code == gdb.TYPE_CODE_PTR:
        return OF_STRING if cells.is_byte(bare.target()) else Kind(POINTER, bits)
    if bare.code == gdb.TYPE_CODE_ARRAY:
        return OF_STRING if cells.is_text(bare.target()) else OF_TEXT
    if bare.code not in cells.SCALARS or bits > 64:
        return OF_TEXT
    if bare.code == gdb.TYPE_CODE_ENUM:
        names = {}
        for field in bare.fields():
            names.setdefault(field.enumval, field.name)
        return Kind(ENUM, bits, min(names, default=0) < 0, names)
    if bare.code == gdb.TYPE_CODE_BOOL:
        return Kind(BOOL, bits)
    return Kind(INT, bits, cells.is_signed(bare))


def of_number(kind, where):
    """Return a function that takes a frame and returns a number of this kind. WHERE(frame) returns the number as a
    64-bit word."""
    low, top = 2**kind.bits - 1, 1 << kind.bits - 1
    if kind.signed:
        return lambda frame: ((where(frame) & low) ^ top) - top
    return lambda frame: where(frame) & low


def of_plain(text):
    """Return a function that takes a frame and returns the text for a CSV file."""
    return lambda frame: cells.plain(text(frame))


def cell(kind, where, text):
    """Return the Cell of a value. WHERE(frame) returns the value as a number, or the address of an object. TEXT(frame,
    number) returns the text for the number that WHERE has returned."""
    def shown(frame):
        return text(frame, where(frame))
    return Cell(kind, shown, of_plain(shown) if kind.what in (STRING, TEXT) else of_number(kind, where))


def words(text):
    """Return the Cell of a column that never has a value at this place, with the reason."""
    return Cell(OF_NOTHING, lambda frame: text, lambda frame: None)


def common(a, b):
    """Return the Kind for values of both Kinds."""
    if a == b or b.what == NOTHING:
        return a
    return b if a.what == NOTHING else OF_TEXT
