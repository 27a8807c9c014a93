# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp sample`: tracepoints at a clock or a counter that interrupts each CPU. It shows what the CPUs run.
#
# The tracepoint's address is made of the event and its period (base/sample.h).
import collections
import re

import gdb

from gtp import cexpr
from gtp.commands import collect, count, modules, watch
from gtp.gdblib import define, gdbcall, remote, screen, words
from gtp.gdblib.command import Command
from gtp.places import places, points

USAGE = "gtp sample EVENT [by KEY, ...] [if CONDITION] [collect EXPRESSION, ...]"
TAG, SHIFT, EVENT_SHIFT = 0x43, 56, 48
CLOCK = 0x10
COUNTERS = {"cycles": 0, "instructions": 1, "cache-references": 2, "cache-misses": 3, "branches": 4, "branch-misses": 5,
            "bus-cycles": 6, "stalled-cycles-frontend": 7, "stalled-cycles-backend": 8, "ref-cycles": 9}
SECOND = 10**9  # in ns
MOST_HZ = 100000
MOST = 2**EVENT_SHIFT - 1
EVENTS = """%s is no event to sample by. These are:
  99hz             99 times a second, on each CPU
  cycles:1000000   at every millionth cycle; likewise %s"""

Said = collections.namedtuple("Said", "event keys condition collect")


def has(address):
    """Return whether an address is that of a sample (base/sample.h)."""
    return address >> SHIFT == TAG


def address(event):
    """Return the tracepoint's address for an event such as 99hz or cycles:1000000."""
    clock, counter = re.fullmatch(r"(\d+)hz", event, re.A | re.I), re.fullmatch(r"([\w-]+):(\d+)", event, re.A)
    if clock:
        hz = int(clock.group(1))
        if not 0 < hz <= MOST_HZ:
            raise gdb.GdbError("%s: 1hz to %dhz are possible" % (event, MOST_HZ))
        number, period = CLOCK, SECOND // hz
    elif counter and counter.group(1) in COUNTERS:
        number, period = COUNTERS[counter.group(1)], int(counter.group(2))
        if not 0 < period <= MOST:
            raise gdb.GdbError("%s: periods of 1 to %d are possible" % (event, MOST))
    else:
        others = [name for name in COUNTERS if name != "cycles"]
        raise gdb.GdbError(EVENTS % (event, words.few(others, len(others))))
    return TAG << SHIFT | number << EVENT_SHIFT | period


def said(text):
    """Parse the arguments. Return a Said."""
    text, taken = watch.last(text, "collect")
    front, condition = words.halves(text)
    event, keys = count.cut(front, "by")
    for what, part in (("collect", taken), ("if", condition), ("by", keys)):
        if part == "":
            raise gdb.GdbError("nothing after `%s'; say %s" % (what, USAGE))
        words.refuse_clauses(part, USAGE)
    if not event:
        raise gdb.GdbError("no event is named; say %s" % USAGE)
    if keys is not None and taken is not None:
        raise gdb.GdbError("hits that are counted by keys leave no frames: leave `by' or `collect' out; say %s" % USAGE)
    return Said(event, keys, condition, taken)


def set_one(definitions, at, asked):
    """Set the tracepoint. Return a text that describes it, and lines about what is collected."""
    condition = asked.condition and cexpr.condition(asked.condition, at)
    number = definitions.add(places.address(at), condition)
    lines = collect.add(number, asked.collect) if asked.collect else []
    return "Tracepoint %d: a sample on each CPU by %s\n" % (number, asked.event), lines


class GtpSample(Command):
    """Trace what each CPU runs, by a clock or by counters of the processor.

gtp sample EVENT [by KEY, ...] [if CONDITION] [collect EXPRESSION, ...]
EVENT is one of
  99hz              interrupt each CPU 99 times a second; also when it is idle
  cycles:N          at every Nth cycle; likewise instructions, branches,
                    branch-misses, cache-references, cache-misses, bus-cycles,
                    ref-cycles, stalled-cycles-frontend, stalled-cycles-backend
The code that is interrupted is the hit, in the kernel or in a program: its
registers, $kstack and $ustack are the frame's. With `by', hits are counted by
keys, as by gtp count, and leave no frames:
  gtp sample 99hz by $kstack, $ustack, current->comm
  gtp export flamegraph cpu.svg
CONDITION and the expressions are as for gtp trace, but without local variables,
because the code may be anywhere. A sample can also be the place of a command
like
  gtp hist EXPRESSION at sample EVENT
Many virtual machines count nothing but time. monitor status counts the hits
that are missing. docs/sample.md has the limits."""

    def __init__(self):
        super().__init__("gtp sample", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        asked = said(arg.strip())
        at = address(asked.event)  # raises an error before anything is set
        if gdb.lookup_type("long").sizeof < 8:  # GDB would cut the address off
            raise gdb.GdbError(remote.NOT_CONNECTED)
        if asked.keys is not None:
            condition = " if " + asked.condition if asked.condition else ""
            gdbcall.execute("gtp count by %s at sample %s%s" % (asked.keys, asked.event, condition), shown=True)
            return
        modules.follow()
        with words.in_c(), define.Definitions() as definitions:
            told, lines = set_one(definitions, at, asked)
        screen.put(told)
        for line in lines:
            screen.say(line)
        if asked.collect:
            points.tell_in_run()


GtpSample()
