# SPDX-License-Identifier: GPL-2.0-only
"""C expressions over the kernel's types, written as GDB can compile them for the kernel's side.

Text is what the user typed; pc is the address that names are looked up at. What cannot be said raises Error.
"""
import gdb

from gtp.cexpr import parse, variables
from gtp.cexpr.error import Error
from gtp.cexpr.translate import Translation

__all__ = ["Error", "condition", "collected", "value"]


def condition(text, pc):
    """The expression for GDB's `condition`; the same text when GDB compiles it by itself."""
    return Translation(text, pc).condition()


def collected(text, pc):
    """For a list of expressions as in `collect`: what GDB's `collect` takes of it, and a line for each that it cannot.

    $args and $locals become their variables, those without a location here are told in the lines.
    """
    takes, lines = [], []
    try:
        pieces = parse.split(text)
    except Error as error:
        raise error.within(text)
    for offset, piece in pieces:
        try:
            some, told = one(piece, pc)
        except Error as error:
            raise error.within(text, offset) if error.text is None else error
        takes += some
        lines += told
    return takes, lines


SPECIAL = ("$regs", "$_sdata", "$_ret")


def one(text, pc):
    if text in ("$args", "$locals"):
        return variables.expand(pc, text == "$args")
    if text in SPECIAL:
        return [text], []
    return Translation(text, pc).collected(), []


def value(text):
    """The gdb.Value of an expression in the selected frame, a traceframe's or the live kernel's."""
    try:
        pc = gdb.selected_frame().pc()
    except gdb.error:
        pc = None
    return Translation(text, pc).value()
