# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp collect`: add C expressions to what a tracepoint collects.
import gdb

from gtp import cexpr, names, points, screen, typed
from gtp.command import Command


def translated(number, text):
    """({text that GDB collects: text that was typed}, lines about variables without a location) for a list at a
    tracepoint."""
    takes, lines = {}, []
    for pc in points.addresses(number):
        found = cexpr.pieces(names.expand(text, number, pc), pc)
        for (_, piece), (some, told) in zip(cexpr.split(text), found):
            # A word that stands for several variables, such as $args, is no title for one of them.
            takes.update((take, piece if len(some) == 1 else getattr(take, "called", take)) for take in some)
            lines += told
    return takes, lines


def put(number, takes, flags):
    if takes:
        points.set_actions(number, points.actions(number) + ["collect%s %s" % (flags, e) for e in takes])
        typed.remember(number, takes)


def add(number, text, flags=""):
    """Add the expressions of a list to a tracepoint's actions; returns lines about variables without a location
    there."""
    takes, lines = translated(number, text)
    put(number, takes, flags)
    return lines


def add_to_all(numbers, text, flags):
    """add() to tracepoints that a command has made together: each takes the expressions that have a value there. The
    lines.

    An expression that has a value at none of them is an error; then nothing is added.
    """
    plan, lines, failed = [], ["collected at tracepoints %s" % " and ".join(map(str, numbers))], {}
    pieces = [piece for _, piece in cexpr.split(text)]
    for number in numbers:
        for piece in pieces:
            try:
                takes, more = translated(number, piece)
            except gdb.GdbError as error:
                failed.setdefault(piece, []).append(error)
                lines.append("not at tracepoint %d: %s" % (number, piece))
                continue
            plan.append((number, takes))
            lines += more
    nowhere = [errors[0] for errors in failed.values() if len(errors) == len(numbers)]
    if nowhere:
        raise nowhere[0]
    for number, takes in plan:
        put(number, takes, flags)
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
Adds to the actions of tracepoint N, or of the last one; after gtp syscall, of
the entry and of the exit. Members of unnamed structures, bit fields, enums,
container_of(), this_cpu(x), current and macros are understood. $args and
$locals collect each variable that has a location there and name the others. /s
collects the strings that pointers point to. In a frame, print or gtp print with
the same expression shows the value."""

    def __init__(self):
        super().__init__("gtp collect", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        flags, text = modifiers(arg.strip())
        number, text = points.split_number(text)
        if not text:
            raise gdb.GdbError("gtp collect takes expressions: gtp collect [N] EXPRESSION, ...")
        last = points.last() if number is None else number
        together = [n for n in points.groups.get(last, ()) if number is None and n in points.numbers()]
        for line in add_to_all(together, text, flags) if len(together) > 1 else add(last, text, flags):
            screen.say(line)
        points.tell_in_run()


GtpCollect()
