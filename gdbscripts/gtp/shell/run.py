# SPDX-License-Identifier: GPL-2.0-only
"""One run of a `gtp` subcommand that traces: turns GDB's messages and the kernel's text into output lines, until
something ends the run."""
import re
import select
import sys
import time

from gtp.shell import output, rows, screen
from gtp.shell.failure import FAILED, INTERRUPTED, OK, Failure, told

DROPPED = re.compile(r"\[\d+ lines of dprintf were dropped")
FAILING = re.compile(r"dprintf at (\S+) failed: ")
WAIT = 3600  # seconds of one wait at most, because poll() refuses waits of more than 24 days
MOST_REASONS = 5  # at most this many different errors of expressions are reported

# Why some hits are not printed: the usual reason, and reasons that depend on how the run has ended.
TOO_FAST = " not printed: too fast, or right before the end"
NOT_PRINTED = {"count": " after the last line", "closed": " after the output was closed"}


def counted(number, what):
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


class Run:
    """One run of a `gtp` subcommand that traces. child is GDB, relay its connection to the module."""

    def __init__(self, child, relay, given, progress, signals):
        self.child, self.relay, self.given = child, relay, given
        self.progress, self.signals = progress, signals
        self.out = output.Output(given.csv)
        self.rows = self.table = None
        self.began = self.deadline = self.ended = None  # ended: "for", "count", "signal" or "closed"
        self.recording = False  # true if the run collects frames, which are shown at its end
        self.printed = self.failed = self.own = 0
        self.reasons, self.tasks = set(), set()
        self.counts = self.error = None

    # The end of the run

    def end(self, why):
        """End the run unless it has ended already: GDB's wait ends, GDB removes the probes and reports the counts."""
        if self.ended:
            return
        self.ended = why
        if self.recording:
            self.child.say("stop")
        else:
            self.relay.interrupt()

    def begin(self):
        """Note that the run has begun, because all probes are armed."""
        self.progress.end()
        self.out.begin()
        self.began = time.monotonic()
        self.tasks = self.child.tasks()
        if self.given.seconds:
            self.deadline = self.began + self.given.seconds

    def timeout(self):
        """Return the milliseconds until a progress report or the end of the run is due, or None if neither is. It is
        never more than WAIT."""
        due = [self.progress.tick(), WAIT if self.deadline else None]
        if self.deadline and not self.ended:
            due.append(max(self.deadline - time.monotonic(), 0))
        due = [seconds for seconds in due if seconds is not None]
        return min(due) * 1000 + 1 if due else None

    # GDB's messages

    def from_child(self, words):
        for word, value in words.items():
            getattr(self, "on_" + word)(value)

    def on_doing(self, what):
        self.progress.begin(what or "connecting, and looking for the places")

    def on_note(self, text):
        self.progress.end()
        sys.stderr.write(told(text))
        sys.stderr.flush()

    def on_error(self, text):
        self.error = text

    def on_text(self, text):
        self.progress.end()
        self.out.put(text)

    def on_ready(self, spec):
        self.out.open()
        self.rows = rows.Rows(spec)
        self.table = (screen.Csv(self.rows.places) if self.given.csv else
                      screen.Screen(self.rows.places, spec["places"][0]["columns"]))
        self.progress.begin("setting the probes")

    def on_frames(self, why):
        self.out.open()
        self.on_note(why)
        self.recording = True
        self.relay.leave()
        self.child.say("go")

    def on_started(self, _):
        self.begin()

    def on_counts(self, counts):
        self.counts = counts

    # The kernel's output

    def from_kernel(self):
        text = self.relay.from_kernel()
        lines = []
        if self.table:
            self.table.begin()
        for item in self.rows.feed(text) if self.rows and text else ():
            if isinstance(item, str):
                self.message(item)
            else:
                lines += self.line(item)
        self.out.put("".join(lines))

    def line(self, row):
        """Return a row as output text. It is empty if the limit of rows is reached."""
        if row.pid in self.tasks:
            self.own += 1  # GDB itself hit a probe, before it began to wait
            return []
        if self.out.closed or self.given.count and self.printed >= self.given.count:
            return []
        self.printed += 1
        if self.printed == self.given.count:
            self.end("count")
        return [self.table.text(row)]

    def message(self, text):
        """Print a message of the kernel that is not a row: why a place has no probe, why an expression has no value."""
        if DROPPED.match(text):
            return
        if FAILING.match(text):
            self.failed += 1
            if text in self.reasons or len(self.reasons) >= MOST_REASONS:
                return
            self.reasons.add(text)
        text = FAILING.sub(r"no value at \1: ", text)
        self.on_note(re.sub(r"^gdbtp: (?:dprintf is )?", "", text))

    # The whole run

    def held(self):
        """Return true if the kernel's text should stay unread because the output queue is full. At the run's end all of
        it is read."""
        return self.relay.waiting and not self.ended and self.out.full()

    def watched(self):
        """Return {file descriptor to poll: function to call when it is readable}."""
        files = {self.child.fileno(): self.read_child, self.signals.fileno(): self.read_signal}
        if self.relay.gdb is None:
            files[self.relay.listener.fileno()] = self.relay.accept
        elif self.relay.line is not None:
            files[self.relay.gdb.fileno()] = self.read_gdb
            if not self.held():
                files[self.relay.line] = self.read_kernel
        return files

    def read_child(self):
        words = self.child.heard()
        for one in words or ():
            self.from_child(one)
        return words is not None

    def read_signal(self):
        self.signals.forget()
        if not self.began:
            raise KeyboardInterrupt
        self.end("signal")

    def read_kernel(self):
        self.from_kernel()

    def read_gdb(self):
        before = self.relay.waiting
        if not self.relay.from_gdb():
            self.relay.leave()
        elif self.relay.waiting and not before:
            self.begin()
            if self.table:
                self.out.put(self.table.head())

    def step(self):
        """Wait for input, room for output or a timeout, and handle it. Return False when GDB has ended."""
        files = self.watched()
        poll = select.poll()
        for fd in files:
            poll.register(fd, select.POLLIN)
        if not self.out.closed and self.began:  # even without POLLOUT, poll() reports that the reader has closed it
            poll.register(self.out.fileno(), select.POLLOUT if self.out.queue else 0)
        going = True
        for fd, event in poll.poll(self.timeout()):
            if fd in files:
                going &= files[fd]() is not False
            elif event & (select.POLLERR | select.POLLHUP):
                self.out.close()
            else:
                self.out.write()
        if self.out.closed and self.began:
            self.end("closed")
        if self.deadline and time.monotonic() >= self.deadline:
            self.end("for")
        return going

    def run(self):
        """Handle events until GDB has ended. Return the exit status of `gtp`."""
        while self.step():
            pass
        self.progress.end()
        for row in self.rows.rest() if self.counts else ():
            self.out.put("".join(self.line(row)))
        self.out.flush(self.signals)
        if self.error:
            raise Failure(self.error)
        if self.recording:
            return OK
        if self.counts is None:
            raise Failure(self.child.silence())
        self.sum_up()
        return OK if self.ended else FAILED

    def sum_up(self):
        """Print the last line, which says how many hits were printed, had no value, or were lost."""
        hits = self.counts["hits"] - self.own
        printed = max(self.printed - self.out.unwritten, 0)
        failed = min(self.failed, max(hits - printed, 0))  # one row may have several lines that failed
        lost = max(hits - printed - failed, 0)
        text = "%s printed; %s" % (counted(printed, "line"), counted(hits, "hit"))
        if failed:
            text += ", %d without a value" % failed
        if lost:
            text += ", %d%s" % (lost, NOT_PRINTED.get(self.ended, TOO_FAST))
        sys.stderr.write(told(text))


def run(child, relay, given, progress, signals):
    """Make a run. Return the exit status of `gtp`, also after ^C before the run has begun."""
    try:
        return Run(child, relay, given, progress, signals).run()
    except KeyboardInterrupt:
        progress.end()
        return INTERRUPTED
