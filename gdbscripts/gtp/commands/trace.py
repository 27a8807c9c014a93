# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp trace`: tracepoints at functions, lines, addresses, and at all functions that a pattern matches.
import gdb

from gtp import cexpr
from gtp.commands import lib, modules, sample, watch
from gtp.gdblib import define, gdbcall, progress, screen, words
from gtp.gdblib.command import Command
from gtp.places import exits, infile, markers, names, places, points
from gtp.text import harmless
from gtp.view import cells

USAGE = "gtp trace LOCATION [if EXPRESSION]"


class Condition:
    """The condition after `if`, for all places of a command."""

    def __init__(self, text, targets):
        self.text = text
        # A name that is a variable at one place must be a variable at every place. Where it is not, GDB would use a
        # static variable of some other file.
        used = names.identifiers(text or "")
        self.variables = {v for t in targets for p in t.places or ()
                          for v in used.difference(markers.arguments_at(p.pc)) & places.variables(p.pc)}

    def at(self, place):
        """Return the text of the condition that GDB compiles at a place, or None if there is no condition."""
        if self.text is None:
            return None
        missing = sorted(self.variables - places.variables(place.pc)) if self.variables else None
        if missing:
            raise gdb.GdbError("no variable %s here" % ", ".join(missing))
        own = markers.names_at(place.pc)
        return cexpr.condition(self.text, place.pc) if own is None else at_marker(own, self.text, place.pc)

    def at_all(self, definitions, found):
        """Return [(place, text)], where the text is the condition at the place. Refuse a place at which the condition
        has no meaning."""
        said = []
        for place in found:
            try:
                said.append((place, self.at(place)))
            except (gdb.GdbError, gdb.error) as error:
                definitions.refuse(name(place), error)
        return said


def at_marker(own, text, pc):
    """Return the text of the condition that GDB compiles at a marker's place, where arg1 and so on have a meaning."""
    meant = own.expand(text)
    try:
        return cexpr.condition(meant, pc)
    except (gdb.GdbError, gdb.error) as error:
        raise gdb.GdbError(own.advised(error))


def name(place):
    """Return a place as messages name it."""
    if place.function is None:
        return "%#x" % place.pc
    if place.inside is None:
        return "%s (%#x)" % (place.function, place.pc)
    return "%s inlined in %s (%#x)" % (place.function, place.inside, place.pc)


def together(definitions, target, said):
    """Set one tracepoint for all places of a function, if GDB finds exactly these places. Return its number, or
    None."""
    texts = {text for _, text in said}
    if len(said) < 2 or len(said) != len(target.places) or len(texts) > 1 or target.pieces or target.location.startswith("*"):
        return None
    text, wanted = texts.pop(), sorted(place.pc for place, _ in said)
    try:
        if points.is_running() and define.found(target.location, text) != wanted:
            return None
        number = definitions.add(target.location, text)
    except gdb.error:
        return None  # set one by one, so that an error names its place
    if define.addresses(number) == wanted:
        return number
    definitions.drop(number)
    return None


def one_by_one(definitions, said):
    """Set a tracepoint at each place. If GDB refuses one, the error names the place."""
    numbers, done = [], []
    for place, text in said:
        try:
            numbers.append(definitions.add(places.address(place.pc), text))
            done.append(place)
        except gdb.error as error:
            definitions.refuse(name(place), error)
    return numbers, done


def at_function(definitions, target, condition, limit):
    """Set a function's tracepoints. Return their numbers and places."""
    said = condition.at_all(definitions, target.places)
    number = together(definitions, target, said)
    if number is not None:
        return [number], target.places
    return one_by_one(definitions, said)


def check_code(addresses):
    """Raise an error for an address that is neither the kernel's, nor in the code of a symbol file, nor that of a
    watchpoint or a sample. Otherwise tstart would refuse the address, and with it the whole run."""
    others = [pc for pc in addresses if not pc >> 63 and not (watch.has(pc) or sample.has(pc))]
    code = cells.Sections("CODE") if others else None
    for pc in others:
        if code.around(pc) is None:
            raise gdb.GdbError("there is no code at %#x" % pc)


def at_location(definitions, target, condition, limit):
    """Set a tracepoint where GDB finds a location. Return the numbers of the tracepoints, and the places."""
    number = None if points.is_running() else definitions.add(target.location)
    at = define.found(target.location) if number is None else define.addresses(number)
    check_code(at)
    found = [places.Place(pc, None, None) for pc in at]
    if len(found) > limit:
        raise places.too_many(target.name, len(found), "places", limit)
    said = condition.at_all(definitions, found)
    texts = {text for _, text in said}
    if len(said) == len(found) and len(texts) == 1:
        try:
            return [conditional(definitions, target.location, number, texts.pop())], found
        except gdb.error:
            pass  # set one by one below, so that an error names its place
    if number is not None:
        definitions.drop(number)
    return one_by_one(definitions, said)


def conditional(definitions, location, number, text):
    """Return the number of the tracepoint at a location, and give it the condition TEXT if that is not None.

    NUMBER is None during a run, because a run takes no later condition. Then make the tracepoint here, with its condition.
    """
    if number is None:
        define.found(location, text)  # raises any error of the condition before GDB has sent anything
        return definitions.add(location, text)
    if text:
        gdbcall.execute("condition %d %s" % (number, text))
    return number


def called(place):
    """Return the text for one of several places of a function, in the message about them."""
    if place.function is None:
        return "%#x" % place.pc
    return "%s %#x" % ("inlined in " + place.inside if place.inside else "first instruction", place.pc)


def described(target, numbers, found):
    """Return the message about a function or location that was set."""
    if len(found) > 1:
        text = "%d places of %s: %s" % (len(found), target.name, words.few(called(p) for p in found))
    else:
        place = found[0]
        what = (target.name if place.function is None else "%s inlined in %s" % place[1:] if place.inside else
                "first instruction of " + place.function)
        text = "%#x: %s" % (place.pc, what)
    if target.pieces:
        text += "; not where it goes on: " + words.few("%#x" % p.pc for p in target.pieces)
    return "%s at %s\n" % (define.numbered(numbers), text)


def all_set(definitions, targets, condition, limit):
    """Set the tracepoints of all targets. Return [(target, numbers, places)] for the targets at which tracepoints were
    set."""
    done = []
    for target in progress.over(targets, "setting tracepoints at functions"):
        try:
            one = at_function if target.places else at_location
            numbers, found = one(definitions, target, condition, limit)
        except gdb.error as error:
            definitions.refuse(target.name, error)
            continue
        if numbers:
            done.append((target, numbers, found))
    return done


class GtpTrace(Command):
    """Set tracepoints at functions, lines or addresses of the kernel or of a program.

gtp trace [--limit N] LOCATION [if EXPRESSION]
gtp trace -x FILE LOCATION [if EXPRESSION]
gtp trace -x FILE PROVIDER:MARKER [if EXPRESSION]
gtp trace -p PID [-x FILE] LOCATION [if EXPRESSION]
With -x, the tracepoint is in all processes that run the program FILE or have
the library FILE. LOCATION is then FUNCTION, FILE:LINE or *ADDRESS (as the file
was linked). With -p, it is only in the process PID, whose program is the
default for FILE. gtp events -x FILE lists the markers (USDT, SDT); in
expressions arg1, arg2 and so on are a marker's arguments.
LOCATION is one of
  FUNCTION, FILE:FUNCTION   its first instruction, where all arguments are valid,
                            and every place where it is inlined
  'vfs_*'                   every function that the pattern matches
    FILE:*, FILE:PATTERN      all functions of a source file, or those that match
  FILE:LINE, LINE, *ADDRESS as GDB's trace takes them
EXPRESSION is C with the kernel's types, and is evaluated at every hit. A place
that cannot have a tracepoint is reported, and the others are set. These are
ordinary tracepoints for info tracepoints, actions and delete. More than 200
places are refused; --limit N allows N."""

    def __init__(self):
        super().__init__("gtp trace", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, arg, from_tty):
        path, pid, arg = infile.options(arg)
        said = words.split(arg, USAGE)
        one = lib.known(path) if path else None
        modules.follow()
        if pid is not None:
            said = said._replace(condition=infile.of_process(pid, said.condition))
        with define.Definitions() as definitions:
            if one is not None:
                targets = infile.targets(one, said.place, said.limit, definitions)
                targets = exits.known(targets, said.condition, definitions)
            else:
                targets = places.targets(said.place, said.limit, definitions.refuse)
            matching = len(targets) + len(definitions.refused)
            condition = Condition(said.condition, targets)
            done = all_set(definitions, targets, condition, said.limit)
            definitions.settle()
        first = done[0][2][0].pc
        for line in places.strangers(said.condition, first, markers.arguments_at(first)):
            screen.put("note: %s\n" % line)
        at_markers = markers.names_at(first) is not None
        if (at_markers or one is not None) and len(definitions.numbers) > 1:
            title = harmless.line(words.unquoted(said.place) if matching > 1 else done[0][0].name)
            points.groups[definitions.numbers[-1]] = list(definitions.numbers)
            points.alike[definitions.numbers[-1]] = list(definitions.numbers), title
        if matching > 1:
            screen.put("%s: %d of %d %s that match %s; places: %d\n" % (
                define.numbered(definitions.numbers), len(done), matching, "markers" if at_markers else "functions", said.place,
                sum(len(found) for _, _, found in done)))
            return
        for one in done:
            screen.put(described(*one))

    def complete(self, text, word):
        condition = words.halves(text)[1]
        return gdb.COMPLETE_LOCATION if condition is None else gdb.COMPLETE_EXPRESSION


GtpTrace()
