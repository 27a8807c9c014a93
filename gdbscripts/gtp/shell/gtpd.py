# SPDX-License-Identifier: GPL-2.0-only
"""The file that gtp-run reads, and what of a session moves with the kernel. tools/run/gtpd.h describes the format."""
import struct
import zlib

from gtp.shell.failure import Failure

MAGIC = b"GTPDEF\0\1"
KERNEL, PACKET, NAME, KEY, TABLE = range(1, 6)
NUMBER, OPERAND, TEXT = range(3)
KINDS = {"n": NUMBER, "o": OPERAND, "t": TEXT}

DIFFERS = """the session cannot be compiled: what GDB makes of it depends on where the kernel lies, and not by an
address alone. With the kernel where it was linked, and %#x bytes behind:
  %s
  %s"""


class Field:
    """A number in a packet: at which character, of how many digits, of which kind."""

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
    """[(packet, Fields)] of the one run that gdbtp-record has written down."""
    with open(path, encoding="ascii") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if [packet for packet, _ in lines].count("QTStart") > 1:
        raise Failure("the session starts more than one run; a compiled session has one")
    if any(packet.startswith("qRcmd," + b"notrace".hex()) for packet, _ in lines):
        raise Failure(NOTRACE)
    return [(packet, [Field(text) for text in fields.split(",")[:-1]]) for packet, fields in lines[:-1]]


def relocations(here, there, fields, slide):
    """The Fields of a packet that are addresses: it is THERE when the kernel is SLIDE bytes further."""
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
    """[(packet, Fields)] of a session, from its packets with the kernel at two places."""
    if len(first) != len(second):
        raise Failure(DIFFERS % (slide, "%d packets" % len(first), "%d packets" % len(second)))
    return [(here, relocations(here, there, fields, slide)) for (here, fields), (there, _) in zip(first, second)]


# Bytes --------------------------------------------------------------------------------------------


def record(kind, data):
    return struct.pack("<II", kind, len(data)) + data


def packet_record(packet, fields):
    head = struct.pack("<H", len(fields)) + b"".join(struct.pack("<HBB", f.at, f.digits, f.kind) for f in fields)
    return record(PACKET, head + packet.encode("ascii"))


def part(found, packets, table):
    """The records of a kernel. FOUND: what gtp.offline tells of it. TABLE: bytes, or None."""
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
    """The file's bytes, of the records of all parts."""
    data = b"".join(parts)
    return MAGIC + struct.pack("<II", len(data) + 16, zlib.crc32(data)) + data
