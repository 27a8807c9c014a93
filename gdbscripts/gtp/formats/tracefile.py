# SPDX-License-Identifier: GPL-2.0-only
# Reads a trace file in Python: the tracepoints in its header, and the blocks of its frames.
import struct

from gtp.formats import marks
from gtp.formats.error import Damaged, reading

MEMORY = struct.Struct("<QH")  # after 'M': u64 address, u16 length, bytes
VARIABLE = struct.Struct("<Iq")  # after 'V': u32 number, s64 value
STATIC = struct.Struct("<H")  # after 'S': u16 length, bytes
RIP = 16
WORD = 8  # the size of each register up to rip
MOST_REGISTERS = 1 << 16  # the maximum size of the registers in a frame, in bytes


class Unavailable(Exception):
    """The frame does not have the requested value."""


class Location:
    """One place of a tracepoint in the run. number: the target's number of the tracepoint. masks: the masks of the
    registers that it collects."""

    def __init__(self, number, address):
        self.number, self.address = number, address
        self.place = None
        self.commands = []
        self.known = 1 << RIP

    def add(self, kind, rest):
        """Add one "tp" line of the header. A is an action, Z a piece of source text."""
        if kind == "A" and rest.startswith("R"):
            self.known |= int(rest[1:], 16)
        elif kind == "Z":
            what, _, _, digits = rest.split(":", 3)
            text = bytes.fromhex(digits).decode(errors="replace")
            if what == "cmd":
                self.commands.append(text)
            elif what == "at":
                self.place = text


class Frame:
    """One frame, which is in the data from AT to END. blocks: [(address, size, offset in data)]."""

    __slots__ = ("at", "end", "data", "number", "index", "registers", "blocks", "variables", "location", "constants")

    def __init__(self, trace, index, number, at, end):
        self.at, self.end = at, end
        self.data = trace.data
        self.index, self.number = index, number
        self.registers = None
        self.blocks = []
        self.variables = {}
        self.constants = trace.constants
        with reading("frame %d" % index):
            self.take(trace, at, end)
        self.location = trace.location_of(self)

    def take(self, trace, at, end):
        """Parse the blocks from AT to END into the frame's members."""
        data, blocks = self.data, self.blocks
        while at < end:
            kind = data[at]
            if kind == 0x4d:  # M
                address, size = MEMORY.unpack_from(data, at + 1)
                at += 11
                blocks.append((address, size, at))
                at += size
            elif kind == 0x56:  # V
                variable, value = VARIABLE.unpack_from(data, at + 1)
                self.variables[variable] = value
                at += 13
            elif kind == 0x52:  # R
                self.registers = at + 1
                at += 1 + trace.register_bytes
            elif kind == 0x53:  # S
                at += 3 + STATIC.unpack_from(data, at + 1)[0]
            else:
                raise Damaged("frame %d has a block of unknown kind 0x%02x" % (self.index, kind))
        if at != end:
            raise Damaged("frame %d is damaged: its last block is longer than the frame" % self.index)

    def reg(self, n):
        """Return the value of a register by GDB's number for it, as an unsigned number."""
        if n == RIP and self.registers is None:
            return self.location.address
        if self.registers is None or not self.location.known >> n & 1:
            raise Unavailable
        width = WORD if n <= RIP else 4
        at = self.registers + (n * WORD if n <= RIP else (RIP + 1) * WORD + (n - RIP - 1) * 4)
        return int.from_bytes(self.data[at:at + width], "little")

    def var(self, n):
        """Return the value of a trace state variable by its number, as an unsigned number."""
        try:
            return self.variables[n] % 2**64
        except KeyError:
            raise Unavailable from None

    def word(self, address, size):
        """Return little-endian memory as an unsigned number."""
        for start, have, at in self.blocks:
            skip = address - start
            if 0 <= skip and skip + size <= have:
                at += skip
                return int.from_bytes(self.data[at:at + size], "little")
            if 0 <= skip < have:
                break
        return int.from_bytes(self.read(address, size), "little")

    def some(self, address, size):
        """Return up to SIZE bytes starting at an address. They end at the first gap in what was collected."""
        for start, have, at in self.blocks:
            skip = address - start
            if 0 <= skip < have:
                if skip + size <= have:
                    return self.data[at + skip:at + skip + size]
                break
        parts = b""
        while len(parts) < size:
            part = self._part(address + len(parts), size - len(parts))
            if not part:
                break
            parts += part
        return parts

    def _part(self, address, size):
        """Read from the first block that has the address, up to the block's end. GDB does the same if blocks overlap."""
        for start, have, at in self.blocks:
            skip = address - start
            if 0 <= skip < have:
                return self.data[at + skip:at + min(have, skip + size)]
        return self.constants(address, size)

    def string(self, address, size):
        """Return the bytes of a string, at most SIZE, with its NUL if that was collected."""
        for start, have, at in self.blocks:
            skip = address - start
            if 0 <= skip < have:
                data = self.data[at + skip:at + min(have, skip + size)]
                if b"\0" in data:
                    return data
                break
        return self.some(address, size)

    def read(self, address, size):
        """Return all SIZE bytes. Raise Unavailable if the frame does not have them."""
        found = self.some(address, size)
        if len(found) < size:
            raise Unavailable
        return found


class TraceFile:
    """A whole trace file; data is its bytes.

    constants(address, size) gives bytes that never change, so that no frame needs to have them; it may return none.
    """

    def __init__(self, data, constants):
        end = data.find(b"\n\n")
        if not data.startswith(b"\x7fTRACE0\n") or end < 0:
            raise Damaged("that is not a trace file")
        self.data, self.constants = data, constants
        self.first = end + 2
        self.register_bytes = 0
        self.variables = {}  # name -> number
        self.locations = {}  # number -> {address: Location}
        self.status = {}  # the items of the header's status line, as in the reply to qTStatus
        with reading("the trace file's header"):
            self._header(data[:end])
        if not 0 <= self.register_bytes <= MOST_REGISTERS:
            raise Damaged("the trace file's header is damaged: a frame cannot have registers of %d bytes" % self.register_bytes)

    def _header(self, data):
        for line in data.decode(errors="replace").split("\n"):
            kind, _, rest = line.partition(" ")
            if kind == "R":
                self.register_bytes = int(rest, 16)
            elif kind == "tsv":
                number, _, _, name = rest.split(":", 3)
                self.variables[bytes.fromhex(name).decode(errors="replace")] = int(number, 16)
            elif kind == "tp":
                self._tracepoint(rest)
            elif kind == "status":
                self.status.update(part.split(":", 1) for part in rest.split(";") if ":" in part)

    def _tracepoint(self, piece):
        kind, (number, address, rest) = piece[0], piece[1:].split(":", 2)
        places = self.locations.setdefault(int(number, 16), {})
        address = int(address, 16)
        if not 0 <= address < 2**64:
            raise ValueError
        places.setdefault(address, Location(int(number, 16), address)).add(kind, rest)

    def location_of(self, frame):
        """Return the place where the frame was collected. A tracepoint with several places collects rip."""
        places = self.locations.get(frame.number, {})
        if len(places) == 1:
            return next(iter(places.values()))
        if frame.registers is not None:
            at = frame.registers + RIP * WORD
            here = places.get(int.from_bytes(self.data[at:at + WORD], "little"))
            if here:
                return here
        for place in places.values():
            return place
        raise Damaged("frame %d belongs to tracepoint %d, which the trace does not describe" % (frame.index, frame.number))

    def frame_at(self, location):
        """Return the bytes of an empty frame at a place."""
        registers = bytearray(max(self.register_bytes, (RIP + 1) * WORD))
        registers[RIP * WORD:(RIP + 1) * WORD] = location.address.to_bytes(WORD, "little")
        return marks.HEAD.pack(location.number, 1 + len(registers)) + b"R" + bytes(registers)

    def heads(self):
        """Yield (index, number, offset, end) of every frame of a tracepoint. As in GDB, the index counts all frames.

        A recording may have frames of tracepoints that its header does not know yet: marks.ADDED is reported.
        """
        index, recorded = 0, marks.recorded(self.data)
        try:
            for number, at, end in marks.frames(self.data, self.first):
                if not recorded or number in self.locations:
                    yield index, number, at, end
                index += 1
        except EOFError:
            if recorded:  # whole frames are valid, and marks.CUT is reported
                return
            raise Damaged("the trace ends in the middle of frame %d" % index) from None

    def counts(self):
        """Return {number: [number of frames, index of the first frame]} for the tracepoints that have frames."""
        found = {}
        for index, number, _, _ in self.heads():
            entry = found.setdefault(number, [0, index])
            entry[0] += 1
        return found

    def frames(self, *numbers):
        """Yield the Frames of these tracepoints, in the order of the file, which is in order of time."""
        for index, number, at, end in self.heads():
            if number in numbers:
                yield Frame(self, index, number, at, end)
