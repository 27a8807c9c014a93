# SPDX-License-Identifier: GPL-2.0-only
"""Makes and reads the compiled session file for gtp-run, and finds the numbers in a session's packets that move with
the kernel. tools/run/gtpd.h describes the format."""
import collections
import re
import struct
import zlib

from gtp.shell.failure import Failure

MAGIC = b"GTPDEF\0\1"
KERNEL, PACKET, NAME, KEY, TABLE = range(1, 6)
HEAD = 16
NUMBER, OPERAND, TEXT = range(3)
KINDS = {"n": NUMBER, "o": OPERAND, "t": TEXT}

DIFFERS = """the session cannot be compiled: what GDB makes of it depends on where the kernel lies, and not by an
address alone. With the kernel where it was linked, and %#x bytes behind:
  %s
  %s"""


class Field:
    """A number in a packet: its first character's position, its number of digits, and its kind."""

    def __init__(self, text):
        at, digits, kind = text.split(":")
        self.at, self.digits, self.kind = int(at), int(digits), KINDS[kind]
        self.end = self.at + self.digits * (2 if self.kind == TEXT else 1)

    def value(self, packet):
        digits = packet[self.at:self.end]
        return int(bytes.fromhex(digits) if self.kind == TEXT else digits, 16)


NOTRACE = """the session says monitor notrace, and the kernel may die of a probe that this allows: it is for the user of
the machine that is traced, with GDB there"""


def recorded(path):
    """Return [(packet, Fields)] for the packets that gdbtp-record recorded. More than one trace run is an error."""
    with open(path, encoding="ascii") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if [packet for packet, _ in lines].count("QTStart") > 1:
        raise Failure("the session starts more than one run; a compiled session has one")
    if any(packet.startswith("qRcmd," + b"notrace".hex()) for packet, _ in lines):
        raise Failure(NOTRACE)
    return [(packet, [Field(text) for text in fields.split(",")[:-1]]) for packet, fields in lines[:-1]]


def relocations(here, there, fields, slide):
    """Return those Fields of the packet HERE that are addresses. THERE is the same packet, recorded with the kernel
    SLIDE bytes higher."""
    found, same = [], here
    for field in fields:
        if len(there) != len(here) or here[field.at:field.end] == there[field.at:field.end]:
            continue
        if field.digits <= 16 and field.value(there) - field.value(here) == slide:
            found.append(field)
            same = same[:field.at] + there[field.at:field.end] + same[field.end:]
    if same != there:
        raise Failure(DIFFERS % (slide, here, there))
    return found


def moved(first, second, slide):
    """Return [(packet, Fields that are addresses)], by comparing a session's packets for the kernel at two places."""
    if len(first) != len(second):
        raise Failure(DIFFERS % (slide, "%d packets" % len(first), "%d packets" % len(second)))
    return [(here, relocations(here, there, fields, slide)) for (here, fields), (there, _) in zip(first, second)]


def typed(first, second, text, end):
    """Return the numbers between TEXT and END in a session's packets that did not change when the kernel moved."""
    stay = {field.value(here) for (here, fields), (there, _) in zip(first, second) for field in fields
            if field.digits <= 16 and here[field.at:field.end] == there[field.at:field.end]}
    return sorted(number for number in stay if text <= number < end)


# Bytes --------------------------------------------------------------------------------------------


def record(kind, data):
    return struct.pack("<II", kind, len(data)) + data


def packet_record(packet, fields):
    head = struct.pack("<H", len(fields)) + b"".join(struct.pack("<HBB", f.at, f.digits, f.kind) for f in fields)
    return record(PACKET, head + packet.encode("ascii"))


def part(found, packets, table):
    """Yield a session's records for one kernel. FOUND is the result of gtp.inside.compile; TABLE is the table of regions as
    bytes, or None."""
    build_id = bytes.fromhex(found["build_id"])
    yield record(KERNEL, struct.pack("<QQB", found["text"], found["end"], len(build_id)) + build_id +
                 found["release"].encode("ascii", "replace"))
    for packet, fields in packets:
        yield packet_record(packet, fields)
    for line in found["names"]:
        yield record(NAME, line.encode())
    for name in found["keys"]:
        yield record(KEY, name.encode())
    if table is not None:
        yield record(TABLE, table)


def whole(parts):
    """Return the bytes of a compiled session file with the records of all parts."""
    data = b"".join(parts)
    return MAGIC + struct.pack("<II", len(data) + HEAD, zlib.crc32(data)) + data


# Reading --------------------------------------------------------------------------------------------

# The part of a compiled session file for one kernel. data: its records as bytes. tracepoints: their numbers.
Part = collections.namedtuple("Part", "build_id release tracepoints data")


class Damaged(Exception):
    """A compiled session's file violates its format."""


def records(data):
    """Yield (kind, content) of each record."""
    at = HEAD
    while at < len(data):
        if len(data) - at < 8:
            raise Damaged("a record is cut off")
        kind, length = struct.unpack_from("<II", data, at)
        if length > len(data) - at - 8:
            raise Damaged("a record is cut off")
        yield kind, data[at + 8:at + 8 + length]
        at += 8 + length


def kernel(content):
    """Return (build-id, release) from the content of a kernel record."""
    length = content[16] if len(content) > 17 else 0
    if not length or len(content) < 17 + length:
        raise Damaged("a kernel has no build-id")
    return content[17:17 + length].hex(), content[17 + length:].decode("ascii", "replace")


def tracepoint(content):
    """Return the tracepoint number of a packet that begins a definition. Return None for any other packet."""
    relocated, = struct.unpack_from("<H", content.ljust(2, b"\0"))
    found = re.match(rb"QTDP:([0-9a-f]+):", content[2 + 4 * relocated:])
    return found and found.group(1)


def split(data):
    """Return the list of Parts in the bytes of a compiled session file. Check the checksum, but not the packets, which
    gtp-run checks."""
    if data[:8] != MAGIC:
        raise Damaged("gtp compile has not written it, or another version has")
    if len(data) < HEAD or struct.unpack_from("<II", data, 8) != (len(data), zlib.crc32(data[HEAD:])):
        raise Damaged("it is cut off, or its checksum is wrong")
    found = []
    for kind, content in records(data):
        if kind == KERNEL:
            found.append((kernel(content), set(), []))
        if not found:
            raise Damaged("it does not begin with a kernel")
        _, numbers, pieces = found[-1]
        if kind == PACKET:
            numbers.add(tracepoint(content))
        pieces.append(record(kind, content))
    return [Part(*who, numbers - {None}, b"".join(pieces)) for who, numbers, pieces in found]
