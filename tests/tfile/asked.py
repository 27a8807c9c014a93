# SPDX-License-Identifier: GPL-2.0-only
# Job: inside GDB, count how often the scripts ask GDB whether it compiles a text: `asked` prints it.
import gdb

from gtp import quiet

count = 0
own = quiet.execute


def counted(command, shown=False):
    global count
    # The expression 0 is compiled to find the name of a location.
    count += command.startswith("maint agent") and not command.endswith(", 0")
    return own(command, shown)


class Asked(gdb.Command):
    """Print the counts."""

    def __init__(self):
        super().__init__("asked", gdb.COMMAND_OBSCURE)

    def invoke(self, arg, from_tty):
        print("GDB was asked %d times" % count)


quiet.execute = counted
Asked()
