# SPDX-License-Identifier: GPL-2.0-only
# A type by its name, as it is known where GDB is.
import gdb

from gtp import words


def block():
    """Of the selected frame; None where none is."""
    try:
        return gdb.selected_frame().block()
    except (gdb.error, RuntimeError):
        return None


def looked_up(name):
    """As lookup_type() has it: of the block's function and compile unit, if they have one of that name."""
    here = block()
    return gdb.lookup_type(name, here) if here else gdb.lookup_type(name)


def find(name):
    """The gdb.Type of that name as C writes it in a cast; None when GDB knows none.

    An expression without a block around it that has a typedef makes GDB 18 read every compile unit that knows the
    name, which takes 10 s for a kernel; the lookup of the type alone reads one.
    """
    with words.in_c():
        try:
            return looked_up(name)
        except gdb.error:
            pass  # `const char *', say
        try:
            return gdb.parse_and_eval("(%s *) 0" % name).type.target()
        except gdb.error:
            return None
