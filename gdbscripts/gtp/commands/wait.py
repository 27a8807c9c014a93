# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp wait`: wait until the run has ended by itself.
import time

import gdb

from gtp.gdblib import remote, runstate, screen
from gtp.gdblib.command import Command

PAUSE = 0.1  # seconds between two requests for the run's state

def seconds(arg):
    """Return how many seconds to wait at most, or None to wait for ever."""
    if not arg:
        return None
    try:
        limit = float(arg)
    except ValueError:
        limit = -1
    if not 0 <= limit < float("inf"):
        raise gdb.GdbError("gtp wait %s: a number of seconds is needed" % arg)
    return limit


def wait(limit):
    """Wait until the run has ended, or until the time is over. Return a sentence about the run's state."""
    end = None if limit is None else time.monotonic() + limit
    while True:
        how = runstate.state()
        left = PAUSE if end is None else min(PAUSE, end - time.monotonic())
        if how != runstate.RUNNING or left <= 0:
            return how
        time.sleep(left)


class GtpWait(Command):
    """Wait until the trace run ends: a full buffer, a pass count, an error.

gtp wait [SECONDS]
After it, tfind and gtp table work at once. ^C ends the wait, and the run
continues. With SECONDS, it is an error if the run has not ended by then, so
that a script stops there; the run continues."""

    def __init__(self):
        super().__init__("gtp wait", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        limit = seconds(arg)
        if not remote.is_gtp():
            raise gdb.GdbError(remote.NOT_CONNECTED)
        how = wait(limit)
        if how == runstate.RUNNING:
            raise gdb.GdbError("the trace is still running after %s seconds; tstop ends it" % arg)
        runstate.refresh()
        if how == runstate.NEVER:
            raise gdb.GdbError(how + "; say tstart first")
        screen.say(how)


GtpWait()
