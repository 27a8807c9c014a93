# SPDX-License-Identifier: GPL-2.0-only
# A recorded run's trace file: frames that are no hits, which say how many were lost; its end. Knows nothing of GDB.
import struct

NUMBER = 0xffff  # instead of a tracepoint's
HEAD = struct.Struct("<HI")
VARIABLE = struct.Struct("<cIq")
LOST = 0x200  # the variable that says how many
TOLD = "%d frames were lost while the run was recorded: the reader was too slow for them"
CUT = "the recording was cut off: there is no end behind the last whole frame"


def recorded(data):
    """Is it one? Its header knows $lost; in any other file 0xffff is a tracepoint."""
    return data.find(b"\ntsv %x:" % LOST, 0, data.find(b"\n\n")) >= 0


def of(data, at, end):
    """How many one of them says."""
    found = 0
    while end - at >= VARIABLE.size:
        kind, variable, value = VARIABLE.unpack_from(data, at)
        if kind == b"V" and variable == LOST:
            found += value
        at += VARIABLE.size
    return found


def look(data):
    """(how many frames all of a trace file's say were lost, whether it ends without its end)."""
    if not recorded(data):
        return 0, False
    found, at = 0, data.find(b"\n\n") + 2
    while at + HEAD.size <= len(data):
        number, size = HEAD.unpack_from(data, at)
        if number == 0:
            return found, False
        at += HEAD.size
        if at + size > len(data):
            return found, True
        if number == NUMBER:
            found += of(data, at, at + size)
        at += size
    return found, data[at:at + 2] != b"\0\0"


def sentences(data):
    """What the file says of itself."""
    lost, cut = look(data)
    if lost:
        yield TOLD % lost
    if cut:
        yield CUT
