# SPDX-License-Identifier: GPL-2.0-only
# Hooks: our code that runs before or after a command of GDB, in scripts as well.
import gdb

from gtp import quiet

def is_defined(hook):
    try:
        quiet.execute("help " + hook)
    except gdb.error:
        return False
    return True


def define(hook, module, function):
    """Define a hook. HOOK is named as for GDB's `define`: hook-tfind, target hookpost-tfile."""
    # Not `python` on one line: `set trace-commands on` shows that.
    quiet.block("define " + hook, "python", "import " + module, "%s.%s()" % (module, function), "end", "end")
