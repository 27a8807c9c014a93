# SPDX-License-Identifier: GPL-2.0-only
"""Errors that end the command before its work is done: sentences for the user."""

from gtp.shell.decode import printable

OK, FAILED, USAGE, BUSY, INTERRUPTED = 0, 1, 2, 4, 130


class Failure(Exception):
    """The error, its place, and the remedy."""


def harmless(line):
    """A line as a terminal may have it: it may name files and tasks. A backslash stays one, a tab is an indent."""
    return "".join(c if c in "\\\t" else printable(c.encode(errors="surrogateescape")) for c in line)


def told(text):
    """A message with the command's name, its further lines below each other; nothing that a terminal acts upon."""
    return "gtp: %s\n" % "\n  ".join(map(harmless, text.split("\n")))
