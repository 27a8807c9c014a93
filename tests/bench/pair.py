# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a pair, from the hit that starts it to the hit that ends it by a key, both together. Like hit.py, this
# runs in a guest that counts instructions.
#
# A figure counts only if each call was a start and an end, and each end has found its start.
import re

import peers
import two
from common import ALL, above, check, check_hits, cmd, say
from two import ENGINES

GOAL = 300

# row -> (the actions of the start, the actions of the end)
START, END = "teval $pair_start_p = (long)o", "teval $pair_end_p = (long)o"
ROWS = {
    "start and end, a histogram of the time": ((START,), (END, "teval $hist_p = $pair_since_p")),
    "the same, with a value kept from the start to be its key": (
        ("teval $pair_kept_a = o->a", START),
        (END, "teval $key_a = $pair_kept_a", "teval $hist_a = $pair_since_p")),
    "start and end alone": ((START,), (END,)),
}
VARIABLES = ("pair_start_p", "pair_end_p", "pair_since_p", "pair_kept_a", "key_a", "hist_p", "hist_a")


def check_pair():
    """Check that each end has found its start."""
    told = cmd("maint packet qXfer:gtpaggregates:read:show:0,1000")
    found = re.search(r"paired (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)", told)
    check(found and tuple(map(int, found.groups())) == (ALL, ALL, 0, 0, 0, 0, 0), told)


def traced(place, engine, row):
    def checked():
        check_hits(row, False, ALL, 2)
        check_pair()
    return place.traced(engine, [("", actions) for actions in ROWS[row]], checked)


def bpftrace(place):
    """Measure bpftrace with a map of times by the key, and a histogram."""
    program = "%s { @s[arg0] = nsecs; } %s /@s[arg0]/ { @h = hist(nsecs - @s[arg0]); delete(@s[arg0]); }" % tuple(place.probes())
    ticks, told = peers.run_program(place, program, False)
    made = sum(int(n) for n in re.findall(r"[\])] +(\d+) \|", told))
    check(made == ALL, "bpftrace: %d of %d ends: %s" % (made, ALL, told[:500]))
    place.wait(False)
    return ticks


def rows(place):
    two.title("both ends")
    for row in ROWS:
        costs = [above(traced(place, engine, row), place.bare) for engine in ENGINES]
        two.row(row, *costs)
        if row == next(iter(ROWS)):
            say("goal: at most %d: %s" % (GOAL, "reached" if costs[0][0] <= GOAL else "missed"))
    two.row("bpftrace, two kprobes and a map by the key", above(bpftrace(place), place.bare))


two.measure("pair", VARIABLES, rows)
