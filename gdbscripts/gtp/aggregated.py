# SPDX-License-Identifier: GPL-2.0-only
# Aggregations as the kernel's side has them: read while a run goes on, and understood.
import collections

import gdb

from gtp import kept, remote, source

NOT_KEPT = """the trace file has no aggregations: gtp save writes them behind the frames; tsave does not, and a file that was
  cut has lost them"""

# bounds: of a linear histogram, (from, to, step), else None. keys: names of variables. noroom: an Entry or None.
Aggregation = collections.namedtuple("Aggregation", "name kind bounds keys entries noroom")
# keys: words. count: of values. summary: [sum], [min], [max] or [sum, min, max]. buckets: {number: count}.
Entry = collections.namedtuple("Entry", "keys count summary buckets")


class Reading:
    """All aggregations at one moment. running: the run goes on. nested, missed: hits of the run
    inside of hits, and those that the kernel missed: they update nothing."""

    def __init__(self, text):
        self.all = []
        self.running, self.nested, self.missed = False, 0, 0
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            getattr(self, "line_" + word)(rest)

    def line_run(self, rest):
        running, nested, missed = rest.split()
        self.running, self.nested, self.missed = running == "1", int(nested), int(missed)

    def unseen(self):
        """The lines that say what is in no aggregation."""
        if self.nested:
            yield "%d hits inside of other hits are in none of these" % self.nested
        if self.missed:
            yield "%d hits that the kernel missed are in none of these" % self.missed

    def line_aggregation(self, rest):
        front, _, keys = rest.partition(" :")
        name, kind, *bounds = front.split()
        self.all.append(Aggregation(name, kind, tuple(map(int, bounds)) or None, keys.split(), [], []))

    def line_entry(self, rest):
        self.all[-1].entries.append(entry(rest))

    def line_noroom(self, rest):
        self.all[-1].noroom.append(entry(rest))


def entry(text):
    front, summary, buckets = text.split(":")
    count, *keys = front.split()
    pairs = (pair.split("=") for pair in buckets.split())
    return Entry([int(key, 16) for key in keys], int(count), [int(word) for word in summary.split()],
                 {int(number): int(n) for number, n in pairs})


def transferred(clear=False):
    """The text over the connection; the first piece takes what there is, the others are of that."""
    return b"".join(source.transferred(b"gtpaggregates:read:clear" if clear else b"gtpaggregates:read:show")).decode()


def read(clear=False):
    """The present Reading; with CLEAR all begins again from zero, and an update meanwhile is in this one or in the next."""
    if source.is_trace_file():
        found = kept.opened()
        if clear:
            raise gdb.GdbError("a trace file stays what it is: nothing begins anew in it")
        if found is None:
            raise gdb.GdbError(NOT_KEPT)
        return Reading(found.text)
    if not remote.is_gtp():
        raise gdb.GdbError(remote.NOT_CONNECTED)
    return Reading(transferred(clear))
