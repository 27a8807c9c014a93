# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp status`: the output of `monitor status`, with symbols for the addresses.
import re

import gdb

from gtp.gdblib import gdbcall, remote, screen
from gtp.gdblib.command import Command
from gtp.text import infosymbol


def named(match):
    """Return the address, followed by <symbol+offset> if GDB knows one."""
    found = infosymbol.parse(gdbcall.execute("info symbol " + match.group(0)))
    if found is None:
        return match.group(0)
    symbol = "%s+%d" % (found.name, found.offset) if found.offset else found.name
    return "%s <%s>" % (match.group(0), symbol)


class GtpStatus(Command):
    """Show what the module is doing: the run, hits, buffer, probes.

gtp status
Like `monitor status`, but with symbols for the traced addresses."""

    def __init__(self):
        super().__init__("gtp status", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        if arg:
            raise gdb.GdbError("gtp status takes no argument")
        screen.put(re.sub(r"0x[0-9a-f]{16}\b", named, remote.monitor("status")))


GtpStatus()
