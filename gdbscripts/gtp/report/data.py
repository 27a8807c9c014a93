# SPDX-License-Identifier: GPL-2.0-only
# Collects the data of a report's page: the frames and aggregations of GDB's current run, live or from a file, and facts
# about the run.
import datetime
import os
import re

import gdb

from gtp.commands import show, table
from gtp.export import frames
from gtp.formats.header import Header
from gtp.gdblib import remote
from gtp.report import flames, pack
from gtp.run import aggregations, aggtypes, pairs, source, tail
from gtp.view import bytype, kinds

MOST = 200000  # the maximum number of frames in a page if the user gives no --limit
# The lines in the output of `monitor status` that report missing data.
LACKS = re.compile(r"^(errors|not armed|no \$_sdata|no target|numbered): *(.*)$|^stacks: +(\d.* hits .*)$", re.M)


def names_of_stacks(stacks):
    """Return a function that takes a stack's number and returns the names of the stack's functions, the innermost
    first."""
    return lambda number: stacks.names(number)


def without_frames():
    """Return the result of with_frames() for a run without frames."""
    found = pack.frames([], [], None)
    found["frames"]["unasked"] = 0
    return found, Header(source.whole()), [], 0


NAMED = (kinds.ENUM, kinds.BOOL, kinds.POINTER)  # kinds of numbers that are shown with the text of gtp table


class Named:
    """The texts of numbers that have names; each text is made once. viewed: {(Place's id, column): {number: text}} for
    columns that stay numbers in the page, but have a text for people."""

    def __init__(self):
        self.known, self.viewed = {}, {}

    def text(self, event, i):
        which = id(event.place), i, event.values[i]
        # A viewed text may depend on memory, as /pid does, so the same pointer may have another text in another frame.
        if which not in self.known or event.place.columns[i].kind.viewed:
            cell = event.place.here(event.frame).cells[i]
            self.known[which] = table.text(cell.text, event.frame)
        return self.known[which]

    def events(self, run):
        """Yield the run's events, with texts in place of numbers that have names."""
        named = {id(place): [i for i, one in enumerate(place.columns) if one.kind.what in NAMED]
                 for place in run.places}
        viewed = {id(place): [i for i, one in enumerate(place.columns) if one.kind.viewed and one.kind.what == kinds.INT]
                  for place in run.places}
        for event in run.events():
            for i in viewed[id(event.place)]:
                if event.values[i] is not None:
                    self.view(event, i)
            for i in named[id(event.place)]:
                if event.values[i] is not None:
                    event.values[i] = self.text(event, i)
            yield event

    def view(self, event, i):
        """Remember the text of a number of an event in `viewed', unless the text is just the number."""
        text, number = self.text(event, i), event.values[i]
        if text != str(number):
            self.viewed.setdefault((id(event.place), i), {})[number] = text


def with_frames(asked, usage, stacks):
    """Return (packed frames, the run's Header, the frames.Places, the number of frames for which the condition is
    unknown)."""
    request = table.Request(asked, usage)
    if request.csv:
        raise gdb.GdbError("gtp report writes a page; gtp table --csv FILE writes a CSV file")
    named = Named()
    with frames.Run(asked, bytype.Shown, usage) as run:
        if run.request.limit is None:
            run.request.limit = MOST
        found = pack.frames(run.places, named.events(run), names_of_stacks(stacks), named.viewed)
        counts = run.trace.counts()
        for place, one in zip(found["places"], run.places):
            place["total"] = counts[one.target][0]
        found["frames"]["total"] += run.more
        found["frames"]["unasked"] = sum(count for count, _ in counts.values()) - found["frames"]["total"]
        return found, run.header, run.places, run.unknown()


# Aggregations ------------------------------------------------------------------------------------


def keys(one, entry, stacks):
    """Return a dict for each key of an aggregation's entry. `text' is the key's text. `order' is the value by which the
    key is sorted: a text, or a number if the dict has `number'. pack.exact() turns a number that is too large for a
    browser into text."""
    texts = show.key_texts(one.keys, entry.keys, stacks)
    orders = show.key_order(one.keys, entry.keys)
    return [{"text": text, "order": text} if isinstance(order, bytes) else
            {"text": text, "order": pack.exact(order), "number": True} for text, order in zip(texts, orders)]


def summary(one, entry):
    """Return the figures of an aggregation's entry. A sum that may have wrapped is None."""
    figures = entry.summary
    if one.kind not in ("count", "min", "max"):
        figures = [show.sum_of(one, entry), *figures[1:]]
    return [None if figure is None else pack.exact(figure) for figure in figures]


def aggregation(one, stacks):
    what = aggtypes.names().get(one.name)
    entries = [{"keys": keys(one, entry, stacks), "count": entry.count, "summary": summary(one, entry),
                "buckets": sorted(entry.buckets.items())} for entry in one.entries]
    return {"name": one.name, "title": show.title(one).partition(": ")[2] or "$" + one.name, "kind": one.kind,
            "keys": [show.key_title(name) for name in one.keys],
            "bounds": one.bounds and list(map(pack.exact, one.bounds)), "entries": entries,
            "unit": "ns" if what and what.text == "$latency" and one.kind != "count" else None,
            "noroom": sum(entry.count for entry in one.noroom)}


def reading():
    """Return the aggregations with the counts of missed hits, or None for a trace file without them."""
    if source.is_trace_file() and tail.opened() is None:
        return None
    return aggregations.read()


# The course of the run -------------------------------------------------------------------------------------


def status():
    """Return the output of `monitor status`, which is empty for a trace file."""
    return "" if source.is_trace_file() else remote.monitor("status")


def lacks(header, read, text, unknown):
    """Yield sentences for the page about data that is missing from it."""
    yield from header.lacks()
    if unknown:
        yield "%d frames lack a value that the condition needs" % unknown
    if read is not None:
        if read.nested:
            yield "%d hits came inside of other hits, and were not handled" % read.nested
        if read.missed:
            yield "%d hits were missed by the kernel" % read.missed
        for one in read.all:
            if one.noroom:
                n = sum(entry.count for entry in one.noroom)
                yield "$%s: %d values found no room for their keys" % (one.name, n)
        for pair in read.pairs.all:
            yield from ("pair %s: %s" % (pair.name, loss) for loss in pairs.losses(pair))
    for label, what, lost in LACKS.findall(text):
        yield lost or "%s: %s" % (label, what)


def facts(header, read, text, asked):
    """Yield (name, text) of the facts about the run that the page shows."""
    yield "ended", header.how()
    if header.began():
        yield "began", header.began()
    if header.took_ns() is not None:
        yield "took", "%.3f s" % (header.took_ns() / 1e9)
    size, free = header.whole("tsize"), header.whole("tfree")
    if size and free is not None:
        yield "buffers", "%s of %s bytes used" % tuple("{:,}".format(n) for n in (size - free, size))
    yield "circular", "yes" if header.number("circular") else "no"
    if asked:
        yield "shown", asked
    if read is None:
        yield "not known", "hits that were missed: gtp save and gtp-run write how many"
    found = re.search(r"^settings: +(.*)$", text, re.M)
    if found:
        yield "settings", found.group(1)
    yield "GDB", gdb.VERSION
    yield from header.notes()


def origin():
    """Return a line that says from which file or kernel the run comes."""
    if source.is_trace_file():
        return os.path.basename(source.opened())
    release = remote.release()
    return "Linux " + release if release else gdb.selected_inferior().connection.details


def title(places, sums):
    """Return a title that names the traced places."""
    names = list(dict.fromkeys([place["name"] for place in places] + [one["title"] for one in sums]))
    more = " and %d more" % (len(names) - 3) if len(names) > 3 else ""
    return ", ".join(names[:3]) + more or "A run without a frame"


def hits_of(places, header):
    """Return the hits of the tracepoints that the page shows, or of all tracepoints if it shows none. Return None if
    they are not known."""
    own = [place["hits"] for place in places if place["hits"] is not None]
    return sum(own or header.hits.values()) if header.hits else None


def collected(asked, usage):
    """Return all data of a page. ASKED is the text of gtp table: which tracepoint, which columns, which frames. An
    error in ASKED shows USAGE."""
    stacks, read = show.known_stacks(), reading()
    try:
        found, header, places, unknown = with_frames(asked, usage, stacks)
    except table.NoFrames:
        if asked:
            raise
        found, header, places, unknown = without_frames()
    text = status()
    for place, one in zip(found["places"], places):
        place["hits"] = header.hits.get(one.target)
    found["aggregations"] = [aggregation(one, stacks) for one in read.all] if read else []
    found.update({
        "title": title(found["places"], found["aggregations"]), "source": origin(),
        "flames": list(flames.all_of(found, read, stacks)),
        "made": datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z"),
        "hits": hits_of(found["places"], header),
        "missing": None if read is None or header.overwritten() is None else read.nested + read.missed + header.overwritten() + header.seen.lost,
        "missed": list(lacks(header, read, text, unknown)), "facts": list(facts(header, read, text, asked))})
    return found
