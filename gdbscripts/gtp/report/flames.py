# SPDX-License-Identifier: GPL-2.0-only
# Draws the flame graphs of a report: one for each aggregation that has stacks as keys, and one of the frames that have
# a stack.
import collections

import gdb

from gtp.export import flamegraph, subsystem
from gtp.export.stacks import Hits


def hits_of(one):
    """Return the Hits of an aggregation, weighted by its sum. If its sums cannot be widths, for example because one is
    negative, weight them by the number of hits."""
    try:
        hits = Hits("flamegraph", one.name)
        hits.drawable()
    except gdb.GdbError:
        hits = Hits("flamegraph", one.name + " --weight hits")
        hits.notes.append("the widths are numbers of hits, because the values of $%s cannot be widths" % one.name)
    return hits


def of_aggregation(one):
    hits = hits_of(one)
    return flamegraph.svg(hits.drawable(), hits.title(), hits.unit, hits.notes, subsystem.of(hits.addresses()))


def of_frames(found):
    """Yield a flame graph of the page's frames, weighted by the number of frames. Yield nothing if no frame has a
    stack."""
    counts = collections.Counter(number for number in found["frames"]["stack"] or () if number is not None)
    names, stacks = found["names"], found["stacks"]
    rows = [([names[name] for name in reversed(stacks[number])], n) for number, n in counts.items()]
    if rows:
        yield flamegraph.svg(rows, "Frames by their stacks", "frames")


def all_of(found, read, stacks):
    """Yield the SVG text of each flame graph."""
    if read:
        yield from (of_aggregation(one) for one in read.all if one.entries and stacks.keys & set(one.keys))
    yield from of_frames(found)
