# SPDX-License-Identifier: GPL-2.0-only
# Measures places that depend on a value of the task, as those of gtp path and gtp calls do (docs/inside.md). Like hit.py,
# this runs in a guest that counts instructions.
#
# A figure counts only if the tracepoints have the hits that the conditions say.
import re

import peers
import two
from common import ALL, above, check, check_hits, cmd, say
from two import ENGINES

GOAL = 20
OUTSIDE = [("$task_in", ("collect $clock",))] * 2


def outside(place, engine):
    """Return the figures of two places whose condition is that the task has a value, and of a task that has none."""
    return place.traced(engine, OUTSIDE, lambda: check_hits("outside", False, 0, 2))


def inside(place, engine):
    """Return the figures of a place that gives the task a value, and of a place that then leaves a frame."""
    rows = [("", ("teval $task_in = 1",)), ("$task_in", ("collect $clock",))]

    def checked():
        found = [int(n) for n in re.findall(r"tracepoint \d+ at \S+ (\d+) hits", cmd("monitor status"))]
        check(found == [ALL, ALL], "inside: %s hits" % found)
    return place.traced(engine, rows, checked)


def bpftrace(place):
    """Measure bpftrace with a map by the task's ID. The map has an entry of another task."""
    program = "BEGIN { @in[1] = 1; } %s /@in[tid]/ { @n = count(); } %s /@in[tid]/ { @n = count(); }" % tuple(place.probes())
    ticks, told = peers.run_program(place, program, False)
    check("@n: 0" in told or "@n" not in told, "bpftrace: %s" % told[:500])  # some versions print a count of 0
    place.wait(False)
    return ticks


def rows(place):
    two.title("two places")
    costs = [above(outside(place, engine), place.bare) for engine in ENGINES]
    two.row("the task is outside", *costs)
    say("goal: at most %d for each: %s" % (GOAL, "reached" if costs[0][0] <= 2 * GOAL else "missed"))
    two.row("the first place sets the value, the second leaves a frame",
            *(above(inside(place, engine), place.bare) for engine in ENGINES))
    two.row("bpftrace, a map by the task, which is outside", above(bpftrace(place), place.bare))


two.measure("inside", ["task_in"], rows)
