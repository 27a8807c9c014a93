# SPDX-License-Identifier: GPL-2.0-only
# A machine's frames as a part of Perfetto's timeline of many: below a track of its own, by the clock of the one that asked.
#
# Numbers of processes and CPUs mean something on one machine only. So tracks have names alone, and no numbers by which the
# viewer would take those of two machines for one.
import collections

from gtp.export import perfetto, protobuf, tracks
from gtp.fleet.merge import HEAD
from gtp.units import duration

number, data, text = protobuf.number, protobuf.data, protobuf.text
TOPMOST = ("group", "process", "counter", "place")
PARENT = 5  # of TrackDescriptor

# number: from 1 on. offset_ns: to the monotonic clock of the timeline. wall: clock.Wall of the machine's own.
Machine = collections.namedtuple("Machine", "number name offset_ns wall")


class Tracks(perfetto.Tracks):
    """The tracks of one machine."""

    def __init__(self, machine, *rest):
        super().__init__(*rest)
        self.machine = machine

    def uuid(self, key, description):
        if key not in self.uuids:
            content = description()
            if isinstance(key, tuple) and key[0] in TOPMOST:
                content = number(PARENT, self.root()) + content
            self.uuids[key] = self.machine.number << 32 | len(self.uuids) + 1
            self.put(data(perfetto.TRACK, number(1, self.uuids[key]) + content))
        return self.uuids[key]

    def root(self):
        title = "%s (clock +-%s)" % (self.machine.name, duration(self.machine.wall.error_ns))
        return self.uuid("machine", lambda: text(2, title))

    def cpu(self, n):
        return self.uuid(("cpu", n), lambda: number(PARENT, self.group("CPUs")) + text(2, "CPU %d" % n))

    def group(self, name):
        return self.uuid(("group", name), lambda: text(2, name))

    def described(self, task):
        tgid = self.tasks.processes.get(task)
        above = self.group("tasks") if tgid is None or task.pid == 0 else self.process(tgid)
        return number(PARENT, above) + text(2, self.tasks.title(task))

    def process(self, tgid):
        title = self.tasks.title(tracks.Task(tgid, None))
        return self.uuid(("process", tgid), lambda: text(2, "process of " + title))


class Writer(perfetto.Writer):
    """Packets of one machine, each with its time in front of it: merge.py puts those of all in one order."""

    def __init__(self, file, run, machine):
        super().__init__(file, run, set())
        self.machine, self.wall = machine, machine.wall
        self.tracks = Tracks(machine, self.tracks.tasks, self.put)
        self.sequence = number(perfetto.SEQUENCE, machine.number)
        self.pending = b""  # what must stand in front of the next event
        self.shift = machine.offset_ns

    def packet(self, content):
        self.pending += data(1, content + self.sequence)

    def put(self, content):
        self.packet(content + number(perfetto.FLAGS, perfetto.NEEDED))

    def at(self, time, event):
        time = max(0, time + self.shift)
        self.put(number(perfetto.TIMESTAMP, time) + data(perfetto.EVENT, event) + self.interned.taken())
        self.file.write(HEAD.pack(time, len(self.pending)) + self.pending)
        self.pending = b""

    def head(self, wall):
        """Of all machines the same clock: only the time that the snapshot is of differs."""
        first = max(0, self.events[0].time_ns + self.shift)
        here = number(2, first + wall.offset_ns - self.shift)
        clocks = (data(1, number(1, perfetto.MONOTONIC) + number(2, first)) + data(1, number(1, perfetto.REALTIME) + here))
        self.packet(data(perfetto.CLOCK_SNAPSHOT, clocks + number(2, perfetto.MONOTONIC)) +
                    data(perfetto.DEFAULTS, number(perfetto.CLOCK_ID, perfetto.MONOTONIC)) +
                    number(perfetto.FLAGS, perfetto.CLEARED) + number(perfetto.FIRST, 1))
