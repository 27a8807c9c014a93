# SPDX-License-Identifier: GPL-2.0-only
# `gtp export perfetto`: writes the run as a Perfetto trace of TrackEvents.
#
# The numbers of fields come from perfetto's descriptions of the format (protos/perfetto/trace).
import re

import gdb

from gtp.export import clock, frames, protobuf, registry, tracks
from gtp.formats import ustack
from gtp.run import kstack
from gtp.view import cells, kinds

# fields of TracePacket
CLOCK_SNAPSHOT, TIMESTAMP, SEQUENCE, EVENT, INTERNED, FLAGS, DEFAULTS, TRACK, FIRST = 6, 8, 10, 11, 12, 13, 59, 60, 87
CLOCK_ID = 58
# fields of InternedData; an entry has its number in field 1, and its content in field 2
EVENT_NAMES, FIELD_NAMES, FUNCTIONS, FRAMES, CALLSTACKS, PATHS, MAPPINGS, STRINGS = 2, 3, 5, 6, 7, 17, 19, 29
# fields of TrackEvent, and values of TYPE
ANNOTATION, TYPE, NAME, UUID, COUNTER_VALUE, COUNTER_DOUBLE, CALLSTACK = 4, 9, 10, 11, 30, 44, 56
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
# fields of DebugAnnotation: the name, and one for each kind of value
FIELD, BOOL, UNSIGNED, SIGNED, POINTER, STRING = 1, 2, 3, 4, 7, 17

REALTIME, MONOTONIC = 1, 3  # Perfetto's numbers for these clocks
CLEARED, NEEDED = 1, 2  # bits of FLAGS
COUNTERS = re.compile(r"(?:^|\s)--counter(?:[= ]\s*(\"[^\"]*\"|\S+))?")

number, data, text = protobuf.number, protobuf.data, protobuf.text


class Interned:
    """Interned data: entries that are written once and then referred to by number. `new`: the entries that the next
    packet must contain."""

    def __init__(self):
        self.known, self.new = {}, []

    def number(self, field, key, content):
        """Return the number of KEY among FIELD's entries; CONTENT() makes the entry if it is new."""
        table = self.known.setdefault(field, {})
        if key not in table:
            inner = content()  # CONTENT() may add further entries, which must come before this one
            table[key] = len(table) + 1
            self.new.append(data(field, number(1, table[key]) + inner))
        return table[key]

    def text(self, field, string):
        return self.number(field, string, lambda: text(2, string))

    def taken(self):
        """Return the field that holds the new entries, or b"" if there are none."""
        if not self.new:
            return b""
        found = data(INTERNED, b"".join(self.new))
        self.new.clear()
        return found


class Stacks:
    """Encodes the run's stacks as callstacks. A value of $kstack is the number of a stack."""

    def __init__(self, run, interned):
        self.interned, self.symbols = interned, kstack.Symbols()
        self.run, self.all = run, None

    def number(self, stack):
        """Return the number of a stack's interned callstack, or 0 if the run has no such stack."""
        if self.all is None:
            self.all = self.run.stacks()
        if stack not in self.all:
            return 0
        return self.interned.number(CALLSTACKS, stack, lambda: self.callstack(self.all[stack]))

    def callstack(self, addresses):
        """Return the encoded callstack of a stack's addresses; the callstack begins with the outermost function."""
        path = "kernel" if ustack.parted(addresses)[1] is None else "program"
        named = zip(addresses, self.symbols.names(addresses))
        return b"".join(number(2, self.frame(path, *pair)) for pair in reversed(list(named)))

    def frame(self, path, address, name):
        return self.interned.number(FRAMES, (path, address, name), lambda: (
            number(2, self.interned.text(FUNCTIONS, name)) + number(3, self.mapping(path)) + number(4, address)))

    def mapping(self, path):
        """Return the number of one mapping that covers all of memory, since a stack's addresses may be the kernel's or
        a program's."""
        return self.interned.number(MAPPINGS, path, lambda: (
            number(4, 0) + number(5, protobuf.MASK) + number(7, self.interned.text(PATHS, path))))


class Annotations:
    """Encodes an event's fields as DebugAnnotations, by the kinds of its place's columns."""

    def __init__(self, interned, places):
        self.interned = interned
        self.titles, self.strings = {}, {}  # the names of annotations, each encoded once and then reused
        self.makers = {place: [self.maker(column) for column in place.columns] for place in places}

    def title(self, name):
        """Return the encoded name of an annotation. Encode the name only once, when the first event has it."""
        if name not in self.titles:
            self.titles[name] = number(FIELD, self.interned.text(FIELD_NAMES, name))
        return self.titles[name]

    def maker(self, column):
        """Return the function that encodes a present value as its annotation's content."""
        what = column.kind.what
        if what in (kinds.STRING, kinds.TEXT):
            return self.string
        if what == kinds.ENUM:
            names = column.kind.names
            return lambda value: self.string(names[value])
        if what == kinds.BOOL:
            return lambda value: number(BOOL if value in (0, 1) else UNSIGNED, value)
        field = POINTER if what == kinds.POINTER else SIGNED if column.kind.signed else UNSIGNED
        return lambda value: number(field, value)

    def string(self, value):
        if value not in self.strings:
            self.strings[value] = number(STRING, self.interned.text(STRINGS, value))
        return self.strings[value]

    def of(self, event):
        """Return all annotations of an event. A value that its frame does not hold has none."""
        parts = [data(ANNOTATION, self.title("frame") + number(UNSIGNED, event.index))]
        for i, (column, maker, value) in enumerate(zip(event.place.columns, self.makers[event.place], event.values)):
            if value is None:
                continue
            if column.kind.what == kinds.ENUM and value not in column.kind.names:
                content = self.string(cells.plain(event.text(i)))
            else:
                content = maker(value)
            parts.append(data(ANNOTATION, self.title(column.title) + content))
        return b"".join(parts)


class Tracks:
    """The tracks in use. The description of each track is written before the first event on it."""

    base = 0  # the number of each track is greater than this

    def __init__(self, tasks, put):
        self.tasks, self.put = tasks, put
        self.uuids = {}

    def uuid(self, key, description):
        """Return the number of a track. If the track is new, make and write its DESCRIPTION() after that of its
        parent."""
        if key not in self.uuids:
            content = self.above(key) + description()
            self.uuids[key] = self.base + len(self.uuids) + 1
            self.put(data(TRACK, number(1, self.uuids[key]) + content))
        return self.uuids[key]

    def above(self, key):
        """Return the encoded field with a track's parent, or nothing if the track's description names the parent in
        another field."""
        return b""

    def group(self, name):
        return self.uuid(("group", name), lambda: text(2, name) + number(11, 3 if name == "CPUs" else 1))

    def cpu(self, n):
        return self.uuid(("cpu", n), lambda: number(5, self.group("CPUs")) + text(2, "CPU %d" % n) + number(12, n))

    def task(self, task):
        return self.uuid(task, lambda: self.described(task))

    def described(self, task):
        tgid = self.tasks.processes.get(task)
        if tgid is None or task.pid == 0:
            return number(5, self.group("tasks")) + text(2, self.tasks.title(task))
        name = self.tasks.names.get(task)
        thread = number(1, tgid) + number(2, task.pid) + (text(5, name) if name is not None else b"")
        return number(5, self.process(tgid)) + data(4, thread)

    def process(self, tgid):
        name = self.tasks.names.get(tracks.Task(tgid, None))
        named = text(6, name) if name is not None else b""
        return self.uuid(("process", tgid), lambda: data(3, number(1, tgid) + named))

    def lane(self, base, n, name):
        """Return the track of lane N, for slices that do not nest with those of lower lanes. Lane 0 is the track BASE
        itself."""
        return base if n == 0 else self.uuid((base, n), lambda: number(5, base) + text(2, name))

    def counter(self, place, column):
        name = "%s: %s" % (place.name, column.title)
        return self.uuid(("counter", place.number, column.title), lambda: text(2, name) + data(8, b""))

    def of(self, event):
        """Return the track of an event, and the name of further lanes of that track."""
        if event.pid is not None:
            task = tracks.task_of(event)
            return self.task(task), self.tasks.title(task)
        if event.cpu is not None:
            return self.cpu(event.cpu), event.place.name
        place = event.place
        return self.uuid(("place", place.number), lambda: text(2, place.name)), place.name


class Writer:
    """Writes packets in the order of time."""

    sequence = number(SEQUENCE, 1)
    shift = 0  # the clock of the packets minus $clock

    def __init__(self, file, run, counters):
        self.file, self.run, self.counters = file, run, counters
        self.interned, self.lanes = Interned(), tracks.Lanes()
        self.events, self.untimed = run.by_time()
        self.wall = clock.wall(run, self.events[0].time_ns, self.events[-1].time_ns)
        self.tracks = Tracks(tracks.Tasks(self.events), self.put)
        self.annotations = Annotations(self.interned, run.places)
        self.stacks = Stacks(run, self.interned)
        self.ends = {}  # index of an event -> its track, for slices that have begun
        self.stackless = 0

    def take(self, packet):
        """Write the bytes of a finished packet to the file."""
        self.file.write(packet)

    def put(self, content, flags=number(FLAGS, NEEDED)):
        self.take(data(1, content + self.sequence + flags))

    def moved(self, time):
        """Return a time of $clock, converted to the clock of the packets, which has no negative times."""
        return max(0, time + self.shift)

    def at(self, time, event):
        self.put(number(TIMESTAMP, self.moved(time)) + data(EVENT, event) + self.interned.taken())

    def head(self, wall):
        """Write the clock of all packets, and its relation to the time of day, if known."""
        first = self.moved(self.events[0].time_ns)
        clocks = data(1, number(1, MONOTONIC) + number(2, first))
        if wall:
            clocks += data(1, number(1, REALTIME) + number(2, first + wall.offset_ns - self.shift))
        defaults = data(DEFAULTS, number(CLOCK_ID, MONOTONIC))
        self.put(data(CLOCK_SNAPSHOT, clocks + number(2, MONOTONIC)) + defaults,
                 number(FLAGS, CLEARED) + number(FIRST, 1))

    def moments(self):
        """Return a sorted list of the beginnings and ends of slices, and of instants. At the same time, ends come
        before beginnings, outer slices begin before inner ones, and inner slices end before outer ones."""
        found = []
        for event in self.events:
            time, begin = event.time_ns, event.begin_ns
            if begin is None or not 0 <= begin <= time:
                found.append((time, INSTANT, 0, event.index, event))
            elif begin == time:
                found.append((time, 2, 0, event.index, event))
            else:
                found.append((begin, 1, -time, event.index, event))
                found.append((time, 0, -begin, event.index, event))
        found.sort(key=lambda entry: entry[:4])
        return found

    def write(self):
        self.head(self.wall)
        ranks = {0: self.end, 1: self.begin, 2: self.both, INSTANT: self.instant}
        for time, rank, _, _, event in self.moments():
            ranks[rank](time, event)

    def content(self, event):
        """Return the name, the fields and the callstack of an event."""
        found = number(NAME, self.interned.text(EVENT_NAMES, event.place.name)) + self.annotations.of(event)
        if event.stack:
            stack = self.stacks.number(event.stack)
            self.stackless += not stack
            found += number(CALLSTACK, stack) if stack else b""
        return found

    def begin(self, time, event):
        base, name = self.tracks.of(event)
        track = self.tracks.lane(base, self.lanes.lane(base, time, event.time_ns), name)
        self.ends[event.index] = track
        self.at(time, number(TYPE, BEGIN) + number(UUID, track) + self.content(event))

    def end(self, time, event):
        self.at(time, number(TYPE, END) + number(UUID, self.ends.pop(event.index)))
        self.aside(time, event)

    def both(self, time, event):
        self.begin(time, event)
        self.end(time, event)

    def instant(self, time, event):
        self.at(time, number(TYPE, INSTANT) + number(UUID, self.tracks.of(event)[0]) + self.content(event))
        self.aside(time, event)

    def aside(self, time, event):
        """Write the counters, and the part of a task's event that belongs on the track of its CPU."""
        if event.pid is not None and event.cpu is not None:
            name = number(NAME, self.interned.text(EVENT_NAMES, event.place.name))
            title = self.tracks.tasks.title(tracks.task_of(event), event.comm)
            task = self.annotations.title("task") + self.annotations.string(title)
            self.at(time, number(TYPE, INSTANT) + number(UUID, self.tracks.cpu(event.cpu)) + name + data(ANNOTATION, task))
        for column, value in zip(event.place.columns, event.values):
            if column.title in self.counters and value is not None:
                amount = number(COUNTER_VALUE, value) if value < 2**63 else protobuf.double(COUNTER_DOUBLE, value)
                self.at(time, number(TYPE, COUNTER) + number(UUID, self.tracks.counter(event.place, column)) + amount)

    def said(self):
        """Return a summary of the file, in words."""
        told = "%s; %s" % (frames.counted(self.run, self.events, self.untimed), clock.said(self.wall))
        if self.stackless:
            told += "; %d events are without their stacks, which gtp save keeps and tsave does not" % self.stackless
        return told


def counters_of(arg):
    """Return the titles of the columns that --counter names, and the rest of the text."""
    found = []

    def taken(option):
        if option.group(1) is None:
            raise gdb.GdbError("nothing after --counter; say " + registry.usage("perfetto"))
        found.append(option.group(1).strip('"'))
        return ""
    return found, COUNTERS.sub(taken, arg)


def check_counters(run, counters):
    for title in counters:
        found = [column for place in run.places for column in place.columns if column.title == title]
        if not found:
            raise gdb.GdbError("--counter %s: there is no such column" % title)
        if any(column.kind.what in (kinds.STRING, kinds.TEXT) for column in found):
            raise gdb.GdbError("--counter %s: its values are not numbers" % title)


def write(path, arg):
    counters, asked = counters_of(arg)
    with frames.Run(asked, usage=registry.usage("perfetto")) as run:
        check_counters(run, counters)
        with open(path, "wb") as file:
            writer = Writer(file, run, set(counters))
            writer.write()
        return writer.said()


registry.add("perfetto", "for Perfetto's viewer: a track for each task and CPU, calls with $latency as slices",
             "[N] [COLUMN, ...] [if EXPRESSION] [--limit FRAMES] [--counter COLUMN]...", write)
