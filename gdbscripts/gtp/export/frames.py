# SPDX-License-Identifier: GPL-2.0-only
# The frames of a run as typed events, for all export formats.
#
#     with frames.Run("2 count, t->name if count > 3") as run:      (what gtp table takes; "" is all)
#         for place in run.places: place.number, place.name, place.columns
#         for event in run.events(): event.place, event.time_ns, event.values
#
# A value that a frame does not have is None.
import collections
import functools
import operator
import re

import gdb

from gtp.commands import table
from gtp.formats.header import Header
from gtp.formats.tracefile import Frame, TraceFile, Unavailable
from gtp.gdblib import gdbcall, traceframe
from gtp.run import bytecode, source, tail
from gtp.text import infosymbol
from gtp.view import cells, columns, kinds

TASK = "((struct task_struct *)$current_task)->"

Column = collections.namedtuple("Column", "title kind")

# A tracepoint's columns at one address. condition: a function that takes a frame and returns whether the frame is
# selected, or None if there is no condition. cells: a kinds.Cell for each column. values: for each column, a function
# that takes a frame and returns the column's value.
Here = collections.namedtuple("Here", "condition cells values")


class Event:
    """One frame.

    place: its Place. index: the frame's number, as for tfind.
    time_ns: the value of $clock. If a frame reports a call at its return, time_ns is the time of the return, begin_ns
    the time of the entry, and latency_ns the difference. cpu, pid, tgid, comm: of the hit; tgid and comm are known only
    where current->tgid and current->comm were collected. stack: the value of $kstack, or else of $ustack, for
    gtp.run.kstack. values: for each of the place's columns an int, a str, or None. at, end: the frame's position in the
    run's data.
    """

    __slots__ = ("place", "index", "time_ns", "begin_ns", "latency_ns", "cpu", "pid", "tgid", "comm", "stack", "values",
                 "at", "end")

    @property
    def frame(self):
        """Return the event's Frame. Each call makes it again, because an event takes less memory without the Frame."""
        return Frame(self.place.trace, self.index, self.place.target, self.at, self.end)

    def text(self, i):
        """Return a column's text, as gtp table shows it."""
        frame = self.frame
        return table.text(self.place.here(frame).cells[i].text, frame)

    def texts(self):
        return [self.text(i) for i in range(len(self.place.columns))]


class Place:
    """A tracepoint: its NUMBER in GDB, the NAME of its location, and its COLUMNS, without those that every Event
    has."""

    def __init__(self, shown, trace):
        self.table, self.trace = shown, trace
        self.number, self.target = shown.own, shown.number
        self.name, self.columns = None, None
        self.at = {}  # address -> Here

    def here(self, frame):
        return self.at[frame.location.address]

    def learn(self, frame):
        """Compile the tracepoint's columns for the address of a frame. The first address determines which columns there
        are."""
        condition, found, _ = self.table.at(frame)
        traceframe.select(frame.index)
        front = sum(column.is_leading for column in self.table.columns)
        found = found[front:]
        if self.name is None:
            self.name = name_of(frame.location)
            self.columns = [Column(column.title, kinds.OF_NOTHING) for column in self.table.columns[front:]]
        self.columns = [Column(column.title, kinds.common(column.kind, cell.kind))
                        for column, cell in zip(self.columns, found)]
        self.at[frame.location.address] = Here(condition, found, [])

    def settle(self):
        """Call this when all addresses are known. If a column's kind differs among them, its values become texts."""
        self.columns = [Column(title, kinds.OF_TEXT if kind.what == kinds.NOTHING else kind)
                        for title, kind in self.columns]
        for here in self.at.values():
            here.values[:] = [cell.value if cell.kind.what in (kind.what, kinds.NOTHING) else kinds.of_plain(cell.text)
                              for cell, (_, kind) in zip(here.cells, self.columns)]


def name_of(location):
    """Return a tracepoint's name: its location as the user gave it, or the function at an address."""
    text = re.sub(r"^(?:-\w+\s+)*\*?", "", (location.place or "").strip())
    if not re.match(r"[A-Za-z_]", text):
        found = infosymbol.parse(gdbcall.execute("info symbol %d" % location.address))
        text = found.name if found else "%#x" % location.address
    return re.sub(r"^__traceiter_", "", text)


def firsts(trace, number):
    """Yield a tracepoint's first frame at each address at which it has frames."""
    seen, places = set(), len(trace.locations.get(number, ()))
    for frame in trace.frames(number):
        if frame.location.address not in seen:
            seen.add(frame.location.address)
            yield frame
        if len(seen) == places:
            return


def value_of(function, frame):
    try:
        return function(frame)
    except (Unavailable, bytecode.Failure):
        return None


class Run:
    """The trace run that GDB has open. ASKED is the text of a command's arguments, as for gtp table; an error in ASKED
    shows USAGE. FORMATS is the class that makes the values' texts. Use it in a `with`, because it selects frames."""

    def __init__(self, asked="", formats=cells.Formats, usage=table.USAGE):
        self.formats_of = formats
        self.request = table.Request(asked, usage)
        if self.request.csv:
            raise gdb.GdbError("--csv belongs to gtp table; here the file stands in front, as in gtp export csv FILE")
        self.kept = traceframe.Kept()
        self.places, self.firsts = [], []  # firsts: the first Frame at each address
        self.more = 0  # the number of selected frames beyond the user's limit

    def __enter__(self):
        self.trace = TraceFile(source.whole(), cells.constants())
        self.formats = self.formats_of()  # after source.whole(), which may have moved the sections
        self.kept.__enter__()
        try:
            self.prepare()
        except BaseException:
            self.kept.__exit__()
            raise
        return self

    def __exit__(self, *error):
        self.kept.__exit__()

    def prepare(self):
        for own, number, _ in table.choice(self.trace, self.request):
            place = Place(table.Table(self.trace, self.formats, self.request, own, number), self.trace)
            for frame in firsts(self.trace, number):
                place.learn(frame)
                self.firsts.append(frame)
            place.settle()
            self.places.append(place)

    def of_task(self, frame):
        """Return functions that map a frame to the pid, tgid and comm of the task that made the hit. Compile the
        functions at FRAME, a frame that has collected the task. They are valid for all frames."""
        traceframe.select(frame.index)
        return [self.member(name) for name in ("pid", "tgid", "comm")]

    def member(self, name):
        """Return a function that takes a frame and returns a member of `current`. The function returns None for every
        frame if GDB does not know the member's type."""
        try:
            return columns.cell_of(columns.Column(TASK + name), self.trace.variables, self.formats).value
        except (gdb.error, gdb.GdbError):
            return lambda frame: None

    @functools.cached_property
    def header(self):
        """Return the run's Header."""
        return Header(self.trace.data)

    def unknown(self):
        """Return the number of frames that lack a value which the user's condition needs."""
        return sum(place.table.unknown for place in self.places)

    def lacks(self):
        """Yield sentences about frames that were left out, and hits that left no frame. Call it after the last
        event."""
        if self.unknown():
            yield "%d frames lack a value that the condition needs" % self.unknown()
        yield from self.header.lacks()

    def frames(self):
        """Yield (Frame, Place, Here) of each frame that the command's arguments select, in the order of the trace
        file."""
        places = {place.target: place for place in self.places}
        left = self.request.limit
        for frame in self.trace.frames(*places):
            place = places[frame.number]
            here = place.at[frame.location.address]
            if here.condition and not place.table.holds(here.condition, frame):
                continue
            if left == 0:
                self.more += 1
                continue
            left = left and left - 1
            yield frame, place, here

    def events(self):
        """Yield the Events in the order of the trace file."""
        clock, entry, latency, cpu, pid, task, stack = map(self.trace.variables.get, (
            "clock", "entry_clock", "latency", "cpu_id", "current_task_pid", "current_task", "kstack"))
        program = self.trace.variables.get("ustack")
        members = None
        for frame, place, here in self.frames():
            event = Event()
            event.place, event.index, event.at, event.end = place, frame.index, frame.at, frame.end
            held = frame.variables
            event.time_ns, event.cpu, event.pid, event.stack = map(held.get, (clock, cpu, pid, stack))
            if event.stack is None:
                event.stack = held.get(program)
            event.begin_ns, event.latency_ns = call(event.time_ns, held.get(entry), held.get(latency))
            event.tgid = event.comm = None
            if task in held:
                members = members or self.of_task(frame)
                pid_of, tgid_of, comm_of = members
                event.comm, event.tgid = value_of(comm_of, frame), value_of(tgid_of, frame)
                if event.pid is None:
                    event.pid = value_of(pid_of, frame)
            try:
                event.values = [value(frame) for value in here.values]
            except (Unavailable, bytecode.Failure):
                event.values = [value_of(value, frame) for value in here.values]
            yield event

    def by_time(self):
        """Return the Events that have a time, sorted by time, and the number of Events without a time. Raise an error
        if no Event has a time."""
        found = list(self.events())
        timed = [event for event in found if event.time_ns is not None and event.time_ns >= 0]
        if not found:
            raise gdb.GdbError("; ".join(["none of the run's frames is asked for", *self.lacks()]))
        if not timed:
            raise gdb.GdbError("no frame that is asked for holds $clock, by which events are put in order; "
                               "say gtp collect $clock, $cpu_id, $current_task_pid before tstart")
        timed.sort(key=operator.attrgetter("time_ns"))
        return timed, len(found) - len(timed)

    def stacks(self):
        """Return the run's stacks: {number: addresses, the innermost first}. The result is empty for a trace file
        without stacks."""
        if not source.is_trace_file():
            return tail.all_stacks()
        found = tail.opened()
        return found.stacks if found else {}


def counted(run, events, untimed):
    """Return a sentence with the number of events written, and of those left out."""
    return "; ".join(["%d events" % len(events), *left_out(run, untimed)])


def left_out(run, untimed):
    """Yield sentences about events that have no time, and about other data that is left out."""
    if untimed:
        yield "%d frames without $clock are left out" % untimed
    yield from run.lacks()


def call(time, entry, latency):
    """Return (when a call began, how long it took), computed from those of TIME, ENTRY and LATENCY that are not
    None."""
    if entry is None and None not in (time, latency):
        entry = time - latency
    if latency is None and None not in (time, entry):
        latency = max(time - entry, 0)
    return entry, latency
