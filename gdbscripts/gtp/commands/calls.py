# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp calls`: the tree of calls below a call of a function, with arguments, return values and times.
import re

import gdb

from gtp.cexpr import variables
from gtp.gdblib import define, progress, screen, traceframe, words
from gtp.gdblib.command import Command
from gtp.places import below, places
from gtp.run import onecall

USAGE = "gtp calls FUNCTION [--into PATTERN,...] [--slow] [--limit N] [if EXPRESSION]; gtp calls show [--calls N]"
INTO = re.compile(r"(?:^|\s)--into(?:[ =]+('[^']*'|\S+)|\s*$)")
SLOW = re.compile(r"(?:^|\s)--slow(?!\S)")
trees = []  # the Trees that were set, the last one last


def into(text):
    """Return the text without the option --into, and the patterns of that option, or None."""
    found = INTO.search(text)
    if found is None:
        return text, None
    if found.group(1) is None:
        raise gdb.GdbError("nothing after --into; say " + USAGE)
    patterns = [part.strip() for part in words.unquoted(found.group(1)).split(",")]
    return (text[:found.start()] + text[found.end():]).strip(), [part for part in patterns if part]


class Tree:
    """The tracepoints of one command. names: {tracepoint's number: the function's name}."""

    def __init__(self, definitions, said, patterns, slow):
        self.wanted = onecall.Wanted(definitions, said.place, said.condition)
        self.more, self.names, self.refused = False, {}, []
        found = self.matching(patterns, said.limit) if patterns else self.below(said.limit)
        if not found:
            raise gdb.GdbError("%s calls no function that can be traced" % self.wanted.function)
        for pc, name in progress.over(list(found.items()), "setting tracepoints at functions"):
            try:
                number = definitions.add("*%#x" % pc, self.wanted.inside(), "trace" if slow else "ftrace")
            except gdb.error as error:
                definitions.refuse(name, error)
                continue
            self.wanted.collect(number, onecall.CALL, {name: name for name in onecall.plain_names(variables.symbols(pc, True))})
            self.names[number] = name

    def below(self, limit):
        found, self.more = below.functions(self.wanted.place.pc, limit)
        return found

    def matching(self, patterns, limit):
        found = {}
        for pattern in patterns:
            for target in places.targets(pattern, limit, lambda name, error: self.refused.append(name)):
                found.update((p.pc, p.function) for p in target.places or () if p.inside is None)
        found.pop(self.wanted.place.pc, None)
        if len(found) > limit:
            raise places.too_many(",".join(patterns), len(found), "functions match", limit)
        return found


def nested(run, frames):
    """Return [(depth, frame)] for the calls inside a call, in the order in which they began."""
    spans = sorted(((run.of(f, "entry_clock"), -run.of(f, "clock"), f.index, f) for f in frames), key=lambda s: s[:3])
    found, ends = [], []
    for begin, end, _, frame in spans:
        while ends and begin >= ends[-1]:
            ends.pop()
        ends.append(-end)
        found.append((len(ends), frame))
    return found


def show(tree, most):
    with traceframe.Kept():
        run = onecall.Run(tree.wanted, tree.names)
        for nr, call in enumerate(run.calls[:most], 1):
            screen.put("call %d: %s  by %s\n" % (nr, run.described(call.frame, tree.wanted.function), run.task(call.frame)))
            for depth, frame in nested(run, call.frames):
                note = "  (in an interrupt)" if run.in_interrupt(call, frame) else ""
                screen.put("%s%s%s\n" % ("  " * depth, run.described(frame, tree.names[run.number(frame)]), note))
    onecall.say_rest(run, most, "gtp calls show", "%d calls were made outside of them")


class GtpCalls(Command):
    """Show the tree of calls below calls of a function, with arguments, return values and times.

gtp calls FUNCTION [--into PATTERN,...] [--slow] [--limit N] [if EXPRESSION]
gtp calls show [--calls N]
The first form sets tracepoints: one for the calls of FUNCTION for which
EXPRESSION holds at the entry, and one at each function that a PATTERN matches,
as in --into 'ext4_*,security_*'. Without --into, these are the functions that
FUNCTION calls, directly and indirectly, as far as the code names them (not by
pointers). Calls are recorded only inside a wanted call. If EXPRESSION names $ret
or $latency, it chooses the calls that are shown. After the run, gtp calls show
prints a tree for each call. Functions that take no jump are left out, unless you
say --slow: then they are kretprobes, which every task pays for. There are at
most 200 functions, or N. docs/inside.md has the limits."""

    def __init__(self):
        super().__init__("gtp calls", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        place, condition = words.halves(arg)
        shown = onecall.asked_to_show(place, condition, trees, USAGE, "no calls are set")
        if shown:
            show(*shown)
            return
        place, slow = SLOW.subn(" ", place)
        front, patterns = into(place.strip())
        said = words.split(front + (" if " + condition if condition is not None else ""), USAGE)
        with define.Definitions() as definitions:
            tree = Tree(definitions, said, patterns, slow)
            for line in define.lines(definitions.refused):
                screen.put("not set: %s\n" % line)
        trees.append(tree)
        screen.put("Tracepoint %d: calls of %s; %d functions below it%s\n" % (
            tree.wanted.number, tree.wanted.function, len(tree.names), ", and more: --limit N" if tree.more else ""))

    def complete(self, text, word):
        return gdb.COMPLETE_LOCATION if words.halves(text)[1] is None else gdb.COMPLETE_EXPRESSION


GtpCalls()
