# SPDX-License-Identifier: GPL-2.0-only
# Reports the progress of a GDB command that takes longer than a second, on GDB's terminal or through the shell command
# `gtp`.
import sys
import time

AFTER, EVERY = 0.8, 2  # seconds before the first report, and between two reports

say = None  # a function that reports to the shell command `gtp`, or None if GDB has a terminal


class Line:
    """The line on GDB's terminal, written directly because GDB's output may be captured into a string."""

    def __init__(self):
        self.shown = ""

    def show(self, text):
        if sys.__stderr__ is not None and sys.__stderr__.isatty():
            sys.__stderr__.write("\r" + text.ljust(len(self.shown)))
            sys.__stderr__.flush()
            self.shown = text

    def clear(self):
        if self.shown:
            sys.__stderr__.write("\r%s\r" % (" " * len(self.shown)))
            sys.__stderr__.flush()


def over(things, doing):
    """Yield each of the things, and report how many are done; DOING describes the work to the user."""
    things, line = list(things), Line()
    next_time = time.monotonic() + (0 if say else AFTER)
    try:
        for n, thing in enumerate(things):
            if len(things) > 1 and time.monotonic() >= next_time:
                (say or line.show)("%s: %d of %d" % (doing, n, len(things)))
                next_time = time.monotonic() + (EVERY if say else 0.2)
            yield thing
    finally:
        line.clear()
