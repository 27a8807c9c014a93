# SPDX-License-Identifier: GPL-2.0-only
# Looks a type up by its name, without evaluating an expression.
#
# If an expression names a typedef and is evaluated without a block, GDB 18 reads every compile unit that has the name.
# This takes 10 s for a kernel, while the lookup of the type alone reads one unit. To evaluate an expression that names
# a struct, GDB 13 takes as long as for 100 lookups.
import re

import gdb

TAG = re.compile(r"(struct|union|enum) (\w+)$")
CODES = {"struct": gdb.TYPE_CODE_STRUCT, "union": gdb.TYPE_CODE_UNION, "enum": gdb.TYPE_CODE_ENUM}


def at(block, name):
    """Return the type with this name in the block's function or compile unit. If they have none, return the type that GDB
    chooses, or None."""
    tagged = TAG.match(name)
    if tagged and block is not None:  # gdb.lookup_type() ignores the block for structs, unions and enums
        symbol = gdb.lookup_symbol(tagged.group(2), block, gdb.SYMBOL_STRUCT_DOMAIN)[0]
        if symbol is not None and symbol.type.code == CODES[tagged.group(1)]:
            return symbol.type
    try:
        return gdb.lookup_type(name, block) if block else gdb.lookup_type(name)
    except gdb.error:
        return None


def around(block, name):
    """Return the type of a name with pointers and `const' around it."""
    if name.endswith("*"):
        inner = around(block, name[:-1].rstrip())
        return None if inner is None else inner.pointer()
    constant = re.match(r"(.*[ *])const$|const (.*)", name)
    if constant:
        inner = around(block, (constant.group(1) or constant.group(2)).rstrip())
        return None if inner is None else inner.const()
    return at(block, name)
