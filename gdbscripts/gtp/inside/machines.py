# SPDX-License-Identifier: GPL-2.0-only
# Writes a machine's frames as a part of a Perfetto timeline of many machines. The tracks of each machine are below a
# track of its own, and all times are in the clock of the machine that runs `gtp fleet`.
#
# The numbers of processes and CPUs are unique only within one machine, and the viewer would merge tracks of different
# machines that have the same number. So tracks have names but no numbers.
import collections

from gtp.export import perfetto, protobuf, tracks
from gtp.fleet.merge import HEAD
from gtp.text.units import duration

number, text = protobuf.number, protobuf.text
TOPMOST = ("group", "process", "counter", "place")
PARENT = 5  # a field of TrackDescriptor

# number: 1 or more. offset_ns: from the machine's monotonic clock to the timeline's. wall: the machine's own clock.Wall.
Machine = collections.namedtuple("Machine", "number name offset_ns wall")


class Tracks(perfetto.Tracks):
    """The tracks of one machine."""

    def __init__(self, machine, *rest):
        super().__init__(*rest)
        self.machine, self.base = machine, machine.number << 32

    def above(self, key):
        return number(PARENT, self.root()) if isinstance(key, tuple) and key[0] in TOPMOST else b""

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
    """Writes one machine's packets. Before each packet it writes the packet's time, by which merge.py sorts the packets
    of all machines."""

    def __init__(self, file, run, machine):
        super().__init__(file, run, set())
        self.wall, self.shift = machine.wall, machine.offset_ns
        self.tracks = Tracks(machine, self.tracks.tasks, self.put)
        self.sequence = number(perfetto.SEQUENCE, machine.number)
        self.pending = b""  # packets that must precede the next event

    def take(self, packet):
        self.pending += packet

    def at(self, time, event):
        super().at(time, event)
        self.file.write(HEAD.pack(self.moved(time), len(self.pending)) + self.pending)
        self.pending = b""
