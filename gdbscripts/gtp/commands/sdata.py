# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp sdata`: the record of a kernel tracepoint ($_sdata) as names and values.
import struct

import gdb

from gtp.formats.error import reading
from gtp.formats.tracefile import Unavailable
from gtp.gdblib import screen
from gtp.gdblib.command import Command
from gtp.view import cells

NUMBERS = (1, 2, 4, 8)  # sizes, in bytes, of the integers that are shown as numbers

# The address at which a frame has its record as memory, live and in trace files. trace/sdata.h describes the layout.
ADDRESS = 0x7364617461000000
HEAD = 8
MOST = 1 << 20  # the maximum size of a record and its description, in bytes
NOTHING = "no static data in this frame; it is there when a kernel tracepoint (strace) collects $_sdata"


def part(record, start, size):
    """Return SIZE bytes of a record. Raise Unavailable if the record ends before them, because a part of them would look
    like a value."""
    if start + size > len(record):
        raise Unavailable
    return record[start:start + size]


class Field:
    """One field of an event, as the event's description defines it."""

    def __init__(self, line):
        with reading("the description of a frame's record"):
            offset, size, signed, self.name, self.type = line.split(" ", 4)
            self.offset, self.size, self.signed = int(offset), int(size), signed == "1"
            if self.offset < 0 or self.size < 0:
                raise ValueError

    def bytes(self, record):
        """Return the bytes of this field from a record. If the field contains only the position of its bytes in the
        record, follow it."""
        location = part(record, self.offset, self.size)
        if not self.type.startswith(("__data_loc ", "__rel_loc ")):
            return location
        with reading("a frame's record"):
            where = struct.unpack("<I", location)[0]
        start = where & 0xffff
        if self.type.startswith("__rel_loc "):
            start += self.offset + self.size
        return part(record, start, where >> 16)

    def element(self):
        """Return the type of one element of an array, or None if the field is not an array."""
        words = self.type.split(" ", 1)[1] if self.type.startswith("__") and "_loc " in self.type else self.type
        return words.split("[")[0].strip() if "[" in words else None

    def is_string(self):
        return self.element() in ("char", "const char", "signed char")

    def number(self, record):
        """Return the value as a number, unsigned for a pointer, or None if it is not a number."""
        data = self.bytes(record)
        if self.element() is not None or len(data) not in NUMBERS:
            return None
        return int.from_bytes(data, "little", signed=self.signed and "*" not in self.type)

    def text(self, record):
        """Return the value as text: a string, a list of numbers, or a number."""
        data = self.bytes(record)
        element = self.element()
        if self.is_string():
            return quoted(data.split(b"\0")[0])
        if element is not None:
            size = element_size(element, data)
            return "{%s}" % ", ".join(number(data[i:i + size], self.signed)
                                      for i in range(0, len(data), size))
        text = number(data, self.signed)
        return "0x%x" % int(text) if "*" in self.type else text


def quoted(data):
    return '"%s"' % "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else "\\%03o" % c for c in data)


def element_size(name, data):
    """Return the size of an array's element: that of GDB's type NAME, or that of a well-known type, or else 1."""
    try:
        return gdb.lookup_type(name).sizeof
    except gdb.error:
        known = {"u8": 1, "__u8": 1, "u16": 2, "__u16": 2, "u32": 4, "__u32": 4, "u64": 8, "__u64": 8,
                 "int": 4, "unsigned int": 4, "long": 8, "unsigned long": 8}
        return known.get(name, 1)


def number(data, signed):
    if len(data) not in NUMBERS:
        return "0x" + data.hex() if data else "0"
    return str(int.from_bytes(data, "little", signed=signed))


def of_frame(read):
    """Return a frame's record and the text of its description. READ(address, size) gives the frame's memory."""
    record_len, text_len = struct.unpack("<II", read(ADDRESS, HEAD))
    with reading("a frame's record"):
        if record_len + text_len > MOST:
            raise ValueError
        everything = read(ADDRESS + HEAD, record_len + text_len)
        return everything[:record_len], everything[record_len:]


def read():
    """Return the selected frame's record and its description's lines. Raise an error if the frame has none."""
    inferior = gdb.selected_inferior()
    try:
        record, text = of_frame(lambda address, size: bytes(inferior.read_memory(address, size)))
    except gdb.error:
        raise gdb.GdbError(NOTHING)
    return record, text.decode(errors="replace").splitlines()


def fields():
    """Return the Fields of the selected frame's record."""
    return [Field(line) for line in read()[1][1:]]


def decode():
    """Return (event's id, [(name, type, text of the value)]) of the selected frame."""
    record, lines = read()
    return lines[0] if lines else "?", [(f.name, f.type, text_of(f, record)) for f in map(Field, lines[1:])]


def text_of(field, record):
    """Return a field's value as text. Also return a text for a value that the record does not have."""
    try:
        return field.text(record)
    except Unavailable:
        return cells.UNAVAILABLE


class GtpSdata(Command):
    """Show what a kernel tracepoint recorded at the selected frame, field by field.

gtp sdata [FIELD]...
With fields named, only those. Works in frames of /proc/gtp and of saved traces
that collected $_sdata."""

    def __init__(self):
        super().__init__("gtp sdata", gdb.COMMAND_DATA)

    def invoke(self, arg, from_tty):
        wanted = gdb.string_to_argv(arg)
        event, fields = decode()
        names = [name for name, _, _ in fields]
        for name in wanted:
            if name not in names:
                raise gdb.GdbError("%s has no field %s; it has %s" % (event, name, ", ".join(names)))
        screen.put(event + "\n")
        for name, _, text in fields:
            if not wanted or name in wanted:
                screen.put("  %s = %s\n" % (name, text))


GtpSdata()
