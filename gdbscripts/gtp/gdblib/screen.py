# SPDX-License-Identifier: GPL-2.0-only
# All text that gdbtp's GDB commands print passes through screen.py, because it may contain untrusted names.
import gdb

from gtp.text import harmless


def put(text):
    """Print a text, whose lines end with newlines."""
    gdb.write(harmless.lines(text))


def say(text):
    """Print a line, or several."""
    put(text + "\n")
