# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp lines`: which source lines of a function can carry a tracepoint, and which a jump.
import gdb

from gtp.gdblib import screen
from gtp.gdblib.command import Command
from gtp.places import regions


class GtpLines(Command):
    """List a function's source lines and what a tracepoint on each would use.

gtp lines FUNCTION [FOLDER]
j marks lines whose first address takes a jump, b those that take a breakpoint,
f the function tracer's site. FOLDER has the kernel's sources, for the lines'
text, if they are no longer where they were compiled."""

    def __init__(self):
        super().__init__("gtp lines", gdb.COMMAND_STATUS, gdb.COMPLETE_SYMBOL)

    def invoke(self, arg, from_tty):
        argv = gdb.string_to_argv(arg)
        if len(argv) not in (1, 2):
            raise gdb.GdbError("gtp lines takes a function, and maybe a folder of sources")
        more = ["--source", argv[1]] if len(argv) == 2 else []
        screen.put(regions.about("lines", regions.address(argv[0]), *more))


GtpLines()
