# SPDX-License-Identifier: GPL-2.0-only
"""Tests of gtp live, which reads from a FIFO here: its lines for a run of a relocated program, and the ways in which gtp
live ends."""
import os
import re
import select
import signal
import subprocess
import sys
import threading

import offline
from pipe import GTP, TOP, lost
from tap import SECONDS, check, equal, matches, seeded, test, until
from tasks import state

OUT = os.path.join(TOP, "build/live")
SLIDE = 0x1fe00000
SESSION = """trace add if a > 2
actions
collect a, b, $clock, $cpu_id
end
trace look
actions
collect *t
end
"""
CHANCE = seeded()
made = {}


def run_of_prog():
    """Make the header and the frames of an active run, as the module's pipe delivers them."""
    made.update(run_of(SESSION, "{add} 1 9", "{add} 3 4", "{look} {first} 7", "{look} {second} 8", "{add} 5 6"))


def run_of(session, *lines):
    """Build the program in OUT. Return the header and the frames of a session with these hits."""
    symbols = offline.build(OUT)
    offline.write_hits(OUT + "/hits", symbols, *lines)
    with open(OUT + "/session.gdb", "w", encoding="ascii") as file:
        file.write(session)
    offline.sh(OUT, "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set remotetimeout 60", "prog", "-x", TOP + "/gdbscripts/gtp.py",
               "-ex", "target remote | ./target prog %#x %s hits" % (SLIDE, offline.BUILD_IDS["prog"]), "-x", "session.gdb",
               "-ex", "tstart", "-ex", "tstop", "-ex", "gtp save run.tf")
    with open(OUT + "/run.tf", "rb") as file:
        header, _, rest = file.read().partition(b"\n\n")
    frames = []
    while rest[:2] != b"\0\0":
        size = 6 + int.from_bytes(rest[2:6], "little")
        frames.append(rest[:size])
        rest = rest[size:]
    return {"header": header + b"\ntsv 200:0:1:6c6f7374\n\n", "frames": frames}


class Live:
    """A running gtp live. This object keeps the writing end of its FIFO open until end()."""

    def __init__(self, *words, vmlinux="=prog", stdout=subprocess.PIPE, command=None):
        if not made:
            run_of_prog()
        if os.path.exists(OUT + "/pipe"):  # a failed test may have left a reader of the old FIFO
            os.unlink(OUT + "/pipe")
        os.mkfifo(OUT + "/pipe")
        self.pipe = os.open(OUT + "/pipe", os.O_RDWR | os.O_NONBLOCK)
        self.process = subprocess.Popen(command or [sys.executable, GTP, "live", "--vmlinux" + vmlinux, "--pipe", "pipe", *words],
                                        cwd=OUT, stdout=stdout, stderr=subprocess.PIPE, text=True)

    def send(self, *data):
        """Write data to the pipe in pieces, until the command has read all of it or has ended."""
        data = memoryview(b"".join(data))
        most = max(400, len(data) // 1000)
        while data and self.process.poll() is None:
            if select.select([], [self.pipe], [], 0.2)[1]:
                data = data[os.write(self.pipe, data[:CHANCE.randrange(1, most)]):]

    def waits(self):
        """Return whether the pipe for the program's output is full. Ask select(), because a full pipe may hold fewer bytes
        than its size: some of its pages may be partly empty."""
        writer = os.open("/proc/self/fd/%d" % self.process.stdout.fileno(), os.O_WRONLY | os.O_NONBLOCK)
        try:
            return not select.select([], [writer], [], 0)[1]
        finally:
            os.close(writer)

    def until(self, what):
        """Return the next line from the program: WHAT is "stdout" or "stderr"."""
        return getattr(self.process, what).readline()

    def hang_up(self):
        if self.pipe is not None:
            os.close(self.pipe)
        self.pipe = None

    def end(self):
        """Return the exit status, and the rest of the output and of the messages."""
        try:
            out, said = self.process.communicate(timeout=SECONDS)
        finally:
            self.process.kill()
        self.hang_up()  # only now, because unread data in a FIFO is lost when the last process closes it
        return self.process.returncode, out, said


def name_of(pid):
    with open("/proc/%d/comm" % pid, encoding="ascii") as file:
        return file.read().strip()


def shown(*words, end=b"\0\0", header=None, frames=None, **more):
    live = Live(*words, **more)
    data = made["header"] if header is None else header, *(frames or made["frames"]), end
    writer = threading.Thread(target=live.send, args=data)
    writer.start()
    try:
        return live.end()
    finally:
        writer.join()


ADD = r"(\d+\.\d{9})  cpu 0  add  a=%d, b=%d\n"
LOOK = r'look  \*t={id = %d, big = %d, name = "%s", next = .*}\n'


@test("gtp live prints a line for each frame, with types and times, of a kernel at another address than vmlinux")
def lines():
    status, out, said = shown()
    found = re.fullmatch(ADD % (3, 4) + LOOK % (1, 11, "first") + LOOK % (2, -22, "second") + ADD % (5, 6), out)
    check(found, out + said)
    check(float(found[1]) < float(found[2]), "times: " + out)
    equal((status, said), (0, "gtp: 4 frames shown\n"))


@test("gtp live shows the requested tracepoint, columns, frames and number of lines, and says that the run goes on")
def some():
    equal(shown("2 t->name, t->id if t->big < 0"), (0, 'look  t->name="second", t->id=2\n', "gtp: 1 frames shown\n"))
    status, out, said = shown("--count", "1", "a * 2, b if a > 3", end=b"", frames=made["frames"][-1:] * 50)
    matches("^[^\n]*  add  a \\* 2=10, b=6\n$", out)
    equal((status, said), (0, "gtp: 1 frames shown\ngtp: the run continues without a reader\n"))
    status, out, said = shown("1 nosuch")
    equal((status, out), (1, ""))
    matches("nosuch: No symbol", said)
    equal(shown("9"), (1, "", "gtp: the run has no tracepoint 9; there are 1, 2\n"))
    matches("--csv and --limit are those of gtp table", shown("--", "--limit 1")[2])


@test("gtp live leaves out a tracepoint that lacks a name, or that joined the run later, and says so")
def left_out():
    status, out, said = shown("a * 2 if a > 3")
    equal((status, said), (0, "gtp: 1 frames shown\n"))
    matches(r'^\[tracepoint 2 is left out: .*No symbol "a" in current context\.\]\n[^\n]*  add  a \* 2=10\n$', out)
    first = made["frames"][0]
    late = (9).to_bytes(2, "little") + first[2:]
    status, out, said = shown(frames=[first, late, late, first])
    equal((status, said), (0, "gtp: 2 frames shown\n"))
    matches("^" + ADD % (3, 4) + r"\[tracepoint 9 is left out: [^\n]*\]\n" + ADD % (3, 4) + "$", out)
    status, out, said = shown("1", frames=[first, late])
    equal((status, said), (0, "gtp: 1 frames shown\n"))


@test("gtp live refuses columns that no tracepoint can have, and takes no frame")
def refused_ahead():
    for asked in ("nosuch", "1 a if nosuch > 3", "2 a", "if a +"):
        live = Live(asked)
        live.send(made["header"])
        out, said = live.process.communicate(timeout=SECONDS)
        equal((live.process.returncode, out), (1, ""))
        check("frames shown" not in said and re.match("gtp: .*(No symbol|syntax error|expected)", said, re.S), said)
        live.hang_up()


@test("gtp live shows frames of several tracepoints and sizes, in whatever pieces they arrive")
def pieces():
    frames = made["frames"]
    patterns = [ADD % (3, 4), LOOK % (1, 11, "first"), LOOK % (2, -22, "second"), ADD % (5, 6)]
    live = Live()
    live.send(made["header"])
    for _ in range(30):
        some = [CHANCE.randrange(len(frames)) for _ in range(CHANCE.choice((1, 1, 2, 5)))]
        live.send(*(frames[i] for i in some))
        for i in some:
            matches("^" + patterns[i], live.until("stdout"))
    live.send(b"\0\0")
    equal(live.end()[:2], (0, ""))
    status, out, said = shown(frames=frames * 5000)
    equal((status, out.count("\n"), said), (0, 20000, "gtp: 20000 frames shown\n"))


@test("gtp live accepts a header of more than a mebibyte")
def large():
    line = re.search(rb"tp Z1:\w+:cmd:0:", made["header"])[0]
    text = b"collect a".ljust(400).hex().encode()
    header = made["header"][:-1] + 1500 * (line + b"%x:%s\n" % (400, text)) + b"\n"
    check(len(header) > 1 << 20, len(header))
    status, out, said = shown(header=header)
    equal((status, out.count("\n"), said), (0, 4, "gtp: 4 frames shown\n"))


@test("gtp live prints where frames are missing")
def gaps():
    frames = made["frames"]
    status, out, said = shown("1", frames=[frames[0], lost(0, 70), lost(1, 7), *frames[1:]])
    matches(r"b=4\n\[70 frames were lost: they came too fast\]\n\[7 frames were lost: they came too fast\]\n[^\n]*a=5", out)
    equal((status, said), (0, "gtp: 2 frames shown, 77 were lost\n"))


@test("gtp live reports a pipe that ends within a frame")
def cut():
    live = Live()
    live.send(made["header"], *made["frames"][:2], made["frames"][2][:-1])
    for pattern in (ADD % (3, 4), LOOK % (1, 11, "first")):
        matches("^" + pattern, live.until("stdout"))
    live.hang_up()
    status, out, said = live.end()
    equal((status, out, said), (0, "", "gtp: 2 frames shown; the last one is not whole, and not shown\n"))


@test("a closed standard stream is not confused with another file; a file that is no vmlinux is refused")
def refused():
    line = "exec %s %s live --vmlinux prog --pipe pipe >&-" % (sys.executable, GTP)
    live = Live(command=["/bin/sh", "-c", line])
    live.send(made["header"], made["frames"][0])
    equal(live.end(), (1, "", "gtp: 0 frames shown\ngtp: the run continues without a reader\n"
                              "gtp: standard output: Bad file descriptor\n"))
    with open(OUT + "/-text", "w", encoding="ascii") as file:
        file.write("no ELF file")
    for name, wrong in (("-text", "-text is not an ELF file; a vmlinux with debug information is one"), ("none", "none is not a file")):
        equal(shown(vmlinux="=" + name), (1, "", "gtp: %s\n" % wrong))


@test("^C and SIGTERM end gtp live; before a run the status is 130")
def signals():
    live = Live()
    until(lambda: name_of(live.process.pid) == "gdb", "GDB, which is starting")
    live.process.send_signal(signal.SIGINT)
    equal(live.end(), (130, "", ""))
    live = Live()
    matches("no run is on: it waits for one to begin", live.until("stderr"))
    live.process.send_signal(signal.SIGINT)
    equal(live.end(), (130, "", ""))
    for number in (signal.SIGINT, signal.SIGTERM):
        live = Live()
        live.send(made["header"], made["frames"][0])
        matches(ADD % (3, 4), live.until("stdout"))
        live.process.send_signal(number)
        equal(live.end(), (0, "", "gtp: 1 frames shown\ngtp: the run continues without a reader\n"))


@test("^C ends gtp live while nobody reads its output")
def blocked():
    live = Live()
    writer = threading.Thread(target=live.send, args=(made["header"], *made["frames"] * 1000), daemon=True)
    writer.start()
    until(lambda: state(live.process.pid) == "S" and live.waits(), "output that is full")
    live.process.send_signal(signal.SIGINT)
    equal(live.process.wait(timeout=SECONDS), 0)
    writer.join()
    out, said = live.end()[1:]
    shown_frames = int(matches(r"^gtp: (\d+) frames shown\ngtp: the run continues", said)[1])
    check(0 <= out.count("\n") - shown_frames <= 1, (out.count("\n"), said))


@test("gtp live ends when its output is closed, and --for counts the time of the run")
def others():
    reader, writer = os.pipe()
    live = Live(stdout=writer)
    os.close(writer)
    os.close(reader)
    live.send(made["header"], made["frames"][0])
    equal(live.process.wait(timeout=SECONDS), 0)
    matches("gtp: the run continues without a reader\n$", live.end()[2])
    live = Live("--for", "300ms")
    live.send(made["header"], made["frames"][0])
    equal(live.process.wait(timeout=SECONDS), 0)
    matches("a=3", live.end()[1])


@test("gtp live refuses another kernel's vmlinux, and a file that is not a trace file")
def refuses():
    status, out, said = shown(vmlinux="=other")
    equal((status, out), (1, ""))
    matches("other is not of the kernel of this run.*%s" % offline.BUILD_IDS["prog"], said)
    live = Live()
    live.send(b"no trace file\n\n" + bytes(100))
    status, out, said = live.end()
    equal((status, out), (1, ""))
    matches("trace file", said)
