# SPDX-License-Identifier: GPL-2.0-only
# Frames that are no hits: each says how many frames were lost there since `gtp record` was too slow. Knows nothing of GDB.
import struct

NUMBER = 0xffff  # instead of a tracepoint's
HEAD = struct.Struct("<HI")
VARIABLE = struct.Struct("<cIq")
LOST = 0x200  # the variable that says how many
TOLD = "%d frames were lost while the run was recorded: the reader was too slow for them"
BLOCK = b"V" + struct.pack("<I", LOST)


def of(data, at, end):
    """How many one of them says."""
    found = 0
    while end - at >= VARIABLE.size:
        kind, variable, value = VARIABLE.unpack_from(data, at)
        if kind == b"V" and variable == LOST:
            found += value
        at += VARIABLE.size
    return found


def lost(data):
    """How many frames all of a trace file's say."""
    if BLOCK not in data:
        return 0
    found, at = 0, data.find(b"\n\n") + 2
    while at + HEAD.size <= len(data):
        number, size = HEAD.unpack_from(data, at)
        if number == 0:
            break
        at += HEAD.size
        if number == NUMBER:
            found += of(data, at, min(at + size, len(data)))
        at += size
    return found
