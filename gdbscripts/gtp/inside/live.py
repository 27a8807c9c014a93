# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside GDB: prints each frame of the current run as a line as soon as it arrives. `gtp live` becomes this GDB.

One process reads the pipe and writes the lines. The module does not trace the tasks of the pipe's reader, so its own
lines do not hit a probe in write().
"""
import errno
import json
import os
import select
import signal
import sys
import tempfile
import time

import gdb

from gtp.commands import table
from gtp.export import frames
from gtp.formats import marks
from gtp.formats.error import Damaged
from gtp.formats.tracefile import Frame, TraceFile
from gtp.gdblib import gdbcall, traceframe
from gtp.run import kaslr
from gtp.shell.failure import BUSY, FAILED, INTERRUPTED, OK, Failure, told
from gtp.shell.output import Output
from gtp.shell.signals import CAUGHT, Signals
from gtp.text import harmless
from gtp.view import bytype, cells

SETTINGS = ("confirm off", "pagination off", "width 0", "height 0", "language c")
PIECE = 1 << 20
PAUSE = 0.1  # seconds: collect a small amount of data for this long before showing it
FEW = 32 << 10
WAIT = 3600  # seconds of one wait at most, because select() refuses very long ones
PATIENCE = 0.2  # seconds until the user is informed that there is no active run
USAGE = "gtp live [N] [COLUMN, ...] [if EXPRESSION]"
WAITS = "no run is on: it waits for one to begin; ^C ends that"
GOES_ON = "the run continues without a reader"


class Busy(Exception):
    """Another process is already reading the module's pipe."""


class Pipe:
    """The reading end of the module's pipe. over: true if no data will follow."""

    def __init__(self, path, signals):
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise Busy("%s: another process reads the frames, and only one can" % path) from None
            raise
        self.signals, self.rest, self.over = signals, b"", False
        self.dropped = False  # a new run or a reset has dropped frames

    def wait(self, seconds):
        """Wait for data in the pipe. Return false if the time limit, WAIT or a signal came first."""
        timeout = None if seconds is None else min(max(seconds, 0), WAIT)
        found = select.select([self.fd, self.signals], [], [], timeout)[0]
        return self.fd in found and not self.signals.came

    def read_some(self):
        """Read once from the pipe, and keep the data. Return the number of bytes."""
        try:
            more = os.read(self.fd, PIECE)
        except BlockingIOError:
            return 0
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
            self.dropped, more = True, b""
        self.over = not more
        self.rest += more
        return len(more)

    def read(self):
        """Read all data available in the pipe, a piece at a time. Return the number of bytes."""
        got = 0
        while got < PIECE and not self.over:
            more = self.read_some()
            if not more:
                break
            got += more
        return got

    def header(self):
        """Return the run's header when all of it has arrived, else None."""
        end = self.rest.find(b"\n\n") + 2
        if end < 2:
            return None
        found, self.rest = self.rest[:end], self.rest[end:]
        if not found.startswith(b"\x7fTRACE0\n"):
            raise gdb.GdbError("the data from the pipe is not a trace file")
        return found

    def whole(self):
        """Return the bytes of the frames that have completely arrived."""
        end = 0
        try:
            for _, _, end in marks.frames(self.rest, 0):
                pass
            self.over = True
        except EOFError:
            pass
        found, self.rest = self.rest[:end], self.rest[end:]
        return found

    def cut(self):
        """Return whether the pipe's data has ended in the middle of a frame."""
        return self.over and bool(self.rest) and not self.rest.startswith(marks.END)


class Place:
    """A tracepoint: its Table, and its name."""

    def __init__(self, shown):
        self.table, self.name = shown, None


class Lines:
    """Turns frames into lines. Each piece of the pipe's data is a trace file for GDB, which knows the types.

    GDB opens the trace file once, and later pieces replace its frames: after opening another file, GDB would still use
    the offset and size of the selected frame, and find no frame there. So while frames are replaced, GDB has the first
    frame selected, which is always the same and empty.
    """

    def __init__(self, header, request, path):
        self.header, self.request, self.path = header, request, path
        self.places, self.without, self.shown, self.lost = {}, set(), 0, 0
        self.write(b"")
        wrong = kaslr.another(path)
        if wrong:
            raise gdb.GdbError(wrong)
        gdbcall.execute("target tfile " + path)
        self.formats = bytype.Shown()  # GDB has now moved the symbols to where the run's kernel was loaded
        self.constants = cells.constants()
        places = TraceFile(header + marks.END, self.constants).locations
        self.known = set(places)
        if request.number is not None and request.number not in self.known:
            raise gdb.GdbError("the run has no tracepoint %d; there are %s" %
                               (request.number, ", ".join(map(str, sorted(self.known))) or "none"))
        self.prove([place for number in sorted(self.known) if request.number in (None, number)
                    for place in places[number].values()])

    def prove(self, places):
        """Before any frame is taken, raise an error if the requested columns exist at none of the places. $_sdata is
        known only at a hit."""
        if not places or any("$_sdata" in text for text in (*self.request.columns, self.request.condition or "")):
            return
        trace = TraceFile(self.header + marks.END, self.constants)
        trace = TraceFile(self.write(b"".join(map(trace.frame_at, places))), self.constants)
        wrong = []
        for frame in trace.frames(*self.known):
            try:
                self.new_place(trace, frame).table.at(frame)
                break
            except (gdb.GdbError, gdb.error, Damaged) as error:
                wrong.append(error)
        traceframe.select(0)
        self.write(b"")
        if len(wrong) == len(places):
            raise wrong[0]

    def write(self, data):
        """Replace the frames of the trace file with DATA. Return the file's bytes."""
        whole = self.header + marks.EMPTY + data + marks.END
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as file:
            file.write(whole)
            file.truncate()
        return whole

    def new_place(self, trace, frame):
        traceframe.select(frame.index)
        own = int(gdbcall.value("$tracepoint"))
        return Place(table.Table(trace, self.formats, self.request, own, frame.number))

    def place(self, frame):
        """Return the Place of a frame's tracepoint. Make it at the tracepoint's first frame."""
        if frame.number not in self.places:
            self.places[frame.number] = self.new_place(self.trace, frame)
        found = self.places[frame.number]
        found.table.trace = self.trace
        return found

    def line(self, frame):
        """Return the line for a frame, or None if the user has not selected this frame."""
        place = self.place(frame)
        condition, _, functions = place.table.at(frame)
        if condition and not place.table.holds(condition, frame):
            return None
        place.name = place.name or frames.name_of(frame.location)
        texts = [table.text(function, frame) for function in functions]
        front, rest = [], []
        for column, text in zip(place.table.columns, texts):
            if column.is_leading:
                front.append(text if column.title == "time" else column.title + " " + text)
            else:
                rest.append("%s=%s" % (column.title, table.short(text)))
        return harmless.line("  ".join([*front, place.name, ", ".join(rest)]).rstrip()) + "\n"

    def of(self, data):
        """Return the lines for the complete frames in DATA, up to the number of lines that the user asked for."""
        traceframe.select(0)
        whole = self.write(data)
        self.trace = TraceFile(whole, self.constants)
        found = []
        for index, (number, at, end) in enumerate(marks.frames(whole, self.trace.first)):
            if self.full():
                break
            if number == marks.NUMBER:
                found += self.gap(marks.of(whole, at, end))
                continue
            if number in self.without or self.request.number not in (None, number):
                continue
            try:
                text = self.line(Frame(self.trace, index, number, at, end))
            except (gdb.GdbError, gdb.error, Damaged) as error:
                found.append(self.leave_out(number, error))
                continue
            if text is not None:
                found.append(text)
                self.shown += 1
        return "".join(found)

    def leave_out(self, number, error):
        """Return the message about a tracepoint that cannot have the requested columns. Raise an error if no other
        tracepoint is left."""
        self.without.add(number)
        if self.request.number is not None or self.known <= self.without:
            raise error
        return "[tracepoint %d is left out: %s]\n" % (number, harmless.line(str(error).strip().replace("\n", "; ")))

    def gap(self, count):
        """Return the message for a point where frames are missing."""
        self.lost += count
        return ["[%d frames were lost: they came too fast]\n" % count] if count else []

    def full(self):
        return self.request.limit is not None and self.shown >= self.request.limit

    def unknown(self):
        return sum(place.table.unknown for place in self.places.values())


def say(text):
    sys.__stderr__.write(told(text))
    sys.__stderr__.flush()


def begun(pipe):
    """Wait for a run. Return its header, or None if a signal comes first."""
    asked, header = PATIENCE, None
    while header is None and not pipe.signals.came and not pipe.over:
        if pipe.wait(asked):
            # Read only once before the header is known: if it is refused, frames not yet read stay in the module.
            pipe.read_some()
            header = pipe.header()
        elif asked is not None and not pipe.signals.came:
            say(WAITS)
            asked = None
    return header


def follow(pipe, lines, out, seconds):
    """Print lines until the run ends, a limit is reached or a signal arrives."""
    until = time.monotonic() + seconds if seconds else None
    while True:
        data = pipe.whole()
        if data:
            out.put(lines.of(data))
            out.flush(pipe.signals)
        left = until - time.monotonic() if until else None
        if pipe.over or lines.full() or pipe.signals.came or out.closed or (left is not None and left <= 0):
            return
        if pipe.wait(left) and pipe.read() < FEW:
            select.select([pipe.signals], [], [], PAUSE)


def sum_up(lines, out, pipe):
    text = "%d frames shown" % max(lines.shown - out.unwritten - out.queue.count(b"\n"), 0)
    if lines.lost:
        text += ", %d were lost" % lines.lost
    if lines.unknown():
        text += "; %d lack a value that the condition needs" % lines.unknown()
    if pipe.dropped:
        text += "; a new run, or a reset, has dropped the frames that were not read yet"
    elif pipe.cut():
        text += "; the last one is not whole, and not shown"
    say(text)
    if not pipe.over:
        say(GOES_ON)


def live(request, signals):
    asked = table.Request(request["asked"], USAGE)
    if asked.csv or asked.limit is not None:
        raise gdb.GdbError("--csv and --limit are those of gtp table; say gtp live --count LINES, and > FILE")
    asked.limit = request["count"]
    pipe, out = Pipe(request["pipe"], signals), Output()
    header = begun(pipe)
    if header is None:
        if not signals.came:
            raise gdb.GdbError("%s has ended before a run began" % request["pipe"])
        return INTERRUPTED
    with tempfile.TemporaryDirectory(prefix="gtp-") as folder:
        lines = Lines(header, asked, folder + "/piece.tf")
        try:
            follow(pipe, lines, out, request["seconds"])
        except KeyboardInterrupt:
            pass  # ^C while a slow reader blocks the output
        finally:
            sum_up(lines, out, pipe)
    return OK


def main():
    request, status = json.loads(os.environ.pop("GTP_SHELL")), FAILED
    try:
        for setting in SETTINGS:
            gdbcall.execute("set " + setting)
        with Signals() as signals:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, CAUGHT)  # gtp live has blocked these signals
            status = live(request, signals)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Busy as busy:
        say(str(busy))
        status = BUSY
    except (gdb.GdbError, Damaged, Failure, OSError, RuntimeError) as error:  # includes gdb.error
        say(str(error))
    gdbcall.execute("quit %d" % status, shown=True)
