# SPDX-License-Identifier: GPL-2.0-only
# The GDB command `gtp`, whose subcommands are gdbtp's other commands.
import gdb

from gtp.gdblib import gdbcall, screen
from gtp.gdblib.command import Command


class Gtp(Command):
    """Commands for tracing a running Linux kernel through /proc/gtp.

A session: load vmlinux first (its symbols are moved to where the kernel really
lies when GDB connects), then
  target remote /proc/gtp
  gtp check
  gtp trace vfs_read if count > 4096
  gtp collect $clock, $current_task_pid, count, current->comm
  tstart
  tstop
  gtp table
docs/tour.md shows more of this, docs/recipes.md the lines for many questions."""

    def __init__(self):
        super().__init__("gtp", gdb.COMMAND_STATUS, prefix=True)

    def invoke(self, arg, from_tty):
        """List the commands for `gtp` alone. GDB also calls this for words that are not a command."""
        if arg.strip():
            raise gdb.GdbError("there is no command gtp %s; help gtp lists those that there are" % arg.split()[0])
        screen.put(gdbcall.execute("help gtp"))


Gtp()
