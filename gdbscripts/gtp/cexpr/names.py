# SPDX-License-Identifier: GPL-2.0-only
"""Looks up names at an address in GDB's own symbols: variables, constants, functions and types."""
import gdb

from gtp.cexpr import types, vmlinux
from gtp.cexpr.error import Error
from gtp.gdblib import gdbcall

MOST_FILES = 8
WORDS = {"unsigned": "unsigned int", "signed": "int", "long int": "long"}


class Scope:
    """The names that are visible at pc, or in the whole kernel if pc is None. Each name is looked up once."""

    def __init__(self, pc):
        self.pc = pc
        self.block = gdb.block_for_pc(pc) if pc is not None else None
        self.types = {}
        self.symbols = {}
        self.own = None

    # Types

    def named(self, words):
        """Return the types.Named for a type's words, or None if there is no such type."""
        if words not in self.types:
            self.types[words] = types.find(self.block, WORDS.get(words, words))
        return self.types[words]

    def type(self, words):
        """Return the gdb.Type with this name, or None."""
        found = self.named(words)
        return found and found.type

    def spelled(self, words):
        """Return the type that GDB finds for the words in this scope, or None if GDB finds none or may choose a type
        other than C does."""
        found = self.named(words)
        return found.type if found and found.sure else None

    def is_type(self, name):
        """Return whether a name means a type in this scope, and not a variable."""
        symbol, _ = self.around(name)
        if symbol is not None and symbol.addr_class != gdb.SYMBOL_LOC_TYPEDEF:
            return False
        return self.type(name) is not None

    # Variables, constants, functions

    def symbol(self, name):
        """Return the symbol that GDB finds for a name in this scope, or None."""
        if name not in self.symbols:
            self.symbols[name] = self.find_symbol(name)
        return self.symbols[name]

    def find_symbol(self, name):
        symbol = gdb.lookup_symbol(name, self.block)[0] if self.block else None
        if symbol is None or symbol.addr_class == gdb.SYMBOL_LOC_UNRESOLVED:  # only declared in this file
            symbol = gdb.lookup_global_symbol(name) or symbol or gdb.lookup_static_symbol(name)
        return symbol

    def around(self, name):
        """Return (symbol, function) of a name. Unlike GDB, C also finds names in the functions around an inlined
        function, so search these too.

        function is None unless the variable belongs to such an outer function: then FUNCTION::NAME names it for GDB.
        """
        block, seen = self.block, False
        while block is not None and not block.is_static and not block.is_global:
            for symbol in block if not seen or block.function is not None else ():
                if symbol.name == name:
                    return symbol, block.function.name if seen else None
            seen = seen or block.function is not None
            block = block.superblock
        return self.symbol(name), None

    def is_foreign(self, symbol):
        """Return whether a symbol is static in a file other than that of pc."""
        if symbol.addr_class not in (gdb.SYMBOL_LOC_STATIC, gdb.SYMBOL_LOC_CONST, gdb.SYMBOL_LOC_BLOCK):
            return False
        if gdb.lookup_global_symbol(symbol.name) is not None or symbol.symtab is None:
            return False
        if self.block is None:
            return True
        if self.own is None:
            self.own = set(self.near())
        return symbol.name not in self.own

    def is_own(self, name):
        """Return whether a name belongs to the functions or the file around pc, or is global in the same program. A
        name of another file does not, such as libc's `current`: GDB finds it at all places once GDB has libc's debug
        information."""
        symbol = gdb.lookup_global_symbol(name)
        here = gdb.find_pc_line(self.pc).symtab if self.pc is not None else None
        if symbol is not None and here is not None and symbol.symtab.objfile == here.objfile:
            return True
        return name in self.near()

    def near(self):
        """Yield all names that the function and the file around pc define."""
        block = self.block
        while block is not None and not block.is_global:
            for symbol in block:
                yield symbol.name
            block = block.superblock

    def homonyms(self, symbol):
        """Return one symbol for each static object that has the same name as SYMBOL."""
        kinds = {}
        for other in gdb.lookup_static_symbols(symbol.name):
            if other.addr_class == symbol.addr_class:
                kinds.setdefault(identity(other), other)
        return list(kinds.values()) or [symbol]

    def named_in(self, where, name, at):
        """Return the symbol of WHERE::NAME, where WHERE is a file or a function."""
        try:
            gdbcall.value("&'%s'::%s" % (where, name))  # makes GDB read the file's symbols
        except gdb.error:
            pass
        for symbol in gdb.lookup_static_symbols(name):
            file = symbol.symtab.filename
            if file == where or file.endswith("/" + where):
                return symbol
        function = self.symbol(where)
        if function is not None and function.addr_class == gdb.SYMBOL_LOC_BLOCK:
            block = gdb.block_for_pc(int(function.value().address))
            return gdb.lookup_symbol(name, block)[0]
        raise Error("no file or function %s has a variable %s" % (where, name), at)

    def visible(self):
        """Yield the names of the variables of the function around pc. They are candidates for a misspelled name."""
        block = self.block
        while block is not None and not block.is_static and not block.is_global:
            for symbol in block:
                yield symbol.name
            block = block.superblock


def identity(symbol):
    """Return a value that differs between different symbols of the same name."""
    if symbol.addr_class == gdb.SYMBOL_LOC_CONST:
        return int(symbol.value())
    try:
        return int(symbol.value().address)
    except (gdb.error, TypeError):
        return symbol.symtab.filename


def one(scope, symbol, at):
    """Return SYMBOL, which is static in another file. Raise an error if other files have a static symbol of this name,
    too."""
    several = scope.homonyms(symbol)
    files = sorted(set(vmlinux.files_of(symbol.name)))
    if len(several) == 1 and (symbol.addr_class != gdb.SYMBOL_LOC_STATIC or len(files) < 2):
        return several[0]
    files = files if len(files) > 1 else sorted({other.symtab.filename for other in several})
    more = len(files) - MOST_FILES
    shown = ", ".join(files[:MOST_FILES]) + (" and %d more" % more if more > 0 else "")
    raise Error("%s is static in several files: %s" % (symbol.name, shown), at,
                "Write it with its file: '%s'::%s." % (several[0].symtab.filename, symbol.name))


def qualified(symbol):
    """Return text with which GDB finds a static symbol of another file."""
    return "'%s'::%s" % (symbol.symtab.filename, symbol.name)
