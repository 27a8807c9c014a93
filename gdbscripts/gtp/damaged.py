# SPDX-License-Identifier: GPL-2.0-only
"""Errors in a file that violates its format. Does not import gdb."""
import contextlib
import struct


class Damaged(Exception):
    """The message says which part of the file is wrong."""


@contextlib.contextmanager
def reading(what):
    """For a `with`: an error inside becomes Damaged, with WHAT naming the part of the file."""
    try:
        yield
    except (ValueError, LookupError, OverflowError, ZeroDivisionError, struct.error):
        raise Damaged("%s is damaged: it cannot be read" % what) from None
