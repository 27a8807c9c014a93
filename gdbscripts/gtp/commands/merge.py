# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp merge`: the aggregations of several trace files, added up.
import filecmp
import os

import gdb

from gtp.commands import show
from gtp.gdblib import screen, words
from gtp.gdblib.command import Command
from gtp.run import aggregations, aggtypes, kaslr, kstack, outfile, tail

USAGE = "gtp merge FILE... [--top N] [--sort value|key|count]"
WHAT = {True: "a stack", False: "a number"}
STACK_OR_NUMBER = """%s: $%s is %s here, and %s in the files before it; a file lacks this when it was saved by a GDB that did
  not know the tracepoint"""
NO_PAIRS = "left out: what the pairs of each run have counted, and what has not ended; gtp show prints that of one file\n"
ADDED = {"sum": lambda a, b: a + b, "min": min, "max": max}


def summaries(kind, a, b):
    """Return the combined figures of two entries: [sum], [min], [max], or [sum, min, max]."""
    if not a or not b:
        return a or b
    if len(a) == 1:
        return [ADDED[kind](a[0], b[0])]
    return [a[0] + b[0], min(a[1], b[1]), max(a[2], b[2])]


def both(kind, a, b):
    """Combine two entries that have the same keys. Return an Entry."""
    buckets = {number: a.buckets.get(number, 0) + b.buckets.get(number, 0) for number in {**a.buckets, **b.buckets}}
    return aggregations.Entry(a.keys, a.count + b.count, summaries(kind, a.summary, b.summary), buckets)


def unwrapped(entry):
    """Return an Entry of unsigned values with its sum above 2^63 - 1 if the sum is negative, because it has wrapped.
    Otherwise the sum of another file could make it positive again, and show.sum_of() would not notice."""
    return entry._replace(summary=[entry.summary[0] % 2**64])


def said(what):
    """Return text that says what a variable aggregates, and where."""
    return " at ".join([what.text or "a number", *(what.place or ())[:1]])


class Merged(aggregations.Reading):
    """A Reading to which files are added. It gives stacks new numbers, because each run has its own numbers."""

    def __init__(self):
        super().__init__("")
        self.numbers, self.stacks, self.keys = {}, {}, set()
        self.names = {}  # name -> known.Variable, from all files so far
        self.has_pairs = False  # true if a file has pairs, which are not merged
        self.of_stacks = {}  # name of a key -> whether its values are numbers of stacks, from all files so far

    def number_of(self, found, number):
        """Return the merged number of a file's stack."""
        if number not in found.stacks:
            return kstack.NO_ROOM
        addresses = tuple(found.stacks[number])
        new = self.numbers.setdefault(addresses, len(self.numbers) + 1)
        self.stacks[new] = list(addresses)
        return new

    def keys_of(self, found, one, entry):
        keys = []
        for name, part in show.parts(one.keys, entry.keys):
            keys += [self.number_of(found, part[0])] if name in found.keys and len(part) == 1 else part
        return keys

    def refuse(self, found, reading, path):
        """Raise an error if a file's Kept and Reading cannot be added because a name has another meaning in earlier
        files."""
        for name, what in found.names.items():
            mine = self.names.get(name, what)
            if (mine.text, mine.place) != (what.text, what.place):
                raise gdb.GdbError("%s: $%s is %s, and in the files before it %s" % (path, name, said(what), said(mine)))
        for one in reading.all:
            mine = self.named.get(one.name)
            if mine and (mine.kind, mine.bounds, mine.keys) != (one.kind, one.bounds, one.keys):
                raise gdb.GdbError("%s: $%s has other keys or bounds than in the files before it" % (path, one.name))
            for name in one.keys:
                here = name in found.keys
                if self.of_stacks.get(name, here) != here:
                    raise gdb.GdbError(STACK_OR_NUMBER % (path, name, WHAT[here], WHAT[not here]))

    def place_of(self, one):
        """Return the merged aggregation with the name of a file's aggregation. Make an empty one if there is none yet."""
        if one.name not in self.named:
            self.append(one._replace(entries=[], noroom=[]))
        return self.named[one.name]

    def add(self, path):
        """Add the aggregations of a trace file."""
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            raise gdb.GdbError("%s is no ordinary file" % path)  # reading a pipe or device might never end
        found = tail.read(path)
        if found is None and not outfile.has_trace(path):
            raise gdb.GdbError("%s is not a trace file" % path)
        wrong = kaslr.another(path)
        if found is None:
            raise gdb.GdbError("%s: %s" % (path, aggregations.NOT_KEPT))
        if wrong:
            raise gdb.GdbError("%s: %s" % (path, wrong))
        reading = aggregations.Reading(found.text)
        self.refuse(found, reading, path)
        self.names = {**found.names, **self.names}
        self.of_stacks.update((name, name in found.keys) for one in reading.all for name in one.keys)
        self.keys |= found.keys
        self.has_pairs |= bool(reading.pairs.all)
        self.nested += reading.nested
        self.missed += reading.missed
        with aggtypes.of(found.names):
            unsigned = {one.name for one in reading.all if one.kind == "sum" and show.is_unsigned(one)}
        for one in reading.all:
            mine = self.place_of(one)
            at = {tuple(entry.keys): i for i, entry in enumerate(mine.entries)}
            for entry in one.entries:
                entry = unwrapped(entry) if one.name in unsigned else entry
                entry = entry._replace(keys=self.keys_of(found, one, entry))
                if tuple(entry.keys) in at:
                    i = at[tuple(entry.keys)]
                    mine.entries[i] = both(one.kind, mine.entries[i], entry)
                else:
                    at[tuple(entry.keys)] = len(mine.entries)
                    mine.entries.append(entry)
            for entry in one.noroom:
                entry = unwrapped(entry) if one.name in unsigned else entry
                mine.noroom[:] = [both(one.kind, mine.noroom[0], entry)] if mine.noroom else [entry]

    def addresses(self, number):
        """Return the addresses of a merged stack. Raise an error for a stack that no file has, which a damaged file may
        name."""
        if number not in self.stacks:
            raise gdb.GdbError("no file has stack %d" % number)
        return self.stacks[number]


def refuse_again(path, before):
    """Refuse a file that is one of those BEFORE it, or a copy of one."""
    for other in before:
        if os.path.samefile(path, other):
            raise gdb.GdbError("%s would count twice: it is %s" % (path, other))
        if filecmp.cmp(path, other, shallow=False):
            raise gdb.GdbError("%s would count twice: it is a copy of %s" % (path, other))


def merged(files, top, order):
    """Return the text of all files' aggregations."""
    found, paths = Merged(), list(map(os.path.expanduser, files))
    for i, path in enumerate(paths):
        found.add(path)
        refuse_again(path, paths[:i])
    if not found.all:
        raise gdb.GdbError("nothing was aggregated in these runs")
    with aggtypes.of(found.names):
        return show.report(found, None, top, order, kstack.Stacks(found.keys, found.addresses)) + NO_PAIRS * found.has_pairs


class GtpMerge(Command):
    """Show what several runs have aggregated, added up.

gtp merge FILE... [--top N] [--sort value|key|count]
gtp save writes the FILEs. Aggregations with the same name become one: entries
with the same keys are added up, also histograms. Stacks from several boots
match, except for code of modules; keys that are addresses do not match."""

    def __init__(self):
        super().__init__("gtp merge", gdb.COMMAND_STATUS, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        files, found = words.options(arg, USAGE, ("--top", "--sort"))
        if not files:
            raise gdb.GdbError("say " + USAGE)
        screen.put(merged(files, words.top_of(found, show.TOP), show.order_of(found)))


GtpMerge()
