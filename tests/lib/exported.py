# SPDX-License-Identifier: GPL-2.0-only
"""Compares traces of gtp export, as babeltrace2 and protoc read them, with the rows of gtp table."""
import collections
import os
import re
import subprocess
import sys
import tempfile

import sheet

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
MODES = {"READ": 1, "WRITE": 2, "SYNC": 8}
FRONT = ("frame", "time", "cpu", "pid")


class Wrong(Exception):
    """A file that gtp export has written is wrong."""


def check(holds, *words):
    if not holds:
        raise Wrong(" ".join(map(str, words)))


def tables(folder):
    """Return {frame: (the file's name, {title: text})} from all tables (.csv files) in a folder."""
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
            for row in sheet.rows(file):
                found[int(row["frame"])] = name, row
    return found


def nanoseconds(row):
    """Return a row's time, or None where it has none."""
    if "." not in row.get("time", ""):
        return None
    seconds, rest = row["time"].split(".")
    return int(seconds) * 10**9 + int(rest)


def number(text):
    """Return the number that a table's cell shows, such as 0x10 <symbol>, 65 'A', true or (READ | WRITE)."""
    if text in ("true", "false"):
        return int(text == "true")
    if text[:1] == "(":
        return sum(MODES[word] if word in MODES else int(word.split()[-1], 0) for word in text[1:-1].split(" | "))
    return int(text.split()[0], 0)


def same(text, value):
    """Return whether a value matches a table's cell. None matches a cell that has no value."""
    if value is None:
        return text.startswith("<")
    return value == text if isinstance(value, str) else number(text) == value


def own(row):
    """Return the cells of a row without the leading ones (FRONT), whose values an event stores outside its fields."""
    return {title: text for title, text in row.items() if title not in FRONT}


# CTF ---------------------------------------------------------------------------------------------


def labels_of(field):
    """Return the labels of an enum's value. If a number has no name, an assertion fails in the Python of babeltrace2 2.0."""
    try:
        return list(field.labels)
    except AssertionError:
        return []


def plain(field):
    """Return a field of bt2 as an int or a str. An enum with one name becomes that name. Return None if the field is
    not there."""
    import bt2
    if isinstance(field, bt2._VariantFieldConst):
        field = field.selected_option
    if isinstance(field, bt2._OptionFieldConst):
        if not field.has_field:
            return None
        field = field.field
    if isinstance(field, bt2._StructureFieldConst):
        check(len(field) == 0, "a structure", field)
        return None
    if isinstance(field, (bt2._UnsignedEnumerationFieldConst, bt2._SignedEnumerationFieldConst)):
        labels = labels_of(field)
        if labels and labels != ["true"] and labels != ["false"]:
            return labels[0]
    if isinstance(field, bt2._StringFieldConst):
        # babeltrace2 2.0 returns the previous event's text for an empty string, but the right length.
        return str(field) if len(field) else ""
    return int(field)


def is_tag(event, name):
    """Return whether an event's member NAME only says that another member is present."""
    import bt2
    other = name.lstrip("_")[4:]
    return name.lstrip("_")[:4] == "has_" and other in event.payload_field and \
        isinstance(event.payload_field[other], (bt2._VariantFieldConst, bt2._OptionFieldConst))


def ctf_events(path):
    """Yield (name, time, cpu or None, {context}, [(name, value)]) of a trace's events, by babeltrace2."""
    import bt2
    for message in bt2.TraceCollectionMessageIterator(path):
        if isinstance(message, bt2._EventMessageConst):
            event, packet = message.event, message.event.packet.context_field
            context = {name: plain(field) for name, field in event.specific_context_field.items()}
            yield (event.name, message.default_clock_snapshot.ns_from_origin,
                   int(packet["cpu_id"]) if "cpu_id" in packet else None, context,
                   [(name, plain(field)) for name, field in event.payload_field.items() if not is_tag(event, name)])


def compare_ctf(path, rows, offset=0):
    """Check that the events are the rows that have a time, in order of time, with the table's values. Return their
    number."""
    left = {frame: row for frame, (_, row) in rows.items() if nanoseconds(row) is not None}
    before = 0
    for name, time, cpu, context, fields in ctf_events(path):
        row = left.pop(context["frame"])
        where = "frame %s, %s:" % (row["frame"], name)
        check(time == nanoseconds(row) + offset, where, time, "is not", row["time"])
        check(time >= before, where, "is not in order")
        before = time
        if row.get("cpu", "<")[0] != "<" and 0 <= int(row["cpu"]) < 2**32:
            check(cpu == int(row["cpu"]), where, "cpu", cpu, row["cpu"])
        if "pid" in row:
            check(same(row["pid"], context.get("tid")), where, "tid", context.get("tid"), row["pid"])
        cells = own(row)
        check(len(cells) == len(fields), where, "fields", fields)
        for (title, text), (field, value) in zip(cells.items(), fields):
            check(field.split("_")[-1] == re.sub(r"\W+", "_", title).strip("_").split("_")[-1] or field[-1].isdigit(),
                  where, field, title)
            check(same(text, value), where, title, repr(text), repr(value))
    check(not left, "rows without an event:", sorted(left)[:10])
    return len(rows)


# Perfetto ----------------------------------------------------------------------------------------


def reader():
    """Return the module that protoc makes of timeline.proto."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", "-I", here + "/../tfile", "--python_out", folder, "timeline.proto"], check=True)
        sys.path.insert(0, folder)
        try:
            import timeline_pb2
        finally:
            sys.path.remove(folder)
    return timeline_pb2


Seen = collections.namedtuple("Seen", "name begin time type track values callstack")


class Timeline:
    """A trace as a viewer shows it. slices, instants: {frame: Seen}. aside: events without a frame on the tracks of CPUs."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        trace = reader().Trace.FromString(data)
        known = trace.ByteSize()
        trace.DiscardUnknownFields()
        check(known == trace.ByteSize() == len(data), path, "has fields that the format does not, or not so")
        self.words, self.tracks = collections.defaultdict(dict), {}
        self.slices, self.instants, self.aside, self.counters = {}, {}, [], collections.defaultdict(list)
        self.open, self.time, self.clocks = collections.defaultdict(list), 0, {}
        for i, packet in enumerate(trace.packet):
            self.packet(packet, i == 0)
        check(not any(self.open.values()), "slices do not end:", self.open)

    def packet(self, packet, is_first):
        check(packet.sequence == 1 and packet.flags == (1 if is_first else 2), "sequence and flags of", packet)
        if is_first:
            check(packet.is_first and packet.defaults.clock == 3 and packet.clocks.main == 3, "clocks of", packet)
            self.clocks = {reading.clock: reading.ns for reading in packet.clocks.reading}
        for field, entries in packet.dictionary.ListFields():
            for entry in entries:
                check(entry.id and entry.id not in self.words[field.name], "said twice:", entry)
                self.words[field.name][entry.id] = entry
        if packet.HasField("track"):
            check(packet.track.uuid and packet.track.uuid not in self.tracks, "a track twice:", packet)
            check(not packet.track.parent or packet.track.parent in self.tracks, "no such parent:", packet)
            self.tracks[packet.track.uuid] = packet.track
        if packet.HasField("event"):
            check(packet.time >= self.time, "out of order:", packet)
            self.time = packet.time
            self.event(packet.time, packet.event)

    def event(self, time, event):
        check(event.track in self.tracks, "no such track:", event)
        if event.type == END:
            seen = self.open[event.track].pop()
            self.slices[seen.values["frame"]] = seen._replace(time=time)
            return
        if event.type == COUNTER:
            value = event.counter if event.HasField("counter") else event.counter_double
            self.counters[self.tracks[event.track].name].append((time, value))
            return
        values = {self.words["annotation"][one.name].name: self.value(one) for one in event.annotation}
        seen = Seen(self.words["event"][event.name].name, time, time, event.type, self.tracks[event.track], values,
                    self.stack(event.callstack))
        if event.type == BEGIN:
            self.open[event.track].append(seen)
        elif "frame" in values:
            check(event.type == INSTANT, "of an unknown type:", event)
            self.instants[values["frame"]] = seen
        else:
            self.aside.append(seen)

    def value(self, annotation):
        which = annotation.WhichOneof("value")
        if which == "string":
            return self.words["string"][annotation.string].bytes.decode()
        return getattr(annotation, which)

    def stack(self, number):
        """Return the functions and addresses of a callstack, the outermost first."""
        if not number:
            return None
        frames = [self.words["frame"][one] for one in self.words["callstack"][number].frame]
        check(all(frame.mapping in self.words["mapping"] for frame in frames), "frames without a mapping")
        return [(self.words["function"][frame.function].bytes.decode(), frame.pc) for frame in frames]


def compare_perfetto(path, rows):
    """Check that all rows that have a time are present with all values, those with $latency as slices. Return the
    Timeline."""
    found = Timeline(path)
    left = {frame: row for frame, (_, row) in rows.items() if nanoseconds(row) is not None}
    on_cpus = 0
    for frame, row in left.items():
        latency = row.get("$latency", "<")
        is_call = latency[0] != "<" and 0 <= int(latency) <= nanoseconds(row)
        seen = (found.slices if is_call else found.instants).get(frame)
        check(seen, "frame", frame, "is not there")
        check(seen.time == nanoseconds(row), "frame", frame, "time", seen.time, row["time"])
        check(not is_call or seen.time - seen.begin == int(latency), "frame", frame, "latency", seen.time - seen.begin, latency)
        for title, text in own(row).items():
            check(same(text, seen.values.get(title)), "frame", frame, title, repr(text), repr(seen.values.get(title)))
        if row.get("pid", "<")[0] != "<":
            track = found.tracks[seen.track.parent] if not seen.track.HasField("thread") and "CPU" not in seen.track.name else seen.track
            names = (str(seen.track.thread.tid), seen.track.name.split()[-1:], str(track.thread.tid))
            check(row["pid"] in (names[0], *names[1], names[2]), "frame", frame, "is on track", seen.track)
            on_cpus += row.get("cpu", "<")[0] != "<"
    check(len(found.slices) + len(found.instants) == len(left), "more events than rows")
    check(on_cpus <= len(found.aside), "events on CPUs", on_cpus, len(found.aside))
    return found
