#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Adds frames that report lost frames, as in a recorded run, to a trace file without losses.

Usage: lost_frames.py FROM TO     12 frames are lost: 5 before the first, 7 after the third
"""
import struct
import sys


def lost(cpu, n):
    blocks = struct.pack("<cIqcIq", b"V", 1, cpu, b"V", 0x200, n)
    return struct.pack("<HI", 0xffff, len(blocks)) + blocks


def main(source, to):
    with open(source, "rb") as file:
        data = file.read()
    head, _, frames = data.partition(b"\n\n")
    at = 0
    for _ in range(3):
        at += 6 + struct.unpack_from("<HI", frames, at)[1]
    head = head.replace(b"\ntsv ", b"\ntsv 200:0:1:6c6f7374\ntsv ", 1)
    with open(to, "wb") as file:
        file.write(head + b"\n\n" + lost(0, 5) + frames[:at] + lost(1, 7) + frames[at:])


main(*sys.argv[1:])
