# SPDX-License-Identifier: GPL-2.0-only
"""Thread-local variables of programs, which GDB's agent compiler refuses.

The kernel keeps the end address of a thread's block of such variables in the task's thread.fsbase. The linker knows how
far before that address a program's variable is. For most variables of libraries that are loaded with the program, the
dynamic linker writes the distance into a word of the library.
"""
import functools
import os
import struct

import gdb

from gtp.cexpr import ctype
from gtp.cexpr.error import Error
from gtp.cexpr.operand import in_memory
from gtp.formats import space
from gtp.places import functions

BLOCK = "((struct task_struct *)$current_task)->thread.fsbase"
STT_TLS, PT_TLS, SHT_RELA, SHT_DYNAMIC, TPOFF64, ET_EXEC = 6, 7, 4, 6, 18, 2
KINDS = {4: ctype.INT, 8: ctype.LONG}
DT_FLAGS_1, PIE = 0x6ffffffb, 0x08000000
UNKNOWN = "where a thread has %s is not in its file"
ELSEWHERE = "%s is a thread-local variable of another file than this code"


class Variables:
    """A file's thread-local variables.

    places: name -> place in the block. sizes: name -> bytes. words: place -> link-time address of the word that holds
    the distance. size: the bytes of a program's block, which ends where the thread's pointer points to; None for a
    library
    """

    def __init__(self, elf):
        self.places, self.sizes, self.words, self.size = {}, {}, {}, None
        for strings, name, info, section, value, size in elf.entries():
            if info & 15 == STT_TLS and section:
                self.places[functions.text_at(strings, name)] = value
                self.sizes[functions.text_at(strings, name)] = size
        for section in elf.sections:
            if section[1] == SHT_RELA:
                self.read(elf, section)
        if is_program(elf):
            self.measure(elf.data)

    def read(self, elf, section):
        """Note the words that the dynamic linker fills with distances."""
        symbols = elf.bytes(elf.sections[section[6]])
        for at, info, addend in struct.iter_unpack("<QQq", elf.bytes(section)):
            number = info >> 32
            if info & 0xffffffff == TPOFF64:
                self.words[addend + (struct.unpack_from("<Q", symbols, 24 * number + 8)[0] if number else 0)] = at

    def measure(self, data):
        start, = struct.unpack_from("<Q", data, 32)
        each, count = struct.unpack_from("<HH", data, 54)
        for i in range(count):
            kind, _, _, begin, _, _, size, align = struct.unpack_from("<IIQQQQQQ", data, start + i * each)
            if kind == PT_TLS and begin % align == 0:
                self.size = -(-size // align) * align


def is_program(elf):
    """Return whether an ELF file is a program. Having an interpreter does not prove that: a library such as libc may
    have one, too."""
    if struct.unpack_from("<H", elf.data, 16)[0] == ET_EXEC:
        return True
    tags = [pair for section in elf.sections if section[1] == SHT_DYNAMIC for pair in struct.iter_unpack("<QQ", elf.bytes(section))]
    return any(tag == DT_FLAGS_1 and value & PIE for tag, value in tags)


@functools.lru_cache(maxsize=16)
def variables(path, time):
    """Return the thread-local Variables of a file, or None if it cannot be read. TIME, when the file was last changed,
    is only a part of the cache's key."""
    try:
        with functions.opened(path) as elf:
            return Variables(elf)
    except functions.UNREADABLE:
        return None


def of(one):
    """Return the thread-local Variables of a program's file, and {name: place in the block}, including names that only its
    separate debug file has."""
    found, own, places = variables(one.path, one.time), one.objfile(), {}
    for objfile in gdb.objfiles():
        if objfile.owner is not None and objfile.owner == own and os.path.exists(objfile.filename or ""):
            apart = variables(objfile.filename, os.stat(objfile.filename).st_mtime_ns)
            places.update(apart.places if apart is not None else {})
    return found, {**(found.places if found is not None else {}), **places}


def program_of(symbol):
    """Return the Program from whose file GDB has read a symbol, or None."""
    objfile = symbol.symtab.objfile
    own = objfile.owner or objfile
    return next((one for one in space.programs.values() if one.objfile() == own), None)


def is_one(symbol):
    """Return whether GDB's symbol is a thread-local variable of a program."""
    if symbol.addr_class != gdb.SYMBOL_LOC_COMPUTED or symbol.symtab is None or not space.programs:
        return False
    one = program_of(symbol)
    if one is None:
        return False
    found, places = of(one)
    return found is not None and symbol.linkage_name in places


def operand(lower, symbol, node):
    """Return the Operand of a thread-local variable."""
    one, pc = program_of(symbol), lower.scope.pc
    if pc is None or not one.has(pc):
        raise Error(ELSEWHERE % node.name, node.start)
    found, places = of(one)
    return of_place(lower, node, one, found, symbol.type, places[symbol.linkage_name])


def without_type(lower, node):
    """Return the Operand of a thread-local variable without debug information. Its type is int or long, according to
    its size in the symbol table. Return None if there is no such variable."""
    pc = lower.scope.pc
    one = space.program(pc) if pc is not None else None
    found = variables(one.path, one.time) if one is not None else None
    kind = KINDS.get(found.sizes.get(node.name)) if found is not None else None
    return kind and of_place(lower, node, one, found, ctype.integer(kind), found.places[node.name])


def of_place(lower, node, one, found, kind, place):
    """Return the Operand of an object of type KIND at a place of the thread-local block of a program."""
    lower.differ("GDB asks libthread_db for thread-local variables")
    if found.size is not None:
        return in_memory(kind, ("(%s)" % BLOCK, place - found.size), lower.scope)
    if place not in found.words:
        raise Error(UNKNOWN % node.name, node.start)
    distance = "(%s + *(long *)%#x)" % (BLOCK, one.base + found.words[place])
    return in_memory(kind, (distance, 0), lower.scope)
