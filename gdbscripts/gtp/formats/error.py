# SPDX-License-Identifier: GPL-2.0-only
"""Errors in a file that violates its format."""
import contextlib
import struct


class Damaged(Exception):
    """A file violates its format; the message says in which part."""


@contextlib.contextmanager
def reading(what):
    """Context manager: turn a parsing error in the block into Damaged. WHAT names the part of the file."""
    try:
        yield
    except (ValueError, LookupError, OverflowError, ZeroDivisionError, struct.error):
        raise Damaged("%s is damaged: it cannot be read" % what) from None
