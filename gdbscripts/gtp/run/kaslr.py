# SPDX-License-Identifier: GPL-2.0-only
# Moves GDB's symbols to where the kernel of a trace file was loaded, because KASLR puts it elsewhere at each boot.
import array
import errno
import mmap
import os
import re
import struct

import gdb

from gtp.formats.error import Damaged, reading
from gtp.gdblib import gdbcall, screen, words
from gtp.places import functions

PT_LOAD = 1
SHT_NOBITS = 8
TEXT = ".text"
SECTION = re.compile(r"0x([0-9a-f]+)->0x[0-9a-f]+ at 0x[0-9a-f]+: \.text ")
FILE = re.compile(r"file: `(.*)',")
WRONG = """{file} is not of the kernel of this run; names, types and places are wrong.
  the run's kernel: build-id {theirs}
  loaded symbols:   build-id {ours}"""
UNKNOWN = """the file does not say where the run's kernel lay; the symbols of {file} stay where they are, {distance:#x} from where it was
  linked to lie"""

STREAM = """{file} is a stream: GDB cannot go back in it, and the frames that it has read are gone.
  gtp record -o FILE writes them to a file, which target tfile FILE follows while it grows"""

told = None  # the last trace file for which messages were printed


class Linked:
    """An ELF file as it was linked: its segments' ranges, the address of .text, and its sections' contents."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            elf = functions.Elf(self.data)
            ranges = list(self.segments())
            self.sections = {elf.name(i): elf.sections[i] for i in range(len(elf.sections))}
        except OSError as error:
            raise gdb.GdbError("%s: %s" % (path, error.strerror)) from None
        except (ValueError, struct.error):
            raise gdb.GdbError("%s is not a 64-bit ELF file" % path) from None
        if not ranges or TEXT not in self.sections:
            raise gdb.GdbError("%s has no segment and no section .text" % path)
        self.first, self.end = ranges[0][0], max(end for _, end in ranges)
        self.text = self.sections[TEXT][3]

    def segments(self):
        start, = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        for i in range(count):
            kind, _, _, address, _, _, length = struct.unpack_from("<IIQQQQQ", self.data, start + i * size)
            if kind == PT_LOAD:
                yield address, address + length

    def read(self, address, size, moved):
        """Return up to SIZE bytes at an address of the moved kernel, or b"" if the file does not have them. Addresses in
        the contents are moved, too."""
        at = (address - moved) % 2**64
        for _, kind, _, start, offset, length, *_ in self.sections.values():
            if start and kind != SHT_NOBITS and start <= at < start + length:
                end = min(at + size, start + length)
                front = at & -8  # the word that contains the first byte
                data = self.data[offset + max(front - start, 0):offset + end - start]
                return self.moved(data, moved)[at - max(front, start):] if front >= start else data
        return b""

    def moved(self, data, by):
        """Return the bytes with the kernel's addresses in them moved, as KASLR does. The first byte must begin a word."""
        found = array.array("Q", data[:len(data) & -8])
        for i, word in enumerate(found):
            if self.first <= word < self.end:
                found[i] = (word + by) % 2**64
        return found.tobytes() + data[len(data) & -8:]


def is_stream(path):
    """Return whether the file is a pipe, or the module's file, which allows no second reader."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return error.errno == errno.EBUSY
    try:
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError as error:
        return error.errno == errno.ESPIPE
    finally:
        os.close(fd)
    return False


def of_run(path):
    """Return (address of the kernel's first segment, build-id in hex) from a trace file's header, or None if it has
    none."""
    with open(path, "rb") as file:
        for line in file:
            if line.startswith(b"status "):
                said = dict(item.partition(":")[::2] for item in line.decode(errors="replace").strip().split(";"))
                with reading("the trace file's status"):
                    return (int(said["textseg"], 16), said.get("buildid", "")) if said.get("textseg") else None
            if line == b"\n":
                break
    return None


def place(path):
    """Return the address at which GDB has placed the .text of a symbol file."""
    ours = False
    for line in gdbcall.execute("maint info sections -all-objects .text").splitlines():
        name, found = FILE.search(line), SECTION.search(line)
        if name:
            ours = name.group(1) == path
        elif found and ours:
            return int(found.group(1), 16)
    raise gdb.GdbError("%s has no section .text" % path)


def distance(linked):
    """Return how far GDB has moved a file's symbols from their link addresses."""
    return (place(linked.path) - linked.text) % 2**64


def loaded():
    """Return the Linked that is loaded as the kernel, and the distance of its symbols. Return None if none is loaded,
    or the distance is not known."""
    name = gdb.current_progspace().filename
    try:
        linked = Linked(name) if name else None
        return linked and (linked, distance(linked))
    except gdb.GdbError:
        return None


def another(path):
    """Return the error if the trace file is of another kernel than the loaded vmlinux, or None if no difference is
    known."""
    run, file = of_run(path), gdb.current_progspace().filename
    if run is None or file is None:
        return None
    theirs, ours = run[1], gdb.lookup_objfile(file).build_id
    return WRONG.format(file=file, theirs=theirs, ours=ours or "none") if theirs and ours != theirs else None


def move(linked, run):
    """Move the symbols to the addresses of the run's kernel. Return a message, or None if they are there already."""
    wanted = (run[0] - linked.first) % 2**64
    if wanted == distance(linked):
        return None
    gdbcall.execute("symbol-file -o %#x %s" % (wanted, words.quoted(linked.path)))
    return "the symbols of %s are where this run's kernel lay" % linked.path


def news_of(path):
    """Return messages about a trace file's kernel and the symbols. Move the symbols if possible."""
    file, run = gdb.current_progspace().filename, of_run(path)
    if file is None:
        return None
    wrong = another(path)
    if wrong:
        return wrong
    if run is not None:
        return move(Linked(file), run)
    found = loaded()
    return UNKNOWN.format(file=file, distance=found[1]) if found and found[1] else None


def settle(path):
    """Called when GDB looks at a trace file: move the symbols to the addresses of the run's kernel. Report errors only
    once."""
    global told
    try:
        news = STREAM.format(file=path) if is_stream(path) else news_of(path)
    except (gdb.error, gdb.GdbError, Damaged, OSError) as error:
        news = "where the symbols belong is not known: %s" % error
    if news and told != (path, news):
        screen.put("gdbtp: %s\n" % news)
        told = path, news
