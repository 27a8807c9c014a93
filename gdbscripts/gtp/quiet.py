# SPDX-License-Identifier: GPL-2.0-only
# GDB's own commands, as the scripts use them: what one prints comes back, and that alone.
import gdb

TRACED = "trace-commands"


def execute(command):
    """A command's output. `set trace-commands on` would show it to the user, or put it in front of its own output."""
    if not gdb.parameter(TRACED):
        return gdb.execute(command, to_string=True)
    gdb.execute("set %s off" % TRACED, to_string=True)
    try:
        return gdb.execute(command, to_string=True)
    finally:
        gdb.execute("set %s on" % TRACED, to_string=True)
