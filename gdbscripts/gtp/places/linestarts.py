# SPDX-License-Identifier: GPL-2.0-only
# Finds the addresses at which source lines begin in a function's own code.
import collections

import gdb

from gtp.gdblib import blocks

# Line. pc: where it begins. file, line: of the source. function: the function whose line it is. inlined: whether that
# function is inlined there.
Line = collections.namedtuple("Line", "pc file line function inlined")


def line_at(pc, sal):
    around = list(blocks.functions(pc))
    return Line(pc, sal.symtab.filename, sal.line, around[0].function.name, len(around) > 1)


def own(pc):
    """Return the name of the function whose code is at an address, or None. Inlined functions do not count."""
    around = list(blocks.functions(pc))
    return around[-1].function.name if around else None


def of_function(entry):
    """Return the Lines of the function that begins at ENTRY, in the order of their addresses. Code that the compiler has
    put elsewhere (.cold) is left out."""
    name, pc, found = own(entry), entry, []
    while name is not None and own(pc) == name:
        sal = gdb.find_pc_line(pc)
        if sal.symtab is None or sal.last is None:
            break
        if sal.line and sal.pc == pc:
            found.append(line_at(pc, sal))
        pc = sal.last + 1
    return found
