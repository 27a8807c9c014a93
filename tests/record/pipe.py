# SPDX-License-Identifier: GPL-2.0-only
"""Common code of the tests of gtp-drain: a FIFO that stands in for the module's pipe, frames to write to it, gtp-drain as its
reader, and the frames in trace files."""
import os
import shutil
import signal
import struct
import subprocess
import threading

from tap import SECONDS, check, equal, until
from tasks import unread

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(TOP, "build/record")
GTP, DRAIN = (os.path.join(TOP, name) for name in ("tools/gtp", "build/tools/gtp-drain"))
HEAD = struct.Struct("<HI")
END = bytes(4)
MEMORY = 0x10000
HEADER = (b"\x7fTRACE0\nR 118\nstatus 0;tstop::0;tframes:0;tcreated:0;tfree:1000;tsize:10000;circular:1;disconn:0;"
          b"starttime:0;stoptime:0;username:;notes:\ntp T1:1000:E:0:0\ntp T2:2000:E:0:0\ntsv 1:0:1:6370755f6964\n"
          b"tsv 200:0:1:6c6f7374\n\n")


# The input -------------------------------------------------------------------------------------------


def frame(number, data):
    return HEAD.pack(number, len(data)) + data


def variable(number, value):
    return b"V" + struct.pack("<Iq", number, value)


def hit(index, size=None):
    """Return a frame of one of two tracepoints. The frame's collected memory contains the frame's index. If SIZE is given,
    the frame has SIZE bytes in all."""
    data = variable(1, index % 8) + b"M" + struct.pack("<QH", MEMORY, 8) + struct.pack("<Q", index)
    while size and len(data) + HEAD.size < size:
        more = min(size - len(data) - HEAD.size, 60011)
        data += b"M" + struct.pack("<QH", 2 * MEMORY, max(more - 11, 0)) + bytes(range(256)) * 240
        data = data[:size - HEAD.size]
    return frame(1 + index % 2, data)


def hits(chance, count):
    """Return COUNT frames of random sizes: many small ones, some large ones."""
    return [hit(i, chance.choice((None, None, None, 100, 4096, chance.randrange(60, 20000)))) for i in range(count)]


def lost(cpu, count):
    return frame(0xffff, variable(1, cpu) + variable(0x200, count))


# The file's contents---------------------------------------------------------------------------------


def frames_of(data, header=HEADER, whole=True):
    """Return a trace file's frames as bytes. If WHOLE, check that nothing follows the end mark."""
    check(data.startswith(header), "it does not begin with the header: %r" % data[:80])
    at, found = len(header), []
    while True:
        check(at + 2 <= len(data), "no end behind frame %d" % len(found))
        if data[at:at + 2] == b"\0\0":
            break
        check(at + HEAD.size <= len(data), "frame %d is cut" % len(found))
        size = HEAD.size + HEAD.unpack_from(data, at)[1]
        check(at + size <= len(data), "frame %d is cut" % len(found))
        found.append(data[at:at + size])
        at += size
    if whole:
        check(data[at:] == END, "%d bytes are behind frame %d: %r" % (len(data) - at, len(found), data[at:at + 40]))
    return found


def path(name):
    return os.path.join(OUT, name)


def content(name):
    with open(path(name), "rb") as file:
        return file.read()


def frames_in(name, **more):
    return frames_of(content(name), **more)


def shown(name):
    """Return the number of frames that a reader sees during the recording. Return 0 if there is no file yet."""
    return len(frames_in(name, whole=False)) if os.path.exists(path(name)) else 0


# Both ends -------------------------------------------------------------------------------------------


def clear():
    """Make the folder of the tests empty."""
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)


class Drain:
    """A running gtp-drain, or another PROGRAM, with WORDS as its arguments. The program reads from a FIFO that this object
    owns."""

    def __init__(self, *words, program=(DRAIN,), first=b"", **more):
        """Start the program, with FIRST already in the FIFO. Return when the program has read FIRST."""
        self.fifo = path("fifo")
        if not os.path.exists(self.fifo):
            os.mkfifo(self.fifo)
        if first:
            self.pipe = os.open(self.fifo, os.O_RDWR)
            self.write(first)
        more.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([*program, "--pipe", self.fifo, *words], cwd=OUT, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, text=True, errors="replace", **more)
        if first:
            until(lambda: not unread(self.pipe), "all to be read")
            ahead, self.pipe = self.pipe, os.open(self.fifo, os.O_WRONLY)
            os.close(ahead)
        else:
            # This open() waits until the program has opened the other end.
            self.pipe = os.open(self.fifo, os.O_WRONLY)
        self.thread = None

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.pipe, view):]

    def written(self, data):
        """Write data, and wait until the program has read it."""
        self.write(data)
        until(lambda: not unread(self.pipe), "all to be read")

    def pieces(self, chance, data):
        """Write data in pieces of random sizes. Sometimes wait until the program has read a piece."""
        at = 0
        while at < len(data):
            size = chance.choice((1, 2, 5, chance.randrange(1, 100), chance.randrange(1, 60000)))
            (self.written if chance.random() < 0.1 else self.write)(data[at:at + size])
            at += size

    def in_background(self, data):
        """Start a thread that writes data as fast as the program reads it. The thread ends when the program has closed
        the FIFO."""
        def work():
            try:
                self.write(data)
            except BrokenPipeError:
                pass
        self.thread = threading.Thread(target=work)
        self.thread.start()

    def status(self):
        """Return /proc/PID/status of the program."""
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as file:
            return file.read()

    def send(self, number):
        self.process.send_signal(number)

    def wait(self, status=0):
        """Wait for the program's end, and check its exit status. Return its messages."""
        text = self.process.communicate(timeout=SECONDS)[1]
        if self.thread:
            self.thread.join()
        os.close(self.pipe)
        equal(self.process.returncode, status, "exit status of a program that says %r" % text)
        return text


def drained(data, *words, status=0, **more):
    """Let gtp-drain record DATA and the end of the run, without pauses. Return its messages."""
    drain = Drain(*words, **more)
    drain.in_background(data + END)
    return drain.wait(status)


def refused(*words, status=1):
    """Run gtp-drain. Fail if it does not end by itself with this exit status. Return its messages."""
    done = subprocess.run([DRAIN, *words], cwd=OUT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    equal(done.returncode, status, done.stderr)
    return done.stderr


ENDINGS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
