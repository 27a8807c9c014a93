# SPDX-License-Identifier: GPL-2.0-only
"""Finds the compile units of vmlinux in which a name occurs: GDB's index of a kernel lists only one unit for each type.

A DIE stores its name as an offset into .debug_str, or inline if the name is no longer than an offset. A unit in which
these bytes occur may have the name. To be certain, look the name up in GDB at an address of that unit. .debug_aranges
gives such an address.
"""
import bisect
import functools
import mmap
import struct

from gtp.cexpr import vmlinux

SECTIONS = (".debug_info", ".debug_str", ".debug_aranges")
COMPRESSED = 0x800
MOST_STRINGS = 64  # look at no more than this many strings in .debug_str for a name
MOST_UNITS = 64


class Dwarf:
    """The DWARF sections of an open file that is mapped as data."""

    def __init__(self, file, data):
        named, rows = vmlinux.headers(file)
        if any(name not in named for name in SECTIONS):
            raise ValueError("no DWARF")
        if any(row[2] & COMPRESSED for row in rows if row[3:] in [named[name] for name in SECTIONS]):
            raise ValueError("compressed DWARF")
        self.data = data
        self.at = {name: named[name][1] for name in SECTIONS}
        self.end = {name: named[name][1] + named[name][2] for name in SECTIONS}

    def found(self, section, pattern):
        """Yield each offset in a section at which PATTERN occurs."""
        at, end = self.at[section], self.end[section]
        while True:
            at = self.data.find(pattern, at, end)
            if at < 0:
                return
            yield at - self.at[section]
            at += 1

    def starts(self):
        """Return the offset of each compile unit in .debug_info."""
        found, at, size = [], 0, self.end[".debug_info"] - self.at[".debug_info"]
        while at < size:
            found.append(at)
            length, = struct.unpack_from("<I", self.data, self.at[".debug_info"] + at)
            if length >= 0xfffffff0:
                raise ValueError("DWARF of 64 bits")
            at += 4 + length
        return found

    def addresses(self):
        """Return {offset of a compile unit: a link-time address in its code}."""
        found, at, end = {}, self.at[".debug_aranges"], self.end[".debug_aranges"]
        while at < end:
            length, _, unit = struct.unpack_from("<IHI", self.data, at)
            first = at + 16  # the 12-byte head of a set is padded to 16, the size of a pair of addresses
            at += 4 + length
            pairs = ((start, size) for start, size in struct.iter_unpack("<QQ", self.data[first:at]) if start and size)
            found.update((unit, start) for start, _ in list(pairs)[:1])
        return found

    def offsets(self, name):
        """Yield the byte strings in which a DIE may store a name: the name itself if it is short, and its offsets in
        .debug_str."""
        if len(name) < 4:
            yield name + b"\0"
        for count, at in enumerate(self.found(".debug_str", name + b"\0")):
            if count < MOST_STRINGS:
                yield struct.pack("<I", at)


@functools.lru_cache(64)
def places_of(path, mtime, name):
    """Return a link-time address in each unit that may have the name, 64 addresses at most.

    mtime: a part of the cache's key, so that a changed file is read again.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        dwarf = Dwarf(file, data)
        starts, addresses, units = dwarf.starts(), dwarf.addresses(), {}
        for pattern in dwarf.offsets(name.encode()):
            for at in dwarf.found(".debug_info", pattern):
                unit = starts[bisect.bisect_right(starts, at) - 1]
                if unit in addresses:
                    units[unit] = addresses[unit]
                if len(units) == MOST_UNITS:
                    return list(units.values())
        return list(units.values())


def places(name):
    """Return places_of() for the main symbol file, or [] if the file cannot be read."""
    return vmlinux.asked(lambda path, mtime: places_of(path, mtime, name)) or []
