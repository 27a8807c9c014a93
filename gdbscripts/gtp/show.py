# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp print`: the value of a C expression in the selected frame.
import re

import gdb

from gtp import cexpr, names, quiet, screen
from gtp.command import Command

RESULT = "_gtp_value"


def named(text):
    """The expression with C for the names that the selected trace frame's tracepoint has."""
    number = gdb.convenience_variable("tracepoint")
    if number is None or int(number) < 0:
        return text
    return names.expand(text, int(number), gdb.selected_frame().pc())


class GtpPrint(Command):
    """Print the value of a C expression.

gtp print[/FORMAT] EXPRESSION
As print, but takes every expression that gtp collect takes: macros,
this_cpu(x), container_of(), comparisons with strings. In a trace frame it uses
the collected values."""

    def __init__(self):
        super().__init__("gtp print", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        found = re.match(r"(/\w+)?\s*(.*)", arg.strip(), re.S)
        form, text = found.group(1) or "", found.group(2)
        if not text:
            raise gdb.GdbError("gtp print takes an expression")
        gdb.set_convenience_variable(RESULT, cexpr.value(named(text)))
        try:
            screen.put(quiet.execute("print%s $%s" % (form, RESULT)))
        finally:
            gdb.set_convenience_variable(RESULT, None)


GtpPrint()
