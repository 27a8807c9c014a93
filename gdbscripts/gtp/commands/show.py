# SPDX-License-Identifier: GPL-2.0-only
# The commands `gtp show` and `gtp clear`: print or clear the values of aggregations, also while the run goes on.
import fractions
import re
import time

import gdb

from gtp.cexpr import ctype
from gtp.gdblib import gdbcall, screen, words
from gtp.gdblib.command import Command
from gtp.run import aggregations, aggtypes, kstack, pairs, source, tail
from gtp.text import infosymbol, plot, units
from gtp.view import cells

TOP = 50
LONGEST = 24 * 3600  # the maximum time between two outputs, in seconds
INNERMOST = 6  # the maximum number of functions that are shown for a key that is a stack
MODULO = "modulo 2^64"  # follows a sum that may have wrapped
ORDERS = ("value", "key", "count")
USAGE = "gtp show [NAME|--clear] [--top N] [--sort value|key|count] [--every 1s]"


# Keys


def signed(word):
    return word - 2**64 if word >> 63 else word


def bytes_of(words_):
    """Return the bytes of a string, up to its NUL, from the words of a key."""
    return b"".join(word.to_bytes(8, "little") for word in words_).split(b"\0", 1)[0]


def text_of(words_):
    """Return a string from the words of a key, escaped: any process can have a name with newlines and escape sequences."""
    return cells.quoted(bytes_of(words_))[1:-1]


def number_text(word, kind):
    """Return the text of a numeric key according to its type; addresses have their symbols."""
    if kind is None:
        return "%#x" % word if word >> 48 == 0xffff else str(signed(word))
    bare = kind.strip_typedefs()
    if ctype.is_octets(bare):
        return units.octets(word, bare.sizeof)
    if bare.code == gdb.TYPE_CODE_ARRAY:
        kind = bare = bare.target().pointer()
    value = gdb.Value(word).cast(gdb.lookup_type("unsigned long")).cast(kind)
    if bare.code == gdb.TYPE_CODE_PTR:
        found = infosymbol.parse(gdbcall.execute("info symbol %d" % word)) if word else None
        if found is None:
            return "%#x" % word
        return "%s + %d" % (found.name, found.offset) if found.offset else found.name
    return value.format_string()


def known_stacks():
    """Return a Stacks object. Its keys include those that gtp count and similar commands have made, even if the
    tracepoint no longer exists."""
    found = tail.opened() if source.is_trace_file() else None
    made = {name for name, what in aggtypes.names().items() if what.text in kstack.VARIABLES}
    return kstack.Stacks(made | found.keys if found else made)


def stack_text(number, stacks):
    """Return a stack in one line, the innermost function first. `gtp stacks` shows the whole stack."""
    functions = stacks.names(number)
    return " < ".join(functions[:INNERMOST] + (["..."] if len(functions) > INNERMOST else []))


def parts(names, entry_words):
    """Yield (name, its words) for each key of an entry. A string has two words."""
    at = 0
    for name in names:
        n = 2 if name.startswith("keystr_") else 1
        yield name, entry_words[at:at + n]
        at += n


def key_text(name, part, stacks):
    if len(part) > 1:
        return text_of(part)
    if stacks and name in stacks.keys:
        return stack_text(part[0], stacks)
    what = aggtypes.names().get(name)
    return number_text(part[0], what and what.type)


def kept_text(name, word, stacks):
    """Return the text of a value that a start of a pair has kept, or of its key, if NAME is None."""
    return number_text(word, None) if name is None else key_text(name, [word], stacks)


def key_texts(names, entry_words, stacks=None):
    """Return a text for each key of an entry. STACKS looks up keys that are stacks."""
    return [key_text(name, part, stacks) for name, part in parts(names, entry_words)]


def key_order(names, entry_words):
    """Return a list by which an entry is sorted: its numbers, and its strings in the order of strcmp()."""
    return [bytes_of(part) if len(part) > 1 else signed(part[0]) for _, part in parts(names, entry_words)]


def key_title(name):
    what = aggtypes.names().get(name)
    return what.text if what else name.partition("_")[2]


# Entries


def type_of(one):
    """Return the type of an aggregation's values without typedefs, or None if it is not known."""
    what = aggtypes.names().get(one.name)
    return what and what.type and what.type.strip_typedefs()


def limits(one):
    """Return the smallest and the largest value of an aggregation's type. Return None if the type is not known, or has 64
    bits."""
    bare = type_of(one)
    if not bare or bare.code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL) or bare.sizeof >= 8:
        return None
    return ctype.limits((bare.sizeof, not cells.is_signed(bare)))


def sum_of(one, entry):
    """Return the sum of an entry's values, or None if it may have wrapped. The module keeps it modulo 2^64.

    An entry of `gtp sum` has no smallest and largest value, so the limits of the type are used. For values of 64 bits, the
    only sign of a wrapped sum is that a sum of unsigned values is negative.
    """
    total, *bounds = entry.summary
    bounds = bounds or limits(one)
    if bounds:
        return plot.true_sum(entry.count, total, *bounds)
    return None if is_unsigned(one) and not 0 <= total < 2**63 else total


def value_of(one, entry):
    """Return the value by which an entry is sorted. An entry whose sum may have wrapped has the largest value."""
    if one.kind == "count":
        return entry.count
    if one.kind in ("min", "max"):
        return entry.summary[0]
    found = sum_of(one, entry)
    if found is None:
        return float("inf")
    return found if one.kind == "sum" else fractions.Fraction(found, entry.count)


def ordered(one, order):
    if order == "key":
        return sorted(one.entries, key=lambda e: key_order(one.keys, e.keys))
    if order == "count":
        return sorted(one.entries, key=lambda e: (-e.count, e.keys))
    return sorted(one.entries, key=lambda e: (-value_of(one, e), e.keys))


def short_value(one, entry):
    """Return the value of an entry in one line, which follows the text of its keys."""
    if one.kind == "count":
        return str(entry.count)
    if one.kind == "sum" and sum_of(one, entry) is None:
        return "%d %s (n %d)" % (entry.summary[0] % 2**64, MODULO, entry.count)
    if len(entry.summary) == 1:
        return "%d (n %d)" % (sum_of(one, entry) if one.kind == "sum" else entry.summary[0], entry.count)
    return plot.figures(entry.count, entry.summary, {}, one.bounds)


def table(rows):
    """Return rows of texts as aligned lines. The last column is not padded."""
    if not rows:
        return []
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return ["  ".join(["%-*s" % (w, text) for w, text in zip(wide, row)] + [row[-1]]).rstrip() for row in rows]


def histogram(one, entry, keys):
    """Yield the lines of an entry with buckets."""
    if keys:
        yield ", ".join("%s %s" % (key_title(name), text) for name, text in zip(one.keys, keys))
    yield from plot.lines(entry.buckets, one.bounds)
    yield plot.figures(entry.count, entry.summary, entry.buckets, one.bounds)


def title(one):
    what = aggtypes.names().get(one.name)
    text = "$" + one.name
    if what is None:
        return text
    said = "%s of %s" % (one.kind, what.text) if what.text else one.kind
    if not what.place:
        return text
    place = what.place[0]
    return "%s: %s %s" % (text, said, place if place.startswith("from ") else "at " + place)


def entries(one, top, order, stacks):
    """Yield the lines of an aggregation's entries."""
    chosen = ordered(one, order)[:top]
    if one.kind in ("hist", "lhist"):
        for entry in chosen:
            yield from histogram(one, entry, key_texts(one.keys, entry.keys, stacks))
    elif one.keys:
        rows = [key_texts(one.keys, entry.keys, stacks) + [short_value(one, entry)] for entry in chosen]
        yield from table([[key_title(name) for name in one.keys] + [one.kind]] + rows)
    else:
        for entry in chosen:
            yield short_value(one, entry)


def is_unsigned(one):
    """Return whether values can be too large for a signed number of 64 bits. The module treats all values as signed."""
    bare = type_of(one)
    if not bare or bare.sizeof < 8:
        return False
    return bare.code == gdb.TYPE_CODE_PTR or bare.code == gdb.TYPE_CODE_INT and not bare.is_signed


def shown(one, top, order, stacks):
    """Yield all lines of an aggregation."""
    yield title(one)
    if not one.entries and not one.noroom:
        yield "nothing yet"
        return
    yield from entries(one, top, order, stacks)
    if one.kind == "sum" and any(sum_of(one, entry) is None for entry in one.entries):
        yield "%s: the sum may have wrapped" % MODULO
    elif is_unsigned(one) and any(min(entry.summary, default=0) < 0 for entry in one.entries + one.noroom):
        yield "values above 2^63 - 1 count as negative here"
    if len(one.entries) > top:
        yield "and %d keys more; --top N shows N" % (len(one.entries) - top)
    for entry in one.noroom:
        yield "no room for the keys of %d more: monitor aggregate-keys N, before tstart" % entry.count


def chosen(reading, name):
    """Return the aggregations with this name, or all if NAME is None. Raise an error if there is none."""
    found = [one for one in reading.all if not name or one.name == name or one.name.partition("_")[2] == name]
    if found:
        return found
    if name and reading.all:
        raise gdb.GdbError("there is no $%s; there are %s" % (name, words.few("$" + one.name for one in reading.all)))
    if source.is_trace_file():
        raise gdb.GdbError("nothing was aggregated in this run")
    raise gdb.GdbError("no action aggregates; see help gtp count, and tstart")


def report(reading, name, top, order, stacks):
    """Return the text of the aggregations with this name; without a NAME, of all aggregations and pairs."""
    found = chosen(reading, name) if name or not reading.pairs.all else reading.all
    parts = ["\n".join(shown(one, top, order, stacks)) for one in found]
    if not name:
        parts += ["\n".join(pairs.shown(pair, top, lambda *one: kept_text(*one, stacks))) for pair in reading.pairs.all]
    return "\n\n".join([*parts, *reading.unseen()]) + "\n"


# Commands


def seconds(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)?", text, re.A)
    time_ = float(found.group(1)) * {"ms": 0.001, "s": 1, "m": 60, None: 1}[found.group(2)] if found else 0
    if not 0 < time_ <= LONGEST:
        raise gdb.GdbError("--every takes a time of a day at most, as 1s or 500ms")
    return time_


def order_of(found):
    """Return the argument of --sort, which is "value" by default."""
    order = found.get("--sort", "value")
    if order not in ORDERS:
        raise gdb.GdbError("--sort takes one of %s" % ", ".join(ORDERS))
    return order


class Options:
    """The arguments of gtp show."""

    def __init__(self, arg):
        rest, found = words.options(arg, USAGE, ("--top", "--sort", "--every"), flags=("--clear",))
        self.name = words.name_of(rest, USAGE)
        self.top, self.order = words.top_of(found, TOP), order_of(found)
        self.every = seconds(found["--every"]) if "--every" in found else None
        self.clear = "--clear" in found
        if self.clear and self.name:
            raise gdb.GdbError("--clear clears and shows all aggregations: leave %s out" % self.name)


class GtpShow(Command):
    """Show what actions have aggregated: counts, sums, statistics, histograms.

gtp show [NAME|--clear] [--top N] [--sort value|key|count] [--every 1s]
Works while the run goes on, and after it until the next tstart. NAME is one of
the aggregations. --top N shows N keys (50 by default), those with the largest
value first, or sorted by key or count. --every prints again and again until ^C.
With --clear, which takes no NAME, all aggregations begin again from zero; an
update meanwhile is in this output or in the next one. gtp print prints an
expression."""

    def __init__(self):
        super().__init__("gtp show", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        options, stacks = Options(arg), known_stacks()
        while True:
            reading = aggregations.read(options.clear)
            screen.put(report(reading, options.name, options.top, options.order, stacks))
            gdb.flush()
            if options.every is None:
                return
            if not reading.running:
                raise gdb.GdbError("the run has ended")
            time.sleep(options.every)
            screen.put("\n")

    def complete(self, text, word):
        return words.completed(sorted(n for n, what in aggtypes.names().items() if what.place), text, word)


class GtpClear(Command):
    """Forget what actions have aggregated so far.

gtp clear
All aggregations begin again from zero; the run continues. gtp show --clear also
prints them, in the same step."""

    def __init__(self):
        super().__init__("gtp clear", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        if arg.strip():
            raise gdb.GdbError("gtp clear takes no argument: it clears all aggregations")
        aggregations.read(True)


GtpShow()
GtpClear()
