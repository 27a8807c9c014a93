# SPDX-License-Identifier: GPL-2.0-only
"""Expands $args and $locals: which variables can be collected at a place, and where to collect the others."""
import gdb

from gtp.cexpr import compiler, ctype, pieces
from gtp.gdblib import blocks

CLASSES = (gdb.SYMBOL_LOC_STATIC, gdb.SYMBOL_LOC_REGISTER, gdb.SYMBOL_LOC_ARG, gdb.SYMBOL_LOC_REF_ARG,
           gdb.SYMBOL_LOC_LOCAL, gdb.SYMBOL_LOC_REGPARM_ADDR, gdb.SYMBOL_LOC_COMPUTED, gdb.SYMBOL_LOC_OPTIMIZED_OUT,
           gdb.SYMBOL_LOC_CONST)


def symbols(pc, arguments):
    """Return the names of the arguments, or else the local variables, that GDB finds at pc. If several have the same
    name, only the innermost is returned.

    A variable of the function around an inlined one is named FUNCTION::NAME.
    """
    seen, found = set(), []
    outer = False
    for block in blocks.around(pc):
        if outer and block.function is None:
            continue  # GDB cannot name a variable of an inner block of an outer function
        for symbol in block:
            if symbol.addr_class in CLASSES and symbol.name not in seen and not is_enumerator(symbol):
                seen.add(symbol.name)
                if symbol.is_argument == arguments:
                    found.append("%s::%s" % (block.function.name, symbol.name) if outer else symbol.name)
        outer = outer or block.function is not None
    return found


def is_enumerator(symbol):
    return symbol.addr_class == gdb.SYMBOL_LOC_CONST and not symbol.is_argument and ctype.is_enum(symbol.type)


def entry(pc):
    """Return the address and the name of the function around pc, or (None, None) if pc is in no function."""
    for block in blocks.functions(pc):
        if block.superblock.is_static:
            return int(block.function.value().address), block.function.name
    return None, None


def collectable(name, pc):
    try:
        compiler.check(name, pc, True)
    except compiler.Refused:
        return False
    return True


def known_at_entry(name, pc):
    """Return the function at whose first instruction an argument has its value. Return None if pc is that instruction,
    or if the argument has no value there either."""
    start, function = entry(pc)
    if start is None or start == pc or not name.split("::")[-1] in symbols(start, True):
        return None
    return function if collectable(name.split("::")[-1], start) else None


class Titled(str):
    """A text that GDB can collect for a variable. called: the name of that variable."""

    def __new__(cls, text, called):
        made = super().__new__(cls, text)
        made.called = called
        return made


def constant(name, pc):
    """Return the text to collect for a variable that is a constant at PC, or None. GDB collects a constant only inside
    an expression."""
    text = "%s + 0" % name
    symbol = gdb.lookup_symbol(name, gdb.block_for_pc(pc))[0] if "::" not in name else None
    if symbol is None or symbol.addr_class != gdb.SYMBOL_LOC_CONST or not collectable(text, pc):
        return None
    return Titled(text, name)


def registers(name, pc):
    """Return the texts to collect for a structure that is in several registers. Return [] for other variables."""
    symbol = gdb.lookup_symbol(name, gdb.block_for_pc(pc))[0] if "::" not in name else None
    if symbol is None or not ctype.is_aggregate(symbol.type):
        return []
    return [Titled(text, name) for text in pieces.whole(symbol, name, pc)]


def expand(pc, arguments):
    """Return (names to collect, lines about the others) for $args or $locals. At a place in no function, such as that of a
    sample, the line says so."""
    if not any(blocks.around(pc)):
        return [], ["%s: the place is in no function whose variables GDB knows" % ("$args" if arguments else "$locals")]
    here, gone, earlier = [], [], []
    for name in symbols(pc, arguments):
        known = constant(name, pc)
        if known or collectable(name, pc):
            here.append(known or name)
        elif registers(name, pc):
            here += registers(name, pc)
        else:
            gone.append(name)
            earlier += [name] if known_at_entry(name, pc) else []
    return here, lines(pc, gone, earlier)


def lines(pc, gone, earlier):
    """Return a list with one line that names variables without a location, and says where the arguments have one."""
    if not gone:
        return []
    text = "no location at %#x: %s" % (pc, ", ".join(gone))
    if earlier:
        text += " (%s %s known at the function's first instruction: *%s)" % (
            ", ".join(earlier), "is" if len(earlier) == 1 else "are", entry(pc)[1])
    return [text]


def elsewhere(name, pc):
    """Return advice about a variable that has no location at pc."""
    function = known_at_entry(name, pc)
    return "It is known at the function's first instruction: *%s." % function if function else \
        "Trace another line, or name the register that holds it."
