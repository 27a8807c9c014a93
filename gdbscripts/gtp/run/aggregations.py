# SPDX-License-Identifier: GPL-2.0-only
# The values of aggregations, read from the module while a run goes on, or from a trace file. count.py defines
# aggregations.
import collections
import re

import gdb

from gtp.formats.error import reading
from gtp.gdblib import remote
from gtp.run import pairs, source, tail

NOT_KEPT = """the trace file has no aggregations: gtp save writes them behind the frames; tsave does not, and a file that was
  cut has lost them"""

SUMMARIES = {"count": 0, "sum": 1, "min": 1, "max": 1, "stats": 3, "hist": 3, "lhist": 3}  # size of an Entry's summary
MOST_STEPS, POWERS = 1000, 64  # the maximum number of buckets between the first and the last one

# bounds: (from, to, step) of a linear histogram, else None. keys: names of variables. noroom: a list that is empty, or
# that has one Entry for all hits whose keys did not fit into the kernel's table.
Aggregation = collections.namedtuple("Aggregation", "name kind bounds keys entries noroom")
# keys: words. count: the number of values. summary: [sum], [min], [max] or [sum, min, max]. buckets: {number: count}.
Entry = collections.namedtuple("Entry", "keys count summary buckets")


class Reading:
    """All aggregations and pairs at one moment. running: the run is active. nested: the number of hits that occurred
    inside other hits. missed: the number of hits that the kernel missed. Nested and missed hits update no aggregation."""

    def __init__(self, text):
        self.all, self.named = [], {}  # the Aggregations, in the order of the text and by their names
        self.pairs = pairs.Pairs()
        self.running, self.nested, self.missed = False, 0, 0
        lines = {"run": self.line_run, "aggregation": self.line_aggregation, "entry": self.line_entry,
                 "noroom": self.line_noroom, **self.pairs.lines}
        with reading("the text of the aggregations"):
            for line in text.splitlines():
                word, _, rest = line.partition(" ")
                lines[word](rest)

    def line_run(self, rest):
        running, nested, missed = rest.split()
        self.running, self.nested, self.missed = running == "1", whole(nested), whole(missed)

    def unseen(self):
        """Yield lines about hits that no aggregation has counted."""
        if self.nested:
            yield "%d hits inside of other hits are in none of these" % self.nested
        if self.missed:
            yield "%d hits that the kernel missed are in none of these" % self.missed

    def line_aggregation(self, rest):
        front, _, keys = rest.partition(" :")
        name, kind, *bounds = front.split()
        one = Aggregation(name, kind, tuple(map(int, bounds)) or None, keys.split(), [], [])
        check(one)
        if one.name in self.named:
            raise ValueError  # gtp show NAME and gtp merge need unique names
        self.append(one)

    def append(self, one):
        self.all.append(one)
        self.named[one.name] = one

    def line_entry(self, rest):
        one = self.all[-1]
        one.entries.append(entry(rest, one))
        words = sum(2 if name.startswith("keystr_") else 1 for name in one.keys)
        if len(one.entries[-1].keys) != words:
            raise ValueError

    def line_noroom(self, rest):
        self.all[-1].noroom.append(entry(rest, self.all[-1]))


def whole(text):
    """Parse a text as a number of hits, and return the number."""
    return number(text, 0, 2**64)


def number(text, least, end):
    """Parse a text as a number, and return the number. Raise ValueError unless it is at least LEAST and below END,
    because a trace file may contain any number."""
    found = int(text)
    if not least <= found < end:
        raise ValueError
    return found


def check(one):
    """Raise ValueError for an impossible Aggregation. A trace file may contain any line, and no line may keep GDB busy
    for hours."""
    if one.kind not in SUMMARIES or not all(re.fullmatch(r"\w+", name, re.A) for name in [one.name, *one.keys]):
        raise ValueError
    if (one.kind == "lhist") != (one.bounds is not None):
        raise ValueError
    if one.bounds is not None:
        first, last, step = one.bounds
        if not all(-2**63 <= bound < 2**63 for bound in one.bounds):
            raise ValueError
        if step <= 0 or not 0 < last - first <= MOST_STEPS * step:
            raise ValueError


def entry(text, one):
    front, summary, buckets = text.split(":")
    count, *keys = front.split()
    pairs = (pair.split("=") for pair in buckets.split())
    found = Entry([int(key, 16) for key in keys], whole(count), [number(word, -2**63, 2**64) for word in summary.split()],
                  {int(bucket): whole(n) for bucket, n in pairs})
    steps = MOST_STEPS if one.bounds else POWERS
    # The module leaves out entries without a value and empty buckets. So a count of 0 is an error, and dividing by a
    # count is safe.
    if len(found.summary) != SUMMARIES[one.kind] or not all(0 <= word < 2**64 for word in found.keys) or found.count <= 0 or \
            not all(0 <= bucket <= steps + 1 and n > 0 for bucket, n in found.buckets.items()):
        raise ValueError
    return found


def transferred(clear=False):
    """Fetch the text of the aggregations from the module, in several packets. The module takes a snapshot at the first
    request, and all packets are parts of this snapshot."""
    return b"".join(source.transferred(b"gtpaggregates:read:clear" if clear else b"gtpaggregates:read:show")).decode()


def read(clear=False):
    """Return the current Reading. With CLEAR all aggregations begin again from zero. A concurrent update is in this
    Reading or in the next one."""
    if source.is_trace_file():
        found = tail.opened()
        if clear:
            raise gdb.GdbError("a trace file cannot be cleared")
        if found is None:
            raise gdb.GdbError(NOT_KEPT)
        return Reading(found.text)
    if not remote.is_gtp():
        raise gdb.GdbError(remote.NOT_CONNECTED)
    return Reading(transferred(clear))
