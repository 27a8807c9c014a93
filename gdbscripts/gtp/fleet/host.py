# SPDX-License-Identifier: GPL-2.0-only
"""Talks to one machine, step by step, and keeps the machine's state. engine.py transports the data."""
import os
import re
import time

from gtp.fleet import offset, remote, results

PIECE = 1 << 18  # the maximum number of bytes of a file in memory while it is copied to a machine
TEXT_MOST = 16 << 20  # the maximum size of a machine's lines, in bytes; gtp-run writes a line for each tracepoint
WORDS = 2000  # how many of the last characters of a machine's error messages are kept
WAITING, CONNECTING, COPYING, STARTING, TRACING, FETCHING, DONE, FAILED = (
    "waiting", "connecting", "copying", "starting", "tracing", "fetching", "done", "failed")
# gtp-run's lines with numbers: the frames in the file, and each tracepoint's hits.
FRAMES = re.compile(r"frames: +([0-9]+)")
HITS = re.compile(r"tracepoint .*: ([0-9]+) hits")
MOST_NUMBER = 1 << 64  # the module's own counts are smaller
DIED = "the connection has ended while it was %s, with ssh's status %s"
KEPT = "what it has collected may be in %s there"


class Lost(Exception):
    """There is no trace file from a machine. The text is the reason, followed by the machine's own message. There is no
    reason if the machine's message suffices."""


class Flood(Lost):
    """The machine sends far more data than a run makes, so it is given up at once."""


def number_of(digits, most=MOST_NUMBER):
    """Return the number that a machine has written in decimal. Raise Lost if the number is not below MOST."""
    if len(digits) > len(str(most)) or int(digits) >= most:
        raise Lost("a number that it has sent is too large: " + digits[:len(str(most))] + "...")
    return int(digits)


class Host:
    """A machine. CHANGED(host) is called whenever the machine's state changes."""

    def __init__(self, name, folder, files, words, changed):
        self.name, self.files, self.words, self.changed = name, files, words, changed
        self.path = os.path.join(folder, results.trace_file(name))
        self.state, self.why, self.place = WAITING, "", None
        self.heard = self.began = self.asked = None  # values of time.monotonic()
        self.complaints, self.said, self.rest = b"", [], b""
        self.first, self.last = [], []  # offset.Rounds before and after the run
        self.stopping = False
        self.left, self.file = 0, None  # a file that is arriving: its missing bytes, and where it goes
        self.line = self.steps = None
        self.over = None  # the time when the conversation was over
        self.lost = None  # why there will be no file; the machine's own message may still arrive
        self.lost_at = None  # the time when the failure became known
        self.text = 0  # bytes of the lines that the machine has written
        self.frames, self.hits = None, 0  # in gtp-run's lines

    def is_over(self):
        return self.state in (DONE, FAILED)

    def enter(self, state):
        self.state = state
        if self.is_over():
            self.over = time.monotonic()
        self.changed(self)

    # The line ----------------------------------------------------------------------------------

    def start(self, line):
        """Note that the connection is up. LINE has write(bytes), which sends; close(), which ends the input; and
        kill(), which ends the connection."""
        self.line = line
        self.began = self.heard = self.asked = time.monotonic()
        if self.is_over():  # the run was stopped while this machine waited for its turn
            self.line.close()
            return
        self.enter(CONNECTING)
        self.steps = self.talk()
        next(self.steps)

    def say(self, text):
        self.line.write(text.encode() + b"\n")

    def complained(self, data):
        """Process data that the machine has written to standard error."""
        self.heard = time.monotonic()
        self.complaints = (self.complaints + data)[-WORDS:]
        if self.state == STARTING and b"gtp-run: tracing" in self.complaints:
            self.enter(TRACING)
            if self.stopping:
                self.say("stop")

    def answered(self, data):
        """Process data that the machine has written to standard output."""
        self.heard, at = time.monotonic(), offset.now()
        if self.is_over() or self.lost is not None:
            return
        self.rest += data
        try:
            self.take(at)
        except StopIteration:
            self.enter(DONE)
        except Flood as error:
            self.fail(str(error))
            self.line.kill()
        except (Lost, OSError) as error:
            self.lost, self.lost_at = str(error), time.monotonic()
            self.line.close()

    def take(self, at):
        """Pass received data to the step that waits for it: lines, or a file's bytes."""
        while self.rest:
            if self.left:
                part, self.rest = self.rest[:self.left], self.rest[self.left:]
                self.file.write(part)
                self.left -= len(part)
                if not self.left:
                    self.steps.send((None, at))
                continue
            line, end, rest = self.rest.partition(b"\n")
            if self.text + len(line) > TEXT_MOST:
                raise Flood("it has written more than %d MiB of text" % (TEXT_MOST >> 20))
            if not end:
                return
            self.text += len(line)
            self.rest = rest
            text = line.decode(errors="replace").rstrip("\r")
            if text != "alive":
                self.steps.send((text, at))

    def ended(self, status):
        """Note that the connection to the machine has ended, with ssh's exit status."""
        if self.is_over():
            return
        kept = self.state == FETCHING or self.lost is None and self.state == TRACING
        head = "" if self.lost is None else self.lost
        self.fail("\n".join(filter(None, (head, self.own_words()))) or DIED % (self.state, status), kept)

    def fail(self, why, kept=False):
        """Give up the machine: there will be no trace file from it. KEPT: the frames stay on the machine, and the
        message says where."""
        if self.file:
            self.file.close()
            os.unlink(self.file.name)
            self.file = None
        if kept and self.place:
            why += "\n" + KEPT % self.place
        self.why = why
        self.enter(FAILED)
        if self.line:
            self.line.close()

    def own_words(self):
        """Return the machine's error messages, without those about progress."""
        lines = self.complaints.decode(errors="replace").splitlines()
        return "\n".join(line for line in lines if line.strip() and not line.startswith("gtp-run: tracing"))

    # While time passes -------------------------------------------------------------------------

    def tick(self, silence):
        """Ask whether the machine still answers, and give it up if it has been silent for too long."""
        now = time.monotonic()
        if self.began is None:
            return
        if self.is_over():
            if now - self.over > silence:
                self.line.kill()
        elif self.lost is not None and now - self.lost_at > silence:
            self.fail(self.lost)
            self.line.kill()
        elif now - self.heard > silence:
            self.fail("no sign of life for %g s while it was %s" % (silence, self.state),
                      self.state in (TRACING, FETCHING))
            self.line.kill()
        elif self.state in (STARTING, TRACING) and now - max(self.asked, self.heard) > silence / 4:
            self.asked = now
            self.say("alive")

    def stop(self):
        """End the run now and fetch its frames; a run that has not begun does not begin."""
        if self.stopping or self.is_over():
            return
        self.stopping = True
        if self.state == TRACING:
            self.say("stop")
        elif self.state in (WAITING, CONNECTING, COPYING):
            self.fail("stopped before it began")
            if self.line:
                self.line.kill()

    # The steps ---------------------------------------------------------------------------------

    def talk(self):
        """Talk to the machine. Each yield evaluates to (the next line from the machine, when it arrived)."""
        line = ""
        while not line.startswith(remote.HELLO + " "):
            line, _ = yield
        self.place = line.partition(" ")[2]
        self.enter(COPYING)
        for name, data in self.files:
            yield from self.put(name, data)
        self.first = yield from self.clocks()
        self.enter(STARTING)
        self.complaints = b""
        self.say("run " + " ".join(self.words))
        yield from self.run()
        self.enter(FETCHING)
        self.last = yield from self.clocks()
        yield from self.fetch()
        self.say("bye")

    def put(self, name, data):
        for at in range(0, len(data), PIECE):
            piece = data[at:at + PIECE]
            self.line.write(b"put %s %d\n" % (name.encode(), len(piece)) + piece)
            line, _ = yield
            if line != "put":
                raise Lost(line)

    def clocks(self):
        """Take several readings of the machine's clocks."""
        found = []
        self.say("clocks %d" % offset.ROUNDS)
        for _ in range(offset.ROUNDS):
            before = offset.now()
            self.say("")
            line, after = yield
            if not re.fullmatch("[0-9]+ [0-9]+", line):
                raise Lost("gtp-run does not run there: " + line)
            wall, monotonic = (number_of(digits, results.MOST_NS) for digits in line.split())
            found.append(offset.Round(before, after, wall, monotonic))
        return found

    def run(self):
        """Process the lines of gtp-run, up to its end."""
        while True:
            line, _ = yield
            found = re.fullmatch("ended ([0-9]+)", line)
            if found:
                break
            self.count(line)
            self.said.append(line)
        status = number_of(found.group(1))
        if status > 128:
            raise Lost("gtp-run was ended there by signal %d" % (status - 128))
        if status:
            raise Lost("")

    def count(self, line):
        """Add the number of frames or hits in a line of gtp-run, if there is one, to this machine's numbers."""
        frames, hits = FRAMES.match(line), HITS.fullmatch(line)
        if frames:
            self.frames = number_of(frames.group(1))
        if hits:
            self.hits += number_of(hits.group(1))

    def fetch(self):
        self.say("get out.tf")
        line, _ = yield
        found = re.fullmatch("file +([0-9]+)", line)
        size = number_of(found.group(1)) if found else 0
        if not size:
            raise Lost("its trace file cannot be read: " + line)
        self.file = open(self.path + ".part", "wb")
        self.left = size
        yield
        self.file.close()
        os.replace(self.file.name, self.path)
        self.file = None

    # The result -------------------------------------------------------------------------------

    def row(self, here):
        """Return the machine's entry in hosts.json. HERE is the result of offset.anchor()."""
        found = {"host": self.name, "status": self.state, "why": self.why}
        if self.first:
            ns, error_ns = offset.between(self.first, self.last)
            wall = offset.of_wall(self.first, here)
            found.update(offset_ns=ns, error_ns=error_ns, ahead_ns=wall.ns, ahead_error_ns=wall.error_ns)
        kernel = re.search(r"^kernel: +(%s) \(build-id (%s)\)$" % (results.RELEASE, results.BUILD_ID), "\n".join(self.said), re.M)
        if kernel:
            found.update(release=kernel.group(1), build_id=kernel.group(2))
        if self.state == DONE:
            found.update(file=os.path.basename(self.path), said=self.said, frames=self.frames, hits=self.hits)
        return found
