#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Job: a target that is not gdbtp, for GDB's `target remote |`. It answers only what GDB needs, and logs each packet.
#
# Usage: other.py LOG
import sys

REGISTERS = "0" * 16 * 16 + "5011400000000000" + "0" * 8 * 7
ANSWERS = {"?": "S05", "g": REGISTERS, "qAttached": "1", "qTStatus": "T0;tnotrun:0", "QTinit": "OK", "qTfV": "l",
           "qTfP": "l"}


def answer(packet):
    if packet.startswith("H"):
        return "OK"
    if packet.startswith("m"):
        return "E01"
    if packet.startswith("c"):
        return "S05"
    if packet.startswith("QTFrame"):
        return "F-1"
    return ANSWERS.get(packet, "")


def packets(stream):
    while stream.read(1):
        data = b""
        for byte in iter(lambda: stream.read(1), b""):
            if byte == b"#":
                break
            data = b"" if byte == b"$" else data + byte
        stream.read(2)
        yield data.lstrip(b"+-").decode()


with open(sys.argv[1], "w") as log:
    for packet in packets(sys.stdin.buffer):
        print(packet, file=log, flush=True)
        reply = answer(packet)
        sys.stdout.write("+$%s#%02x" % (reply, sum(reply.encode()) % 256))
        sys.stdout.flush()
