# SPDX-License-Identifier: GPL-2.0-only
# Reads facts about a run from the header of its trace file: how and when the run ended, and how many hits it had. Does
# not import gdb.
import datetime

from gtp.formats import marks
from gtp.formats.error import reading

MOST = 2**31 - 1  # the maximum of GDB's int

ENDS = {"tstop": "stopped by tstop", "tfull": "the buffer was full", "tdisconnected": "GDB disconnected",
        "tnotrun": "it never began", "tunknown": "ended for a reason that the file does not say"}


class Header:
    """A header's content. status: {name: text} of the status line; hits: {number of a tracepoint: hits}; seen:
    marks.Seen."""

    def __init__(self, data):
        self.seen = marks.look(data)
        self.status, self.hits, self.end = {}, {}, ""
        with reading("the trace file's header"):
            self.read(data)

    def read(self, data):
        for line in data.partition(b"\n\n")[0].decode(errors="replace").split("\n"):
            kind, _, rest = line.partition(" ")
            if kind == "status":
                self.end, *pairs = rest.partition(";")[2].split(";")
                self.status = dict(pair.partition(":")[::2] for pair in pairs)
            elif kind == "tp" and rest.startswith("V"):
                number, _, hits, _ = rest[1:].split(":")
                self.hits[int(number, 16)] = self.hits.get(int(number, 16), 0) + int(hits, 16)

    def number(self, name):
        with reading("the trace file's status"):
            return int(self.status.get(name) or "0", 16)

    def whole(self, name):
        """Return the whole number of an item, or None. In tframes the module limits the number to the range of GDB's
        int; allframes has the whole number.

        None means that the number was limited and the file has no allframes, because GDB itself wrote the file.
        """
        found = self.number("all" + name[1:] if "all" + name[1:] in self.status else name)
        return None if found == MOST and "all" + name[1:] not in self.status else found

    def how(self):
        """Return how the run ended, in a sentence."""
        kind, *rest = self.end.split(":")
        with reading("the end of the run in the trace file"):
            if kind == "tpasscount":
                return "tracepoint %d reached its pass count" % int(rest[-1], 16)
            if kind == "terror":
                return "an error at tracepoint %d: %s" % (int(rest[-1], 16), unhexed(rest[0]))
        note = unhexed(rest[0]) if rest and kind == "tstop" else ""
        return ENDS.get(kind, kind) + (": " + note if note else "")

    def began(self):
        """Return when the run began, in this machine's time zone. Return None if the file does not say."""
        return moment(self.number("starttime"))

    def took_ns(self):
        """Return the time from tstart to the run's end, in ns."""
        start, stop = self.number("starttime"), self.number("stoptime")
        return (stop - start) * 1000 if start and stop >= start else None

    def overwritten(self):
        """Return the number of frames that later frames have overwritten, or None if the trace file does not say."""
        created, frames = self.whole("tcreated"), self.whole("tframes")
        return None if created is None or frames is None else max(0, created - frames - self.taken())

    def taken(self):
        """Return the number of frames that a reader took during the run."""
        return self.number("ttaken")

    def lacks(self):
        """Yield sentences about data that is missing from the frames."""
        if self.overwritten() is None:
            yield "frames may have been replaced by later ones: GDB counts no more than %d" % MOST
        elif self.overwritten():
            yield "%d frames were replaced by later ones: the buffers are circular, or were full" % self.overwritten()
        if self.taken():
            yield "%d frames were read from /proc/gtpframe_pipe while the run went on, and are not here" % self.taken()
        yield from marks.sentences(self.seen)
        if self.end.startswith(("tfull", "terror")):
            yield "the run was over before tstop (%s): later hits are missing" % self.how()

    def notes(self):
        """Yield (name, text) of the notes that the user has added to the run."""
        for name, title in (("username", "user"), ("notes", "notes")):
            text = unhexed(self.status.get(name, ""))
            if text:
                yield title, text


def unhexed(digits):
    with reading("a text in the trace file"):
        return bytes.fromhex(digits).decode(errors="replace")


def moment(us):
    """Return a time as text for the user, from microseconds since 1970. Return None for 0."""
    if not us:
        return None
    with reading("a time in the trace file"):
        return datetime.datetime.fromtimestamp(us // 10**6).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
