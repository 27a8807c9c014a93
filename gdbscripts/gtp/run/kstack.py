# SPDX-License-Identifier: GPL-2.0-only
# Looks up a stack's addresses and their symbols. The value of $kstack or $ustack is the number of a stack.
import collections
import functools
import re

import gdb

from gtp.formats import space, ustack
from gtp.gdblib import gdbcall, remote
from gtp.places import lsmod, points
from gtp.run import source, tail
from gtp.text import infosymbol

VARIABLES = ("$kstack", "$ustack")
NO_ROOM = 0
DEEPEST = 127  # the maximum number of addresses that the module keeps of a kernel stack
LOST = 0  # stands in place of the last address if a stack ends too early
CUT_OFF = "[the unwinder could not follow]"
KEY = re.compile(r"\$((?:key|pair_kept)_\w+)\s*=(?!=)\s*([^,\n]*)")
CASTS = re.compile(r"\([a-z_ 0-9]*\)|[()\s]")


def addresses(number):
    """Return the addresses of a stack, the innermost first. Raise an error if no stack has the number."""
    if number >> 32:
        raise gdb.GdbError("there is no stack %d" % number)
    if source.is_trace_file():
        found = tail.opened()
        if found is None or number not in found.stacks:
            raise gdb.GdbError("the trace file does not have stack %d: gtp save writes them, tsave does not, and a cut file lost them" % number)
        return found.stacks[number]
    if not remote.is_gtp():
        raise gdb.GdbError("the addresses of stacks are known to the kernel's side, and it is not connected")
    return [int(line, 16) for line in b"".join(source.transferred(b"gtpstacks:read:%x" % number)).split()]


class Symbols:
    """Turns addresses into names of functions, or into function+offset if WITH_OFFSETS. Looks up each address once."""

    def __init__(self, with_offsets=False):
        self.with_offsets = with_offsets
        self.known, self.in_programs = {}, {}  # (address, 1 if it is a return address) -> name
        self.without = set()  # modules with addresses for which there is no symbol

    @functools.cached_property
    def modules(self):
        """Return [((first address, end), name)] of the modules that the kernel has loaded. The list is empty for a
        trace file."""
        if not remote.is_gtp():
            return []
        try:
            return [(lsmod.code(mod), mod["name"].string(errors="replace")) for mod in lsmod.all_of_them()]
        except (gdb.error, gdb.GdbError):
            return []

    def in_module(self, address):
        """Return [module]+offset for an address without a symbol, because that does not change with each boot. Return the
        plain address if it is in no module."""
        for (first, end), name in self.modules:
            if first <= address < end:
                self.without.add(name)
                return "[%s]+%#x" % (name, address - first)
        return "%#x" % address

    def symbol(self, address, back):
        """Return the symbol of an address, or None."""
        found = infosymbol.parse(gdbcall.execute("info symbol %d" % (address - back)))
        if found is None:
            return None
        return "%s+%d" % (found.name, found.offset + back) if self.with_offsets else found.name

    def look_up(self, address, back):
        if address == LOST:
            return CUT_OFF
        return self.symbol(address, back) or self.in_module(address)

    def look_up_in_program(self, address, back):
        """Look up an address in a program: GDB has symbols only in file spaces, and C++ has blanks in names."""
        if address == LOST:
            return ustack.CUT_OFF
        return space.has(address) and self.symbol(address, back) or "%#x" % address

    def hint(self):
        """Yield lines that advise the user how to get names for more addresses."""
        if self.without:
            yield "gtp modules reads the symbols of %s" % ", ".join(sorted(self.without))

    def names(self, stack):
        """Return the names for a stack. A return address may be in the next function, because a call may be the last
        instruction of its function."""
        addresses_, whose = ustack.parted(stack)
        if whose is not None and not ustack.pid(whose):
            return [ustack.none(whose)]
        known, look_up = (self.known, self.look_up) if whose is None else (self.in_programs, self.look_up_in_program)
        found = []
        for i, address in enumerate(addresses_):
            at = address, int(i > 0)
            if at not in known:
                known[at] = look_up(*at)
            found.append(known[at])
        return found


# is_programs: the stack belongs to a program, not to the kernel.
Found = collections.namedtuple("Found", "names is_programs may_be_cut")


class Stacks:
    """Looks up stacks for a command, each once. keys: the names of variables that hold stacks; MADE adds further
    names."""

    def __init__(self, made=(), look_up=addresses):
        self.made, self.look_up = set(made), look_up
        self.symbols = Symbols()
        self.known = {}

    @functools.cached_property
    def keys(self):
        """Return the keys. They are computed only if a key may be a stack, because GDB lists all tracepoints for it."""
        return keys() | self.made

    def names(self, number):
        """Return the functions of a stack, the innermost first. Return a note for NO_ROOM, or for a number without a
        stack."""
        return self.found(number).names

    def found(self, number):
        if number not in self.known:
            self.known[number] = self.read(number)
        return self.known[number]

    def read(self, number):
        if number == NO_ROOM:
            return Found(["[no room in the table of stacks]"], False, False)
        try:
            stack = self.look_up(number)
        except gdb.GdbError:
            return Found(["[stack %d]" % number], False, False)
        addresses_, whose = ustack.parted(stack)
        deepest = DEEPEST if whose is None else ustack.DEEPEST
        return Found(self.symbols.names(stack), whose is not None, len(addresses_) == deepest)

    def joined(self, numbers, cut="[callers above %d are not kept]"):
        """Return the functions of a hit's two stacks as one list: the kernel's, then those of the program that called
        the kernel. The text CUT, if it is not None, follows the functions of a stack that may be deeper. The program's
        stack alone shows that a sample has interrupted the program."""
        names, all_found = [], list(map(self.found, numbers))
        for found in sorted(all_found, key=lambda one: one.is_programs):
            if found.names == [ustack.IN_PROGRAM] and len(all_found) > 1:
                continue
            names += found.names
            if found.may_be_cut and cut:
                names.append(cut % len(found.names))
        return names


def keys():
    """Return the names of the variables that tracepoints set to $kstack or $ustack, and to nothing else."""
    stacks, others = set(), set()
    for name, text in KEY.findall(points.table()):
        (stacks if CASTS.sub("", text) in VARIABLES else others).add(name)
    return stacks - others
