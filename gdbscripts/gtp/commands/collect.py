# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp collect`: add C expressions to what a tracepoint collects.
import re
from typing import NamedTuple

import gdb

from gtp import cexpr
from gtp.gdblib import define, screen, words
from gtp.gdblib.command import Command
from gtp.places import names, points
from gtp.run import usertext
from gtp.view import forms, unroll

USAGE = "gtp collect [N] EXPRESSION, ...; gtp if N EXPRESSION sets the condition of tracepoint N"
STRINGS = re.compile(r"/s\d*(?!\w)", re.A)
MOST_CHARACTERS = (1 << 16) - 1  # the maximum N in /sN, since GDB sends N in two bytes


class Taken(NamedTuple):
    """The expressions of a list, translated for a tracepoint. takes: {text that GDB collects: text that was typed};
    lines: about variables without a location; asked: {text that GDB collects: the view.forms.Form typed before it};
    plans: {unrolled.Item: its Plan}, for forms such as /path. Their Items are in takes."""
    takes: dict
    lines: list
    asked: dict
    plans: dict


def formed(text):
    """Return the list with its formats replaced by blanks, so that positions stay the same, and each expression's Form
    or None."""
    found = []
    for offset, piece in cexpr.split(text):
        form, rest = forms.parsed(piece)
        found.append(form)
        skip = len(piece) - len(rest)
        text = text[:offset] + " " * skip + text[offset + skip:]
    return text, found


ELSEWHERE = """at %#x an argument of the marker is elsewhere than at the tracepoint's other places:
  gtp trace -x FILE PROVIDER:NAME sets a tracepoint at each"""


def translated(number, text, flags=""):
    """Translate a list of expressions for a tracepoint, for `collect` with these flags. Return a Taken."""
    takes, lines, asked, plans, first = {}, [], {}, {}, None
    text, own = formed(text)
    if flags and any(form is not None and form.name in unroll.KINDS for form in own):
        raise gdb.GdbError("gtp collect/s takes no other format")
    for pc in points.addresses(number):
        meant = names.expand(text, number, pc)
        first = meant if first is None else first
        if meant != first:
            raise gdb.GdbError(ELSEWHERE % pc)
        found = cexpr.pieces(meant, pc, bool(flags))
        for (_, piece), (_, c), form, (some, told) in zip(cexpr.split(text), cexpr.split(meant), own, found):
            if form is not None and form.name in unroll.KINDS:
                takes[add_plan(plans, form, piece, c, some, pc)] = piece
                continue
            # A word such as $args stands for several variables, so it cannot be the title of a single one.
            takes.update((take, piece if len(some) == 1 else getattr(take, "called", take)) for take in some)
            asked.update(dict.fromkeys(some, form))
            lines += told
    return Taken(takes, lines, asked, plans)


def add_plan(plans, form, piece, text, some, pc):
    """Add the Plan for a form such as /path, and return its Item. PIECE is the expression as typed, TEXT is its C text,
    and SOME is the list of texts that GDB collects for it at the address PC."""
    if len(some) != 1:
        raise gdb.GdbError("/%s %s: it is in several registers here" % (form.name, piece))
    item = unroll.Item(form.name, form.argument, some[0])
    plan = unroll.plan(form.name, form.argument, text, some[0], pc)
    if plans.setdefault(item, plan) != plan:
        raise gdb.GdbError("/%s %s means something else at %#x than at the tracepoint's other places;\n"
                           "set a tracepoint at each: trace *%#x" % (form.name, piece, pc, pc))
    return item


def put(number, taken, flags):
    if not taken.takes:
        return
    lines = points.actions(number)
    for text in taken.takes:
        plan = taken.plans.get(text)
        unroll.define(plan.variables if plan else ())
        lines += plan.lines if plan else ["collect%s %s" % (flags, text)]
    points.set_actions(number, lines)
    usertext.remember(number, {getattr(text, "expression", text): piece for text, piece in taken.takes.items()}, taken.asked)


def add(number, text, flags=""):
    """Add the expressions of a list to a tracepoint's actions. Return lines about variables without a location
    there."""
    taken = translated(number, text, flags)
    put(number, taken, flags)
    return taken.lines


def add_to_all(numbers, text, flags):
    """Call add() for each tracepoint that one command has made: each collects the expressions that have a value there.
    Return the lines.

    An expression that has a value at none of them is an error; then nothing is added.
    """
    at = " and ".join(map(str, numbers)) if len(numbers) == 2 else define.numbered(numbers).split(" ", 1)[1]
    plan, lines, failed = [], ["collected at tracepoints %s" % at], {}
    pieces = [piece for _, piece in cexpr.split(text)]
    for number in numbers:
        for piece in pieces:
            try:
                taken = translated(number, piece, flags)
            except gdb.GdbError as error:
                failed.setdefault(piece, []).append(error)
                lines.append("not at tracepoint %d: %s" % (number, piece))
                continue
            plan.append((number, taken))
            lines += taken.lines
    nowhere = [errors[0] for errors in failed.values() if len(errors) == len(numbers)]
    if nowhere:
        raise nowhere[0]
    with points.actions_kept(numbers):
        for number, taken in plan:
            put(number, taken, flags)
    return lines


def modifiers(text):
    """Return the modifier of `collect/s` or `collect/s16`, and the rest of the text."""
    found = STRINGS.match(text)
    if found is None:
        return "", text
    most = found.group(0)[2:]
    if most and not 0 < int(most) <= MOST_CHARACTERS:
        raise gdb.GdbError("/s%s: a string has 1 to %d characters" % (most, MOST_CHARACTERS))
    return found.group(0), text[found.end():].strip()


class GtpCollect(Command):
    """Collect C expressions at a tracepoint's hits.

gtp collect [N] [/FORMAT] EXPRESSION, ...
gtp collect/s [N] EXPRESSION, ...
Adds to the actions of tracepoint N, or of the last one; after gtp syscall, of
the entry and of the exit. Members of unnamed structures, bit fields, enums,
container_of(), this_cpu(x), current and macros are understood. $args and
$locals collect each variable that has a location there and name the others. /s
collects the strings that pointers point to. gtp table shows the value in the
FORMAT: /ip, /err and so on, see help gtp print. Some formats collect more:
  /path[:N] file    the path of a struct file *, struct path, struct dentry *;
                    up to N names and mounts (20, at most 64)
  /argv[:N] argv    the strings of a char **, up to N (16, at most 64)
  /mem:LENGTH buf   memory of a length known at the hit, up to 255 bytes
  /list:(TYPE, LINK, MEMBER[, N]) head
                    a MEMBER of up to N entries (8, at most 64) of a list
In a frame, print or gtp print with the same expression shows the value."""

    def __init__(self):
        super().__init__("gtp collect", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        flags, text = modifiers(arg.strip())
        number, text = points.split_number(text)
        if not text:
            raise gdb.GdbError("gtp collect takes expressions: gtp collect [N] EXPRESSION, ...")
        words.refuse_clauses(text, USAGE)
        last = points.last() if number is None else number
        together = [n for n in points.groups.get(last, ()) if number is None and n in points.numbers()]
        for line in add_to_all(together, text, flags) if len(together) > 1 else add(last, text, flags):
            screen.say(line)
        points.tell_in_run()


GtpCollect()
