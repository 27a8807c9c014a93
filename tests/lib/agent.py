# SPDX-License-Identifier: GPL-2.0-only
"""Access from the host to a guest's kernel: files and processes, through the agent in the guest. See where.py."""
import errno
import functools
import io
import os
import re
import signal
import socket
import struct
import subprocess
import time

from frames import (DATA, F_CLOCK, F_CLOSE, F_LIST, F_MKDIR, F_OPEN, F_PID, F_READ, F_RMDIR, F_STAT, F_WRITE, FILES, MOST,
                    REQUEST, Frames, framed)

IN_GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vm/in-guest")
PIECE = MOST - 4096  # the maximum number of bytes in one request


class Handle(io.RawIOBase):
    """An open file of the guest. Each read and each write is one system call in the guest."""

    def __init__(self, guest, path, flags):
        super().__init__()
        self.guest, self.name, self.flags = guest, path, flags
        self.handle = guest.ask(F_OPEN, path, flags=flags)[0]

    def readable(self):
        return self.flags & os.O_ACCMODE != os.O_WRONLY

    def writable(self):
        return self.flags & os.O_ACCMODE != os.O_RDONLY

    def get(self, count, offset=-1):
        """Return bytes from OFFSET, as pread() does, or from the current position. Return no bytes at the end of the
        file."""
        return self.guest.ask(F_READ, self.name, fd=self.handle, count=min(count, PIECE), offset=offset, body=b"")[1]

    def write(self, data, offset=-1):
        data = bytes(data)[:PIECE]
        return self.guest.ask(F_WRITE, self.name, fd=self.handle, offset=offset, body=data)[0]

    def readinto(self, into):
        data = self.get(len(into))
        into[:len(data)] = data
        return len(data)

    def close(self):
        if not self.closed:
            super().close()
            self.guest.ask(F_CLOSE, self.name, fd=self.handle, body=b"")


# The signals that in-guest passes on to the guest's process.
SIGNALS = (signal.SIGRTMIN, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT)


class Process(subprocess.Popen):
    """A process in the guest. The local program in-guest stands for it: in-guest passes input, output and signals on,
    and ends as the guest's process ends. pid is the pid in the guest."""

    def __init__(self, words, **more):
        # Block the signals; in-guest unblocks them when it can pass them on.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            super().__init__([IN_GUEST, *words], **more)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def send_signal(self, sig):
        super().send_signal(signal.SIGRTMIN if sig == signal.SIGKILL else sig)


class Guest:
    """The kernel of a guest. The agent reads and writes files itself; it has GDB's connection open, so it is not
    traced. Programs that it runs are traced."""
    here = False

    def __init__(self, folder):
        self.folder = folder
        self.line = folder + "/gtp"  # the argument for GDB's `target remote'
        self.owner = self.sock = self.frames = None

    # Requests ------------------------------------------------------------------------------------

    def connected(self):
        """Return this process's connection to the agent. A forked child gets a connection of its own."""
        if self.owner != os.getpid():
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(self.folder + "/agent")
            self.sock.sendall(framed(0, FILES))
            self.owner, self.frames = os.getpid(), Frames()
        return self.sock

    def answer(self, sock):
        while True:
            data = sock.recv(1 << 18)
            if not data:
                raise EOFError("the guest has gone")
            for _, kind, body in self.frames.of(data):
                if kind == DATA:
                    return struct.unpack_from("<q", body)[0], body[8:]

    def ask(self, what, path, fd=-1, flags=0, count=0, offset=-1, body=None):
        """Send a request to the agent. Return its result, and bytes. Raise an OSError with the guest's errno."""
        body = os.fsencode(path) if body is None else body
        sock = self.connected()
        sock.sendall(framed(0, DATA, REQUEST.pack(what, fd, flags, count, offset) + body))
        result, data = self.answer(sock)
        if result < 0:
            raise OSError(-result, os.strerror(-result), path)
        return result, data

    # Files ---------------------------------------------------------------------------------------

    def handle(self, path, flags):
        return Handle(self, path, flags)

    def open(self, path, mode="r", encoding=None, errors=None):
        kinds = {"r": os.O_RDONLY, "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND}
        raw = Handle(self, path, kinds[mode[0]])
        file = io.BufferedReader(raw, 1 << 18) if mode[0] == "r" else io.BufferedWriter(raw, PIECE)
        return file if "b" in mode else io.TextIOWrapper(file, encoding=encoding or "utf-8", errors=errors)

    def mode(self, path):
        """Return st_mode of a file in the guest, or 0 if the file does not exist."""
        try:
            return struct.unpack("<QQ", self.ask(F_STAT, path)[1])[0]
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return 0
            raise

    def exists(self, path):
        return self.mode(path) != 0

    def isdir(self, path):
        return self.mode(path) & 0o170000 == 0o040000

    def listdir(self, path):
        return [os.fsdecode(name) for name in self.ask(F_LIST, path)[1].split(b"\0") if name]

    def mkdir(self, path):
        self.ask(F_MKDIR, path)

    def rmdir(self, path):
        self.ask(F_RMDIR, path)

    # Processes -----------------------------------------------------------------------------------

    def popen(self, words, **more):
        return Process(words, **more)

    def run(self, words, **more):
        return subprocess.run([IN_GUEST, *words], **more)  # pylint: disable=subprocess-run-check # the caller passes check=

    # Itself ------------------------------------------------------------------------------------

    @functools.cached_property
    def release(self):
        with self.open("/proc/sys/kernel/osrelease") as file:
            return file.read().strip()

    @functools.cached_property
    def cpus(self):
        """Return the numbers of the CPUs on which a program in the guest may run."""
        with self.open("/proc/self/status") as file:
            mask = int(re.search(r"^Cpus_allowed:\s+(\S+)", file.read(), re.M).group(1).replace(",", ""), 16)
        return [cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1]

    @functools.cached_property
    def pid(self):
        """Return the pid of the process that counts as the tracer in the kernel."""
        return self.ask(F_PID, "", body=b"")[0]

    def clock_ns(self, clock=time.CLOCK_MONOTONIC):
        """Return the time of the guest's clock, which differs from the host's."""
        return self.ask(F_CLOCK, "", flags=clock, body=b"")[0]
