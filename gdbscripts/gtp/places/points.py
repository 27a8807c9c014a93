# SPDX-License-Identifier: GPL-2.0-only
# Reads and writes the addresses and actions of GDB's tracepoints, through GDB's own commands.
import contextlib
import re

import gdb

from gtp.gdblib import gdbcall, hooks, remote, screen
from gtp.places import places

# The errors that GDB gives for actions that need a target: strings, and the variables of gdbtp.
UNCONNECTED = re.compile(r'Target does not support "/s"|is not a trace state variable')
STEPS = re.compile(r"\s*(while-stepping|stepping|ws)\b")


def listing(number):
    """Return the output of `info tracepoints` for one tracepoint, unwrapped."""
    text = gdbcall.execute("with width 0 -- info tracepoints %d" % number)
    if not re.search(r"^%d\s" % number, text, re.M):
        raise gdb.GdbError("there is no tracepoint %d" % number)
    return text


def table():
    """Return the output of `info tracepoints` for all tracepoints, unwrapped."""
    return gdbcall.execute("with width 0 -- info tracepoints")


def numbers():
    """Return the numbers of all tracepoints."""
    return {int(number) for number in re.findall(r"^(\d+)\s", table(), re.M)}


def enabled():
    """Return the numbers of the enabled tracepoints."""
    return {int(number) for number in re.findall(r"^(\d+)\s.*?\s(?:keep|dis|del)\s+y\b", table(), re.M)}


def last():
    """Return the number of the last tracepoint. $tpnum may be the number of a tracepoint that a command has deleted
    again."""
    found = numbers()
    if not found:
        raise gdb.GdbError("there is no tracepoint; say gtp trace or trace first")
    return max(found)


def addresses(number):
    """Return a tracepoint's addresses, as unsigned numbers."""
    found = []
    for line in listing(number).splitlines():
        place = re.match(r"%d(?:\.\d+)?\s.*?\b(0x[0-9a-f]+)\b" % number, line)
        if place:
            found.append(int(place.group(1), 16))
    if not found:
        raise gdb.GdbError("tracepoint %d has no address yet" % number)
    return found


def actions(number):
    """Return a tracepoint's action lines. GDB's listing indents them by spaces, and everything else about a tracepoint
    by a tab."""
    return [line.strip() for line in listing(number).splitlines() if line.startswith(" " * 8) and
            not re.match(r"\s+breakpoint already", line)]


def check_ends(lines):
    """Check that each `end` belongs to a `while-stepping'.

    The lines may come from the target. A surplus `end` would end the block of actions, and GDB would execute the lines
    after it as commands.
    """
    depth = 0
    for line in lines:
        depth += STEPS.match(line) is not None
        depth -= line.strip() == "end"
        if depth < 0:
            raise gdb.GdbError("the actions have one `end' too many")


# Number of the last tracepoint that a command has made -> numbers of all tracepoints that the command has made together,
# such as the entry and the exit of a system call.
groups = {}

# Number of a tracepoint at one place of a marker -> (numbers of the tracepoints at all places, the marker or pattern).
# An aggregation is added to all of these.
alike = {}

IN_RUN = ("the run that is on keeps its actions and conditions, since GDB sends none to it:\n"
          "  tstop and tstart begin a run with the new ones")


def is_running():
    return "Trace is running" in gdbcall.execute("tstatus")


def tell_in_run():
    """During a run, print a note that the run does not use a change to a tracepoint."""
    try:
        if is_running():
            screen.say("note: " + IN_RUN)
    except gdb.error:
        pass  # there is no target


def set_actions(number, lines):
    """Replace a tracepoint's actions."""
    check_ends(lines)
    try:
        gdbcall.block("commands %d" % number, *lines, "end")
    except gdb.error as error:
        if UNCONNECTED.search(str(error)) and not remote.is_connected():
            raise gdb.GdbError(remote.NOT_CONNECTED)
        raise


@contextlib.contextmanager
def actions_kept(some):
    """Context manager: after an error in the block, restore the previous actions of these tracepoints."""
    before = {number: actions(number) for number in some}
    try:
        yield
    except BaseException:
        for number, lines in before.items():
            if actions(number) != lines:
                set_actions(number, lines)
        raise


# A format before an expression, as in `1 /err $ret`; the text `1 /n - 2` is C instead.
FORMATTED = re.compile(r"/[a-z]+(?::\S+)?\s+[\w$(]")


def split_number(arg):
    """Return (number or None, the rest) of `[N] TEXT`."""
    found = re.match(r"(\d+)\s+(?=\S)(.*)", arg, re.S)
    if found and (FORMATTED.match(found.group(2)) or not re.match(r"[-+*/%&|^<>=?@.]", found.group(2))):
        return int(found.group(1)), found.group(2)
    return None, arg


def hook():
    """Print the note of tell_in_run() at GDB's own `actions`, too. Do not replace the user's own hook."""
    if not hooks.is_defined("hook-actions"):
        hooks.define("hook-actions", "gtp.places.points", "tell_in_run")


def everywhere(number, translate):
    """Return the result of TRANSLATE(address). Raise an error unless it is the same at all addresses of the tracepoint,
    because GDB has one text for all of them."""
    found, results = addresses(number), []
    for pc in found:
        with places.named(pc, len(found) > 1):
            results.append((pc, translate(pc)))
    first = results[0][1]
    for pc, result in results[1:]:
        if result != first:
            raise gdb.GdbError("at %#x this means something else than at %#x, and GDB has one text for both;\n"
                               "set a tracepoint at each: trace *%#x" % (results[0][0], pc, pc))
    return first


hook()
