# SPDX-License-Identifier: GPL-2.0-only
# Pairs, from a start to its end by a key: the counters, and the starts that have no end, as text. See docs/pairs.md.
import collections

KEPT = "pair_kept_"  # with this the names of variables that a start keeps begin
COUNTS = ("started", "ended", "restarted", "no_room", "start_gave_up", "no_start", "end_gave_up")
# The words of gtp show about a counter that is not 0.
SAID = {
    "restarted": "%d started again before they ended; the last start counts",
    "no_start": "%d ends had no start",
    "no_room": "%d starts found no room: monitor pair-entries N, before tstart",
    "start_gave_up": "%d starts gave up, because other CPUs were faster again and again",
    "end_gave_up": "%d ends gave up, because other CPUs were faster again and again",
}
UNREAD = "%d could not be read: hits changed them, or there was no memory for their text"

# kept: the names of the variables that a start keeps. unfinished: a list of Start. unread: the number of entries that could
# not be read, because hits changed them or there was no memory.
Pair = collections.namedtuple("Pair", "name kept counts unfinished unread")
Start = collections.namedtuple("Start", "key time kept")


class Pairs:
    """The pairs at one moment, read from lines of the module's text or of a trace file. A wrong line raises ValueError."""

    def __init__(self):
        self.all = []
        self.lines = {"pair": self.line_pair, "paired": self.line_paired, "unfinished": self.line_unfinished,
                      "unread": self.line_unread}

    def line_pair(self, rest):
        name, colon, kept = rest.partition(" :")
        if not colon or not all(word.isidentifier() for word in ["_" + name, *kept.split()]) or \
                not all(word.startswith(KEPT) for word in kept.split()):
            raise ValueError
        self.all.append(Pair(name, kept.split(), {}, [], []))

    def line_paired(self, rest):
        counts = [whole(word, 10) for word in rest.split()]
        if len(counts) != len(COUNTS) or self.all[-1].counts:
            raise ValueError
        self.all[-1].counts.update(zip(COUNTS, counts))

    def line_unfinished(self, rest):
        front, _, kept = rest.partition(" :")
        key, time = front.split()
        start = Start(whole(key, 16), whole(time, 10), tuple(whole(word, 16) for word in kept.split()))
        if len(start.kept) != len(self.all[-1].kept):
            raise ValueError
        self.all[-1].unfinished.append(start)

    def line_unread(self, rest):
        self.all[-1].unread.append(whole(rest, 10))


def whole(text, base):
    """Parse a number of 64 bits without a sign."""
    found = int(text, base)
    if not 0 <= found < 2**64:
        raise ValueError
    return found


def plain(name):
    return "key" if name is None else name[len(KEPT):]


def losses(pair):
    """Yield the words about each kind of start or end that the table has lost. An end without a start is no loss."""
    for name in ("no_room", "start_gave_up", "end_gave_up"):
        if pair.counts.get(name):
            yield SAID[name] % pair.counts[name]
    if sum(pair.unread):
        yield UNREAD % sum(pair.unread)


def shown(pair, top, word_text):
    """Yield the lines of a pair. The starts without an end are added up by the values that they keep; if they keep none,
    each has a line. word_text(name, word) is the text of a value; the name of a key is None."""
    yield "pair %s: %d started, %d ended, %d without an end" % (
        pair.name, pair.counts.get("started", 0), pair.counts.get("ended", 0), len(pair.unfinished))
    for name, text in SAID.items():
        if pair.counts.get(name):
            yield text % pair.counts[name]
    if sum(pair.unread):
        yield UNREAD % sum(pair.unread)
    names = pair.kept or [None]
    groups = collections.Counter(start.kept if pair.kept else (start.key,) for start in pair.unfinished)
    for words, n in sorted(groups.items(), key=lambda one: (-one[1], one[0]))[:top]:
        yield "%8d  %s" % (n, ", ".join("%s %s" % (plain(name), word_text(name, word)) for name, word in zip(names, words)))
    if len(groups) > top:
        yield "and %d more; --top N shows N" % (len(groups) - top)
