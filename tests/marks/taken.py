# SPDX-License-Identifier: GPL-2.0-only
"""Checks that every function of a module begins with an endbr64 if the function's address is taken. Prints TAP.

Usage: taken.py MODULE.ko HEADERS        HEADERS: the build folder of the kernel, as for make -C

With indirect branch tracking, an indirect call to a function without an endbr64 faults. The kernel's objtool checks the
same, but this test reads the finished file. Every relocation to code takes an address, except relocations of direct
branches and those in tables of places that nothing calls. For a kernel without CONFIG_X86_KERNEL_IBT the compiler makes
no endbr64, and the tests are skipped."""

import collections
import re
import struct
import sys

ENDBR = b"\xf3\x0f\x1e\xfa"
EXECUTABLE, ALLOCATED = 4, 2
SYMTAB, RELA = 2, 4
FUNCTION = 2
# Types of relocations: R_X86_64_64, _32 and _32S are addresses; R_X86_64_PC32 and _PLT32 are relative to the field's end.
ABSOLUTE, RELATIVE = (1, 10, 11), (2, 4)
# Sections that list places in code that nothing calls: for patching, faults, tracing and unwinding.
PLACES = re.compile(r"\.(altinstructions|parainstructions|retpoline_sites|return_sites|call_sites|static_call_sites|"
                    r"ibt_endbr_seal|smp_locks|orc_unwind\w*|discard\..*)|"
                    r"__(ex_table|jump_table|bug_table|mcount_loc|patchable_function_entries|tracepoints\w*)|_kprobe_blacklist")
# The opcodes of direct branches: call, jmp, and the second byte of a jcc.
BRANCH = re.compile(rb"[\xe8\xe9]|\x0f[\x80-\x8f]", re.S)

EVERY = "every function whose address is taken begins with an endbr64"
AMONG = "the module's entry and exit are among these"

Symbol = collections.namedtuple("Symbol", "name kind section value size")


class Module:
    """Sections, symbols and relocations of an ELF file for x86-64."""

    def __init__(self, data):
        assert data[:5] == b"\x7fELF\x02", "no 64-bit ELF file"
        self.data = data
        table, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        rows = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
        self.sections = [dict(zip(("name", "type", "flags", "at", "offset", "size", "link", "info"), row)) for row in rows]
        strings = self.sections[names]
        for section in self.sections:
            section["name"] = self.string(strings, section["name"])
        self.symtab = next(s for s in self.sections if s["type"] == SYMTAB)
        self.symbols = [self.symbol(i) for i in range(self.symtab["size"] // 24)]

    def string(self, section, at):
        begin = section["offset"] + at
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def symbol(self, index):
        table = self.symtab
        name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.data, table["offset"] + 24 * index)
        return Symbol(self.string(self.sections[table["link"]], name), info & 15, section, value, size)

    def code(self, section, at, count):
        begin = self.sections[section]["offset"] + at
        return self.data[begin:begin + count]

    def function(self, section, at):
        """Return the function at a place, by the nearest symbol before it."""
        near = [s for s in self.symbols if s.section == section and s.value <= at and s.kind == FUNCTION]
        return max(near, key=lambda s: s.value, default=Symbol("the section's beginning", 0, section, 0, 0))

    def is_code(self, section):
        return 0 < section < len(self.sections) and self.sections[section]["flags"] & EXECUTABLE

    def relocations(self):
        """Yield (section, offset in it, type, symbol, addend) for each relocation."""
        for section in self.sections:
            if section["type"] != RELA or not self.sections[section["info"]]["flags"] & ALLOCATED:
                continue
            for at in range(section["offset"], section["offset"] + section["size"], 24):
                place, info, addend = struct.unpack_from("<QQq", self.data, at)
                yield section["info"], place, info & 0xffffffff, self.symbols[info >> 32], addend


def taken(module):
    """Return {(section, offset): [place]}: the addresses of code that are taken, each with the places that take it."""
    found = {}
    for section, place, kind, symbol, addend in module.relocations():
        if not module.is_code(symbol.section) or PLACES.fullmatch(module.sections[section]["name"]):
            continue
        assert kind in ABSOLUTE + RELATIVE, "relocation of type %d in %s" % (kind, module.sections[section]["name"])
        if module.is_code(section):
            if BRANCH.fullmatch(module.code(section, place - 1, 1)) or \
               BRANCH.fullmatch(module.code(section, place - 2, 2)):
                continue
        if kind in RELATIVE:
            addend += 4
        at = symbol.section, symbol.value + addend
        if symbol.size and addend == symbol.size:
            continue  # the address is a function's end, which code only compares with
        if section == symbol.section and module.function(*at) == module.function(section, place) and \
           at[1] != module.function(*at).value:
            continue  # the address is inside the same function: the target of an iret
        found.setdefault(at, []).append("%s+0x%x" % (module.sections[section]["name"], place))
    return found


def place_name(module, section, offset):
    """Return the function that contains a place, and the offset in it."""
    function = module.function(section, offset)
    return "%s+0x%x" % (function.name, offset - function.value)


def tracked(headers):
    """Return whether the kernel is built for processors with indirect branch tracking."""
    with open(headers + "/include/config/auto.conf", encoding="ascii") as file:
        return "CONFIG_X86_KERNEL_IBT=y\n" in file


def main():
    if not tracked(sys.argv[2]):
        for what in (EVERY, AMONG):
            print("ok - %s # SKIP this kernel is built without CONFIG_X86_KERNEL_IBT" % what)
        return 0
    with open(sys.argv[1], "rb") as file:
        module = Module(file.read())
    addresses = taken(module)
    wrong = ["%s, which %s takes, has no endbr64" % (place_name(module, *at), ", ".join(where[:3]))
             for at, where in sorted(addresses.items()) if module.code(*at, 4) != ENDBR]
    names = {symbol.name: (symbol.section, symbol.value) for symbol in module.symbols}
    for line in wrong:
        print("# " + line)
    print("%sok - %s" % ("not " if wrong else "", EVERY))
    # The module's init and exit functions are written in C, and their addresses are certainly taken.
    seen = [name for name in ("init_module", "cleanup_module") if names.get(name) in addresses]
    print("# %d addresses are taken, %s among them" % (len(addresses), ", ".join(seen)))
    print("%sok - %s" % ("" if len(seen) == 2 else "not ", AMONG))
    return 1 if wrong or len(seen) != 2 else 0


sys.exit(main())
