#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Job: compare traces that gtp export has written with gtp table's output for the same run, using independent readers.
#
# Usage: exported.py ctf|perfetto PATH FOLDER [TRACE PROGRAM]
#        exported.py offset PATH FOLDER NS             check that the time of day is $clock plus NS nanoseconds
#        exported.py bounds PATH FOLDER BEGIN END      check that the times of day are between BEGIN and END, in microseconds
# FOLDER has the files of gtp table --csv, one for each tracepoint. If the trace file and the program are given, stacks and
# the names of tasks are compared with these, too.
import bisect
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import exported  # noqa: E402


def of_time(path, rows):
    """Return the offset from $clock to the time of day, computed from the first frame that has both."""
    row = min((row for _, row in rows.values() if "$xtime_sec" in row), key=lambda row: int(row["frame"]))
    offset = int(row["$xtime_sec"]) * 10**9 + int(row["$xtime_nsec"]) - exported.nanoseconds(row)
    exported.check(offset > 10**18, "the time of day is none:", offset)
    return offset


def stacks_of(trace):
    """Return {number: addresses, the outermost first} from the stacks after the frames of a trace file."""
    with open(trace, "rb") as file:
        lines = re.findall(rb"^stack ([0-9a-f ]+)$", file.read(), re.M)
    words = [[int(digits, 16) for digits in line.split()] for line in lines]
    return {number: addresses[::-1] for number, *addresses in words}


def function(symbols, address):
    return symbols[bisect.bisect_right(symbols, (address, "~")) - 1][1]


def compare_stacks(found, rows, trace, program):
    stacks = stacks_of(trace)
    lines = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = sorted((int(line.split()[0], 16), line.split()[2]) for line in lines if line.split()[1] in "Tt")
    different = set()
    for frame, (_, row) in rows.items():
        if row.get("$kstack", "<")[0] == "<":
            continue
        addresses, seen = stacks[int(row["$kstack"])], found.instants[frame].callstack
        names = [function(symbols, address - 1) for address in addresses[:-1]] + [function(symbols, addresses[-1])]
        exported.check(seen == list(zip(names, addresses)), "frame", frame, "stack", seen, names)
        different.add(tuple(addresses))
    exported.check(len(different) > 1, "no stacks:", different)


def compare_names(found, rows):
    for row in (row for _, row in rows.values() if "((struct task_struct *)$current_task)->comm" in row):
        track = (found.slices.get(int(row["frame"])) or found.instants[int(row["frame"])]).track
        track = track if track.HasField("thread") else found.tracks[track.parent]
        name, tgid = (row["((struct task_struct *)$current_task)->" + member] for member in ("comm", "tgid"))
        exported.check((track.thread.name, track.thread.pid) == (name, int(tgid)), "frame", row["frame"], track)
        exported.check(found.tracks[track.parent].process.pid == int(tgid), "frame", row["frame"], "process of", track)


def offsets_of(path, rows):
    """Return {frame: $clock} for all events, and the set of the differences between times of day and $clock."""
    times = {context["frame"]: time for _, time, _, context, _ in exported.ctf_events(path)}
    at = {frame: exported.nanoseconds(rows[frame][1]) for frame in times}
    exported.check(times, "no events")
    return at, {times[frame] - at[frame] for frame in times}


def check_bounds(path, rows, begin, end):
    """Check that the time of day of each event is between the run's begin and end, and as exact as the export states."""
    at, offsets = offsets_of(path, rows)
    low, high = begin * 1000 - min(at.values()), end * 1000 - max(at.values())
    with open(path + "/metadata", encoding="ascii") as file:
        error = int(re.search(r"precision = (\d+);", file.read()).group(1))
    exported.check(low < high and offsets == {(low + high) // 2}, "offset", offsets, "bounds", low, high)
    exported.check(low >= offsets.pop() - error and high <= (low + high) // 2 + error, "error", error, "bounds", low, high)


def main():
    what, path, folder, *beside = sys.argv[1:]
    rows = exported.tables(folder)
    if what == "offset":
        found = offsets_of(path, rows)[1]
        exported.check(found == {int(beside[0])}, "offsets:", found)
        return
    if what == "bounds":
        check_bounds(path, rows, *map(int, beside))
        return
    exported.check(len(rows) > 100, "too few rows to tell anything:", len(rows))
    if what == "ctf":
        exported.compare_ctf(path, rows, of_time(path, rows))
    else:
        found = exported.compare_perfetto(path, rows)
        exported.check(found.slices and found.instants and found.counters, "no slices, no instants, or no counters")
        times = [exported.nanoseconds(row) for _, row in rows.values()]
        first = min(time for time in times if time is not None)
        if beside:
            compare_stacks(found, rows, *beside)
            compare_names(found, rows)
        exported.check(found.clocks == {3: first, 1: first + of_time(path, rows)}, "clocks:", found.clocks)


try:
    main()
except exported.Wrong as error:
    sys.exit("# %s: %s" % (sys.argv[2], error))
