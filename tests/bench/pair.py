# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a pair, from the hit that starts it to the hit that ends it by a key, both together. Like hit.py, this
# runs in a guest that counts instructions.
#
# A figure counts only if each call was a start and an end, and each end has found its start.
import re
import sys
import time
import traceback

import peers
from common import ALL, RELEASE, Wrong, above, answers, calibrate, check, check_hits, cmd, figure, say, set_up, warmly

import gdb

NAME, BYTES = "pair", 32  # as GTP_BENCH_PAIR_BYTES
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
ENGINES = {"jump": ("on", "on"), "kprobe": ("on", "off"), "interpreted": ("off", "off")}  # name -> (jit, jumps)


class Place:
    """Both places. peers.py uses it as one."""
    name, all = NAME, ALL
    warmly = staticmethod(warmly)

    def __init__(self):
        self.start = int(next(at for place, at, *code in answers("place") if place == NAME), 16)
        self.original = self.code()
        self.bare = warmly(NAME)

    def code(self):
        memory = gdb.selected_inferior().read_memory(self.start, BYTES + 1)
        return bytes(memory)[0], bytes(memory)[BYTES]

    def wait(self, armed, other=None):
        """Wait until the code has changed at both places, or is as before."""
        end = time.monotonic() + 60
        while any((now == 0xe9) != armed for now in self.code()):
            check(time.monotonic() < end and (other is None or other.poll() is None), "the code is %02x and %02x" % self.code())
            time.sleep(0.02)


def define(address, actions):
    cmd("trace *%#x" % address)
    cmd("commands", *actions, "end")


def check_pair():
    """Check that each end has found its start."""
    told = cmd("maint packet qXfer:gtpaggregates:read:show:0,1000")
    found = re.search(r"paired (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)", told)
    check(found and tuple(map(int, found.groups())) == (ALL, ALL, 0, 0, 0, 0, 0), told)


def traced(place, engine, row):
    jit, jumps = ENGINES[engine]
    cmd("monitor jit " + jit)
    cmd("monitor jumps " + jumps)
    for address, actions in zip((place.start, place.start + BYTES), ROWS[row]):
        define(address, actions)
    cmd("tstart")
    place.wait(True)
    ticks = warmly(NAME)
    check_hits(row, False, ALL, 2)
    check_pair()
    cmd("tstop")
    place.wait(False)
    cmd("delete")
    return ticks


def bpftrace(place):
    """Measure bpftrace with a map of times by the key, and a histogram."""
    at = "kprobe:gtp_bench_pair+%d" % (place.start - int(str(gdb.parse_and_eval("(unsigned long)&gtp_bench_pair")), 0))
    end = "kprobe:gtp_bench_pair+%d" % (int(at.rpartition("+")[2]) + BYTES)
    program = "%s { @s[arg0] = nsecs; } %s /@s[arg0]/ { @h = hist(nsecs - @s[arg0]); delete(@s[arg0]); }" % (at, end)
    ticks, told = peers.run_program(place, program, False)
    made = sum(int(n) for n in re.findall(r"[\])] +(\d+) \|", told))
    check(made == ALL, "bpftrace: %d of %d ends: %s" % (made, ALL, told[:500]))
    place.wait(False)
    return ticks


def main():
    set_up()
    for name in VARIABLES:
        cmd("tvariable $" + name)
    calibrate()
    place = Place()
    say("# %s: instructions above a call that is not traced, both ends together" % RELEASE)
    say("%-60s%s" % ("", "".join("%12s" % engine for engine in ENGINES)))
    for row in ROWS:
        costs = [above(traced(place, engine, row), place.bare) for engine in ENGINES]
        say("%-60s%s" % (row, "".join("%12s" % figure(cost) for cost in costs)))
        if row == next(iter(ROWS)):
            say("goal: at most %d: %s" % (GOAL, "reached" if costs[0][0] <= GOAL else "missed"))
    say("%-60s%12s" % ("bpftrace, two kprobes and a map by the key", figure(above(bpftrace(place), place.bare))))
    cmd("disconnect")


try:
    main()
except Wrong as e:
    say("pair: %s" % e)
    gdb.execute("quit 1")
except Exception:  # without this, gdb would exit with status 0 after an exception
    traceback.print_exc(file=sys.stdout)
    gdb.execute("quit 1")
