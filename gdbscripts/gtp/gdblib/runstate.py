# SPDX-License-Identifier: GPL-2.0-only
# Notices that a run has ended by itself. GDB asks for the run's state only at tstatus.
import re

import gdb

from gtp.gdblib import gdbcall, hooks, remote, screen

RUNNING = "the trace is running"
NEVER = "no trace has run yet"
BY_TSTOP = "the trace was stopped by tstop"
BY_PASS_COUNT = re.compile(r"the trace stopped: tracepoint \d+ reached its pass count")
SUBCOMMANDS = ("start", "end", "tracepoint", "pc", "range", "outside", "line")

# GDB's connection, once GDB knows that the run on it has ended, else None.
settled = None


def state():
    """Return the state of the run in a sentence. This sends one packet. Before the reply, GDB also receives and shows
    any text that the module has kept for it."""
    *others, answer = remote.monitor("run").splitlines() or [""]
    if others:
        screen.put("\n".join(others) + "\n")
    return answer


def refresh():
    """Let GDB ask whether the run has ended. Return a sentence about it if GDB did not know it yet, else None.

    Sends one packet while a run goes on. Sends nothing once the run is known to have ended, or if the target is not
    gdbtp.
    """
    global settled
    connection = gdb.selected_inferior().connection
    if not remote.may_be_gtp() or connection is settled:
        return None
    how = state()
    if how == RUNNING:
        return None
    gdbcall.execute("tstatus")
    settled = connection
    return how


before_run = []  # functions to call before tstart


def begins():
    """Prepare for a run that is about to begin: from now on, ask the module for the run's state again."""
    global settled
    refresh()
    for function in before_run:
        function()
    settled = None


def tell(*_):
    """Before a prompt, report a run that has ended meanwhile. Ignore errors: the next command reports them better."""
    try:
        how = refresh()
    except (gdb.error, gdb.GdbError, RuntimeError):
        return
    if how not in (None, NEVER, BY_TSTOP):
        screen.put("gdbtp: %s\n" % how)


def stopped(_):
    """After a continue, let GDB ask whether the run has ended. The module has already reported why."""
    try:
        refresh()
    except (gdb.error, gdb.GdbError, RuntimeError):
        pass


def hook():
    """Make tfind check for the run's end first, in scripts as well. Do not replace the user's own hooks."""
    if hooks.is_defined("hook-tfind") or hooks.is_defined("hook-tstart"):
        return
    hooks.define("hook-tfind", "gtp.gdblib.runstate", "refresh")
    for name in SUBCOMMANDS:
        hooks.define("tfind hook-" + name, "gtp.gdblib.runstate", "refresh")
    # This cannot be hookpost-tstart: when GDB looks for that hook, it no longer knows that tstart was typed.
    hooks.define("hook-tstart", "gtp.gdblib.runstate", "begins")


hook()
gdb.events.stop.connect(stopped)
gdb.events.before_prompt.connect(tell)
