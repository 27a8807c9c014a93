# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a hit in a program, and the cost of other tools that use uprobes. Like hit.py, this runs in a guest
# that counts instructions. The program of tests/bench/user measures itself.
#
# The kernel has three ways to execute the instruction under a uprobe. There are rows for hits at an instruction of each
# kind. A row counts only if the measured tool reports that it has seen every call, or none if its condition is false.
import os
import re
import subprocess
import sys
import traceback

import peers
from common import (BUILT, RELEASE, Wrong, above, answers, calibrate, check, check_hits, cmd, figure, order, say,
                    set_up)

import gdb
import fixture
from linked import linked

ONLY = os.environ.get("BENCH_ONLY", "").split(",")
PROGRAM = os.path.join(BUILT, "user/bench")
CALLS, REPEATS = 100, 40  # calls in a repetition: so few that some repetitions see no interrupt
ALL = 2 * CALLS * REPEATS

PLACES = {
    "bench_push": "push %rbp: the kernel emulates the instruction",
    "bench_nop": "nop of five bytes: the kernel skips it, since 6.18 by a call",
    "bench_step": "add (%rdi),%esi: the kernel single-steps a copy",
}


class Program:
    """The measured program. It takes the bench module's orders as lines on its standard input."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self("pid"))

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        check(answer, "the program ended at %r" % line)
        return answer.strip()

    def measure(self, name):
        """For each repetition, return the number of instructions per call, including those of the loop."""
        return [int(ticks) / CALLS for ticks in self("measure %s %d %d" % (name, CALLS, REPEATS)).split()]

    def warmly(self, name):
        """Measure a function twice, with ALL calls together. Return the figures of the second measurement."""
        self.measure(name)
        return self.measure(name)


class Place:
    """The first instruction of one of the program's functions."""
    events = "uprobe_events"
    all = ALL

    def __init__(self, name):
        self.name = name
        self.offset = offsets[name]
        self.address = "%s:0x%x" % (PROGRAM, self.offset)
        self.symbol = PROGRAM + ":" + name
        self.original = self.code()
        self.bare = self.warmly(name)

    def warmly(self, name):
        return program.warmly(name)

    def code(self):
        return program("code " + self.name)

    def wait(self, armed, other=None):
        """Check that the code has changed if ARMED, else that it is restored. gdbtp sets and removes a uprobe at once; for
        an OTHER tool, wait until it has set its uprobe."""
        while armed and other is not None and self.code() == self.original:
            check(other.poll() is None, "%s: the other tool ended" % self.name)
        check((self.code() != self.original) == armed, "%s: the code is %s" % (self.name, self.code()))


def file_offsets():
    """Return {function: offset in the file}, from the file's symbols and its only executable segment."""
    symbols = linked(PROGRAM)
    segments = subprocess.run(["readelf", "-lW", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines()
    loads = [line.split() for line in segments if re.match(r" +LOAD .* R E ", line)]
    check(len(loads) == 1, "executable segments: %r" % loads)
    offset, address = int(loads[0][1], 16), int(loads[0][2], 16)
    return {name: symbols[name] - address + offset for name in PLACES}


# Ours ----------------------------------------------------------------------------------------------

# name -> (condition, actions, whether a hit leaves a frame). o->a is 42, o->b is 7.
FALSE, TRUE, SUM, BOTH = "false", "true", "sum", "both"
CASES = {
    FALSE: ("o->a > 1000", (), 0),
    TRUE: ("o->a > 5", (), 1),
    SUM: ("", ("collect o->a + o->b",), 1),
    BOTH: ("o->a > 5", ("collect o->a + o->b",), 1),
    "condition on the pid, false": ("$current_task_pid == 0x7fffffff", (), 0),
    "-p PID of another process": (None, (), 0),
    "collect *o": ("", ("collect *o",), 1),
    "count by o->a": ("", ("teval $key_a = o->a", "teval $count_b = 1"), None),
}
STACK = "count by $ustack, 16 addresses"
CASES[STACK] = ("", ("teval $key_s = $ustack", "teval $count_c = 1"), None)
# The same functions, and those of libc that call main(), by call frame information. The tables stay, so this comes last.
TABLE = STACK + " and libc's, by table"
CASES[TABLE] = CASES[STACK]
DEEP = (STACK, TABLE)
OURS = "gdbtp"


def libc():
    """Return the path of the program's libc."""
    with open("/proc/%d/maps" % program.pid) as f:
        return re.search(r"/\S*/libc\.so\.6$", f.read(), re.M).group()


def ours(place, case):
    condition, actions, frames = CASES[case]
    if case == TABLE:
        cmd("gtp unwind %s %s" % (PROGRAM, libc()))
    if condition is None:
        cmd("gtp trace -p 1 -x %s %s" % (PROGRAM, place.name))
    else:
        cmd("gtp trace -x %s %s%s" % (PROGRAM, place.name, " if " + condition if condition else ""))
    if actions:
        cmd("commands", *actions, "end")
    cmd("tstart")
    place.wait(True)
    ticks = place.warmly("deep" if case in DEEP else place.name)
    check_hits("%s, %s" % (place.name, case), frames == 1, 0 if frames == 0 else ALL, calls=ALL)
    cmd("tstop")
    place.wait(False)
    cmd("delete")
    return ticks


def floor(place):
    order("uprobe %x %s" % (place.offset, PROGRAM))
    place.wait(True)
    ticks = place.warmly(place.name)
    check(int(answers("floor_hits")[0][0]) == ALL, "floor at %s" % place.name)
    order("unprobe")
    place.wait(False)
    return ticks


# Others --------------------------------------------------------------------------------------------

def bpftrace_stack(place):
    ticks, told = peers.run_program(place, peers.bpf_program(place, "uprobe", "", "@[ustack] = count();"), False, "deep")
    check(re.search(r"\]: %d$" % ALL, told), "bpftrace, ustack: %s" % told)
    place.wait(False)
    return ticks


# All of it -------------------------------------------------------------------------------------------

costs = {}  # (place, row, case) -> cost
failures = []
FLOOR = "a module's uprobe that adds 1 to a counter"
STACK_AT = "bench_push"


def fill(place, row, case, run):
    if not any(word in "%s, %s" % (row, case) for word in ONLY):
        return
    try:
        ticks = run()
    except (Wrong, gdb.error) as e:
        failures.append("%s, %s, %s: %s" % (place.name, row, case, e))
        return
    costs[place.name, row, case] = above(ticks, deep if case in DEEP else place.bare)
    say("# %s, %s, %s: %s" % (place.name, row, case, figure(costs[place.name, row, case])))


def measure(place):
    fill(place, FLOOR, TRUE, lambda: floor(place))
    for case in CASES:
        if case not in DEEP or place.name == STACK_AT:
            fill(place, OURS, case, lambda case=case: ours(place, case))
    for case in peers.CASES:
        fill(place, "ftrace uprobe event", case, lambda case=case: peers.ftrace(place, case))
        fill(place, "bpftrace uprobe, into a map", case,
             lambda case=case: peers.bpftrace(place, "uprobe", peers.MAP, case))
    if place.name == STACK_AT:
        fill(place, "bpftrace uprobe: @[ustack] = count()", STACK, lambda: bpftrace_stack(place))


def print_all():
    say("# %s: instructions per hit in a program above a call that is not traced; %d calls, %d times" % (
        RELEASE, CALLS, REPEATS))
    columns = (FALSE, TRUE, SUM, BOTH)
    for name, means in PLACES.items():
        say("\n%-60s%6s %8s %8s %8s" % (means, FALSE, TRUE, "a + b", BOTH))
        for row in dict.fromkeys(row for at, row, case in costs if at == name):
            cells = [figure(costs.get((name, row, case))) for case in columns]
            if any(cell != "-" for cell in cells):
                say("  %-56s%8s %8s %8s %8s" % (row, *cells))
    say("\n# gdbtp's other tracepoints, and stacks")
    for (name, row, case), cost in costs.items():
        if case not in columns:
            say("  %-12s %-40s %-36s%8s" % (name, row, case, figure(cost)))
    for name in PLACES:
        if all((name, row, case) in costs for row, case in ((OURS, FALSE), (FLOOR, TRUE))):
            say("# %s: a false condition takes %.2f of an empty consumer" % (
                name, costs[name, OURS, FALSE][0] / costs[name, FLOOR, TRUE][0]))


def main():
    cmd("source " + os.path.join(fixture.TOP, "gdbscripts/gtp.py"))
    cmd("set trace-buffer-size %d" % (1 << 25))
    for name in ("key_a", "key_s", "count_b", "count_c"):
        cmd("tvariable $" + name)
    calibrate(program.measure)
    try:
        for place in map(Place, PLACES):
            measure(place)
        cmd("disconnect")
    finally:
        print_all()
    check(not failures, "\n".join(failures))


try:
    set_up()
    offsets = file_offsets()
    program = Program()
    deep = program.warmly("deep")
    main()
except Exception:  # without this, gdb would exit with status 0 after an exception
    traceback.print_exc(file=sys.stdout)
    gdb.execute("quit 1")
