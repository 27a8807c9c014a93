# SPDX-License-Identifier: GPL-2.0-only
"""Parses the contents of /proc/gtpframe_pipe, and starts readers of it as separate processes."""
import os
import struct

from fixture import child

PIPE = "/proc/gtpframe_pipe"
LOST_TP, LOST = 0xffff, 0x200  # a frame that reports lost frames has this tracepoint number, and this variable
CPU_ID, CLOCK = 1, 2
END = bytes(4)


def split(data):
    """Return (header, frames, end). Frames are (tracepoint, {variable: value}), without other blocks; the end is
    bytes."""
    cut = data.index(b"\n\n") + 2
    frames, at = [], cut
    while data[at:at + 2] not in (b"", b"\0\0"):
        number, size = struct.unpack_from("<HI", data, at)
        at += 6
        values = {}
        assert at + size <= len(data), "the stream ends in a frame"
        for block in range(at, at + size, 13):
            kind, variable, value = struct.unpack_from("<cIq", data, block)
            assert kind == b"V", "a block of kind %r" % kind
            values[variable] = value
        at += size
        frames.append((number, values))
    return data[:cut], frames, data[at:]


def lost(frames):
    """Return the number of lost frames that the stream reports."""
    return sum(values[LOST] for number, values in frames if number == LOST_TP)


def reader(path):
    """Start a process that copies the pipe of frames to the file PATH. Return the process once it has the pipe open."""
    told, tell = os.pipe()

    def work():
        fd = os.open(PIPE, os.O_RDONLY)
        os.write(tell, b"x")
        with open(path, "wb") as file:
            while True:
                data = os.read(fd, 1 << 20)
                if not data:
                    return
                file.write(data)
                file.flush()
    pid = child(work)
    os.close(tell)
    opened = os.read(told, 1)
    os.close(told)
    assert opened, "the reader could not open it"
    return pid
