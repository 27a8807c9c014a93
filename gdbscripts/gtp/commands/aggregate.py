# SPDX-License-Identifier: GPL-2.0-only
# The commands `gtp count`, `gtp sum`, `gtp min`, `gtp max`, `gtp stats` and `gtp hist`, which aggregate an expression at the
# hits of a place (count.py), or from one place to another (between.py).
import re

import gdb

from gtp.commands import between, count
from gtp.gdblib import screen
from gtp.gdblib.command import Command

STEPS = 1000  # the maximum number of steps of a linear histogram


class Aggregate(Command):
    """The base class of the commands that aggregate. prefix: the first part of the variable's name. needs: true if the
    command needs an expression. options: the options that the command allows."""

    prefix, needs, options = "", True, {"limit"}

    def __init__(self, name):
        self.usage = "gtp %s %s [by KEY, ...] [at LOCATION] [if EXPRESSION]" % (
            name, "EXPRESSION" if self.needs else "[EXPRESSION]")
        super().__init__("gtp " + name, gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def tail(self, said):
        """Return the end of the aggregation's name, which the options determine."""
        return ""

    def said(self, arg):
        """Parse the arguments. Return a count.Said, and the two ends of a pair or None."""
        options, text = count.flags(arg)
        ends = between.split(text)
        if ends is None:
            return count.clauses(arg, self.usage), None
        said = count.clauses(ends[0], self.usage)
        if said.place is not None:
            raise gdb.GdbError("either `at' or `from'; say %s" % self.usage)
        return said._replace(options=options), ends[1:]

    def invoke(self, arg, from_tty):
        said, ends = self.said(arg)
        for option in set(said.options) - self.options:
            raise gdb.GdbError("--%s is not understood; say %s" % (option, self.usage))
        tail = self.tail(said)
        if self.needs and not said.value:
            raise gdb.GdbError("say " + self.usage)
        if len(said.keys) > count.MOST_KEYS:
            raise gdb.GdbError("%d keys; four are the most" % len(said.keys))
        with count.variables_kept():
            if ends is None:
                made = count.aggregate(said, self.prefix, tail)
            else:
                made = between.aggregate(said, *ends, self.prefix, tail)
        screen.put("$%s; gtp show prints it\n" % made)


class GtpCount(Aggregate):
    """Count the hits of a tracepoint, by keys.

gtp count [by KEY, ...] [at LOCATION] [if EXPRESSION]
Sets a tracepoint at LOCATION as gtp trace does; SYSTEM:EVENT is an event as for
gtp event, `watch EXPRESSION' a variable as for gtp watch, and `sample EVENT' an
event as for gtp sample. Without LOCATION, the last tracepoint gets another
action. There can be four KEYs. They are expressions: numbers, enums, pointers,
strings (only their first 16 characters count), and structures, where each
member becomes a key. A tracepoint that does nothing else leaves no frames.
gtp show prints the counts while the run goes on.
In plain GDB it is
  tvariable $key_pid
  tvariable $count_x
and, among the actions,
  teval $key_pid = $current_task_pid
  teval $count_x = 1
gtp count [by KEY, ...] from A on KEY [if CONDITION] [keep NAME = EXPRESSION, ...]
          to B on KEY [if CONDITION]
A hit of A starts something, and a hit of B with the same KEY, a number or an
address, ends it, on any CPU and in any task. The ends that have a start are
counted. At B, $since is the time from A in ns, and a NAME the value that
EXPRESSION had at A; there can be four. The conditions say which hits are starts
or ends; with $since or a NAME, the condition at B says which ends count. A and
B are as LOCATION, or `return of FUNCTION'. gtp show also prints the starts that
have not ended. docs/pairs.md has the limits."""
    prefix, needs = "count_", False


class GtpSum(Aggregate):
    """Add up an expression at the hits of a tracepoint, by keys.

gtp sum EXPRESSION [by KEY, ...] [at LOCATION] [if EXPRESSION]
Like gtp count, but the variable is $sum_NAME."""
    prefix = "sum_"


class GtpStats(Aggregate):
    """The number, average, minimum and maximum of an expression, by keys.

gtp stats EXPRESSION [by KEY, ...] [at LOCATION] [if EXPRESSION]
Like gtp count, but the variable is $stats_NAME."""
    prefix = "stats_"


class GtpMin(Aggregate):
    """The smallest value of an expression at the hits of a tracepoint, by keys.

gtp min EXPRESSION [by KEY, ...] [at LOCATION] [if EXPRESSION]
Like gtp count, but the variable is $min_NAME."""
    prefix = "min_"


class GtpMax(Aggregate):
    """The largest value of an expression at the hits of a tracepoint, by keys.

gtp max EXPRESSION [by KEY, ...] [at LOCATION] [if EXPRESSION]
Like gtp count, but the variable is $max_NAME."""
    prefix = "max_"


class GtpHist(Aggregate):
    """A histogram of an expression at the hits of a tracepoint, by keys.

gtp hist [--linear FROM,TO,STEP] EXPRESSION [by KEY, ...] [at LOCATION]
         [if EXPRESSION]
gtp hist $since [by KEY, ...] from A on KEY ... to B on KEY
Like gtp count, but with buckets. These are powers of two, and the variable is
$hist_NAME; with --linear they are equal steps, and the variable is
$lhist_NAME_FROM_TO_STEP. In plain GDB it is
  tvariable $key_pid
  tvariable $hist_x
and, among the actions,
  teval $key_pid = $current_task_pid
  teval $hist_x = EXPRESSION"""
    prefix, options = "hist_", {"limit", "linear"}

    def invoke(self, arg, from_tty):
        self.prefix = "lhist_" if "linear" in count.flags(arg)[0] else "hist_"
        super().invoke(arg, from_tty)

    def tail(self, said):
        bounds = said.options.get("linear")
        if bounds is None:
            return ""
        if not re.match(r"\d+,\d+,[1-9]\d*$", bounds):
            raise gdb.GdbError("--linear takes three numbers, as in --linear 0,1000,50")
        first, last, step = numbers = tuple(map(int, bounds.split(",")))
        if max(numbers) >= 2**63:
            raise gdb.GdbError("--linear %s: 2^63 - 1 is the largest number" % bounds)
        tail = "_%d_%d_%d" % numbers
        if len(count.name_with(self.prefix, "x", 999, tail)) > count.NAME:
            raise gdb.GdbError("--linear %s: the bounds have so many digits that no variable's name has room for them" % bounds)
        if not 0 < -(-(last - first) // step) <= STEPS:
            raise gdb.GdbError("--linear %s is not a range with 1 to %d steps; say --linear FROM,TO,STEP" % (bounds, STEPS))
        return tail


GtpCount("count")
GtpSum("sum")
GtpMin("min")
GtpMax("max")
GtpStats("stats")
GtpHist("hist")
