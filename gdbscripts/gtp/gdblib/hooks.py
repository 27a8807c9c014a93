# SPDX-License-Identifier: GPL-2.0-only
# Defines GDB hooks: Python code of gdbtp that runs before or after a GDB command, in scripts as well.
import gdb

from gtp.gdblib import gdbcall

def is_defined(hook):
    try:
        gdbcall.execute("help " + hook)
    except gdb.error:
        return False
    return True


def define(hook, module, function):
    """Define a hook. HOOK is named as for GDB's `define`: hook-tfind, target hookpost-tfile."""
    # Do not use `python` on one line: `set trace-commands on` would show the line.
    gdbcall.block("define " + hook, "python", "import " + module, "%s.%s()" % (module, function), "end", "end")
