# SPDX-License-Identifier: GPL-2.0-only
# The formats of `gtp export` that show hits by their stacks, from an aggregation that has $kstack or $ustack as a key.
import collections
import json

import gdb

from gtp.commands import show, stacks
from gtp.export import flamegraph, registry, subsystem
from gtp.gdblib import words
from gtp.run import aggregations

NO_ROOM = "[no room for the keys]"
TAKES = "[NAME] [--by KEY] [--weight hits|sum] [--unit UNIT]"
# speedscope's names for the units that gdbtp uses. It knows no other units.
SPEEDSCOPE = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds", "bytes": "bytes"}
SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Hits:
    """All hits of an aggregation, in the form that a format's ARG selects.

    rows: [(names, weight)], the outermost function first, after the text of KEY if the user asks for a key; the rows
    with the most weight first. Hits whose keys did not fit into the aggregation have a row whose name is in brackets.
    unit: the weights' unit. notes: sentences about hits that are in no row.
    """

    def __init__(self, name, arg):
        usage = registry.usage(name)
        rest, found = words.options(arg, usage, ("--by", "--weight", "--unit"))
        reading, self.known = aggregations.read(), show.known_stacks()
        self.one = stacks.chosen(reading, words.name_of(rest, usage), self.known.keys)
        self.by = stacks.by_key(self.one, found["--by"]) if "--by" in found else None
        weigh = self.weigher(found.get("--weight"))
        self.unit = found.get("--unit", self.unit)
        self.notes = list(reading.unseen())
        total = stacks.sums(self.one, self.known.keys, self.by, weigh)
        self.rows = sorted(self.merged(total, weigh).items(), key=lambda row: (-row[1], row[0]))

    def weigher(self, asked):
        """Return a function that maps an aggregation's entry to its weight: its hits, or its sum, which is the default for
        `gtp sum`."""
        if asked not in (None, "hits", "sum"):
            raise gdb.GdbError("--weight takes hits or sum")
        if asked == "hits" or asked is None and self.one.kind in ("count", "stats", "hist", "lhist"):
            self.unit = "hits"
            return lambda entry: entry.count
        if self.one.kind in ("count", "min", "max"):
            raise gdb.GdbError("$%s has no sums that could be added up; --weight hits has the hits" % self.one.name)
        self.unit = ""
        return lambda entry: stacks.summed(self.one, entry)

    def merged(self, total, weigh):
        """Return {names: weight}. The weights of stacks with the same functions are added up."""
        found = collections.Counter()
        for (key, numbers), n in total.items():
            found[self.front(key) + tuple(reversed(self.known.joined(numbers)))] += n
        for entry in self.one.noroom:
            found[NO_ROOM,] += weigh(entry)
        return found

    def front(self, key):
        return tuple(show.key_texts([self.by], list(key))) if self.by else ()

    def title(self):
        by = ", by " + show.key_title(self.by) if self.by else ""
        return show.title(self.one) + by

    def drawable(self):
        """Return the rows for a format with widths. Raise an error for a negative weight."""
        if any(n < 0 for _, n in self.rows):
            raise gdb.GdbError("$%s has sums below 0, for which a picture has no width; gtp stacks prints them, and "
                               "--weight hits shows the hits" % self.one.name)
        return self.rows

    def addresses(self):
        """Return {function: an address in it}, the functions with the most weight first."""
        weights = collections.Counter()
        for names, n in self.rows:
            for name in set(names):
                weights[name] += n
        at = {name: address - back for (address, back), name in self.known.symbols.known.items() if name[0] not in "[0"}
        return {name: at[name] for name, _ in weights.most_common() if name in at}

    def written(self):
        """Return the sentence that tells the user which stacks and hits were written to the file."""
        total = sum(n for _, n in self.rows)
        told = "%d stack%s, %s" % (len(self.rows), "s" * (len(self.rows) != 1), flamegraph.amount(total, self.unit))
        return "; ".join([told, *self.notes])


def folded(path, arg):
    hits = Hits("folded", arg)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(stacks.folded_line(names, n) for names, n in hits.rows)
    return hits.written()


def speedscope(path, arg):
    hits = Hits("speedscope", arg)
    numbers, rows = {}, hits.drawable()
    samples = [[numbers.setdefault(flamegraph.clean(name), len(numbers)) for name in names] for names, _ in rows]
    title = flamegraph.clean(hits.title())
    weights = [n for _, n in rows]
    profile = {"type": "sampled", "name": "; ".join([title, *hits.notes]), "unit": SPEEDSCOPE.get(hits.unit, "none"),
               "startValue": 0, "endValue": sum(weights), "samples": samples, "weights": weights}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"$schema": SCHEMA, "name": title, "exporter": "gdbtp", "activeProfileIndex": 0,
                   "shared": {"frames": [{"name": name} for name in numbers]}, "profiles": [profile]}, file)
    return hits.written()


def picture(path, arg):
    hits = Hits("flamegraph", arg)
    text = flamegraph.svg(hits.drawable(), hits.title(), hits.unit, hits.notes, subsystem.of(hits.addresses()))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return hits.written()


registry.add("folded", "hits by their stacks, a line for each: a;b;c 12, the outermost function first", TAKES, folded)
registry.add("speedscope", "the same as JSON for https://www.speedscope.app", TAKES, speedscope)
registry.add("flamegraph", "the same as a picture, an SVG file for any browser: click, search (/), keys",
             TAKES, picture)
