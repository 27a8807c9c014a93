# SPDX-License-Identifier: GPL-2.0-only
# The base class of gdbtp's GDB commands. It turns exceptions into messages for the user.
import functools
import traceback

import gdb

from gtp.formats.error import Damaged
from gtp.text import harmless

BUG = """this is a bug of gdbtp: %s
  set python print-stack full, and the same again, shows where it is"""


def sentence(error):
    """Return the text of an exception for the user: its own message, or one that reports a bug. Return None if GDB
    handles it."""
    if isinstance(error, (gdb.error, gdb.GdbError, Damaged)):
        return str(error).strip()
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(str(part) for part in (error.filename, error.strerror) if part is not None)
    if isinstance(error, MemoryError):
        return "there is no memory left for this"
    if not isinstance(error, Exception):
        return None
    at = traceback.extract_tb(error.__traceback__)[-1]
    return BUG % "%s, %s in %s, line %d" % (error or "no reason", type(error).__name__, at.filename, at.lineno)


def told(invoke):
    """Wrap INVOKE so that GDB shows its errors as messages; otherwise GDB says that an error occurred in Python."""
    @functools.wraps(invoke)
    def wrapper(self, arg, from_tty):
        try:
            return invoke(self, arg, from_tty)
        except BaseException as error:
            text = sentence(error)
            if text is None:
                raise
            if gdb.parameter("python print-stack") == "full":
                traceback.print_exc()
            raise gdb.GdbError(harmless.lines(text)) from None
    return wrapper


class Command(gdb.Command):
    """A GDB command implemented in Python."""

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        if "invoke" in vars(cls):
            cls.invoke = told(cls.invoke)
