# SPDX-License-Identifier: GPL-2.0-only
# A type by its name, as it is known where GDB is.
import contextlib

import gdb

from gtp import words


def selected_block():
    """Of the selected frame; None where none is."""
    try:
        return gdb.selected_frame().block()
    except (gdb.error, RuntimeError):
        return None


def at(block, name):
    """As lookup_type() has it: of the block's function and compile unit, if they have one of that name; None."""
    try:
        return gdb.lookup_type(name, block) if block else gdb.lookup_type(name)
    except gdb.error:
        return None


def find(name):
    """The gdb.Type of that name as C writes it in a cast; None when GDB knows none.

    An expression without a block around it that has a typedef makes GDB 18 read every compile unit that knows the
    name, which takes 10 s for a kernel; the lookup of the type alone reads one.
    """
    with words.in_c():
        found = at(selected_block(), name)
        if found is None:  # `const char *', say
            with contextlib.suppress(gdb.error):
                found = gdb.parse_and_eval("(%s *) 0" % name).type.target()
        return found
