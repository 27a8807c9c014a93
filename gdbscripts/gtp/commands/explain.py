# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp explain`: may a jump replace the code at an address, and why or why not?
import gdb

from gtp.gdblib import screen
from gtp.gdblib.command import Command
from gtp.places import regions


class GtpExplain(Command):
    """Say whether a tracepoint somewhere can be a jump, and why.

gtp explain PLACE
PLACE is an expression (FUNCTION+OFFSET, an address) or FILE:LINE. As a jump, a
tracepoint costs a tenth of what it costs as a breakpoint. The answer has the
reason, and the evidence for it."""

    def __init__(self):
        super().__init__("gtp explain", gdb.COMMAND_STATUS, gdb.COMPLETE_LOCATION)

    def invoke(self, arg, from_tty):
        screen.put(regions.about("explain", regions.address(arg)))


GtpExplain()
