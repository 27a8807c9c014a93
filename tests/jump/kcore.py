# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's memory through /proc/kcore: an ELF file whose segments are memory."""
import os
import struct


class Kcore:
    """Bytes by address."""

    def __enter__(self):
        self.fd = os.open("/proc/kcore", os.O_RDONLY)
        head = os.pread(self.fd, 64, 0)
        offset, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        table = os.pread(self.fd, size * count, offset)
        rows = [struct.unpack_from("<IIQQQQ", table, i * size) for i in range(count)]
        self.segments = [(at, length, where) for kind, _, where, at, _, length in rows if kind == 1]
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, addr, count):
        for at, length, where in self.segments:
            if at <= addr < at + length:
                return self.all_of(where + addr - at, count)
        raise ValueError("0x%x is in no segment" % addr)

    def all_of(self, offset, count):
        data = b""
        while len(data) < count:
            piece = os.pread(self.fd, min(count - len(data), 1 << 20), offset + len(data))
            if not piece:
                raise ValueError("/proc/kcore ends at 0x%x" % (offset + len(data)))
            data += piece
        return data
