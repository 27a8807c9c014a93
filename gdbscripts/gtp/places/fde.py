# SPDX-License-Identifier: GPL-2.0-only
# Finds where the functions of a program begin and end, in .eh_frame, which files without debug information have, too.
import bisect
import functools
import re
import struct

from gtp.places import functions

PCREL, DATAREL, SDATA4, UDATA4 = 0x10, 0x30, 0x0b, 0x03  # DW_EH_PE_*
# The first bytes of .eh_frame_hdr, as every linker for x86-64 writes them.
HEADER = bytes((1, PCREL | SDATA4, UDATA4, DATAREL | SDATA4))


class Ranges:
    """The ranges that a file's .eh_frame describes: whole functions, and parts of functions that the compiler has
    placed elsewhere."""

    def __init__(self, elf):
        sections = {elf.name(i): section for i, section in enumerate(elf.sections)}
        self.sections = [(section[3], section[5], elf.name(i)) for i, section in enumerate(elf.sections) if section[3]]
        header, frames = sections.get(".eh_frame_hdr"), sections.get(".eh_frame")
        self.begins, self.places, self.data = [], [], b""
        if header is None or frames is None or elf.bytes(header)[:4] != HEADER:
            return
        self.data = elf.bytes(frames)
        count, = struct.unpack_from("<I", elf.bytes(header), 8)
        words = struct.unpack_from("<%di" % (2 * count), elf.bytes(header), 12)
        self.begins = [header[3] + word for word in words[::2]]
        self.places = [header[3] + word - frames[3] for word in words[1::2]]

    def at(self, address):
        """Return (begin, end) of the .eh_frame range that contains an address, or None."""
        i = bisect.bisect(self.begins, address) - 1
        if i < 0:
            return None
        try:
            size = self.size(self.places[i])
        except functions.UNREADABLE:
            size = None  # the file is damaged
        return (self.begins[i], self.begins[i] + size) if size and address < self.begins[i] + size else None

    def size(self, place):
        """Return the number of bytes that the FDE at PLACE in .eh_frame describes. Return None if its addresses have
        another form."""
        length, back = struct.unpack_from("<II", self.data, place)
        if length < 16 or self.form(place + 4 - back) & 0x0f != SDATA4:
            return None
        return struct.unpack_from("<I", self.data, place + 12)[0]

    def form(self, place):
        """Return the form of the addresses in the FDEs of a CIE: DW_EH_PE_*."""
        end = self.data.find(b"\0", place + 9)
        letters = self.data[place + 9:end].decode("ascii", "replace")
        if not re.fullmatch("z[RLPSB]*R[SBLP]*", letters):
            return 0
        at = end + 1
        for _ in range(4):  # code alignment, data alignment, register of the return address, size of the augmentation
            while self.data[at] & 0x80:
                at += 1
            at += 1
        for letter in letters[1:letters.index("R")]:
            if letter == "P":
                at += 5 if self.data[at] & 0x0f in (SDATA4, UDATA4) else 9
            elif letter == "L":
                at += 1
        return self.data[at]

    def section(self, address):
        """Return the name of the section around an address, or ""."""
        return next((name for begin, size, name in self.sections if begin <= address < begin + size), "")


@functools.lru_cache(maxsize=16)
def ranges(path, time):
    """Return the Ranges of a file, or None if it cannot be read. TIME, when the file was last changed, is only a part
    of the cache's key."""
    try:
        with functions.opened(path) as elf:
            return Ranges(elf)
    except functions.UNREADABLE:
        return None
