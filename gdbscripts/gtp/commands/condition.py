# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp if`: a C expression as a tracepoint's condition.
import gdb

from gtp import cexpr
from gtp.gdblib import gdbcall, screen
from gtp.gdblib.command import Command
from gtp.places import names, points


class GtpIf(Command):
    """Trace only if a C expression is true.

gtp if N [EXPRESSION]
The condition of tracepoint N; without EXPRESSION it is unconditional again."""

    def __init__(self):
        super().__init__("gtp if", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        word, _, text = arg.strip().partition(" ")
        if not word.isdecimal():
            raise gdb.GdbError("gtp if takes a tracepoint's number and an expression: gtp if N EXPRESSION")
        number, text = int(word), text.strip()
        points.listing(number)
        condition = text and points.everywhere(number, lambda pc: cexpr.condition(names.expand(text, number, pc), pc))
        gdbcall.execute(("condition %d %s" % (number, names.guarded(condition, number) or "")).rstrip())
        if not condition:
            screen.say("tracepoint %d is unconditional" % number)
        points.tell_in_run()


GtpIf()
