# SPDX-License-Identifier: GPL-2.0-only
"""Errors that end the `gtp` command before its work is done: sentences for the user."""

from gtp.text import harmless

OK, FAILED, USAGE, BUSY, INTERRUPTED = 0, 1, 2, 4, 130


class Failure(Exception):
    """An error that ends the `gtp` command. Its message says what is wrong, where, and what to do."""


def told(text):
    """Return a message with the prefix "gtp: ", and with further lines aligned below it. Control characters are
    escaped."""
    return "gtp: %s\n" % harmless.lines(text).replace("\n", "\n  ")
