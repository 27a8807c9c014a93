# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp collect`: add C expressions to what a tracepoint collects.
import gdb

from gtp import cexpr, names, points, screen, typed
from gtp.command import Command


def add(number, text, flags=""):
    """Add the expressions of a list to a tracepoint's actions; the lines about what has no location there."""
    takes, lines = {}, []
    for pc in points.addresses(number):
        found = cexpr.pieces(names.expand(text, number, pc), pc)
        for (_, piece), (some, told) in zip(cexpr.split(text), found):
            # A word that stands for several variables, such as $args, names none of them.
            takes.update((take, piece if len(some) == 1 else take) for take in some)
            lines += told
    if takes:
        points.set_actions(number, points.actions(number) + ["collect%s %s" % (flags, e) for e in takes])
        typed.remember(number, takes)
    return lines


def modifiers(text):
    """The /s or /s16 of `collect/s`, and the rest."""
    if not text.startswith("/"):
        return "", text
    flags, _, rest = text.partition(" ")
    return flags, rest.strip()


class GtpCollect(Command):
    """Collect C expressions at a tracepoint's hits.

gtp collect [N] EXPRESSION, ...
gtp collect/s [N] EXPRESSION, ...
Adds to the actions of tracepoint N, or of the last one. Members of unnamed
structures, bit fields, enums, container_of(), this_cpu(x), current and macros
are understood. $args and $locals collect each variable that has a location
there and name the others. /s collects the strings that pointers lead to. Print
what was collected by the same words: print, or gtp print."""

    def __init__(self):
        super().__init__("gtp collect", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        flags, text = modifiers(arg.strip())
        number, text = points.split_number(text)
        if not text:
            raise gdb.GdbError("gtp collect takes expressions: gtp collect [N] EXPRESSION, ...")
        for line in add(points.last() if number is None else number, text, flags):
            screen.say(line)


GtpCollect()
