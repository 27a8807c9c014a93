# SPDX-License-Identifier: GPL-2.0-only
# `gtp export ctf`: writes the run as a trace in the Common Trace Format 1.8, with a class of events for each tracepoint
# and a stream of packets for each CPU.
import collections
import functools
import hashlib
import os
import struct
import uuid

from gtp.export import clock, frames, registry, tsdl
from gtp.view import kinds

MAGIC = 0xc1fc1fc1
HEADER = struct.Struct("<I16sI")  # a packet's head: magic number, the trace's UUID, the number of the stream class
TIMES = struct.Struct("<QQQQ")  # a packet's first and last time, its content's size and its own size, in bits
CPU = struct.Struct("<I")
EVENT = struct.Struct("<IQ")  # the head of an event: the number of its event class, its time
PACKET = 1 << 20  # the approximate size of the events in a packet, in bytes
WITH_CPU, WITHOUT_CPU = 0, 1  # the numbers of the stream classes
SECOND = 10**9

# The columns that precede those of the tracepoint: name, kind, and the member of frames.Event with the value.
FRONT = (("frame", kinds.Kind(kinds.INT, 64), "index"), ("tid", kinds.Kind(kinds.INT, 64, True), "pid"),
         ("pid", kinds.Kind(kinds.INT, 64, True), "tgid"), ("procname", kinds.OF_STRING, "comm"))

HEAD = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
	major = 1;
	minor = 8;
	uuid = "%s";
	byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
"""

CLOCK = """clock {
	name = monotonic;
	description = %s;
	freq = 1000000000;
	precision = %d;
	offset_s = %d;
	offset = %d;
};
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;
"""

STREAM = """stream {
	id = %d;
	packet.context := struct {
		time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size;%s
	};
	event.header := struct { uint32_t id; time_t timestamp; };
};
"""


def is_value(value):
    return value is not None


class Class:
    """A CTF event class: the events of one traced place in streams of one class. It knows their fields and encodes
    them."""

    def __init__(self, place, events):
        self.place, self.id = place, place.target
        front = [(name, kind, member) for name, kind, member in FRONT
                 if any(getattr(event, member) is not None for event in events)]
        self.members = [member for _, _, member in front]
        self.front = self.fields([(name, kind) for name, kind, _ in front], [self.in_front(event) for event in events])
        self.own = self.fields([tuple(column) for column in place.columns], [event.values for event in events])

    def in_front(self, event):
        return [getattr(event, member) for member in self.members]

    @staticmethod
    def fields(columns, rows):
        sometimes = [not all(map(is_value, values)) for values in zip(*rows)]
        return tsdl.Fields([title for title, _ in columns], [kind for _, kind in columns], sometimes)

    def bytes(self, event):
        return EVENT.pack(self.id, event.time_ns) + self.front.bytes(self.in_front(event)) + self.own.bytes(event.values)

    def text(self, stream, name):
        parts = ["\t%s := struct {\n%s\t};\n" % (what, "".join("\t\t%s\n" % line for line in fields.text()))
                 for what, fields in (("context", self.front), ("fields", self.own))]
        return "event {\n\tname = %s;\n\tid = %d;\n\tstream_id = %d;\n%s};\n" % (
            tsdl.quoted(name), self.id, stream, "".join(parts))


class Writer:
    """Writes the trace's folder: the description, and one file for each CPU."""

    def __init__(self, path, run):
        self.path, self.run = path, run
        self.events, self.untimed = run.by_time()
        self.wall = clock.wall(run, self.events[0].time_ns, self.events[-1].time_ns)
        found = collections.defaultdict(list)
        for event in self.events:
            found[stream_of(event), event.place].append(event)
        self.classes = {key: Class(key[1], events) for key, events in found.items()}

    def write(self):
        os.mkdir(self.path)
        streams = collections.defaultdict(list)
        for event in self.events:
            streams[event.cpu if stream_of(event) == WITH_CPU else None].append(event)
        for cpu, events in streams.items():
            with open(os.path.join(self.path, "events" if cpu is None else "cpu_%d" % cpu), "wb") as file:
                for packet in self.packets(cpu, events):
                    file.write(packet)
        with open(os.path.join(self.path, "metadata"), "w", encoding="ascii", newline="\n") as file:
            file.write(self.metadata())
        return "%s; %s" % (frames.counted(self.run, self.events, self.untimed), clock.said(self.wall))

    def metadata(self):
        """Return the content of the file `metadata`, which describes the streams."""
        return HEAD % self.uuid + self.description

    def packets(self, cpu, events):
        """Yield the packets of a CPU's stream."""
        parts, size, first, last = [], 0, events[0].time_ns, 0
        for event in events:
            if size >= PACKET:
                yield self.packet(cpu, first, last, parts, size)
                parts, size, first = [], 0, event.time_ns
            part = self.classes[stream_of(event), event.place].bytes(event)
            parts.append(part)
            size += len(part)
            last = event.time_ns
        yield self.packet(cpu, first, last, parts, size)

    def packet(self, cpu, first, last, parts, size):
        stream, own = (WITHOUT_CPU, b"") if cpu is None else (WITH_CPU, CPU.pack(cpu))
        bits = 8 * (HEADER.size + TIMES.size + len(own) + size)
        return b"".join([HEADER.pack(MAGIC, self.uuid.bytes, stream), TIMES.pack(first, last, bits, bits), own] + parts)

    @functools.cached_property
    def uuid(self):
        """Return a UUID for the trace, derived from the run and the trace's description. Readers treat two traces with
        the same UUID as one."""
        found = hashlib.sha256(self.run.trace.data)
        found.update(self.description.encode("ascii"))
        return uuid.UUID(bytes=found.digest()[:16], version=4)

    @functools.cached_property
    def description(self):
        """Return the text of the metadata, without the trace's UUID."""
        return "".join(self.described())

    def described(self):
        yield "env {\n%s};\n" % "".join("\t%s = %s;\n" % (name, tsdl.quoted(value) if isinstance(value, str) else value)
                                       for name, value in self.environment())
        offset = self.wall.offset_ns if self.wall else 0
        yield CLOCK % (tsdl.quoted("$clock: the kernel's monotonic clock; " + clock.said(self.wall)),
                       self.wall.error_ns if self.wall else 0, offset // SECOND, offset % SECOND)
        for stream, own in (WITH_CPU, " uint32_t cpu_id;"), (WITHOUT_CPU, ""):
            classes = [one for (in_stream, _), one in self.classes.items() if in_stream == stream]
            if classes:
                yield STREAM % (stream, own)
                yield from (one.text(stream, self.name(one.place)) for one in classes)

    def environment(self):
        """Yield (name, value) for the metadata's env block: facts about the run."""
        header = self.run.header
        yield "tracer_name", "gdbtp"
        yield "time_of_day", clock.said(self.wall)
        yield "frames_without_clock", self.untimed
        if {"tframes", "tcreated"} <= set(header.status) and header.overwritten() is not None:
            yield "frames_overwritten", header.overwritten()
        yield "how_it_ended", header.how()

    def name(self, place):
        """Return a place's name, with its number if another place has the same name."""
        first = next(other for other in self.run.places if other.name == place.name)
        return place.name if first is place else "%s:%d" % (place.name, place.number)


def stream_of(event):
    return WITH_CPU if event.cpu is not None and 0 <= event.cpu < 2**32 else WITHOUT_CPU


def write(path, arg):
    with frames.Run(arg, usage=registry.usage("ctf")) as run:
        return Writer(path, run).write()


registry.add("ctf", "Common Trace Format 1.8, for babeltrace2 and Trace Compass; FILE is a folder",
             "[N] [COLUMN, ...] [if EXPRESSION] [--limit FRAMES]", write)
