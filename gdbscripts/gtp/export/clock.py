# SPDX-License-Identifier: GPL-2.0-only
# Finds the difference between the time of day and $clock, from the best available source.
import collections

import gdb

from gtp.gdblib import gdbcall, traceframe
from gtp.run import source
from gtp.text.units import duration

# offset_ns: time of day minus $clock. error_ns: by how much that may be wrong. how: where the difference comes from, in
# words.
Wall = collections.namedtuple("Wall", "offset_ns error_ns how")

SECOND = 10**9
LATEST_NS = 1 << 63
FRAME_NS = 1000  # the error of a Wall from a frame, because the hit reads the two clocks one after the other
CORES = ("timekeeper_data[0].timekeeper", "tk_core.timekeeper")  # the kernel's struct timekeeper; newer kernels first


def of_frames(run):
    """Return the Wall from a frame that has collected $clock, $xtime_sec and $xtime_nsec. Return None if no
    tracepoint's first frame has them.

    The error is the largest difference from other frames. It is large if the time was set, or the machine has slept.
    """
    numbers = [run.trace.variables.get(name) for name in ("clock", "xtime_sec", "xtime_nsec")]

    def offset(frame):
        clock, seconds, nanoseconds = map(frame.variables.get, numbers)
        return None if None in (clock, seconds, nanoseconds) else seconds * SECOND + nanoseconds - clock

    first = next((frame for frame in run.firsts if offset(frame) is not None), None)
    if first is None:
        return None
    found = filter(None.__ne__, map(offset, run.trace.frames(*(place.target for place in run.places))))
    apart = max(abs(other - offset(first)) for other in found)
    return Wall(offset(first), FRAME_NS + apart, "$xtime_sec and $xtime_nsec of frame %d" % first.index)


def of_kernel():
    """Return the Wall from the kernel that GDB is connected to. NTP may have adjusted the kernel's time of day since
    the run."""
    if source.is_trace_file():
        return None
    traceframe.select(-1)
    for core in CORES:
        try:
            offset = int(gdbcall.value(core + ".offs_real"))
        except gdb.error:
            continue
        if offset:
            return Wall(offset, FRAME_NS, "the kernel's offset, now")
    return None


def of_run(run, first, last):
    """Return the Wall computed from the times of day when the run began and ended. FIRST and LAST are $clock of its first
    and last event."""
    began, ended = (run.header.number(word) * 1000 for word in ("starttime", "stoptime"))
    low, high = began - first, ended - last
    if not began or high < low:
        return None
    return Wall((low + high) // 2, (high - low + 1) // 2, "the run's begin and end")


def is_possible(found, first, last):
    """Return whether all times of day of a run are from 1970 to 2262, the range that the formats have. FIRST and LAST are
    $clock of its first and last event."""
    return 0 <= first + found.offset_ns and last + found.offset_ns < LATEST_NS and found.error_ns < LATEST_NS


def wall(run, first, last):
    """Return the Wall of a run, or None if it is not known. FIRST and LAST are $clock of its first and last event."""
    for find in (lambda: of_frames(run), of_kernel, lambda: of_run(run, first, last)):
        found = find()
        if found and is_possible(found, first, last):
            return found
    return None


def said(found):
    """Return a Wall as text for the user."""
    if found is None:
        return "the time of day is not known"
    return "time of day by %s, to within %s" % (found.how, duration(found.error_ns))
