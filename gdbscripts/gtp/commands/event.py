# SPDX-License-Identifier: GPL-2.0-only
# The commands `gtp event` and `gtp events`: static tracepoints by the names of the kernel's events.
import gdb

from gtp import cexpr
from gtp.commands import lib, modules
from gtp.formats import space
from gtp.gdblib import define, screen, words
from gtp.gdblib.command import Command
from gtp.places import events, markers, names, places
from gtp.text import harmless

USAGE = "gtp event SYSTEM:EVENT [if EXPRESSION]"


def chosen(said):
    """Return the Events that the command's SYSTEM:EVENT or pattern names."""
    name = words.unquoted(said.place)
    if not words.is_glob(name):
        return [events.find(name)]
    found = events.matching(name)
    if not found:
        raise gdb.GdbError("no event matches %s; gtp events lists them" % name)
    if len(found) > said.limit:
        raise places.too_many(name, len(found), "events match", said.limit)
    return found


class Condition:
    """The condition after `if`, for one event or for many."""

    def __init__(self, text, found):
        self.text, self.several = text, len(found) > 1
        self.shared = {name for event in found for name in event.names().all()} if text and self.several else set()

    def expanded(self, own):
        """Return the condition, with the names of the event translated to C. Return None if there is no condition."""
        if self.text is None:
            return None
        own.require(self.text, self.shared)
        return own.expand(self.text)


def set_one(definitions, event, condition):
    """Define an event's tracepoint. Return (its number, lines about its names)."""
    own = event.names()
    text = condition.expanded(own)
    try:
        text = text and cexpr.condition(text, event.address)
        # A plain `trace` at an event's marker makes the same static tracepoint as strace -m. Do not use strace -m,
        # because it may crash GDB.
        number = definitions.add(places.address(event.address), text)
    except (gdb.GdbError, gdb.error) as error:
        raise gdb.GdbError(define.reason(error) if condition.several else own.advised(error))
    names.remember(number, own)
    return number, own.noted(condition.text or "") + places.strangers(condition.text, event.address, own.all())


def described(number, event):
    arguments = event.arguments()
    if arguments is None:
        what = "no debug information of its arguments; gtp modules loads a module's"
    else:
        what = ", ".join(declared(kind, name) for name, kind in arguments) or "no arguments"
    return "Tracepoint %d at %#x: event %s (%s)\n" % (number, event.address, event.id, what)


def declared(kind, name):
    """Return a declaration in C's order: char *name, char name[16]."""
    text = str(kind)
    text, bracket, length = text.partition("[")
    return "%s%s%s%s%s" % (text.rstrip(), "" if text.endswith("*") else " ", name, bracket, length)


class GtpEvent(Command):
    """Set tracepoints at the kernel's own events.

gtp event [--limit N] SYSTEM:EVENT [if EXPRESSION]
gtp event [--limit N] 'sched:*' [if EXPRESSION]
Like GDB's strace -m SYSTEM:EVENT, but without its crashes. EXPRESSION and
collected expressions can name the event's arguments, and those fields of its
record that are copies of arguments or of their members: prev_pid of
sched:sched_switch is prev->pid. gtp events -v SYSTEM:EVENT shows them. In
raw_syscalls:sys_enter, args[0] to args[5] are such fields. collect $_sdata
collects the whole record; gtp sdata shows it."""

    def __init__(self):
        super().__init__("gtp event", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, arg, from_tty):
        said = words.split(arg, USAGE)
        modules.follow()
        with words.in_c():
            self.set_all(said, chosen(said))

    def set_all(self, said, found):
        told, notes = [], []
        condition = Condition(said.condition, found)
        with define.Definitions() as definitions:
            for event in found:
                try:
                    number, more = set_one(definitions, event, condition)
                    told.append(described(number, event))
                    notes += [line for line in more if line not in notes]
                except (gdb.GdbError, gdb.error) as error:
                    definitions.refuse(event.id, error)
            definitions.settle()
        for line in notes:
            screen.put("note: %s\n" % line)
        screen.put("".join(told) if len(told) < 10 else
                  "%s: %d events match %s\n" % (define.numbered(definitions.numbers), len(told), said.place))

    def complete(self, text, word):
        place, condition = words.halves(text)
        if condition is None:
            return words.completed(sorted(events.last_known()), text.lstrip(), word)
        event = events.last_known().get(words.unquoted(place))
        return words.completed(sorted(event.names().all()), word, word) if event else gdb.COMPLETE_EXPRESSION


def shown(event):
    """Yield the lines of `gtp events -v`."""
    arguments, own = event.arguments(), event.names()
    yield "%s at %#x" % (event.id, event.address)
    if arguments is None:
        yield "  arguments: not known; gtp modules loads a module's symbols"
    else:
        yield "  arguments:" if arguments else "  no arguments"
    for name, kind in arguments or ():
        yield "    " + declared(kind, name)
    if event.fields:
        yield "  fields of its record:"
    for kind, name in event.fields:
        yield "    %-40s %s" % (kind + " " + name, meaning(own, name))


def meaning(own, name):
    """Return the meaning of a field's name in an expression."""
    if name in own.notes:
        return "in the record only: " + name + " is the argument"
    if name in own.own:
        return "the argument"
    if name in own.elements:
        return ", ".join("[%d] %s" % each for each in enumerate(own.elements[name]))
    return own.stands_for.get(name, "in the record only")


def list_markers(one, pattern, detail):
    """Print the output of `gtp events -x`."""
    there = markers.of(one)
    for line in there.lines:
        screen.say("note: %s: %s" % (one.path, line))
    if not there.markers:
        raise gdb.GdbError("%s has no markers" % one.path)
    for marker in markers.find(one, pattern):
        screen.say(marker.declared())
        for address, note in marker.places if detail else ():
            screen.say("    *%#x: %s" % (space.linked(address), harmless.line(note.operands)))


class GtpEvents(Command):
    """List the kernel's own events, or the arguments and fields of one; markers of a program.

gtp events [PATTERN]
gtp events -v SYSTEM:EVENT
gtp events [-v] -x FILE [PATTERN]
PATTERN matches SYSTEM:EVENT, or one of the two. With -v: the arguments, and the
fields of the record in terms of the arguments. For a field that exists only in
the record, use collect $_sdata and gtp sdata. With -x: the markers (USDT, SDT)
of a program or library, the types of their arguments, in how many places they
are, and whether a semaphore enables them; with -v the operands at each place."""

    def __init__(self):
        super().__init__("gtp events", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        argv, found = words.options(arg, "gtp events -x FILE [PATTERN]", valued=("-x",), flags=("-v",))
        detail = "-v" in found
        if len(argv) > 1 or detail and not argv and "-x" not in found:
            raise gdb.GdbError("say gtp events [PATTERN], gtp events -v SYSTEM:EVENT, or gtp events -x FILE [PATTERN]")
        if "-x" in found:
            list_markers(lib.known(found["-x"]), argv[0] if argv else "*", detail)
            return
        if detail and not words.is_glob(argv[0]):
            found = [events.find(argv[0])]
        else:
            found = events.matching(argv[0] if argv else "*")
        if not found:
            raise gdb.GdbError("no event matches %s" % argv[0] if argv else "the target has no events")
        with words.in_c():
            self.list_all(found, detail)

    def list_all(self, found, detail):
        for event in found:
            screen.put("\n".join(shown(event) if detail else [event.id]) + "\n")

    def complete(self, text, word):
        text = text[2:].lstrip() if text.startswith("-v") else text
        return words.completed(sorted(events.last_known()), text, word)


GtpEvent()
GtpEvents()
