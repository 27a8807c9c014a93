# SPDX-License-Identifier: GPL-2.0-only
"""Output to standard output or a file. Lines are queued, so that a slow reader blocks nothing."""
import errno
import fcntl
import os
import select
import stat

from gtp.shell.failure import Failure

STDOUT = 1
MOST = 1 << 20  # callers should stop adding lines when the queue has more bytes than this
PIECE = 1 << 16  # the maximum size of one write, in bytes


def unblocked(fd):
    """Return (descriptor, size). If poll() has reported that the descriptor is writable, a write of up to SIZE bytes
    does not block.

    Open a pipe or terminal once more, because O_NONBLOCK on the given descriptor would affect the shell, too.
    """
    mode = os.fstat(fd).st_mode
    # A write to a file does not block, and a write to a read-only descriptor reports the error.
    if stat.S_ISREG(mode) or fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        return fd, PIECE
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        try:
            return os.open("/proc/self/fd/%d" % fd, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY), PIECE
        except OSError:
            pass  # the pipe or terminal belongs to another user, or its reader has exited: the first write reports that
    return fd, select.PIPE_BUF


class Output:
    """A file descriptor, the bytes that wait to be written, and whether its reader has closed it.

    open() opens a file; its old content stays until begin() truncates it.
    """

    def __init__(self, path=None):
        self.closed = False
        self.path = None if path == "-" else path
        self.queue = bytearray()
        self.unwritten = 0  # the number of lines in the queue when the reader closed the output
        self.fd = None
        if self.path is None:
            self.to(STDOUT)

    def open(self):
        """Open the file before the run begins, so that an error comes before there are lines to lose."""
        if self.fd is not None:
            return
        try:
            self.to(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644))
        except OSError as error:
            raise self.failure(error) from None

    def begin(self):
        """Truncate the output file, because the run has begun."""
        self.open()
        if self.path and stat.S_ISREG(os.fstat(self.fd).st_mode):
            os.ftruncate(self.fd, 0)

    def to(self, fd):
        """Send the output to this descriptor, which the caller still owns."""
        self.fd, self.piece = unblocked(fd)

    def failure(self, error):
        return Failure("%s: %s" % (self.path or "standard output", error.strerror))

    def fileno(self):
        return self.fd

    def full(self):
        return len(self.queue) >= MOST

    def put(self, text):
        """Add a text to the queue, or drop it if the reader has closed the output."""
        if not self.closed:
            self.queue += text.encode(errors="surrogateescape")

    def close(self):
        """Note that the reader has closed the output."""
        self.closed = True
        self.unwritten += self.queue.count(b"\n")
        self.queue.clear()

    def write(self):
        """Write a part of the queue. Call this when poll() has reported that the descriptor is writable."""
        try:
            del self.queue[:os.write(self.fd, self.queue[:self.piece])]
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise self.failure(error) from None
            self.close()

    def flush(self, signals=None):
        """Write all of the queue, however long the reader takes. A signal raises KeyboardInterrupt."""
        if not self.queue:
            return
        poll = select.poll()
        poll.register(self.fd, select.POLLOUT)
        if signals:
            poll.register(signals.fileno(), select.POLLIN)
        while self.queue:
            ready = [fd for fd, _ in poll.poll()]
            if signals and signals.fileno() in ready:
                raise KeyboardInterrupt
            self.write()
