#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Job: write the running kernel's code to a file: SIZE bytes of memory, starting at .text. Runs in a guest, as root.
#
# Usage: live_text.py SIZE FILE
import struct
import sys

size, path = int(sys.argv[1]), sys.argv[2]
with open("/proc/kallsyms") as symbols:
    start = next(int(line.split()[0], 16) for line in symbols if line.split()[2] == "_stext")
with open("/proc/kcore", "rb") as core:
    header = core.read(64)
    offset, = struct.unpack_from("<Q", header, 32)
    count, = struct.unpack_from("<H", header, 56)
    for i in range(count):
        core.seek(offset + i * 56)
        kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", core.read(56))
        if kind == 1 and address <= start and start + size <= address + length:
            core.seek(at + start - address)
            data = core.read(size)
            break
    else:
        sys.exit("/proc/kcore has no segment with the kernel's text")
with open(path, "wb") as out:
    out.write(data)
