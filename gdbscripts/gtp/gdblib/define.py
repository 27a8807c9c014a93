# SPDX-License-Identifier: GPL-2.0-only
# Set the tracepoints that a command needs: all of them, or none if there is an error.
import re

import gdb

from gtp.gdblib import gdbcall, screen, words

ADDRESS = re.compile(r"^\d+(?:\.\d+)?\s.*?\b(0x[0-9a-f]{16})\b", re.M)

# GDB prints this when it has made the tracepoint, but has disabled each location at which it cannot compile the
# condition.
INVALID = "failed to validate condition"


def reason(error):
    """Return an error's text, for use inside a line that gdbtp prints."""
    return str(error).strip().rstrip(".")


class Definitions:
    """The tracepoints of one command. As a context manager, it deletes them after an error in the block."""

    def __init__(self):
        self.numbers = []
        self.refused = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.drop(*self.numbers)

    def add(self, where, condition=None, command="trace"):
        """Make a tracepoint with GDB's `trace`, or `ftrace`, and return its number. Raise gdb.error if GDB refuses.

        During a run GDB sends the tracepoint before add() returns, and only this once: the condition must be complete.
        """
        number, text = made(where, condition, command)
        self.numbers.append(number)
        if INVALID in text:
            self.drop(number)
            raise gdb.error(text.strip())
        return number

    def drop(self, *numbers):
        """Delete tracepoints. During a run GDB tells the kernel about a disabled tracepoint, but not about a deleted
        one. So disable them first."""
        if numbers:
            text = " ".join(map(str, numbers))
            gdbcall.execute("disable " + text)
            gdbcall.execute("delete " + text)
            self.numbers = [n for n in self.numbers if n not in numbers]

    def refuse(self, what, error):
        """Remember why a tracepoint was not set at the place WHAT."""
        self.refused.append((what, reason(error)))

    def settle(self):
        """Report the places that were refused; raise an error if nothing was set."""
        if self.numbers:
            for line in lines(self.refused):
                screen.put("not set: %s\n" % line)
            return
        if len(self.refused) == 1:
            raise gdb.GdbError("%s: %s" % self.refused[0])
        raise gdb.GdbError("nothing is set:\n  " + "\n  ".join(lines(self.refused)))


def made(where, condition=None, command="trace"):
    """Make a tracepoint with GDB's `trace`, or `ftrace`. Return the tracepoint's number and GDB's output."""
    more = " if " + condition if condition else ""
    text = gdbcall.execute("with breakpoint pending off -- %s %s%s" % (command, where, more))
    return int(gdbcall.value("$bpnum")), text


def found(where, condition=None):
    """Return the addresses at which add() would set a tracepoint, or raise the error that add() would raise. GDB sends
    nothing to the target."""
    with gdbcall.unsent():
        number, text = made(where, condition)
        try:
            if INVALID in text:
                raise gdb.error(text.strip())
            return addresses(number)
        finally:
            gdbcall.execute("delete %d" % number)


def lines(refused):
    """Return a line for each reason of a refusal, with all places refused for that reason."""
    reasons = {}
    for what, why in refused:
        reasons.setdefault(why, []).append(what)
    return ["%s: %s" % (words.few(whats), why) for why, whats in reasons.items()]


def addresses(number):
    """Return the addresses of a tracepoint's locations."""
    text = gdbcall.execute("info tracepoints %d" % number)
    return sorted({int(at, 16) for at in ADDRESS.findall(text)})


def numbered(numbers):
    """Return "Tracepoint 3" or "Tracepoints 3-7" for a list of numbers."""
    if len(numbers) == 1:
        return "Tracepoint %d" % numbers[0]
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return "Tracepoints %d-%d" % (numbers[0], numbers[-1])
    return "Tracepoints " + ", ".join(map(str, numbers))
