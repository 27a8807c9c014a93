# SPDX-License-Identifier: GPL-2.0-only
# Marks in the trace file of a recorded run. A mark has the form of a frame, but is not a hit: it gives the number of
# lost frames. Also finds frames of unknown tracepoints, and a missing end of the file.
import collections
import re
import struct

NUMBER = 0xffff  # a mark's value in place of a frame's tracepoint number
HEAD = struct.Struct("<HI")  # u16 tracepoint, u32 size of the blocks that follow
EMPTY = HEAD.pack(NUMBER, 0)  # a frame without blocks
END = b"\0\0"  # the bytes after the last frame
VARIABLE = struct.Struct("<cIq")
LOST = 0x200  # the variable with the number of lost frames
TOLD = "%d frames were lost while the run was recorded: the reader was too slow for them"
ADDED = "%d frames are of tracepoint %d, which was added to the run after that file had begun: they are left out"
CUT = "the recording was cut off: no end follows the last whole frame"


# lost: the number of lost frames that the marks report. added: {tracepoint that the header lacks: the number of its
# frames}. cut: true if the end of the file is missing.
Seen = collections.namedtuple("Seen", "lost added cut")


def tracepoints(data):
    """Return the numbers of the tracepoints that the header knows."""
    return {int(number, 16) for number in re.findall(rb"\ntp \w([0-9a-f]+):", data[:data.find(b"\n\n")])}


def recorded(data):
    """Return whether the file is a recording, whose header has $lost. In any other file 0xffff is a tracepoint's
    number."""
    return data.find(b"\ntsv %x:" % LOST, 0, data.find(b"\n\n")) >= 0


def of(data, at, end):
    """Return the number of lost frames in one mark."""
    found = 0
    while end - at >= VARIABLE.size:
        kind, variable, value = VARIABLE.unpack_from(data, at)
        if kind == b"V" and variable == LOST:
            found += value
        at += VARIABLE.size
    return found


def frames(data, at):
    """Yield (number, offset, end) of every whole frame, starting at an offset. Raise EOFError if no end follows them."""
    try:
        while True:
            number = data[at] | data[at + 1] << 8
            if number == 0:
                return
            at, end = at + HEAD.size, at + HEAD.size + HEAD.unpack_from(data, at)[1]
            if end > len(data):
                raise IndexError
            yield number, at, end
            at = end
    except (IndexError, struct.error):
        raise EOFError from None


def look(data):
    """Return the Seen of a trace file."""
    lost, added, cut = 0, collections.Counter(), False
    if not recorded(data):
        return Seen(lost, added, cut)
    known = tracepoints(data)
    try:
        for number, at, end in frames(data, data.find(b"\n\n") + 2):
            if number == NUMBER:
                lost += of(data, at, end)
            elif number not in known:
                added[number] += 1
    except EOFError:
        cut = True
    return Seen(lost, added, cut)


def sentences(seen):
    """Yield sentences about a file, from the Seen of look()."""
    if seen.lost:
        yield TOLD % seen.lost
    for number, count in sorted(seen.added.items()):
        yield ADDED % (count, number)
    if seen.cut:
        yield CUT
