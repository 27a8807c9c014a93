# SPDX-License-Identifier: GPL-2.0-only
"""What ends the command before its work is done: sentences for the user."""

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Failure(Exception):
    """What is wrong, where, and what to do instead."""


def told(text):
    """A message with the command's name, its further lines below each other."""
    return "gtp: %s\n" % text.replace("\n", "\n  ")
