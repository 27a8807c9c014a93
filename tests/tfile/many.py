# SPDX-License-Identifier: GPL-2.0-only
# Job: inside GDB, with the program `types`: check that the time for a trace file grows with its number of aggregations and
# of collected expressions, not with the square of that number. A file of a few megabytes would keep GDB busy for hours.
import os
import sys
from unittest import mock

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
sys.path[:0] = [os.path.join(HERE, "../lib")]

from tap import check, equal  # noqa: E402
from gtp.commands import merge  # noqa: E402
from gtp.formats import tracefile  # noqa: E402
from gtp.run import aggregations  # noqa: E402
from gtp.view import columns  # noqa: E402

MANY = 2000
MOST_EACH = 20  # the maximum number of comparisons for each name; a search through all names takes 1000


class Counted(str):
    """A text that counts its comparisons with others."""
    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def count(what, function):
    Counted.compared = 0
    equal(len(function()), MANY, what)
    check(Counted.compared <= MOST_EACH * MANY, "%s: %d comparisons" % (what, Counted.compared))


def of_aggregations():
    real = aggregations.Aggregation
    text = "".join("aggregation a%d count :\n" % n for n in range(MANY))
    with mock.patch.object(aggregations, "Aggregation", lambda name, *rest: real(Counted(name), *rest)):
        found = aggregations.Reading(text).all
        count("aggregations", lambda: aggregations.Reading(text).all)
    merged = merge.Merged()
    count("merged aggregations", lambda: [merged.place_of(one) for one in found] and merged.all)


def of_columns():
    titles = [Counted("n+%d" % n) for n in range(MANY)]
    with mock.patch.object(columns, "split", lambda text: [titles[int(text)]]):
        count("collected expressions", lambda: columns.collected(["collect %d" % n for n in range(MANY)]))
    count("columns", lambda: columns.of_items(titles, tracefile.Location(1, 0)))


of_aggregations()
of_columns()
print("no search through all of them")
