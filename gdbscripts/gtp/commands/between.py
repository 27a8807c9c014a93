# SPDX-License-Identifier: GPL-2.0-only
# The part `from A on KEY to B on KEY` of the commands of aggregate.py: tracepoints at A start a pair, and tracepoints at B
# end it and update the aggregation. docs/pairs.md describes the variables of pairs.
import collections
import re

import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.commands import count
from gtp.gdblib import define, gdbcall, screen, words
from gtp.places import names, places, points
from gtp.run import aggtypes, kstack

USAGE = "from A on KEY [if CONDITION] [keep NAME = EXPRESSION, ...] to B on KEY [if CONDITION]"
WHOLE = "[EXPRESSION] [by KEY, ...] " + USAGE
SINCE = "$since"
RETURN_OF = "return of "
MOST_KEPT = 4
PARTS = re.compile(r"(?:(?P<front>.*?)\s)?from\s+(?P<a>.+?)\s+on\s+(?P<a_key>.+?)\s+to\s+(?P<b>.+?)\s+on\s+(?P<b_key>.+)", re.S)
HALF = re.compile(r"(?:^|\s)from\s+[\w*'\"-]\S*\s(?:.*\s)?(?:on|to)\s", re.S)
OF_CALL = re.compile(r"\$(?:ret|kret|latency|entry_clock)\b")  # names that make a tracepoint one of a function's return
KEEP = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.S | re.A)

# place: as for gtp count. returns: true if the function's return is meant. key: an expression. condition: None if there is
# none. keep: [(name, expression)] of a start.
End = collections.namedtuple("End", "place returns key condition keep")


def nothing(after):
    return gdb.GdbError("nothing after `%s'; say %s" % (after, USAGE))


def kept(text):
    """Parse what follows `keep`. Return [(name, expression)]."""
    found = []
    for _, piece in cexpr.split(text):
        one = KEEP.fullmatch(piece)
        if one is None or not one.group(2):
            raise gdb.GdbError("keep %s: say keep NAME = EXPRESSION" % piece)
        if one.group(1) in [name for name, _ in found]:
            raise gdb.GdbError("keep: %s twice" % one.group(1))
        found.append(one.groups())
    if len(found) > MOST_KEPT:
        raise gdb.GdbError("keep: %d values; a start keeps %d at most" % (len(found), MOST_KEPT))
    return found


def end(place, text):
    """Parse a place, and the key with what follows it. Return an End."""
    text, keep = count.cut(text, "keep")
    key, condition = words.halves(text)
    for what, said in (("keep", keep), ("if", condition), ("on", key)):
        if said == "":
            raise nothing(what)
        words.refuse_clauses(said, WHOLE)
    if len(cexpr.split(key)) > 1:
        raise gdb.GdbError("on %s: a pair has a single key, a number or an address" % key)
    returns = place.startswith(RETURN_OF)
    return End(place[len(RETURN_OF):].strip() if returns else place, returns, key, condition, kept(keep) if keep else [])


def split(text):
    """Return (the text before `from`, End of the start, End of the end). Return None if the text has no such part."""
    found = PARTS.fullmatch(words.blanked(text))
    if found is None:
        if HALF.search(words.blanked(text)):
            raise gdb.GdbError("say " + USAGE)
        return None
    front, a, a_key, b, b_key = (text[slice(*found.span(part))].strip() if found.span(part)[0] >= 0 else ""
                                 for part in ("front", "a", "a_key", "b", "b_key"))
    start, last = end(a, a_key), end(b, b_key)
    if last.keep:
        raise gdb.GdbError("keep belongs to the start: say %s" % USAGE)
    return front, start, last


# Variables


def pair_name(start, last):
    """Return the NAME of a pair, for which there is no variable yet."""
    there, number = count.defined(), 1
    while True:
        again = "_%d" % number if number > 1 else ""
        name = count.slug("%s_%s" % (start.place.split(":")[-1], last.place.split(":")[-1]), count.SLUG) + again
        mine = ["pair_%s_%s" % (part, name) for part in ("start", "end", "since")]
        if not there.intersection(mine):
            for one in mine:
                gdbcall.execute("tvariable $" + one)
            return name
        number += 1


def whole_number(number, text, what):
    """Return (C, type) of an expression at a tracepoint, which must be a number or an address."""
    made, kind = points.everywhere(number, lambda pc: cexpr.number(names.expand(text, number, pc), pc))
    if ctype.plain(kind).code == gdb.TYPE_CODE_ARRAY:
        raise gdb.GdbError("%s %s is an array; a pair has numbers and addresses" % (what, text))
    return made, kind


def keys(numbers, one):
    """Return {number of a tracepoint: (C, type)} of the key at each tracepoint of a place."""
    return {number: whole_number(number, one.key, "on") for number in numbers}


def comparable(starts, ends):
    """Return two {number: C} of keys that are equal if C's == would find them equal: an int is compared with an unsigned int as
    unsigned int. Longer keys need no cast, since all keys become long."""
    kinds = [kind and ctype.promoted(kind) for kind in (ctype.kind_of(kind) for _, kind in [*starts.values(), *ends.values()])]
    cast = "(unsigned int)(%s)" if set(kinds) == {ctype.INT, ctype.UINT} else "%s"
    return tuple({number: cast % made for number, (made, _) in one.items()} for one in (starts, ends))


def refuse_same_hits(starts, ends, start, last, said):
    """Raise an error if each hit that is an end would find the start that it has stored itself. STARTS and ENDS are numbers of
    tracepoints."""
    texts = [start.key, start.condition or "", *(text for _, text in start.keep)]
    at_return = start.returns or OF_CALL.search(" ".join(texts)) is not None
    texts = [last.key, last.condition or "", said.value or "", *said.keys]
    if start.key != last.key or start.condition not in (None, last.condition) or \
            at_return != (last.returns or OF_CALL.search(" ".join(texts)) is not None):
        return
    if {pc for number in starts for pc in points.addresses(number)} & {pc for number in ends for pc in points.addresses(number)}:
        raise gdb.GdbError("each hit of %s would end what it has just started: both places are the same, and so are the keys" % last.place)


def setting(variable, text, returns):
    """Return the action that sets a variable. If the tracepoint is meant for a function's RETURN, an expression must name
    a value of the call."""
    return "teval $%s = %s" % (variable, "($ret, (long)(%s))" % text if returns else "(long)(%s)" % text)


# Ends


def set_tracepoints(definitions, one, options):
    """Set the tracepoints of a place. Return their numbers, and the command's output."""
    numbers, told = count.set_at(count.Said(None, [], one.place, one.condition, options))
    definitions.numbers += numbers
    return numbers, told


def start_at(numbers, start):
    """Return {number of a tracepoint: the actions that set what a start keeps}, and {kept name: C at the end}."""
    actions, meant = {}, {}
    for number in numbers:
        lines, here = [], {}
        for kept_name, text in start.keep:
            made, kind = whole_number(number, text, "keep")
            variable = count.variable("pair_kept_", kept_name, aggtypes.Variable(text if text in kstack.VARIABLES else kept_name, kind, None))
            lines.append(setting(variable, made, False))
            here[kept_name] = typed(variable, kind)
        if meant and here != meant:
            raise gdb.GdbError("keep %s: its type is not the same at all places" % ", ".join(n for n, _ in start.keep))
        actions[number], meant = lines, here
    return actions, meant


def typed(variable, kind):
    """Return C for a kept value, with the type that it had at the start, if that type has a name."""
    with words.in_c():
        text = str(kind)
    named = cexpr.type_named(text)
    return "((%s)$%s)" % (text, variable) if named is not None and ctype.plain(named).code != gdb.TYPE_CODE_FLT else "$" + variable


def name_at(number, place, meant):
    """Give the tracepoint at an end the names $since and those of kept values."""
    pc = points.addresses(number)[0]
    own = names.of(number, pc) or names.Names(place, {})
    for name in set(meant) & (places.variables(pc) | set(own.all())):
        raise gdb.GdbError("%s is also a name at %s: keep the value under another one" % (name, place))
    names.remember(number, names.Names(own.title, {**own.stands_for, **meant}, own.unsaid, own.notes, own.own, own.elements,
                                       own.guard))


def act(name, start, actions, starts, last, ends):
    """Give all tracepoints of a pair their actions. STARTS and ENDS are {number: (C, type)} of their keys."""
    at_start, at_end = comparable(starts, ends)
    for number, key in at_start.items():
        points.set_actions(number, actions[number] + [setting("pair_start_" + name, key, start.returns)])
    for number, key in at_end.items():
        points.set_actions(number, [setting("pair_end_" + name, key, last.returns)])


def guard(numbers, condition):
    """Make all updates of the tracepoints depend on a condition."""
    for number in numbers:
        made = points.everywhere(number, lambda pc, number=number: cexpr.condition(names.expand(condition, number, pc), pc))
        count.guards[number] = "(%s)" % made


def aggregate(said, start, last, prefix, tail):
    """Set the tracepoints of both places, with their actions. Return the aggregation's name."""
    count.refuse_in_run()
    with define.Definitions() as definitions:
        starts, told = set_tracepoints(definitions, start, said.options)
        name = pair_name(start, last)
        actions, meant = start_at(starts, start)
        meant[SINCE] = "$pair_since_" + name
        started_by = keys(starts, start)
        # A condition about the start can only be evaluated after the end, so it cannot be the tracepoint's.
        later = last.condition is not None and not names.identifiers(last.condition).isdisjoint(meant)
        numbers, more = set_tracepoints(definitions, last._replace(condition=None) if later else last, said.options)
        refuse_same_hits(starts, numbers, start, last, said)
        for number in numbers:
            name_at(number, last.place, meant)
        act(name, start, actions, started_by, last, keys(numbers, last))
        if later:
            guard(numbers, last.condition)
        made = count.add_all(numbers, said._replace(place=title(start, last)), prefix, tail, set())
    screen.put(told + more)
    return made[0]


def title(start, last):
    """Return the text that stands for the place of the aggregation in gtp show."""
    both = [(RETURN_OF if one.returns else "") + one.place for one in (start, last)]
    return "from %s to %s" % tuple(both) + (" if " + last.condition if last.condition else "")
