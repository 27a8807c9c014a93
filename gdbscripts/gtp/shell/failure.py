# SPDX-License-Identifier: GPL-2.0-only
"""Errors that end the command before its work is done: sentences for the user."""

from gtp import harmless

OK, FAILED, USAGE, BUSY, INTERRUPTED = 0, 1, 2, 4, 130


class Failure(Exception):
    """The error, its place, and the remedy."""


def told(text):
    """A message with the command's name, its further lines below each other; nothing that a terminal acts upon."""
    return "gtp: %s\n" % harmless.lines(text).replace("\n", "\n  ")
