# SPDX-License-Identifier: GPL-2.0-only
# Finds the markers (USDT, SDT) in files of programs: their places in the file space, and the C for arg1, arg2 at each
# place.
#
# The compiler may keep an argument in another register at each place of a marker. So each place is a tracepoint of its
# own, at which arg1 stands for its own C text.
import difflib
import fnmatch
import mmap
import re
import struct

import gdb

from gtp.formats import space, stapsdt
from gtp.gdblib import words
from gtp.places import functions, names
from gtp.text import harmless

SECTION, BASE = ".note.stapsdt", ".stapsdt.base"
SHF_EXECINSTR, SHN_COMMON, ET_EXEC = 4, 0xfff2, 2
ARGUMENT = re.compile(r"\$?(arg\d+)", re.A)
MOST = 12  # the maximum number of arguments that <sys/sdt.h> allows

# At a marker's place there is a nop of some length. Any other instruction means that the notes belong to another build.
NOPS = (b"\x90", b"\x66\x90", b"\x0f\x1f", b"\x66\x0f\x1f", b"\x66\x2e\x0f\x1f")

NO_NOP = "no nop is where the notes say, as in another build: "

# known: (path, path on the traced machine) -> Markers. at_place: address -> Names of the marker's place.
known = {}
at_place = {}


class PlaceNames(names.Names):
    """The arguments of a place: argN, and $argN as SystemTap spells it."""

    def one(self, text, at, kind, word):
        found = ARGUMENT.fullmatch(word) if kind == "name" else None
        return super().one(text, at, kind, found.group(1) if found else word)


class Marker:
    """One marker: its id PROVIDER:NAME; its places as (address, Note); the types of its arguments, None where unknown."""

    def __init__(self, name):
        self.id, self.places, self.kinds = name, [], []

    def has_semaphore(self):
        return any(note.semaphore for _, note in self.places)

    def declared(self):
        """Return the line for this marker in the list of `gtp events -x`."""
        args = ", ".join("%s arg%d" % (kind or "?", i) for i, kind in enumerate(self.kinds, 1))
        return "%s(%s), %d place%s%s" % (harmless.line(self.id), args, len(self.places), "" if len(self.places) == 1 else "s",
                                         ", semaphore" if self.has_semaphore() else "")


class File:
    """The file that a note's operands refer to: see stapsdt.argument()."""

    end = space.SIZE

    def __init__(self, base, fixed, elves):
        self.base, self.fixed, self.elves = base, fixed, elves
        self.found = None

    def symbol(self, name):
        if self.found is None:
            self.found = {}
            for elf in self.elves:
                for text, address in symbols(elf):
                    self.found.setdefault(text, set()).add(address)
        places = self.found.get(name, ())
        if len(places) != 1:
            raise stapsdt.Refused("the file has %s of that name" % ("several symbols" if places else "no symbol"))
        return min(places)


def symbols(elf):
    """Yield (name, address) of an ELF file's symbols that are in a section."""
    for strings, name, _, index, address, _ in elf.entries():
        if index and index < SHN_COMMON:
            yield functions.text_at(strings, name), address


class Elf(functions.Elf):
    """An ELF file, with the lookups that markers need."""

    def section(self, name):
        return next((s for i, s in enumerate(self.sections) if self.name(i) == name), None)

    def is_fixed(self):
        return struct.unpack_from("<H", self.data, 16)[0] == ET_EXEC

    def code(self, address):
        """Return up to 16 bytes of code from an address on. Return no bytes if there is no code."""
        for _, _, flags, start, offset, size, _, _ in self.sections:
            if flags & SHF_EXECINSTR and 0 <= address - start < size:
                at = offset + address - start
                return bytes(self.data[at:at + min(16, size - (address - start))])
        return b""


def opened(path):
    """Return the Elf of a file, or None if it is not one that can be read."""
    try:
        with open(path, "rb") as file:
            return Elf(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except functions.UNREADABLE:
        return None


def debug_files(one):
    """Return the paths of the separate debug files that GDB has found for a Program."""
    own = one.objfile()
    return [o.filename for o in gdb.objfiles() if own is not None and o.is_valid() and o.owner == own and o.filename]


class Markers:
    """The markers of a Program. markers: {id: Marker}; lines: about errors in its notes."""

    def __init__(self, one):
        self.base, self.time = one.base, one.time
        self.markers, self.lines, self.names = {}, [], {}
        self.wrong = set()  # ids of markers whose notes belong to another build of the file
        self.apart = False  # true if only the separate debug file has the notes
        elves = [elf for elf in map(opened, [one.path] + debug_files(one)) if elf is not None]
        if not elves:
            return
        try:
            self.read(one, elves)
        except functions.UNREADABLE:
            self.lines.append("its sections are damaged")

    def read(self, one, elves):
        holder = next((elf for elf in elves if elf.section(SECTION)), None)
        if holder is None:
            return
        self.apart = holder is not elves[0]
        bases = [elf.section(BASE) for elf in elves]
        base = next((section[3] for section in bases if section), None)
        found, complaint = stapsdt.notes(holder.bytes(holder.section(SECTION)), base)
        if complaint:
            self.lines.append(complaint)
        self.add(found, one, elves[0])
        self.name_all(File(one.base, elves[0].is_fixed(), elves))

    def add(self, found, one, elf):
        for note in dict.fromkeys(found):
            name = "%s:%s" % (note.provider, note.name)
            if note.place < space.SIZE and elf.code(note.place).startswith(NOPS):
                self.markers.setdefault(name, Marker(name)).places.append((one.base + note.place, note))
            else:
                self.wrong.add(name)
        if self.wrong:
            self.lines.append(NO_NOP + words.few(map(harmless.line, sorted(self.wrong))))

    def name_all(self, file):
        for marker in self.markers.values():
            at = [(address, stapsdt.arguments(note.operands, file)) for address, note in marker.places]
            count = max(len(found) for _, found in at)
            marker.kinds = [stapsdt.common([found[i].kind for _, found in at if i < len(found)]) for i in range(count)]
            for address, found in at:
                # If there are two markers at one place, the names of their arguments are ambiguous.
                if address in self.names:
                    self.names[address] = None
                else:
                    self.names[address] = named(marker, found)

    def matching(self, pattern):
        """Return the Markers that a pattern matches, by id. As for events, ":" may be missing."""
        wanted = re.compile(fnmatch.translate(pattern))
        return [m for name, m in sorted(self.markers.items())
                if wanted.match(name) or ":" not in pattern and any(map(wanted.match, name.split(":", 1)))]


def named(marker, found):
    """Return the PlaceNames of a place with these Arguments."""
    stands_for, unsaid = {}, {}
    for i, (argument, kind) in enumerate(zip(found, marker.kinds), 1):
        if argument.text is None:
            unsaid["arg%d" % i] = argument.why
        elif kind is None:
            unsaid["arg%d" % i] = "it is not a number at another place of the marker"
        else:
            stands_for["arg%d" % i] = argument.text if kind == argument.kind else "((%s)%s)" % (kind, argument.text)
    for i in range(len(found) + 1, MOST + 1):
        unsaid["arg%d" % i] = "this place has %d argument%s" % (len(found), "" if len(found) == 1 else "s")
    return PlaceNames(harmless.line(marker.id), stands_for, unsaid)


def of(one):
    """Return the Markers of a Program."""
    key = one.path, one.there
    before = known.get(key)
    if before is None or (before.base, before.time) != (one.base, one.time):
        if before is not None:
            for address in before.names:
                at_place.pop(address, None)
        known[key] = Markers(one)
        at_place.update(known[key].names)
    return known[key]


def names_at(pc):
    """Return the Names of a marker's place."""
    if not space.has(pc):
        return None
    one = space.program(pc)
    return of(one).names.get(pc) if one is not None else None


def arguments_at(pc):
    """Return the names for a marker's arguments at an address, or [] if there is no marker."""
    own = names_at(pc)
    return [] if own is None else own.all() + ["$" + name for name in own.all()]


def is_one(one, location):
    """Return whether a location names markers of a Program. FILE:LINE and FILE:FUNCTION look like PROVIDER:NAME."""
    provider, colon, _ = location.partition(":")
    there = of(one)
    return bool(colon) and (bool(there.matching(location)) or
                            any(name.startswith(provider + ":") for name in {*there.markers, *there.wrong}))


def find(one, pattern):
    """Return the Markers that a name or a pattern means. Raise an error if there are none."""
    there = of(one)
    found = there.matching(pattern)
    if found:
        return found
    if pattern in there.wrong:
        raise gdb.GdbError(NO_NOP + pattern)
    near = difflib.get_close_matches(pattern, there.markers, 3)
    raise gdb.GdbError("%s has no marker %s%s" % (
        one.path, pattern, "; is it %s?" % " or ".join(map(harmless.line, near)) if near else "; gtp events -x lists them"))


names.providers.append(names_at)
