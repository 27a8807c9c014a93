# SPDX-License-Identifier: GPL-2.0-only
# Gives tracepoints actions that update an aggregation, for the commands of aggregate.py. `gtp show` (show.py) prints the
# values, which aggregations.py reads from the module.
#
# The actions use GDB's own tvariable and teval. The name of a variable tells the module what to do when an action sets it, see
# docs/variables.md.
import collections
import contextlib
import re

import gdb

from gtp import cexpr
from gtp.cexpr import ctype, octets
from gtp.gdblib import define, gdbcall, progress, screen, words
from gtp.places import names, places, points
from gtp.run import aggtypes, kstack
from gtp.view import cells

NAME, SLUG = 63, 40  # the maximum length of a variable's name, and of the expression's part in the name
MOST_KEYS = 4
MANY_BYTES = "%s is an array of %d times 8 bytes, and %d keys are the most: (char *)%s is a string, %s[0]@8 the first 8 bytes"
SINCE = re.compile(r"\$since\b")
SETS_KEY = re.compile(r"\s*teval\s+\$key(?:str)?_")

Said = collections.namedtuple("Said", "value keys place condition options")


def clauses(text, usage):
    """Parse `[EXPRESSION] [by KEY, ...] [at LOCATION] [if EXPRESSION]`. Return a Said."""
    options, text = flags(text)
    front, condition = words.halves(text)
    front, place = cut(front, "at")
    value, keys = cut(front, "by")
    for what, said in (("if", condition), ("at", place), ("by", keys)):
        if said == "":
            raise gdb.GdbError("nothing after `%s'; say %s" % (what, usage))
        words.refuse_clauses(said, usage)
    words.refuse_options(condition, usage)
    return Said(value, [text for _, text in cexpr.split(keys)] if keys else [], place, condition, options)


def flags(text):
    """Return {option: word} of the leading options, and the rest."""
    options = {}
    while True:
        found = re.match(r"\s*--([A-Za-z]\w*)(?:[ =]+(\S+)\s*(.*)|\s*$)", text, re.S)
        if not found:
            return options, text.strip()
        if found.group(2) is None:
            raise gdb.GdbError("nothing after --%s" % found.group(1))
        options[found.group(1)] = found.group(2)
        text = found.group(3)


def cut(text, word):
    """Return the text before and the text after the last WORD outside of quotes. The latter is None if there is no
    WORD."""
    last = None
    for last in re.finditer(r"(?:^|(?<=\s))%s(?:\s+|$)" % word, words.blanked(text)):
        pass
    return (text, None) if last is None else (text[:last.start()].strip(), text[last.end():].strip())


# Variables


def slug(text, room):
    """Return the part of a variable's name that stands for an expression, with at most ROOM characters."""
    return re.sub(r"\W+", "_", text).strip("_")[-room:].strip("_") or "value"[:room]


def name_with(prefix, text, number, tail):
    """Return a variable's name: PREFIX, the expression's part, the NUMBER if it is above 1, and TAIL, in 63
    characters."""
    again = "_%d" % number if number > 1 else ""
    return prefix + slug(text, min(SLUG, NAME - len(prefix + again + tail))) + again + tail


def defined():
    """Return the names of GDB's trace state variables."""
    return set(re.findall(r"^\$(\w+)", gdbcall.execute("info tvariables"), re.M))


def is_set(name):
    """Return whether an action sets a variable."""
    return "$%s = " % name in points.table()


def variable(prefix, text, what, tail="", mine=None):
    """Return the name of a trace state variable to use: a new one, or an existing one with the same meaning.

    An aggregation's name may be reused if this command has made it (MINE), or if no action sets it any more.
    """
    there, number = defined(), 1
    name = name_with(prefix, text, number, tail)
    while name in there and (aggtypes.variables.get(name) != what or mine is not None and name not in mine and is_set(name)):
        number += 1
        name = name_with(prefix, text, number, tail)
    if name not in there:
        gdbcall.execute("tvariable $" + name)
    aggtypes.variables[name] = what
    if mine is not None:
        mine.add(name)
    return name


@contextlib.contextmanager
def variables_kept():
    """Context manager: after an error in the block, delete the trace state variables that the block has made, and
    restore the meaning of the others."""
    before, meant = defined(), dict(aggtypes.variables)
    try:
        yield
    except BaseException:
        for name in defined() - before:
            gdbcall.execute("delete tvariable $" + name)
        aggtypes.variables.clear()
        aggtypes.variables.update(meant)
        raise


def is_string(kind):
    """Return whether a key of this type is copied as a string: an array of char, or a pointer to it."""
    bare = kind.strip_typedefs()
    if bare.code == gdb.TYPE_CODE_ARRAY:
        return cells.is_text(bare.target())
    return bare.code == gdb.TYPE_CODE_PTR and cells.is_text(bare.target())


def leads_to_bytes(kind):
    """Return whether a type is a pointer to bytes, or an array of bytes without a length. Some structures declare
    strings in this way."""
    bare = kind.strip_typedefs()
    return bare.code == gdb.TYPE_CODE_PTR and cells.is_byte(bare.target()) or (
        ctype.is_bytes(bare) and not ctype.count(bare))


# Number of a tracepoint -> the condition in C for its updates of aggregations, if there is one. See between.py.
guards = {}


def assignment(name, text):
    """Return C that sets a variable. Cast the value, because GDB 13 aborts if a bare variable in a register is
    assigned."""
    return "$%s = %s" % (name, text if text.isdigit() else "(long)(%s)" % text)


def update_of(number, name, text):
    """Return the action with which a tracepoint updates an aggregation."""
    made, guard = assignment(name, text), guards.get(number)
    return "teval %s" % made if guard is None else "teval %s && (%s)" % (guard, made)


KEPT = re.compile(r"[()\s\w*]*\$(pair_kept_\w+)\)*")


def meaning(text, expression):
    """Return the text that says what a key is: $kstack if it is a stack that the start of a pair has kept."""
    kept = KEPT.fullmatch(expression)
    what = aggtypes.variables.get(kept.group(1)) if kept else None
    return what.text if what and what.text in kstack.VARIABLES else text


def key(number, text):
    """Return the actions line that sets a key, and the key's name."""
    made = points.everywhere(number, lambda pc: cexpr.key(names.expand(text, number, pc), pc))
    expression, kind = made
    string = is_string(kind)
    if not string and leads_to_bytes(kind):
        screen.put("the key %s is an address, since it is %s; by (char *)(%s) the string is the key\n" % (text, kind, text))
    what = aggtypes.Variable(meaning(text, expression), None if string else kind, None)
    name = variable("keystr_" if string else "key_", text, what)
    return "teval " + assignment(name, expression), name


def are_bytes(found):
    """Return whether the parts of a key are the pieces, of up to eight bytes each, of one longer array of bytes."""
    pieces = [octets.piece(part) for part in found]
    return len(found) > 1 and all(pieces) and len({array for array, _, _ in pieces}) == 1


def split_keys(number, keys):
    """Return the keys with each structure replaced by its members, as path.mnt and path.dentry for path."""
    found = {text: points.everywhere(number, lambda pc, text=text: cexpr.parts(text, names.expand(text, number, pc), pc))
             for text in keys}
    total = sum(map(len, found.values()))
    if total > MOST_KEYS:
        many = max(found, key=lambda text: len(found[text]))
        if are_bytes(found[many]):
            raise gdb.GdbError(MANY_BYTES % (many, len(found[many]), MOST_KEYS, many, many))
        raise gdb.GdbError("%s is a structure of %d members, and %d keys are the most: name the members that you want" % (
            many, len(found[many]), MOST_KEYS))
    for text in keys:
        if are_bytes(found[text]):
            screen.put("the key %s is all its bytes, in %d keys, since it is an array of unsigned char; by (char *)(%s) "
                       "the string is the key\n" % (text, len(found[text]), text))
    return [part for text in keys for part in found[text]]


def update(number, said, prefix, tail, mine):
    """Return the lines that set the keys and the aggregation of a tracepoint, and the aggregation's name."""
    lines, keys = [], []
    for text in split_keys(number, said.keys):
        line, name = key(number, text)
        lines.append(line)
        keys.append(name)
    if said.value:
        text, kind = points.everywhere(
            number, lambda pc: cexpr.number(names.expand(said.value, number, pc), pc))
    else:
        text, kind = "1", None
    place = (said.place or "tracepoint %d" % number) + (" if " + said.condition if said.condition else "")
    name = variable(prefix, said.value or said.place or "hits", aggtypes.Variable(said.value, kind, (place, tuple(keys))), tail,
                    mine)
    return lines + [update_of(number, name, text)], name


# Tracepoints


def is_event(place):
    """Return whether a place is SYSTEM:EVENT, or a pattern of events, and not FILE:LINE: a file's name has a dot."""
    return re.fullmatch(r"\w+:[\w*?]+", words.unquoted(place)) is not None


def set_at(said):
    """Set tracepoints at the place as gtp trace, event, watch or sample does. Return their numbers, and the command's output."""
    before = points.numbers()
    command = "gtp event" if is_event(said.place) else "gtp trace"
    place = said.place
    if place.startswith("watch "):
        command, place = "gtp watch --bare", place[len("watch "):]
    elif place.startswith("sample "):
        command, place = "gtp sample", place[len("sample "):]
    limit = " --limit " + said.options["limit"] if "limit" in said.options else ""
    if limit and command.split()[1] in ("watch", "sample"):
        raise gdb.GdbError("--limit is for places of which there can be many, and %s is one" % said.place)
    condition = " if " + said.condition if said.condition else ""
    told = gdbcall.execute("%s%s %s%s" % (command, limit, place, condition))
    return sorted(points.numbers() - before), told


def refuse_in_run():
    """Raise an error during a run. GDB sends a new tracepoint before its actions exist, and sends no actions that are
    added later."""
    if points.is_running():
        raise gdb.GdbError("a run goes on, and GDB sends it no more actions: tstop first, and tstart then")


def aggregate(said, prefix, tail=""):
    """Add the actions that update an aggregation to the tracepoints of the place, or to the last tracepoint. Return the
    aggregation's name."""
    refuse_in_run()
    if said.place is not None and SINCE.search(said.value or ""):
        raise gdb.GdbError("$since is the time from one place to another; say [by KEY, ...] from A on KEY to B on KEY")
    if said.place is None:
        if said.condition is not None:
            raise gdb.GdbError("`if' is the condition of a new tracepoint: say where, at LOCATION")
        numbers, said = with_alike(points.last(), said)
        with points.actions_kept(numbers):
            return add_all(numbers, said, prefix, tail, set())[0]
    with define.Definitions() as definitions:
        definitions.numbers, told = set_at(said)
        made = add_all(definitions.numbers, said, prefix, tail, set())
    screen.put(told)
    return made[0]


def with_alike(number, said):
    """Return the tracepoints of the same marker or pattern as this one, and a Said whose place is the marker or
    pattern."""
    there = points.numbers()
    numbers, title = points.alike.get(number, ((), None))
    alike = [n for n in numbers if n in there]
    return (alike, said._replace(place=title)) if len(alike) > 1 else ([number], said)


def add_all(numbers, said, prefix, tail, mine):
    """Call add() for each tracepoint. With several tracepoints, an error names the place."""
    made = []
    for number in progress.over(numbers, "adding actions to tracepoints"):
        found = points.addresses(number)
        with places.named(found[0], len(numbers) > 1 and len(found) == 1):
            made.append(add(number, said, prefix, tail, mine))
    return made


def add(number, said, prefix, tail, mine):
    """Append the lines that update the aggregation to a tracepoint's actions. Lines without keys go before the first
    action that sets a key."""
    lines, name = update(number, said, prefix, tail, mine)
    before = points.actions(number)
    keys = [i for i, line in enumerate(before) if SETS_KEY.match(line)]
    at = len(before) if said.keys or not keys else keys[0]
    points.set_actions(number, before[:at] + lines + before[at:])
    return name
