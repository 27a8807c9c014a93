# SPDX-License-Identifier: GPL-2.0-only
# Acts as another user of ftrace: makes an ftrace instance of its own, and reads the bytes of the records in it.
import functools
import os
import re
import struct
import subprocess

from kernel import TRACING, get, put
from where import matching, there

PAGE = 4096


@functools.cache
def events():
    """Return {an event's id: its folder in tracefs}. A single process reads the thousands of ids."""
    text = there.run(["sh", "-c", "cd %sevents && grep -H . */*/id" % TRACING], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.rsplit(":", 1) for line in text.splitlines()]
    return {int(number): TRACING + "events/" + os.path.dirname(path) for path, number in rows}


@functools.cache
def fields(number):
    """Return (declaration, offset, size) of every field in the records of an event."""
    return [(m[1], int(m[2]), int(m[3]))
            for m in re.finditer(r"field:(.*?);\s*offset:(\d+);\s*size:(\d+);", get(events()[number] + "/format"))]


# Bits of common_flags that ask for a reschedule. An interrupt may set them between two handlers of the same event.
NEED_RESCHED = 0x02 | 0x04 | 0x20


def comparable(record):
    """Return the part of a record that is equal in two instances. Leave out the padding between the fields, which contains
    old bytes of the ring."""
    kept = bytearray(len(record))
    for declaration, at, size in fields(struct.unpack_from("<H", record)[0]):
        spans = [(at, size)]
        if declaration.startswith("__data_loc"):
            where, length = struct.unpack_from("<HH", record, at)
            spans.append((where, length))
        for start, n in spans:
            kept[start:start + n] = record[start:start + n]
        if declaration.endswith(" common_flags"):
            kept[at] &= ~NEED_RESCHED
    return bytes(kept)


def records_of(page):
    """Yield every record in one sub-buffer of the ring, in order, as bytes."""
    commit = struct.unpack_from("<Q", page, 8)[0] & 0xfffff
    at, end = 16, 16 + commit
    while at < end:
        kind = struct.unpack_from("<I", page, at)[0] & 31
        at += 4
        if kind == 29:  # padding
            if not struct.unpack_from("<I", page, at - 4)[0] >> 5:
                return
            at += struct.unpack_from("<I", page, at)[0]
        elif kind in (30, 31):  # an absolute time stamp
            at += 4
        elif kind == 0:  # a long record: this word is its length, including the word
            length = struct.unpack_from("<I", page, at)[0]
            yield page[at + 4:at + length]
            at += (length + 3) & ~3
        else:
            yield page[at:at + 4 * kind]
            at += 4 * kind


class Instance:
    """Context manager: an ftrace instance, which is removed at the end."""

    def __init__(self, name, kb=8192):
        self.path = "%sinstances/%s" % (TRACING, name)
        self.kb = kb

    def __enter__(self):
        there.mkdir(self.path)
        put(self.path + "/buffer_size_kb", str(self.kb))
        return self

    def __exit__(self, *args):
        put(self.path + "/events/enable", "0")
        there.rmdir(self.path)

    def enable(self, event, on=True):
        put("%s/events/%s/enable" % (self.path, event.replace(":", "/")), "01"[on])

    def text(self):
        """Return the lines of the `trace` file without its header lines."""
        with there.open(self.path + "/trace") as file:
            return [line.rstrip("\n") for line in file if not line.startswith("#")]

    def lines(self):
        """Return {cpu: its lines of the `trace` file, in order}."""
        found = {}
        for path in matching(self.path + "/per_cpu/cpu*"):
            with there.open(path + "/trace") as file:
                found[int(path.rsplit("cpu", 1)[1])] = [
                    line.rstrip("\n") for line in file if not line.startswith("#")]
        return found

    def records(self):
        """Take the records out of the ring. Return {cpu: list of records}."""
        found = {}
        for path in matching(self.path + "/per_cpu/cpu*"):
            cpu = int(path.rsplit("cpu", 1)[1])
            found[cpu] = []
            with there.handle(path + "/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK) as file:
                while True:
                    try:
                        page = file.get(PAGE)
                    except BlockingIOError:
                        break
                    if not page:
                        break
                    found[cpu] += map(comparable, records_of(page.ljust(PAGE, b"\0")))
        return found


def entries(path):
    """Return the number of records ever written to an instance, over all CPUs."""
    total = 0
    for stats in matching(path + "/per_cpu/cpu*/stats"):
        with there.open(stats) as file:
            for line in file:
                if line.split(":")[0] in ("entries", "overrun"):
                    total += int(line.split(":")[1])
    return total
