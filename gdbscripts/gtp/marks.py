# SPDX-License-Identifier: GPL-2.0-only
# A recorded run's trace file: frames that are no hits, which say how many were lost; its end. Knows nothing of GDB.
import struct

NUMBER = 0xffff  # instead of a tracepoint's
HEAD = struct.Struct("<HI")  # u16 tracepoint, u32 bytes that follow
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


def frames(data, at):
    """(number, offset, end) of every whole frame from an offset on; EOFError where there is no end behind them."""
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
    """(how many frames all of a trace file's say were lost, whether it ends without its end)."""
    found = 0
    if not recorded(data):
        return found, False
    try:
        for number, at, end in frames(data, data.find(b"\n\n") + 2):
            if number == NUMBER:
                found += of(data, at, end)
    except EOFError:
        return found, True
    return found, False


def sentences(data):
    """What the file says of itself."""
    lost, cut = look(data)
    if lost:
        yield TOLD % lost
    if cut:
        yield CUT
