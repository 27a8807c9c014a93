# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a hit at an instruction, from inside a guest that counts instructions. tests/bench/run boots the guest
# and has a real gdb run this file.
#
# A figure is the cost of one tracepoint at one place, as this gdb compiles it, or the cost of another tool that does the
# same. A figure counts only if every call was a hit, and every hit that had to leave a frame left one.
import os
import sys
import time
import traceback

import peers
from common import (ALL, CALLS, RELEASE, REPEATS, Wrong, above, answers, calibrate, check, check_hits, cmd, figure,
                    order, say, set_up, warmly)

import gdb

ONLY = os.environ.get("BENCH_ONLY", "").split(",")

# place -> (description; the first byte of the code while a kprobe is set there, after the kernel has optimised it if it can;
# the mechanism that `monitor probes' shows for gdbtp's own probe there, which is not a kprobe). If the byte is None, any
# change of the code counts.
PLACES = {
    "jump": ("mid-function: a kprobe becomes a jump", "e9", "jump"),
    "entry": ("function entry: a kprobe becomes a jump behind the call of ftrace", None,
              "jump after the function tracer's site"),
    "int3": ("before a branch: a kprobe stays a breakpoint", "cc", "jump"),
}


class Place:
    events = "kprobe_events"
    all = ALL
    warmly = staticmethod(warmly)

    def __init__(self, name):
        self.name = name
        self.means, self.form, self.jump = PLACES[name]
        self.address = next(at for place, at, *code in answers("place") if place == name)
        start = int(str(gdb.parse_and_eval("(unsigned long)&gtp_bench_" + name)), 0)
        offset = int(self.address, 16) - start
        self.symbol = "gtp_bench_" + name + ("+%d" % offset if offset else "")
        self.original = self.code()
        self.bare = warmly(name)
        self.bare_deep = warmly("deep") if name == peers.STACK_AT else None

    def code(self):
        return next(code for place, at, *code in answers("place") if place == self.name)

    def is_armed(self, form):
        """Return whether the first byte of the code is FORM, such as e9 for a jump. If FORM is None, return whether the
        code has changed."""
        now = self.code()
        return now[0] == form if form else now != self.original

    def wait(self, armed, other=None, jump=False):
        """Wait until the code itself has changed: the kernel may rewrite a probe's code some time later."""
        end = time.monotonic() + 60
        form = "e9" if jump and self.form else self.form
        while self.is_armed(form) != armed if armed else self.code() != self.original:
            check(time.monotonic() < end and (other is None or other.poll() is None),
                  "%s: the code is %s" % (self.name, " ".join(self.code())))
            time.sleep(0.02)


# gdbtp ----------------------------------------------------------------------------------------------

AGGREGATED = "aggregated"  # in place of True or False below: every call is a hit, but leaves no frame

# name -> (condition, actions, whether a hit leaves a frame). o->a is 42, o->b is 7, n is 3.
RING = "collect $regs, dropping the oldest frames"
CASES = {
    "false": ("o->a > 1000", (), False),
    "true": ("o->a > 5", (), True),
    "sum": ("", ("collect o->a + o->b",), True),
    "both": ("o->a > 5", ("collect o->a + o->b",), True),
    "condition n == 4, false": ("n == 4", (), False),
    "condition on the pid, false": ("$current_task_pid == 0x7fffffff", (), False),
    "no condition, an empty frame": ("", (), True),
    "collect *o": ("", ("collect *o",), True),
    "collect $regs": ("", ("collect $regs",), True),
    RING: ("", ("collect $regs",), True),
    "teval $n = $n + 1": ("", ("teval $n = $n + 1",), True),
    "teval $p_n = $p_n + 1": ("", ("teval $p_n = $p_n + 1",), True),
    "count": ("", ("teval $count_a = 1",), AGGREGATED),
    "count by o->a": ("", ("teval $key_a = o->a", "teval $count_b = 1"), AGGREGATED),
    "sum of o->b by o->a": ("", ("teval $key_a = o->a", "teval $sum_b = o->b"), AGGREGATED),
    "hist of o->b by o->a": ("", ("teval $key_a = o->a", "teval $hist_b = o->b"), AGGREGATED),
    "hist of o->b by o->a and the pid": (
        "", ("teval $key_a = o->a", "teval $key_pid = $current_task_pid", "teval $hist_c = o->b"), AGGREGATED),
    "count by o->a as a string of 16 bytes": ("", ("teval $keystr_s = (long)o", "teval $count_c = 1"), AGGREGATED),
    "collect $kstack": ("", ("collect $kstack",), True),
    "count by $kstack": ("", ("teval $key_s = $kstack", "teval $count_d = 1"), AGGREGATED),
    peers.STACK: ("", ("teval $key_s = $kstack", "teval $count_d = 1"), AGGREGATED),
}
# Cases of tracepoints that record at the function's return. Their cost includes the entry and the return. They are measured
# only at the place "entry".
LATENCY, UNWANTED = "entry and return, $latency and o->a + o->b", "a return not wanted: o->a > 1000 at the entry"
RETURNS = {
    LATENCY: ("", ("collect $latency, o->a + o->b",), True),
    UNWANTED: ("o->a > 1000", ("collect $ret",), False),
    "entry and return, hist of $latency by o->a": ("", ("teval $key_a = o->a", "teval $hist_d = $latency"), AGGREGATED),
}
FOLLOWS = "jump, follows the call"
CASES.update(RETURNS)
# case -> a simpler case that it is compared with. The case may cost at most twice as much.
TWO, PASS, STRING = "two tracepoints with a condition and a + b each", "both, with a pass count", "collect/s of a string"
PLAIN = {
    TWO: "both",
    PASS: "both",
    STRING: "collect of its 16 bytes",
}
CASES.update({
    TWO: CASES["both"],
    PASS: CASES["both"],
    PLAIN[STRING]: ("", ("collect gtp_bench_text",), True),
    STRING: ("", ("collect/s &gtp_bench_text[0]",), True),
})
HERE = {TWO: 2}  # case -> number of tracepoints at the place, if not one; each leaves a frame for every call
VARIABLES = ("n", "p_n", "key_a", "key_pid", "key_s", "keystr_s", "count_a", "count_b", "count_c", "count_d", "sum_b",
             "hist_b", "hist_c", "hist_d")
# Rows, by the way in which expressions are executed and the kind of probe.
ENGINES = {
    "jump": "gdbtp, a jump or call of its own",
    "compiled": "gdbtp on a kprobe",
    "interpreter": "gdbtp on a kprobe, interpreted",
}


def choose(engine):
    cmd("monitor jit " + ("off" if engine == "interpreter" else "on"))
    cmd("monitor jumps " + ("on" if engine == "jump" else "off"))


def set_buffer(ring):
    """Make the buffer so large that all frames of a row fit. For a RING, make it so small that each new frame drops an old
    one."""
    cmd("set circular-trace-buffer " + ("on" if ring else "off"))
    cmd("set trace-buffer-size %d" % (65536 if ring else 1 << 25))


def define(place, case):
    condition, actions, _ = CASES[case]
    cmd("trace *%s%s" % (place.address, " if " + condition if condition else ""))
    if actions:
        # Not "actions": GDB reads the lines of that command from its terminal only.
        cmd("commands", *actions, "end")
    if case == PASS:
        cmd("passcount %d" % (ALL + 1))  # a pass count that is never reached


def traced(place, engine, case):
    frames = CASES[case][2]
    set_buffer(case == RING)
    for _ in range(HERE.get(case, 1)):
        define(place, case)
    cmd("tstart")
    if engine == "jump":
        told, wanted = cmd("monitor probes"), FOLLOWS if case in RETURNS else place.jump
        check("  %s, " % wanted in told, "%s: not a %s: %s" % (place.name, wanted, told))
    place.wait(True, jump=engine == "jump")
    ticks = warmly("deep" if case == peers.STACK else place.name)
    check_hits("%s, %s" % (place.name, case), frames is True, ALL if frames else 0,
               HERE.get(case, 1))
    cmd("tstop")
    place.wait(False)
    cmd("delete")
    return ticks


def floor(place):
    """Return the cost of a kprobe with an empty handler: no tool that uses kprobes can cost less."""
    order("probe " + place.name)
    place.wait(True)
    ticks = warmly(place.name)
    hits = int(answers("floor_hits")[0][0])
    check(hits == ALL, "floor at %s: %d hits" % (place.name, hits))
    order("unprobe")
    place.wait(False)
    return ticks


# All of it ---------------------------------------------------------------------------------------

costs = {}  # (place, row, case) -> cost


def fill(place, row, case, ticks):
    bare = place.bare_deep if case == peers.STACK else place.bare
    costs[place.name, row, case] = above(ticks, bare)
    say("# %s, %s, %s: %s" % (place.name, row, case, figure(costs[place.name, row, case])))


def is_asked_for(name):
    return any(word in name for word in ONLY)


def is_at(place, case):
    if case == peers.STACK:
        return place.name == peers.STACK_AT
    return case not in RETURNS or place.name == "entry"


def measure_ours(place):
    for engine, row in ENGINES.items():
        choose(engine)
        for case in CASES:
            if is_asked_for(case) and is_at(place, case):
                fill(place, row, case, traced(place, engine, case))


def measure_others(place):
    fill(place, FLOOR, "true", floor(place))
    rows = list(peers.rows(place))
    if place.name == "entry":
        rows += [(row, {RETURNED: run}) for row, run in peers.returns(place)]
    rows = [(row, cells) for row, cells in rows if is_asked_for(row)]
    # The rows for the kernel's stack are chosen by the name of their case, so that BENCH_ONLY can ask for them alone.
    if is_asked_for(peers.STACK):
        rows += peers.stack_rows(place)
    for row, cells in rows:
        for case, run in cells.items():
            try:
                fill(place, row, case, run())
            except Wrong as e:
                failures.append("%s: %s: %s" % (place.name, row, e))
                break


RETURNED = "returned"
FLOOR = "a module's kprobe that adds 1 to a counter"
COLUMNS = {"false": "false", "true": "true", "sum": "a + b", "both": "both"}


def print_places(places):
    for place in places:
        say("\n%-48s%6s %8s %8s %8s" % (place.means, *COLUMNS.values()))
        rows = dict.fromkeys(row for at, row, case in costs if at == place.name)
        for row in rows:
            cells = [figure(costs.get((place.name, row, case))) for case in COLUMNS]
            if any(cell != "-" for cell in cells):
                say("  %-44s%8s %8s %8s %8s" % (row, *cells))


def print_others(places):
    for place in places:
        say("\n%-48s%8s %10s %12s" % (place.means, "jump", "compiled", "interpreted"))
        for case in CASES:
            cells = [figure(costs.get((place.name, row, case))) for row in ENGINES.values()]
            if case not in COLUMNS and any(cell != "-" for cell in cells):
                say("  %-44s%10s %10s %12s" % (case, *cells))
    for place in places:
        for row in peers.STACK_ROWS:
            if (place.name, row, peers.STACK) in costs:
                say("  %-44s%10s" % (row, figure(costs[place.name, row, peers.STACK])))


def print_returns():
    say("\n# others at the function's entry and return, both ends together")
    for (_, row, case), cost in costs.items():
        if case == RETURNED:
            say("  %-90s%8s" % (row, figure(cost)))


# Goals for jumps: row, column, and the largest allowed figure.
GOALS = (("a false condition", "false", 30), ("a condition that holds and o->a + o->b into a frame", "both", 150),
         ("a stack of 16 addresses that has been seen", peers.STACK, 1500),
         ("entry and return with $latency and o->a + o->b", LATENCY, 260), ("a return that is not wanted", UNWANTED, 15))


def print_goals(places):
    say("")
    for what, case, most in GOALS:
        got = [costs[place.name, ENGINES["jump"], case][0] for place in places
               if (place.name, ENGINES["jump"], case) in costs]
        if got:
            say("goal: %s, at most %d: %s: %s" % (
                what, most, " ".join("%.0f" % n for n in got), "reached" if max(got) <= most else "missed"))


def print_plain(places):
    """For each case in PLAIN, print its cost divided by the cost of its simpler case."""
    for place in places:
        for case, plain in PLAIN.items():
            cells = []
            for row in ENGINES.values():
                both = [costs.get((place.name, row, name)) for name in (case, plain)]
                if all(both):
                    cells.append("%.2f" % (both[0][0] / both[1][0]))
            if cells:
                say("# %s, %s: times its plain form (%s): %s" % (place.name, case, plain, " ".join(cells)))


def print_all(places):
    say("# %s: instructions per hit above a call that is not traced; %d calls, %d times"
        % (RELEASE, CALLS, REPEATS))
    say("# false: o->a > 1000; true: o->a > 5, as little as can be left behind; both: o->a > 5, then a + b")
    print_places(places)
    say("\n# gdbtp's other tracepoints: as a jump or call of its own, as a kprobe, as an interpreted kprobe")
    print_others(places)
    print_returns()
    print_plain(places)
    print_goals(places)


def main():
    set_up()
    for name in VARIABLES:
        cmd("tvariable $" + name)
    calibrate()
    places = [Place(name) for name in PLACES]
    try:
        for place in places:
            measure_ours(place)
            measure_others(place)
        cmd("disconnect")
    finally:
        print_all(places)
    check(not failures, "\n".join(failures))


failures = []
try:
    main()
except Exception:  # without this, gdb would exit with status 0 after an exception
    traceback.print_exc(file=sys.stdout)
    gdb.execute("quit 1")
