# SPDX-License-Identifier: GPL-2.0-only
"""Looks up types by name, from a place's own compile unit outward, as in C.

For places that do not define the type themselves, GDB uses the first type of that name that it has read. If several
types of the name differ, choose one by a rule, and report which one was chosen: no text that GDB's parser accepts names
the type.
"""
import os
import re

import gdb

from gtp.cexpr import btf, ctype, percpu, typename, units
from gtp.cexpr.error import Error

TAGGED = re.compile(r"(struct|union|enum) (?:('[^']+'|\w+)\s*::\s*)?(\w+)$")
SCOPED = re.compile(r"('[^']+'|\w+)\s*::\s*(\w+)$")
WORDS = {gdb.TYPE_CODE_STRUCT: "struct", gdb.TYPE_CODE_UNION: "union", gdb.TYPE_CODE_ENUM: "enum"}
MOST_FILES = 8


class Named:
    """The type that a name means at a place. sure: GDB's parser chooses the same type. note: text for the user if several
    types have the name."""

    def __init__(self, kind, sure, note=None):
        self.type, self.sure, self.note = kind, sure, note


def find(block, words):
    """Return the Named for a type's words at a block, or None."""
    tagged, scoped = TAGGED.match(words), SCOPED.match(words)
    if tagged and tagged.group(2) or scoped:
        word, where, name = tagged.groups() if tagged else ("", *scoped.groups())
        return chosen("%s %s" % (word, name) if word else name, where.strip("'"))
    kind = typename.at(block, words)
    if kind is None:
        return None
    if block is not None and is_own(block, words):
        return Named(kind, True)
    if kind.code not in WORDS and kind.code != gdb.TYPE_CODE_TYPEDEF:
        return Named(kind, True)  # C's own types, such as int
    several = definitions(words)
    return Named(kind, True) if len(several) < 2 else taken(several, block, words)


def symbols_of(words):
    """Return the symbols of all types of that name in compile units that have code."""
    name, domain = symbol_name(words)
    by = percpu.moved_by()
    for pc in units.places(name):
        gdb.block_for_pc((pc + by) % 2**64)  # makes GDB read the compile unit
    return [s for s in gdb.lookup_static_symbols(name, domain) if is_type(s, words)]


def symbol_name(words):
    """Return a type's name without its tag word, and the domain in which GDB keeps the symbol."""
    tagged = TAGGED.match(words)
    return (tagged.group(3), gdb.SYMBOL_STRUCT_DOMAIN) if tagged else (words, gdb.SYMBOL_VAR_DOMAIN)


def is_type(symbol, words):
    tagged = TAGGED.match(words)
    return symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF and (not tagged or
                                                            WORDS.get(symbol.type.code) == tagged.group(1))


def is_own(block, words):
    """Return whether the block's compile unit, or a function around the block, defines the type."""
    name, domain = symbol_name(words)
    symbol = gdb.lookup_symbol(name, block, domain)[0]
    if symbol is None or symbol.symtab is None:
        return False
    return unit(symbol.symtab.static_block()) == unit(block.static_block)


def unit(static_block):
    """Return the first address and the end of the code of a block's compile unit. They identify the unit."""
    return static_block and (static_block.start, static_block.end)


# Several of one name -----------------------------------------------------------------------------

cache = {}


def definitions(words):
    """Return a gdb.Symbol for each of the different types that have the same name. Return [] if BTF says that there is
    only one."""
    if btf.counts().get(words) == 1:
        return []
    key = words, tuple(objfile.filename for objfile in gdb.objfiles())
    if key not in cache:
        cache[key] = different(words)
    return cache[key]


def different(words):
    found = []
    for symbol in sorted(symbols_of(words), key=lambda s: s.symtab.filename):
        if not any(ctype.same(symbol.type, other.type) for other in found):
            found.append(symbol)
    return found


def taken(several, block, words):
    """Return the Named of the type whose source file is nearest to the block's file, among SEVERAL symbols."""
    here = file_of(block)
    symbol = max(several, key=lambda s: len(os.path.commonprefix([here, s.symtab.filename])))
    word, blank, name = words.rpartition(" ")
    others = [s.symtab.filename for s in several if s is not symbol]
    return Named(symbol.type, False, "%s means the one in %s here, and there is another in %s; %s%s'FILE'::%s chooses" % (
        words, symbol.symtab.filename, few(others), word, blank, name))


def few(files):
    more = len(files) - MOST_FILES
    return ", ".join(files[:MOST_FILES]) + (" and %d more" % more if more > 0 else "")


def file_of(block):
    """Return the source file of the function around a block."""
    while block is not None and block.function is None:
        block = block.superblock
    return block.function.symtab.filename if block is not None else ""


def chosen(words, where):
    """Return the Named of the type WORDS in WHERE, which is a source file or a function. Return None if there is no
    such type."""
    found = [s.type for s in symbols_of(words) if is_file(s.symtab, where) or has_function_of(s.symtab, where)]
    if any(not ctype.same(found[0], other) for other in found):
        raise Error("%s is compiled more than once, with different %s" % (where, words), 0,
                    "Write one of its functions in place of the file: %s." % words.replace(
                        " ", " FUNCTION::"))
    if found:
        return Named(found[0], False)
    function = gdb.lookup_global_symbol(where) or gdb.lookup_static_symbol(where)
    if function is None or function.addr_class != gdb.SYMBOL_LOC_BLOCK:
        return None
    block = gdb.block_for_pc(int(function.value().address))
    return Named(typename.at(block, words), False) if is_own(block, words) else None


def is_file(symtab, where):
    return ("/" + symtab.filename).endswith("/" + where)


def has_function_of(symtab, where):
    """Return whether a symbol's compile unit has code of a file. The symbol's own file may be a header."""
    return any(s.is_function and is_file(s.symtab, where)
               for block in (symtab.global_block(), symtab.static_block()) for s in block)


def words_of(kind):
    """Return the words of a type with a tag, such as "struct sock", or None for a type without one."""
    bare = ctype.plain(kind)
    return "%s %s" % (WORDS[bare.code], bare.tag) if bare.code in WORDS and bare.tag else None


def is_unclear(words, named):
    """Return whether GDB may take another structure of the same name for a pointer's target. That is so if the place's
    unit does not define the structure.

    If a unit only declares a structure, GDB silently uses the first definition that it finds. NAMED is a function that
    takes a type's words and returns its Named, such as Scope.named().
    """
    if btf.counts().get(words) == 1:
        return False
    found = named(words)
    return found is not None and not found.sure
