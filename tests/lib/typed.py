# SPDX-License-Identifier: GPL-2.0-only
"""A GDB at a terminal: types commands and ^C, and reads the terminal's output."""
import os
import pty
import select

from tap import SECONDS

PROMPT = "(gdb) "
SETTINGS = ("set debuginfod enabled off", "set pagination off", "set confirm off", "set width 0")


class Gdb:
    """A GDB at a terminal, without a program. close() ends it."""

    def __init__(self):
        words = ["gdb", "-nx", "-q"]
        for line in SETTINGS:
            words += ["-iex", line]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp(words[0], words)
        self.text = b""
        self.shown()

    def until(self, what):
        """Wait for a text. Return the output before it. The time limit only ends a test that has failed."""
        while what.encode() not in self.text:
            assert select.select([self.terminal], [], [], SECONDS)[0], "no %r behind: %r" % (what, self.text[-500:])
            self.text += os.read(self.terminal, 65536)
        text, _, self.text = self.text.partition(what.encode())
        return text.decode(errors="replace").replace("\r\n", "\n")

    def shown(self):
        """Return the text up to the next prompt."""
        return self.until(PROMPT)

    def begin(self, line):
        os.write(self.terminal, line.encode() + b"\n")

    def type(self, line):
        self.begin(line)
        return self.shown()

    def interrupt(self):
        os.write(self.terminal, b"\x03")

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
