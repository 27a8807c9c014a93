# SPDX-License-Identifier: GPL-2.0-only
"""A file that is not as its format says. Knows nothing of GDB."""
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
