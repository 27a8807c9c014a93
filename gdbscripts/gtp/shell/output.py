# SPDX-License-Identifier: GPL-2.0-only
"""Where lines go: standard output or a file, written at once; a reader that has gone is noticed."""
import os
import sys

from gtp.shell.failure import Failure


class Output:
    """A file descriptor, and whether its reader has gone."""

    def __init__(self, path=None):
        self.closed = False
        self.path = path
        if path in (None, "-"):
            self.fd = sys.stdout.fileno()
            return
        try:
            self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        except OSError as error:
            raise Failure("%s: %s" % (path, error.strerror)) from None

    def fileno(self):
        return self.fd

    def write(self, text):
        """All of the text, unless the reader has gone."""
        data = text.encode(errors="surrogateescape")
        try:
            while data and not self.closed:
                data = data[os.write(self.fd, data):]
        except BrokenPipeError:
            self.closed = True
        except OSError as error:
            raise Failure("%s: %s" % (self.path or "standard output", error.strerror)) from None
