# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside GDB: makes a trace run that collects frames, and shows them as rows when the run has ended."""
import select
import tempfile

import gdb

from gtp.gdblib import gdbcall, runstate
from gtp.places import points

OURS = "gdbtp: "  # the beginning of the module's messages
PAUSE = 0.1  # seconds between two checks of the run's state


def collect(request, number):
    """Give a tracepoint the actions that collect the values shown in its table rows."""
    what = request["collect"] or "$args"
    points.set_actions(number, ["collect $clock, $cpu_id, $current_task_pid"])
    gdbcall.execute("gtp collect %d current->comm, %s" % (number, what))
    if request["count"]:
        gdbcall.execute("passcount %d %d" % (request["count"], number))


def wait(channel):
    """Wait until the trace run has ended by itself, or end it when the shell command `gtp` sends a word."""
    while runstate.state() == runstate.RUNNING:
        if select.select([channel.socket], [], [], PAUSE)[0]:
            channel.hear()
            gdbcall.execute("tstop")
            return
    runstate.refresh()


def shown(request, number):
    """Return the table of a tracepoint's frames, as `gtp table` prints it."""
    limit = " --limit %d" % request["count"] if request["count"] else ""
    if not request["csv"]:
        return gdbcall.execute("gtp table %d%s" % (number, limit))
    with tempfile.NamedTemporaryFile("r", prefix="gtp-") as file:
        gdbcall.execute('gtp table %d --csv "%s"%s' % (number, file.name, limit))
        return file.read()


def start(channel):
    """Begin the trace run. Report each place that has no probe, and why."""
    for line in gdbcall.execute("tstart").splitlines():
        if line.startswith(OURS):
            channel.say(note=line[len(OURS):])


def run(request, numbers, reason, channel):
    """Make one trace run. GDB itself has the connection to the module, so GDB's own tasks are not traced."""
    others = points.numbers() - set(numbers)
    if others:
        gdbcall.execute("delete " + " ".join(map(str, others)))
    if request["csv"] and len(numbers) > 1:
        raise gdb.GdbError("%s: frames of several places make no one CSV file" % reason)
    for number in numbers:
        collect(request, number)
    channel.say(frames="%s: the rows are shown when the run has ended" % reason)
    channel.hear()
    gdbcall.execute("disconnect")
    gdbcall.execute("target remote /proc/gtp")
    start(channel)
    channel.say(started=True)
    wait(channel)
    how = runstate.state()
    if how != runstate.BY_TSTOP and not runstate.BY_PASS_COUNT.match(how):
        channel.say(note=how)
    for number in numbers:
        try:
            channel.say(text=shown(request, number))
        except gdb.error as error:
            if "no frames" not in str(error):
                raise
            channel.say(note="tracepoint %d: no hit" % number)
    gdbcall.execute("delete")
    gdbcall.execute("maint packet QTinit")
