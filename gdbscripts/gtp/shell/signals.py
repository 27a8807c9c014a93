# SPDX-License-Identifier: GPL-2.0-only
"""Turns ^C, SIGTERM and SIGHUP into an event that poll() can wait for. A second signal raises an exception."""
import os
import signal

CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Context manager: at a signal, fileno() becomes readable and `came' becomes true."""

    def __init__(self):
        self.came = False
        self.reader, self.writer = os.pipe()

    def __enter__(self):
        os.set_blocking(self.writer, False)
        self.before = [(number, signal.signal(number, self.handle)) for number in CAUGHT]
        self.wakeup = signal.set_wakeup_fd(self.writer, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_):
        signal.set_wakeup_fd(self.wakeup)
        for number, handler in self.before:
            if handler is not None:  # the handler is None if C code has set it, as in GDB
                signal.signal(number, handler)
        os.close(self.reader)
        os.close(self.writer)

    def handle(self, *_):
        if self.came:
            raise KeyboardInterrupt
        self.came = True

    def fileno(self):
        return self.reader

    def forget(self):
        os.read(self.reader, 512)
