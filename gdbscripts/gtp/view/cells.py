# SPDX-License-Identifier: GPL-2.0-only
# Formats the cells of a table. Values look as GDB prints them, except that a string ends at its first NUL, and a struct
# inside another struct is shown as {...}.
import bisect
import functools
import re

import gdb

from gtp.cexpr import ctype
from gtp.formats.tracefile import Unavailable
from gtp.gdblib import gdbcall, traceframe
from gtp.run import kaslr, source
from gtp.text import harmless

UNAVAILABLE = "<unavailable>"
STRING_MAX = 4096  # the maximum number of bytes to read through a pointer to a string
ELEMENTS_MAX = 200
PAGE = 4096
WORD = 8  # the size of the largest numbers that cells.py formats, in bytes; GDB formats larger ones
SCALARS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_CHAR)
AGGREGATES = (gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
STYLE = dict(raw=True, max_elements=ELEMENTS_MAX, max_depth=1, pretty_structs=False, pretty_arrays=False, array_indexes=False)
ESCAPES = {**harmless.ESCAPES, 34: '\\"'}
ONE_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
SECTION = re.compile(r"0x([0-9a-f]+)->0x([0-9a-f]+) at 0x[0-9a-f]+: \S+ (.*)$", re.M)


class Sections:
    """The address ranges of those sections in the loaded symbol files that have all of the given section flags."""

    def __init__(self, *flags):
        text = gdbcall.execute("maint info sections -all-objects")
        ranges = sorted((int(first, 16), int(end, 16)) for first, end, has in SECTION.findall(text)
                        if set(flags) <= set(has.split()))
        self.starts = [a for a, _ in ranges]
        self.ends = [b for _, b in ranges]

    def around(self, address):
        """Return (first address, end) of the section that contains this address, or None if there is none."""
        i = bisect.bisect_right(self.starts, address) - 1
        return (self.starts[i], self.ends[i]) if i >= 0 and address < self.ends[i] else None


class Constants:
    """Memory that is the same now as it was at the hit: read-only sections, each page of which is read only once.

    FILE is a function that takes an address and a size and reads vmlinux. It is needed for a trace file whose kernel
    KASLR has moved, because GDB itself can read the sections of a symbol file only at their link addresses.
    """

    def __init__(self, file=None):
        self.file = file
        self.sections = Sections("ALLOC", "READONLY")
        self.pages = {}

    def __call__(self, address, size):
        """Return up to SIZE bytes starting at an address, possibly none."""
        section = self.sections.around(address)
        if section is None:
            return b""
        page = address - address % PAGE
        first, end = max(page, section[0]), min(page + PAGE, section[1])
        if first not in self.pages:
            self.pages[first] = self._read(first, end - first)
        return self.pages[first][address - first:address - first + size]

    def _read(self, address, size):
        """Read memory that is not in a trace frame. GDB reads it from the kernel, or from the symbol file if there is
        no kernel."""
        if self.file:
            return self.file(address, size)
        if traceframe.number() >= 0:
            traceframe.select(-1)
        try:
            return gdb.selected_inferior().read_memory(address, size).tobytes()
        except gdb.error:
            return b""


def constants():
    """Return the Constants of the run that GDB has open. Call source.whole() first, because it moves the symbols to the
    addresses of the run's kernel."""
    found = kaslr.loaded() if source.is_trace_file() else None
    if not found or not found[1]:
        return Constants()
    linked, moved = found
    return Constants(lambda address, size: linked.read(address, size, moved))


@functools.lru_cache(maxsize=65536)
def quoted(data):
    """Return a string as GDB prints it, up to its NUL."""
    text = data.split(b"\0", 1)[0]
    if text.isascii() and text.decode().isprintable() and b'"' not in text and b"\\" not in text:
        return '"%s"' % text.decode()
    return '"%s"' % "".join(ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else "\\%03o" % c) for c in text)


def plain(cell):
    """Return the text of a string's cell without quotes, since a CSV file adds its own. Backslashes stay doubled, so
    that escapes stay unambiguous."""
    return cell[1:-1].replace('\\"', '"') if ONE_STRING.fullmatch(cell) else cell


def is_signed(kind):
    """Return whether a type is signed. Type.is_signed exists since GDB 12.1; a cast works in all versions."""
    return int(gdb.Value(-1).cast(kind)) < 0


def is_byte(kind):
    """Return whether GDB shows arrays of this type, and the targets of pointers to this type, as strings."""
    bare = kind.strip_typedefs()
    return bare.sizeof == 1 and bare.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR)


def is_text(kind):
    """Return whether the type is char, as in C's strings, and not u8 or s8, which are numbers."""
    return is_byte(kind) and kind.strip_typedefs().unqualified().name == "char"


def by_gdb(kind):
    """Return a function that turns the bytes of a value of this type into the text that GDB prints. The function
    remembers its results."""
    @functools.lru_cache(maxsize=65536)
    def text(data):
        return gdb.Value(data, kind).format_string(**STYLE)
    return text


class Formats:
    """Formats values of the types of one symbol table. scalar(type) returns a function that takes a frame and a number.
    aggregate(type) returns a function that takes a frame and an address. Both of these functions return the text."""

    def __init__(self):
        self.symbols = Sections("ALLOC")

    def scalar(self, kind):
        bare = kind.strip_typedefs()
        bits = 8 * bare.sizeof
        low = 2**bits - 1
        if bare.code == gdb.TYPE_CODE_PTR:
            return self._pointer(kind, bare)
        if bare.code == gdb.TYPE_CODE_INT and not is_text(bare):
            if is_signed(bare):
                top = 1 << (bits - 1)
                return lambda frame, x: str(((x & low) ^ top) - top)
            return lambda frame, x: str(x & low)
        text = by_gdb(kind)
        return lambda frame, x: text((x & low).to_bytes(bare.sizeof, "little"))

    def views(self, kind):
        """Return whether a number of this type is shown in the Form that belongs to its type, see gtp.view."""
        return False

    def returned(self):
        """Return the Formats for a function's return value."""
        return self

    def _pointer(self, kind, bare):
        text = by_gdb(kind.unqualified())
        near = self.symbols.around

        def pointer(frame, x):
            # If per-CPU variables are linked at 0, GDB would show the name of the first one for NULL.
            return text(x.to_bytes(8, "little")) if x and near(x) else "0x%x" % x

        def string(frame, x):
            data = frame.string(x, STRING_MAX)
            if not data:
                return pointer(frame, x)
            return quoted(data) if b"\0" in data else quoted(data) + "..."

        if is_byte(bare.target()):
            text = by_gdb(gdb.lookup_type("void").pointer())
            return string
        return pointer

    def aggregate(self, kind, inside=False):
        bare = kind.strip_typedefs()
        if bare.code == gdb.TYPE_CODE_ARRAY and is_text(bare.target()):
            size = bare.sizeof
            return lambda frame, address: quoted(start_of(frame, address, size))
        if inside:
            return lambda frame, address: "{...}"
        if bare.code in (gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_FLT):
            size, text = bare.sizeof, by_gdb(kind)
            return lambda frame, address: text(frame.read(address, size))
        return self._struct(bare)

    def _struct(self, bare):
        # A class's type does not give the positions of its static members and its virtual base classes.
        parts = [self._member(field) for field in bare.fields() if ctype.place(field) is not None]

        def struct(frame, address):
            return "{%s}" % ", ".join(part(frame, address) for part in parts)
        return struct

    def _member(self, field):
        """Return a function that takes a frame and the struct's address, and returns "name = value"."""
        kind, skip = field.type, field.bitpos // 8
        code = kind.strip_typedefs().code
        size = kind.sizeof
        name = "<%s>" % field.name if field.is_base_class else field.name
        if not field.name:
            within = self._struct(kind.strip_typedefs())
            return lambda frame, address: within(frame, address + skip)
        if field.bitsize:
            value, get = self.scalar(kind), bits_of(field)
        elif code in SCALARS and size <= WORD:
            value, get = self.scalar(kind), lambda frame, address: frame.word(address + skip, size)
        elif code in AGGREGATES and not is_number_text(kind):
            value, get = self.aggregate(kind, True), lambda frame, address: address + skip
        else:
            text = by_gdb(kind)
            value, get = lambda frame, data: text(data), lambda frame, address: frame.read(address + skip, size)

        def member(frame, address):
            try:
                return "%s = %s" % (name, value(frame, get(frame, address)))
            except Unavailable:
                return "%s = %s" % (name, UNAVAILABLE)
        return member


def is_number_text(kind):
    """Return whether a type is an array of u8 or s8. These are numbers, though GDB prints them as a string."""
    bare = kind.strip_typedefs()
    return bare.code == gdb.TYPE_CODE_ARRAY and is_byte(bare.target()) and not is_text(bare.target())


def start_of(frame, address, size):
    """Return a string's bytes: all of the array, or at least up to its NUL."""
    data = frame.some(address, size)
    if len(data) < size and b"\0" not in data:
        raise Unavailable
    return data


def bits_of(field):
    """Return the value of a bit field as an unsigned number, sign-extended if the type is signed. An enum is signed if a
    constant of it is negative."""
    first, shift = field.bitpos // 8, field.bitpos % 8
    bits = field.bitsize
    size = (shift + bits + 7) // 8
    signed = field.type.strip_typedefs().code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM) and is_signed(field.type)

    def get(frame, address):
        x = frame.word(address + first, size) >> shift & (1 << bits) - 1
        if signed and x >> (bits - 1):
            x -= 1 << bits
        return x % 2**64
    return get
