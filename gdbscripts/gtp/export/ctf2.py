# SPDX-License-Identifier: GPL-2.0-only
# `gtp export ctf2`: writes the trace of `gtp export ctf` in the Common Trace Format 2. Its packets equal those of 1.8
# byte for byte. The description is JSON, a fragment for each class, and a value that may be missing is an optional
# field.
import functools
import hashlib
import json
import uuid

from gtp.export import clock, ctf, frames, registry, tsdl
from gtp.text import harmless
from gtp.view import kinds

SEPARATOR = "\x1e"  # the character that precedes each JSON fragment (RFC 7464)
CLOCK = "monotonic"


def number(bits, signed=False, **more):
    return {"type": "fixed-length-%s-integer" % ("signed" if signed else "unsigned"), "length": bits, "alignment": 8,
            "byte-order": "little-endian", **more}


def structure(members):
    return {"type": "structure", "member-classes": [{"name": name, "field-class": field} for name, field in members]}


def field_of(kind):
    """Return the JSON field class for the values of a kind, as tsdl.type_of() does for CTF 1.8."""
    if kind.what in (kinds.STRING, kinds.TEXT):
        return {"type": "null-terminated-string", "encoding": "utf-8"}
    found = number(tsdl.whole(kind.bits), kind.signed)
    if kind.what == kinds.POINTER:
        found["preferred-display-base"] = 16
    names = {0: "false", 1: "true"} if kind.what == kinds.BOOL else kind.names
    if names:
        found["mappings"] = {}
        for value, name in names.items():
            found["mappings"].setdefault(name, []).append([value, value])
    return found


def members(fields):
    """Yield (name, class) of an event's fields. A field that may be missing follows one that says whether it is
    present."""
    for name, kind, may_miss in zip(fields.names, fields.kinds, fields.sometimes):
        field = field_of(kind)
        if may_miss:
            yield tsdl.tag(name), number(8)
            field = {"type": "optional", "selector-field-location": {"path": [tsdl.tag(name)]},
                     "selector-field-ranges": [[1, 1]], "field-class": field}
        yield name[1:], field


def fragment(kind, **properties):
    found = {"type": kind, **{name.replace("_", "-"): value for name, value in properties.items()}}
    return SEPARATOR + json.dumps(harmless.everything(found), indent=1) + "\n"


class Writer(ctf.Writer):
    """Writes the same streams as ctf.Writer, but describes them in the JSON of CTF 2."""

    @functools.cached_property
    def uuid(self):
        """Return a UUID that differs from that of the CTF 1.8 export of the same run, because the two exports are
        different traces."""
        return uuid.UUID(bytes=hashlib.sha256(b"2" + super().uuid.bytes).digest()[:16], version=4)

    def metadata(self):
        return "".join(self.fragments())

    def fragments(self):
        yield fragment("preamble", version=2, uuid=list(self.uuid.bytes))
        yield fragment("trace-class", environment=dict(self.environment()), packet_header_field_class=structure([
                           ("magic", number(32, roles=["packet-magic-number"])),
                           ("uuid", {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}),
                           ("stream_id", number(32, roles=["data-stream-class-id"]))]))
        yield fragment("clock-class", **self.clock())
        for stream in ctf.WITH_CPU, ctf.WITHOUT_CPU:
            classes = [one for (in_stream, _), one in self.classes.items() if in_stream == stream]
            if classes:
                yield self.stream(stream)
                yield from (self.event(stream, one) for one in classes)

    def clock(self):
        found = {"id": CLOCK, "name": CLOCK, "frequency": ctf.SECOND,
                 "description": "$clock: the kernel's monotonic clock; " + clock.said(self.wall)}
        if self.wall:
            found.update({"origin": "unix-epoch", "precision": self.wall.error_ns,
                          "offset-from-origin": dict(zip(("seconds", "cycles"), divmod(self.wall.offset_ns, ctf.SECOND)))})
        return found

    @staticmethod
    def stream(stream):
        times = [("timestamp_begin", number(64, roles=["default-clock-timestamp"])),
                 ("timestamp_end", number(64, roles=["packet-end-default-clock-timestamp"])),
                 ("content_size", number(64, roles=["packet-content-length"])),
                 ("packet_size", number(64, roles=["packet-total-length"]))]
        own = [("cpu_id", number(32))] if stream == ctf.WITH_CPU else []
        return fragment("data-stream-class", id=stream, default_clock_class_id=CLOCK,
                        packet_context_field_class=structure(times + own),
                        event_record_header_field_class=structure([
                            ("id", number(32, roles=["event-record-class-id"])),
                            ("timestamp", number(64, roles=["default-clock-timestamp"]))]))

    def event(self, stream, one):
        return fragment("event-record-class", id=one.id, data_stream_class_id=stream, name=self.name(one.place),
                        specific_context_field_class=structure(members(one.front)),
                        payload_field_class=structure(members(one.own)))


def write(path, arg):
    with frames.Run(arg, usage=registry.usage("ctf2")) as run:
        return Writer(path, run).write()


registry.add("ctf2", "Common Trace Format 2, for babeltrace2 from 2.1 on; FILE is a folder",
             "[N] [COLUMN, ...] [if EXPRESSION] [--limit FRAMES]", write)
