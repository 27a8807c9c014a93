# SPDX-License-Identifier: GPL-2.0-only
"""Measures the offset of another machine's clocks from this machine's clocks, and its error, by questions and
answers."""
import collections
import time

ROUNDS = 8  # how often gtp fleet asks for a machine's clocks

# The offset from another machine's clock to the same clock of this machine: the middle of the possible offsets, and the
# largest possible error.
Offset = collections.namedtuple("Offset", "ns error_ns")

# One question: this machine's monotonic clock before the question and after the answer, and the clocks in the answer.
Round = collections.namedtuple("Round", "before after wall monotonic")


def now():
    return time.monotonic_ns()


def bounds(rounds, clock):
    """Return the lowest and the highest possible offset of a Round's member CLOCK. Each round gives bounds, and the
    offset is within the bounds of all rounds."""
    low = max(one.before - getattr(one, clock) for one in rounds)
    high = min(one.after - getattr(one, clock) for one in rounds)
    # If a clock was set between two rounds, their bounds do not overlap: take the quickest round.
    if low > high:
        best = min(rounds, key=lambda one: one.after - one.before)
        low, high = best.before - getattr(best, clock), best.after - getattr(best, clock)
    return low, high


def middle(low, high):
    """Return the Offset in the middle of two bounds, with half their distance as its error."""
    return Offset((low + high) // 2, (high - low + 1) // 2)


def anchor():
    """Return this machine's time of day minus its monotonic clock, as an Offset with an error, because the two cannot
    be read at once."""
    rounds = [Round(before=now(), wall=time.time_ns(), after=now(), monotonic=None) for _ in range(ROUNDS)]
    found = middle(*bounds(rounds, "wall"))
    return Offset(-found.ns, found.error_ns)


def between(first, last):
    """Return the Offset of a run from rounds before it and, if there are any, after it. The bounds of both groups of
    rounds apply, because the offset drifts during the run."""
    both = [bounds(rounds, "monotonic") for rounds in (first, last) if rounds]
    return middle(min(low for low, _ in both), max(high for _, high in both))


def of_wall(rounds, here):
    """Return as an Offset how far another machine's time of day is ahead of this machine's. HERE is the result of
    anchor()."""
    found = middle(*bounds(rounds, "wall"))
    return Offset(-found.ns - here.ns, found.error_ns + here.error_ns)
