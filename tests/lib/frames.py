# SPDX-License-Identifier: GPL-2.0-only
"""The frames of the protocol between the agent in a guest and the host. tests/vm/agent.h describes them."""
import struct

HELLO, PING, EXIT, RUN, FILES, LINE, DATA, ERR, END, KILL, GONE, OPENED = range(12)
F_OPEN, F_CLOSE, F_READ, F_WRITE, F_MKDIR, F_RMDIR, F_LIST, F_STAT, F_CLOCK, F_PID = range(10)
HEAD = struct.Struct("<III")
REQUEST = struct.Struct("<IiiIq")
MOST = 1 << 20


def framed(stream, kind, body=b""):
    return HEAD.pack(stream, kind, len(body)) + body


class Frames:
    """Parses frames from bytes that arrive in pieces."""

    def __init__(self):
        self.rest = bytearray()

    def of(self, data):
        """Add data. Return [(stream, kind, body)] for the frames that are now complete."""
        self.rest += data
        at, found = 0, []
        while len(self.rest) - at >= HEAD.size:
            stream, kind, length = HEAD.unpack_from(self.rest, at)
            if len(self.rest) - at < HEAD.size + length:
                break
            found.append((stream, kind, bytes(self.rest[at + HEAD.size:at + HEAD.size + length])))
            at += HEAD.size + length
        del self.rest[:at]
        return found
