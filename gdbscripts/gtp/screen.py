# SPDX-License-Identifier: GPL-2.0-only
# The text that our commands print: all of it passes here, since it has names of strangers.
import gdb

from gtp import harmless


def put(text):
    """Print a text, whose lines end with newlines."""
    gdb.write(harmless.lines(text))


def say(text):
    """Print a line, or several."""
    put(text + "\n")
