# SPDX-License-Identifier: GPL-2.0-only
# Job: inside GDB, count how often the scripts ask GDB to compile an expression; the command `asked` prints the count.
import gdb

from gtp.gdblib import gdbcall

count = 0
own = gdbcall.execute


def counted(command, shown=False):
    global count
    # Do not count the expression 0, which is only compiled to find a location's name.
    count += command.startswith("maint agent") and not command.endswith(", 0")
    return own(command, shown)


class Asked(gdb.Command):
    """Print the count."""

    def __init__(self):
        super().__init__("asked", gdb.COMMAND_OBSCURE)

    def invoke(self, arg, from_tty):
        print("GDB was asked %d times" % count)


gdbcall.execute = counted
Asked()
