# SPDX-License-Identifier: GPL-2.0-only
"""Tests how a run of the command gtp ends: its output, its last message and its status. Threads of the test stand in for GDB
and the kernel."""
import contextlib
import io
import os
import signal
import socket
import tempfile
import threading
import types

from gtp.shell import child, output, progress, relay, rowcode, run, signals
from gtp.shell.failure import FAILED, INTERRUPTED, OK, Failure, told
from tap import SECONDS, check, equal, matches, test

SPEC = {"places": [{"name": "f", "parts": 1, "columns": [dict(kind="int", size=8, signed=True, title="n")], "nulls": []}],
        "lines": 1, "mark": "nomark"}
STOPPED = b"$S02#b5"


def packet(text):
    data = b"O" + text.hex().encode()
    return b"$%s#%02x" % (data, sum(data) & 0xff)


def row(n, pid=1):
    """Return the text that the kernel prints for a hit. The default PID is not that of this process, because gtp leaves
    out its own hits."""
    values = {rowcode.CLOCK: b"%x" % n, rowcode.TASK: b"%x" % pid, rowcode.TASK_NAME: b"init", 0: b"%x" % n}
    return b"\f\vnomark0.0" + b"".join(b"\v" + (b"nomark" if f.string else b"") + values[f.what]
                                       for f in rowcode.layout([False])[0]) + b"\fnomark\n"


class World:
    """Stands in for GDB and the kernel during a run. prints is the kernel's output, in pieces. ends says whether the kernel
    then ends the wait by itself, without an interrupt. counts and error are GDB's last message."""

    def __init__(self, prints, counts=None, error=None, ends=False, armed=lambda: None):
        self.prints, self.counts, self.error, self.ends, self.armed = prints, counts, error, ends, armed
        self.kernel, line = socket.socketpair()
        self.relay = relay.Relay(line.detach())
        self.after = lambda: None  # called after GDB's last message, when GDB has removed all probes
        self.words, ours = socket.socketpair()
        self.child = child.Child.__new__(child.Child)
        self.child.ours, self.child.rest, self.child.log = ours, b"", tempfile.TemporaryFile()
        self.child.process = types.SimpleNamespace(pid=os.getpid())
        self.sides, self.problems = [self.be_gdb, self.be_kernel], []

    def side(self, work):
        """Do the work of GDB's or the kernel's side in a thread. An error ends the run, and the test."""
        try:
            work()
        except Exception as problem:
            self.problems.append(problem)
            for end in (self.words, self.kernel):
                with contextlib.suppress(OSError):  # the socket may be closed already
                    end.shutdown(socket.SHUT_RDWR)

    def be_gdb(self):
        talk = child.Child.__new__(child.Child)
        talk.ours = self.words
        if self.error is None:
            talk.say({"ready": SPEC})
            line = socket.socket(socket.AF_UNIX)
            line.connect(self.relay.path)
            line.sendall(b"$c#63")
            self.got = line.recv(100)
            talk.say({"counts": {"hits": self.counts, "dropped": 0}})
            self.after()
        elif self.error:
            talk.say({"error": self.error})
        self.words.close()

    def be_kernel(self):
        if self.error is not None:
            return
        equal(self.kernel.recv(100), b"$c#63")
        for text in self.prints:
            self.kernel.sendall(packet(text))
        self.armed()
        if not self.ends:
            equal(self.kernel.recv(1), relay.INTERRUPT)
        self.kernel.sendall(STOPPED)

    def run(self, out, **settings):
        """Make a run that prints to a file descriptor, or to the file that CSV names. Return its status and its
        messages on standard error."""
        given = types.SimpleNamespace(csv=None, count=None, seconds=None)
        given.__dict__.update(settings)
        errors = io.StringIO()
        threads = [threading.Thread(target=self.side, args=(work,), daemon=True) for work in self.sides]
        with contextlib.redirect_stderr(errors), signals.Signals() as caught:
            one = run.Run(self.child, self.relay, given, progress.Progress(None, errors), caught)
            if out is not None:
                one.out.to(out)
            self.out = one.out
            for thread in threads:
                thread.start()
            try:
                status = one.run()
            except KeyboardInterrupt:
                status = INTERRUPTED
            finally:
                self.relay.close()
                for thread in threads:
                    thread.join(SECONDS)
                    check(not thread.is_alive(), "a side still waits")
                if self.problems:
                    raise self.problems[0]
        return status, errors.getvalue()


def printed(world, **settings):
    """Make a run that prints to a file. Return (status, messages, the numbers in the rows)."""
    with tempfile.TemporaryFile() as file:
        status, errors = world.run(file.fileno(), **settings)
        file.seek(0)
        lines = file.read().decode().splitlines()
    check(not lines or lines[0].split() == ["time", "cpu", "pid", "task", "n"], lines)
    return status, errors, [int(line.split()[4]) for line in lines[1:]]


@test("--count ends a run after exactly that many lines, in whatever pieces they arrive")
def count():
    for pieces in ([row(n) for n in range(9)], [b"".join(row(n) for n in range(9))]):
        equal(printed(World(pieces, counts=20), count=5),
              (OK, "gtp: 5 lines printed; 20 hits, 15 after the last line\n", [0, 1, 2, 3, 4]))


@test("--for ends the run; lines that are not printed count as dropped")
def time():
    equal(printed(World([row(1), row(2)], counts=7), seconds=0.2),
          (OK, "gtp: 2 lines printed; 7 hits, 5 not printed: too fast, or right before the end\n", [1, 2]))


@test("^C and SIGTERM end it with status 0, and with 130 before there is a probe")
def signalled():
    for number in (signal.SIGINT, signal.SIGTERM):
        world = World([row(1)], counts=1, armed=lambda: os.kill(os.getpid(), number))
        equal(printed(world), (OK, "gtp: 1 line printed; 1 hit\n", [1]))
        equal(world.got, STOPPED)
    world = World([], error="")
    world.sides[0] = lambda: os.kill(os.getpid(), signal.SIGINT)
    equal(printed(world), (INTERRUPTED, "", []))


@test("a closed output ends it, even if no further row arrives")
def closed():
    for prints in ([row(1), row(2)], []):
        reader, writer = os.pipe()
        world = World(prints, counts=2, armed=lambda: os.close(reader))
        status, errors = world.run(writer)
        os.close(writer)
        equal(status, OK)
        matches(r"^gtp: \d lines? printed; 2 hits", errors)


@test("a run that the kernel ends is a failure, with the kernel's message; GDB's own hits do not count")
def kernel_ends():
    world = World([row(1, os.getpid()), b"gdbtp: dprintf is not armed at 0x10 (f): it is on the list\n"], counts=1,
                  ends=True)
    equal(printed(world), (FAILED, "gtp: not armed at 0x10 (f): it is on the list\n"
                                   "gtp: 0 lines printed; 0 hits\n", []))


@test("an expression without a value is reported once and counted; the last line has the kernel's count of drops")
def failures():
    bad = b"dprintf at f+0x0 failed: cannot read memory at 0x10 (8 bytes)\n"
    text = [bad, row(1), bad, b"[3 lines of dprintf were dropped: they came too fast]\n"]
    equal(printed(World(text, counts=6), seconds=0.2),
          (OK, "gtp: no value at f+0x0: cannot read memory at 0x10 (8 bytes)\n"
               "gtp: 1 line printed; 6 hits, 2 without a value, 3 not printed: too fast, or right before the end\n",
           [1]))


@test("messages of the kernel and of GDB reach the terminal without control characters")
def harmless():
    bad = "dprintf at f+0x0 failed: \x1b]0;title\x07 of gr\u00fc\u00df\\\n".encode()
    world = World([bad, b"gdbtp: dprintf is not armed at 0x10 (\x1b[2J\xff)\n"], counts=1, ends=True)
    status, errors, _ = printed(world)
    equal((status, errors), (FAILED, "gtp: no value at f+0x0: \\033]0;title\\a of gr\u00fc\u00df\\\n"
                                     "gtp: not armed at 0x10 (\\033[2J\ufffd)\n"
                                     "gtp: 0 lines printed; 1 hit, 1 without a value\n"))
    equal(told("one\x1b[2J\n\ttwo\udcff\r"), "gtp: one\\033[2J\n  \ttwo\\377\\r\n")


@test("GDB's error is the command's error, and so is a GDB that ends without a message")
def errors():
    for error, wanted in (("no such function", "no such function"), ("", "GDB has ended without a word")):
        try:
            printed(World([], error=error))
        except Failure as failure:
            matches("^" + wanted, str(failure))
        else:
            check(False, "no failure")


def numbers(text):
    """Return the numbers in the rows of a table."""
    return [int(line.split()[4]) for line in text.decode().splitlines()[1:]]


def drained(reader, rows):
    """Read the titles and ROWS rows from a pipe. Return the text."""
    text = b""
    while text.count(b"\n") <= rows:
        text += os.read(reader, 1 << 16)
    return text


@test("--for ends a run whose output is blocked; the queue is bounded, and written after the probes are removed")
def blocked():
    many = 20000
    reader, writer = os.pipe()
    world = World([b"".join(row(n) for n in range(at, at + 100)) for at in range(0, many, 100)], counts=many)
    queued, got, interrupt = [], [], world.relay.interrupt
    world.relay.interrupt = lambda: (queued.append(len(world.out.queue)), interrupt())
    slow = threading.Thread(target=lambda: got.append(drained(reader, many)), daemon=True)
    world.after = slow.start
    most, output.MOST = output.MOST, 1 << 12
    try:
        status, errors = world.run(writer, seconds=0.5)
    finally:
        output.MOST = most
    slow.join(SECONDS)
    equal((status, errors), (OK, "gtp: %d lines printed; %d hits\n" % (many, many)))
    equal(numbers(got[0]), list(range(many)))
    equal(len(queued), 1)
    check(1 << 12 <= queued[0] < len(got[0]) // 4, "%d of %d bytes were queued" % (queued[0], len(got[0])))
    for end in (reader, writer):
        os.close(end)


@test("the first ^C ends a run whose output is blocked, the second ^C ends the wait for the output")
def given_up():
    reader, writer = os.pipe()
    world = World([b"".join(row(n) for n in range(at, at + 100)) for at in range(0, 4000, 100)], counts=4000)
    world.armed = lambda: os.kill(os.getpid(), signal.SIGINT)
    world.after = lambda: os.kill(os.getpid(), signal.SIGINT)
    equal(world.run(writer), (INTERRUPTED, ""))
    equal(world.got, STOPPED)
    for end in (reader, writer):
        os.close(end)


def refused(world, path):
    """Return the error of a run when GDB is ready to set the probes, but the output file cannot be opened."""
    given = types.SimpleNamespace(csv=path, count=None, seconds=None)
    one = run.Run(world.child, world.relay, given, progress.Progress(None, io.StringIO()), None)
    try:
        one.on_ready(SPEC)
    except Failure as failure:
        equal(str(failure), "%s: No such file or directory" % path)
    else:
        check(False, "no failure")
    finally:
        world.relay.close()


@test("--csv: a file keeps its contents until a run has begun; a file that cannot be written fails before that")
def csv_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w", encoding="ascii") as file:
            file.write("of yesterday, and longer than what comes\n" * 3)
        try:
            World([], error="no such function").run(None, csv=path)
        except Failure as failure:
            equal(str(failure), "no such function")
        else:
            check(False, "no failure")
        output.Output(path).open()
        with open(path, encoding="ascii") as file:
            equal(file.read(), "of yesterday, and longer than what comes\n" * 3)
        equal(World([row(1), row(2)], counts=2).run(None, csv=path, count=2),
              (OK, "gtp: 2 lines printed; 2 hits\n"))
        with open(path, encoding="ascii") as file:
            equal([line.split(",")[4] for line in file.read().splitlines()], ["n", "1", "2"])
        path = os.path.join(folder, "missing", "rows.csv")
        refused(World([]), path)


@test("a GDB that is killed while the kernel prints is reported, and the run does not wait for its deadline")
def killed():
    world = World([])

    def be_gdb():
        talk = child.Child.__new__(child.Child)
        talk.ours = world.words
        talk.say({"ready": SPEC})
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(world.relay.path)
            line.sendall(b"$c#63")
            equal(world.kernel.recv(100), b"$c#63")
        with contextlib.suppress(BrokenPipeError):  # gtp may already have closed the connection, because GDB has exited
            world.kernel.sendall(packet(row(1)) + STOPPED)
        world.words.close()

    world.sides = [be_gdb]
    try:
        printed(world, seconds=3600)
    except Failure as failure:
        matches("^GDB has ended without a word", str(failure))
    else:
        check(False, "no failure")
