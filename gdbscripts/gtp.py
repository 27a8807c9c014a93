# SPDX-License-Identifier: GPL-2.0-only
# Load gdbtp's GDB commands: (gdb) source gdbscripts/gtp.py, then: help gtp
import os
import sys

# Do not use __file__: if a Python script has sourced gtp.py, __file__ is the name of that script.
sys.path.insert(0, os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename)))

try:
    import gtp.gdblib.noshell
    import gtp.commands.prefix
    import gtp.commands.check
    import gtp.commands.modules
    import gtp.commands.sdata
    import gtp.commands.lib
    import gtp.commands.unwind
    import gtp.places.exits
    import gtp.commands.pending
    import gtp.commands.trace
    import gtp.commands.event
    import gtp.commands.syscall
    import gtp.commands.collect
    import gtp.commands.condition
    import gtp.commands.watch
    import gtp.commands.print
    import gtp.commands.status
    import gtp.gdblib.runstate
    import gtp.commands.table
    import gtp.view.printers
    import gtp.commands.save
    import gtp.commands.wait
    import gtp.commands.aggregate
    import gtp.commands.sample
    import gtp.commands.path
    import gtp.commands.calls
    import gtp.commands.show
    import gtp.commands.stacks
    import gtp.commands.merge
    import gtp.commands.explain
    import gtp.commands.lines
    import gtp.report.command
    import gtp.export.stacks
    import gtp.export.perfetto
    import gtp.export.ctf
    import gtp.export.ctf2
    import gtp.export.csv
    import gtp.export.command  # noqa: these imports make the commands; export.command comes after all formats
finally:
    sys.path.pop(0)
