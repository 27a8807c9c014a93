# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp save`: write the stopped run to a trace file, by the fastest available way.
import os

import gdb

from gtp.commands import show
from gtp.gdblib import remote, screen
from gtp.gdblib.command import Command
from gtp.run import aggregations, outfile, source, tail


def size(number):
    """Return a number of bytes as text, in bytes, KiB or MiB, whichever is readable."""
    for unit in ("bytes", "KiB", "MiB"):
        if number < 10240:
            return "%d %s" % (number, unit)
        number //= 1024
    return "%d GiB" % number


def save(path):
    """Write the run to the path. Return the number of bytes written."""
    count = 0
    with outfile.whole(path, is_trace=True) as part, open(part, "wb") as file:
        for piece in source.pieces():
            count += file.write(piece)
        count += file.write(tail.tail(aggregations.transferred(), tail.all_stacks(), show.known_stacks().keys))
    return count


class GtpSave(Command):
    """Save the stopped run as a trace file, for target tfile.

gtp save FILE
The file is the one that tsave writes, made by the module in one go: on this
machine it is copied from /proc/gtpframe, from another machine it comes over the
connection in large pieces. After the frames, where GDB does not read, are the
aggregations and the stacks of the run, and the number of missed hits: gtp show,
gtp stacks, gtp merge and gtp report read them there."""

    def __init__(self):
        super().__init__("gtp save", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        names = gdb.string_to_argv(arg)
        if len(names) != 1:
            raise gdb.GdbError("gtp save takes the name of one file")
        if not remote.is_gtp():
            raise gdb.GdbError(remote.NOT_CONNECTED)
        path = os.path.expanduser(names[0])
        screen.say("%s: %s" % (path, size(save(path))))


GtpSave()
