# SPDX-License-Identifier: GPL-2.0-only
"""A file that is not as its format says. Knows nothing of GDB."""
import contextlib
import struct


class Damaged(Exception):
    """Says in a sentence which part of the file is wrong."""


@contextlib.contextmanager
def reading(what):
    """For a `with`: an error inside is the fault of the file, of the part that WHAT names."""
    try:
        yield
    except (ValueError, LookupError, OverflowError, ZeroDivisionError, struct.error):
        raise Damaged("%s is damaged: it cannot be read" % what) from None
