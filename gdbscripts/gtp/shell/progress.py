# SPDX-License-Identifier: GPL-2.0-only
"""Reports work that takes longer than a second, on standard error: on a terminal with the seconds elapsed, else by one
line."""
import os
import sys
import time

AFTER = 1.0


class Progress:
    """Reports progress of the piece of work that is being done; there is one at a time."""

    def __init__(self, what, file=None):
        self.file = file or sys.stderr
        self.shown = None
        self.begin(what)

    def begin(self, what):
        """Begin another piece of work, which WHAT describes. None means that no work is being done."""
        self.end()
        self.what, self.since, self.shown = what, time.monotonic(), None

    def tick(self):
        """Print a progress report if one is due. Return the seconds until the next report, or None if there will be
        none."""
        if not self.what:
            return None
        passed = time.monotonic() - self.since
        if passed < AFTER:
            return AFTER - passed
        if self.file.isatty():
            self.shown = "gtp: %s, %d s" % (self.what, passed)
            self.write("\r" + self.shown)
            return 1 - passed % 1
        if self.shown is None:
            self.shown = ""
            self.write("gtp: %s\n" % self.what)
        return None

    def end(self):
        """Clear the progress report from the terminal, because no work is being done any more."""
        if self.shown:
            self.write("\r%s\r" % (" " * len(self.shown)))
        self.what = self.shown = None

    def write(self, text):
        try:
            self.file.write(text)
            self.file.flush()
        except OSError:
            self.file = open(os.devnull, "w", encoding="ascii")
