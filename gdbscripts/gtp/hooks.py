# SPDX-License-Identifier: GPL-2.0-only
# Commands of GDB's that have something of ours in front or after, in scripts as well.
import gdb

from gtp import quiet

def is_defined(hook):
    try:
        quiet.execute("help " + hook)
    except gdb.error:
        return False
    return True


def define(hook, module, function):
    """HOOK is as after GDB's `define`: hook-tfind, target hookpost-tfile."""
    # Not `python` on one line: `set trace-commands on` shows that.
    quiet.block("define " + hook, "python", "import " + module, "%s.%s()" % (module, function), "end", "end")
