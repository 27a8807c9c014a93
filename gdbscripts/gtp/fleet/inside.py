# SPDX-License-Identifier: GPL-2.0-only
# Inside GDB, for `gtp fleet`: the trace files of the machines with one kernel, as parts of a timeline, CTF, and sums.
import contextlib
import itertools
import os

import gdb

from gtp import aggregates, check, kept, known, kstack, marks, merge, quiet
from gtp.export import clock, ctf, frames
from gtp.fleet import machines
from gtp.shell import asked

SETTINGS = ("confirm off", "pagination off", "width 0", "height 0")
TOP = 1 << 31  # all keys


class Trace(ctf.Writer):
    """A machine's frames as CTF, with the time of day of the machine that asked for them."""

    def __init__(self, path, run, host, wall):
        super().__init__(path, run)
        self.host, self.wall = host, wall

    def environment(self):
        yield "hostname", self.host
        yield from super().environment()


def header_of(path):
    with open(path, "rb") as file:
        return b"".join(itertools.takewhile(lambda line: line != b"\n", file)) + b"\n"


def opened(path, scratch):
    """The trace file is what GDB looks at.

    When GDB opens a file, it still uses the offset and size of the frame selected in the previous file, reads blocks
    there, and may fail. An empty frame has no blocks.
    """
    empty = os.path.join(scratch, "empty.tf")
    with open(empty, "wb") as file:
        file.write(header_of(path) + marks.EMPTY + marks.END)
    with contextlib.suppress(gdb.error):
        quiet.execute("target tfile " + empty)
    with contextlib.suppress(gdb.error):
        quiet.execute("tfind 0")
    quiet.execute("target tfile " + path)


def one(request, number, row):
    """Write a machine's part of the timeline and its CTF; returns the part's name, and what is missing from it."""
    name = "part.%d" % number
    wall = clock.Wall(row["offset_ns"] + request["time_of_day_ns"], row["error_ns"], "gtp fleet")
    with frames.Run("") as run:
        with open(os.path.join(request["scratch"], name), "wb") as file:
            machines.Writer(file, run, machines.Machine(number, row["host"], row["offset_ns"], wall)).write()
        trace = Trace(os.path.join(request["scratch"], "merged.ctf", os.path.splitext(row["file"])[0]), run, row["host"], wall)
        trace.write()
        return name, "; ".join(frames.left_out(run, trace.untimed))


def sums(paths):
    """The aggregations of all files as one text; "" if there are none."""
    have = [path for path in paths if kept.read(path) is not None]
    if not have:
        return ""
    merged = merge.Merged()
    for path in have:
        merged.add(path)
    if not merged.all:  # they keep stacks alone
        return ""
    with known.of(merged.names):
        return aggregates.report(merged, None, TOP, aggregates.order_of({}), kstack.Stacks(merged.keys, merged.addresses))


def all_of(request):
    mine = check.main_objfile().build_id
    os.makedirs(os.path.join(request["scratch"], "merged.ctf"), exist_ok=True)
    answer = {"hosts": [], "parts": [], "notes": [], "text": ""}
    paths = []
    for number, row in enumerate(request["hosts"], 1):
        if row["build_id"] != mine:
            continue
        path = os.path.join(request["folder"], row["file"])
        opened(path, request["scratch"])
        try:
            part, lacks = one(request, number, row)
            answer["parts"].append(part)
            if lacks:
                answer["notes"].append("%s: %s" % (row["host"], lacks))
        except gdb.GdbError as error:
            answer["notes"].append("%s: no timeline: %s" % (row["host"], error))
        answer["hosts"].append(row["host"])
        paths.append(path)
    answer["text"] = sums(paths)
    return answer


def main():
    asked.answer(SETTINGS, all_of)
