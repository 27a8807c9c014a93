# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp path`: the source lines that a call of a function took, with the variables that changed.
import linecache
import os
import re

import gdb

from gtp.cexpr import variables
from gtp.gdblib import define, progress, screen, traceframe, words
from gtp.gdblib.command import Command
from gtp.places import linestarts
from gtp.run import onecall
from gtp.text import units

USAGE = "gtp path FUNCTION [--fast] [if EXPRESSION]; gtp path show [--calls N]"
FAST = re.compile(r"(?:^|\s)--fast(?!\S)")
paths = []  # the Paths that were set, the last one last


class Path:
    """The tracepoints of one command. lines: {tracepoint's number: linestarts.Line}."""

    def __init__(self, definitions, name, condition, fast):
        self.wanted = onecall.Wanted(definitions, name, condition)
        entry = self.wanted.place.pc
        found = [line for line in linestarts.of_function(entry) if line.pc != entry]
        self.lines = {}
        # The last one first: where two lines begin within the five bytes of a jump, the earlier one then becomes a
        # breakpoint. In the other order the later one would be refused.
        for line in progress.over(found[::-1], "setting tracepoints at lines"):
            try:
                number = definitions.add(self.wanted.at(line.pc), self.wanted.inside(), "ftrace" if fast else "trace")
            except gdb.error as error:
                definitions.refuse("%s:%d" % (os.path.basename(line.file), line.line), error)
                continue
            self.wanted.collect(number, "%s, %s" % (onecall.HIT, onecall.STACK), {name: name for name in names_at(line.pc)})
            self.lines[number] = line


def names_at(pc):
    """Return the variables to collect at a line. In an inlined function these are its own: GDB takes long to look up those
    of the function around it."""
    return onecall.plain_names(variables.symbols(pc, True) + variables.symbols(pc, False))


def text_of(line):
    """Return the text of a source line if GDB finds the file, else an empty text."""
    symtab = gdb.find_pc_line(line.pc).symtab
    # The debug information names the file: reading a pipe or a device would not end.
    if symtab is None or not os.path.isfile(symtab.fullname()):
        return ""
    return linecache.getline(symtab.fullname(), line.line).strip()


class Levels:
    """The recursive calls that are active. tops: the stack pointer at the first line of each; known: what each has shown."""

    def __init__(self):
        self.tops, self.known = [], []

    def at(self, pointer, is_first):
        """Return the level of a line. IS_FIRST says that the function's first line begins there."""
        while self.tops and pointer > self.tops[-1]:
            self.tops.pop()
            self.known.pop()
        if not self.tops or (is_first and pointer < self.tops[-1]):
            self.tops.append(pointer)
            self.known.append({})
        return len(self.tops) - 1

    def changed(self, line, values):
        """Return the values that differ from those that this level has shown last."""
        found, known = [], self.known[-1]
        for title, text in values:
            if known.get((line.function, title)) != text and not text.startswith("<"):
                known[line.function, title] = text
                found.append("%s = %s" % (title, text))
        return found


def show_call(run, path, call):
    levels, last = Levels(), None
    pointer = onecall.stack_pointer()
    first = min(line.pc for line in path.lines.values())
    for frame in call.frames:
        line = path.lines[run.number(frame)]
        when = "%+10s" % units.duration(run.of(frame, "clock") - call.begin)
        where = "%s:%d" % (os.path.basename(line.file), line.line)
        if run.in_interrupt(call, frame):
            screen.put("%s  %s  (in an interrupt)\n" % (when, where))
            continue
        level = levels.at(pointer(frame), line.pc == first)
        changed = levels.changed(line, run.values(frame))
        if (line[1:], level) == last and not changed:
            continue
        last = line[1:], level
        parts = [when, "  " * level + where]
        parts += ["[%s]" % line.function] if line.inlined else []
        parts += [text_of(line)] if text_of(line) else []
        screen.put("  ".join(parts) + ("  | " + ", ".join(changed) if changed else "") + "\n")


def show(path, most):
    with traceframe.Kept():
        run = onecall.Run(path.wanted, path.lines)
        for nr, call in enumerate(run.calls[:most], 1):
            screen.put("call %d: %s  by %s\n" % (nr, run.described(call.frame, path.wanted.function), run.task(call.frame)))
            show_call(run, path, call)
    onecall.say_rest(run, most, "gtp path show", "%d lines were hit outside of them")


class GtpPath(Command):
    """Show the source lines that calls of a function take, in order.

gtp path FUNCTION [--fast] [if EXPRESSION]
gtp path show [--calls N]
The first form sets tracepoints: one for the calls of FUNCTION for which
EXPRESSION holds at the entry, and one at each source line of FUNCTION, inlined
functions included. Lines are recorded only inside such a call; a line of another
call costs about as much as a false condition. If EXPRESSION names $ret or
$latency, it chooses the calls that are shown: the lines of all are recorded.
After the run, gtp path show prints each call, its lines with their times, and
the variables that have changed since the line before. docs/inside.md has the
limits. With --fast, lines that take no jump are left out: as breakpoints, they
would cost every task much more."""

    def __init__(self):
        super().__init__("gtp path", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        place, condition = words.halves(arg)
        shown = onecall.asked_to_show(place, condition, paths, USAGE, "no path is set")
        if shown:
            show(*shown)
            return
        place, fast = FAST.subn(" ", place)
        said = words.split(place.strip() + (" if " + condition if condition is not None else ""), USAGE)
        with define.Definitions() as definitions:
            path = Path(definitions, said.place, said.condition, fast)
            for text in define.lines(definitions.refused):
                screen.put("not set: %s\n" % text)
        paths.append(path)
        screen.put("Tracepoint %d: calls of %s; %s: its %d lines\n" % (
            path.wanted.number, path.wanted.function, define.numbered(sorted(path.lines)), len(path.lines)))

    def complete(self, text, word):
        return gdb.COMPLETE_LOCATION if words.halves(text)[1] is None else gdb.COMPLETE_EXPRESSION


GtpPath()
