# SPDX-License-Identifier: GPL-2.0-only
# The names of functions and source files from the symbol tables of vmlinux and of loaded modules.
import collections
import contextlib
import difflib
import fnmatch
import mmap
import os
import re
import struct

import gdb

SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
STT_FUNC = 2
STT_FILE = 4
GLOBAL_OBJECT = 1 << 4 | 1  # STB_GLOBAL, STT_OBJECT

# Sections that are freed after initialisation, or never loaded.
GONE = (".init", ".exit")

# The padding before functions has symbols of its own, which the symbol table marks as functions.
IN_FRONT = ("__pfx_", "__cfi_")

# The exceptions that reading an ELF file may raise, if the file was removed or its contents contradict its header.
UNREADABLE = (OSError, ValueError, IndexError, ArithmeticError, struct.error)

tables = {}

# The paths of programs' files, whose functions are not the kernel's.
programs = set()


class Elf:
    """A 64-bit ELF file: its sections, and the symbols in its symbol tables."""

    def __init__(self, data):
        self.data = data
        if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit ELF file")
        start, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        self.sections = [struct.unpack_from("<IIQQQQII", data, start + i * size) for i in range(count)]
        self.names = self.bytes(self.sections[names]) if count else b""

    def bytes(self, section):
        offset, size = section[4:6]
        return self.data[offset:offset + size]

    def name(self, index):
        """Return a section's name, or "" for special indices."""
        if index >= len(self.sections):
            return ""
        return text_at(self.names, self.sections[index][0])

    def entries(self):
        """Yield (strings, name, info, section, link-time address, size) for each symbol. Its name is at offset `name` in
        `strings`, the content of a section."""
        for section in self.sections:
            if section[1] not in SYMBOL_TABLES:
                continue
            strings = self.bytes(self.sections[section[6]])
            for name, info, _, index, address, size in struct.iter_unpack("<IBBHQQ", self.bytes(section)):
                yield strings, name, info, index, address, size

    def symbols(self):
        """Yield (name, kind, section, link-time address, size) for each function, source file and global variable."""
        for strings, name, info, index, address, size in self.entries():
            if info & 15 in (STT_FUNC, STT_FILE) or info == GLOBAL_OBJECT:
                yield text_at(strings, name), info & 15, index, address, size

    def gone(self):
        """Return the indices of the sections that are freed or never loaded, and 0, which is the section index of a
        symbol that is defined elsewhere."""
        return {0} | {i for i in range(len(self.sections)) if self.name(i).startswith(GONE)}


def text_at(strings, offset):
    return strings[offset:strings.index(b"\0", offset)].decode(errors="replace")


@contextlib.contextmanager
def opened(path):
    """Context manager: yield the Elf of a file, which can be read only in the block. Raise one of UNREADABLE if the
    file is not an ELF file."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield Elf(data)


class Table:
    """The contents of a file's symbol table; nothing if it cannot be read.

    functions: name, without the suffix of a clone or part -> link-time address sources: name -> the number of source
    files with this name sizes: name of a global variable -> its size. GDB may know only a declaration, which has no
    size.
    """

    def __init__(self, path):
        self.functions, self.sources, self.sizes = {}, collections.Counter(), {}
        try:
            with opened(path) as elf:
                self.fill(elf)
        except UNREADABLE:
            pass

    def fill(self, elf):
        gone = elf.gone()
        for name, kind, section, address, size in elf.symbols():
            if kind == STT_FILE:
                self.sources[os.path.basename(name)] += 1
            elif kind != STT_FUNC:
                self.sizes[name] = size
            elif section not in gone and not name.startswith(IN_FRONT):
                self.functions[name.split(".")[0]] = address


def table(path):
    """Return the Table of a file, read again only when it has changed."""
    try:
        key = (path, os.stat(path).st_mtime_ns)
    except OSError:
        key = (path, None)
    if key not in tables:
        tables[key] = Table(path)
    return tables[key]


def kernel():
    """Return the Table of vmlinux."""
    return table(gdb.current_progspace().filename or "")


def loaded():
    """Return the Tables of vmlinux and of the modules whose symbols are loaded."""
    return [table(one.filename) for one in gdb.objfiles() if one.is_valid() and one.filename and not is_program(one)]


def is_program(objfile):
    """Return whether an objfile is a program's, or the separate debug file of one."""
    own = objfile.owner or objfile
    return os.path.realpath(own.filename or "") in programs


def names():
    """Return the names of all functions."""
    return {name for one in loaded() for name in one.functions if name}


def sources(name):
    """Return the number of source files with this name."""
    return sum(one.sources[name] for one in loaded())


def filtered(some, pattern):
    """Return the names in SOME that a shell's pattern matches, sorted."""
    wanted = re.compile(fnmatch.translate(pattern))
    return sorted(name for name in some if wanted.match(name))


def matching(pattern):
    """Return the names that a shell's pattern matches, sorted."""
    return filtered(names(), pattern)


def similar(name):
    """Return similar names, best first."""
    return difflib.get_close_matches(name, names(), 3, 0.75)
