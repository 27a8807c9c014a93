# SPDX-License-Identifier: GPL-2.0-only
# Describes a CTF 1.8 trace in TSDL, the language of CTF's metadata, and encodes the values.
import re
import struct

from gtp.text import harmless
from gtp.view import kinds

INTEGER = "integer { size = %d; align = 8; signed = %s; base = %s; }"
STRING = "string { encoding = UTF8; }"
ABSENT = b"\0"
THERE = b"\1"


def quoted(text):
    """Return a text as a TSDL string literal. Characters other than printable ASCII are escaped, so that any reader
    accepts the literal."""
    return '"%s"' % "".join(c if " " <= c <= "~" and c not in '"\\' else "\\%03o" % byte
                            for char in text for byte in harmless.line(char).encode() for c in [chr(byte)])


def identifiers(titles, tagged):
    """Return a C identifier for each title. It begins with an underscore, so that it is not a keyword. Readers remove
    the underscore."""
    found, taken = [], set()
    for title, has_tag in zip(titles, tagged):
        name = base = re.sub(r"\W+", "_", title, flags=re.A).strip("_") or "value"
        n = 1
        while {"_" + name, *([tag("_" + name)] if has_tag else [])} & taken:
            n += 1
            name = "%s_%d" % (base, n)
        found.append("_" + name)
        taken |= {"_" + name, tag("_" + name)} if has_tag else {"_" + name}
    return found


def tag(name):
    """Return the name of the member that says whether the event has the optional member NAME."""
    return "_has" + name


def whole(bits):
    """Return the number of bits that a number of BITS bits takes in the file: 8, 16, 32 or 64."""
    return next(size for size in (8, 16, 32, 64) if bits <= size)


def type_of(kind):
    """Return the TSDL type for the values of a kind."""
    if kind.what in (kinds.STRING, kinds.TEXT):
        return STRING
    number = INTEGER % (whole(kind.bits), "true" if kind.signed else "false", "hex" if kind.what == kinds.POINTER else "decimal")
    names = {0: "false", 1: "true"} if kind.what == kinds.BOOL else kind.names
    if not names:
        return number
    return "enum : %s { %s }" % (number, ", ".join("%s = %d" % (quoted(name), value) for value, name in names.items()))


def string(value):
    """Return a string encoded for the file: escaped bytes with a final NUL."""
    return harmless.line(value).encode() + b"\0"


def packer(kind):
    """Return the function that encodes a value of a kind as bytes for the file."""
    if kind.what in (kinds.STRING, kinds.TEXT):
        return string
    letter = {8: "b", 16: "h", 32: "i", 64: "q"}[whole(kind.bits)]
    return struct.Struct("<" + (letter if kind.signed else letter.upper())).pack


class Fields:
    """The fields of an event class. SOMETIMES says for each field whether an event may lack its value."""

    def __init__(self, titles, all_kinds, sometimes):
        self.titles, self.names = titles, identifiers(titles, sometimes)
        self.kinds, self.sometimes = all_kinds, sometimes
        self.packers = [self.optional(packer(kind)) if may_miss else packer(kind)
                        for kind, may_miss in zip(all_kinds, sometimes)]

    @staticmethod
    def optional(pack):
        return lambda value: ABSENT if value is None else THERE + pack(value)

    def bytes(self, values):
        return b"".join([pack(value) for pack, value in zip(self.packers, values)])

    def text(self):
        """Yield the members of the event's TSDL struct. A value that may be missing is a variant, which follows its
        tag."""
        for title, name, kind, may_miss in zip(self.titles, self.names, self.kinds, self.sometimes):
            if title != name[1:]:
                yield "/* %s */" % re.sub(r"[^ -~]", "?", title).replace("*/", "* /")
            if may_miss:
                yield "enum : %s { \"unavailable\" = 0, \"collected\" = 1 } %s;" % (INTEGER % (8, "false", "decimal"), tag(name))
                yield "variant <%s> { struct { } unavailable; %s collected; } %s;" % (tag(name), type_of(kind), name)
            else:
                yield "%s %s;" % (type_of(kind), name)
