# SPDX-License-Identifier: GPL-2.0-only
# Runs inside GDB for `gtp fleet`: turns the trace files of all machines with one kernel into parts of a timeline, CTF,
# and sums.
import contextlib
import itertools
import os
import shutil

import gdb

from gtp.commands import check, merge, show
from gtp.export import clock, ctf, frames
from gtp.formats import marks
from gtp.gdblib import command, gdbcall
from gtp.inside import machines, reply
from gtp.run import aggtypes, kstack, tail

SETTINGS = ("confirm off", "pagination off", "width 0", "height 0")
TOP = 1 << 31  # a number of keys so large that all are shown


class Trace(ctf.Writer):
    """A machine's frames as CTF. Their times are times of day of the machine that runs gtp fleet."""

    def __init__(self, path, run, host, wall):
        super().__init__(path, run)
        self.host, self.wall = host, wall
        # A reader that refuses the times of one trace would refuse those of all machines.
        if not clock.is_possible(wall, self.events[0].time_ns, self.events[-1].time_ns):
            raise gdb.GdbError("the times of its frames are before 1970 or after 2262")

    def environment(self):
        yield "hostname", self.host
        yield from super().environment()


def header_of(path):
    with open(path, "rb") as file:
        return b"".join(itertools.takewhile(lambda line: line != b"\n", file)) + b"\n"


def opened(path, scratch):
    """Open a trace file in GDB, in place of the previous one.

    When GDB opens a file, it still uses the offset and size of the frame selected in the previous file, reads blocks
    there, and may fail. So first select a frame without blocks, in a file that is made for this.
    """
    empty = os.path.join(scratch, "empty.tf")
    with open(empty, "wb") as file:
        file.write(header_of(path) + marks.EMPTY + marks.END)
    with contextlib.suppress(gdb.error):
        gdbcall.execute("target tfile " + empty)
    with contextlib.suppress(gdb.error):
        gdbcall.execute("tfind 0")
    gdbcall.execute("target tfile " + path)


def folder_of(request, row):
    """Return the folder for the CTF trace of a machine."""
    return os.path.join(request["scratch"], "merged.ctf", os.path.splitext(row["file"])[0])


def one(request, number, row):
    """Write a machine's part of the timeline and its CTF. Return the part's name, and what is missing from it."""
    name = "part.%d" % number
    wall = clock.Wall(row["offset_ns"] + request["time_of_day_ns"], row["error_ns"], "gtp fleet")
    with frames.Run("") as run:
        with open(os.path.join(request["scratch"], name), "wb") as file:
            machines.Writer(file, run, machines.Machine(number, row["host"], row["offset_ns"], wall)).write()
        trace = Trace(folder_of(request, row), run, row["host"], wall)
        trace.write()
        return name, "; ".join(frames.left_out(run, trace.untimed))


def add(merged, path):
    """Add a file's aggregations, or none of them. Adding them to an empty Merged first shows whether they can be
    read."""
    merge.Merged().add(path)
    merged.add(path)


def sums(paths, notes):
    """Return the aggregations of all machines' files ({host: path}) as one text, or "" if there are none. NOTES gets a
    line for each file that is left out."""
    merged = merge.Merged()
    for host, path in paths.items():
        try:
            if tail.read(path) is not None:
                add(merged, path)
        except Exception as error:
            notes.append("%s: its sums are left out: %s" % (host, command.sentence(error)))
    if not merged.all:  # there are no files, or the files contain stacks but no aggregations
        return ""
    with aggtypes.of(merged.names):
        return show.report(merged, None, TOP, show.order_of({}), kstack.Stacks(merged.keys, merged.addresses))


def merged_one(request, number, row, answer):
    """Put a machine's frames into the answer. If its file cannot be opened, put the machine into "left" with the
    reason.

    The file may be damaged or have any content, so any error costs only the results of this machine.
    """
    try:
        opened(os.path.join(request["folder"], row["file"]), request["scratch"])
    except Exception as error:
        answer["left"][row["host"]] = command.sentence(error)
        return
    try:
        part, lacks = one(request, number, row)
        answer["parts"].append(part)
        if lacks:
            answer["notes"].append("%s: %s" % (row["host"], lacks))
    except Exception as error:
        shutil.rmtree(folder_of(request, row), ignore_errors=True)
        answer["notes"].append("%s: no timeline: %s" % (row["host"], command.sentence(error)))
    answer["hosts"].append(row["host"])


def all_of(request):
    mine = check.main_objfile().build_id
    os.makedirs(os.path.join(request["scratch"], "merged.ctf"), exist_ok=True)
    answer = {"hosts": [], "parts": [], "notes": [], "left": {}, "text": ""}
    files = {row["host"]: os.path.join(request["folder"], row["file"]) for row in request["hosts"]}
    for number, row in enumerate(request["hosts"], 1):
        if row["build_id"] == mine and row["host"] not in request["over"]:
            merged_one(request, number, row, answer)
    answer["text"] = sums({host: files[host] for host in answer["hosts"]}, answer["notes"])
    return answer


def main():
    reply.answer(SETTINGS, all_of)
