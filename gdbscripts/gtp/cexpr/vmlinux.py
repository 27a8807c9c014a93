# SPDX-License-Identifier: GPL-2.0-only
"""Reads GDB's main symbol file as an ELF file: where its sections are linked, and which source files have a static
variable of a name.

If several static variables have one name, GDB's index has only one of them; the symbol table has all.
"""
import functools
import os
import struct

import gdb

LOCAL, OBJECT, FILE = 0, 1, 4
SYMBOL = struct.Struct("<IBBHQQ")


def headers(file):
    """Return {name: (address, offset, size, link)} of an ELF file's sections, and the list of all section headers in
    the file's order."""
    head = file.read(64)
    if head[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no ELF file of 64 bits")
    start, = struct.unpack_from("<Q", head, 40)
    size, count, names = struct.unpack_from("<HHH", head, 58)
    file.seek(start)
    table = file.read(size * count)
    rows = [struct.unpack_from("<IIQQQQI", table, size * i) for i in range(count)]
    text = content(file, rows[names][4], rows[names][5])
    return {string(text, row[0]): row[3:] for row in rows}, rows


def content(file, offset, size):
    file.seek(offset)
    return file.read(size)


def string(text, at):
    return text[at:text.index(b"\0", at)].decode()


@functools.lru_cache(None)
def sections_of(path, mtime):
    """Return {name: (address, size)} of a file's sections. MTIME is a part of the cache's key, so that a changed file
    is read again."""
    with open(path, "rb") as file:
        return {name: (row[0], row[2]) for name, row in headers(file)[0].items()}


@functools.lru_cache(None)
def statics_of(path, mtime):
    """Return {name of a static variable: its source files}, without the files' folders."""
    found, source = {}, "?"
    with open(path, "rb") as file:
        named, rows = headers(file)
        if ".symtab" not in named:
            return found
        _, offset, size, link = named[".symtab"]
        table, text = content(file, offset, size), content(file, rows[link][4], rows[link][5])
    for name, info, _, _, _, _ in SYMBOL.iter_unpack(table):
        if info >> 4 != LOCAL:
            continue
        if info & 15 == FILE:
            source = string(text, name)
        elif info & 15 == OBJECT:
            found.setdefault(string(text, name), []).append(source)
    return found


def asked(function):
    """Return FUNCTION's result for the main symbol file, or {} if the file cannot be read."""
    name = gdb.current_progspace().filename
    try:
        return function(name, os.stat(name).st_mtime_ns) if name else {}
    except (OSError, ValueError, struct.error, IndexError):
        return {}


def sections():
    """Return {name: (address, size)} of the main symbol file's sections."""
    return asked(sections_of)


def files_of(name):
    """Return the source files, without their folders, that have a static variable of the name."""
    return asked(statics_of).get(name, [])
