# SPDX-License-Identifier: GPL-2.0-only
# Load gdbtp's GDB commands: (gdb) source gdbscripts/gtp.py, then: help gtp
import os
import sys

# Do not use __file__: if a Python script has sourced gtp.py, __file__ is the name of that script.
sys.path.insert(0, os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename)))

try:
    import gtp.noshell
    import gtp.prefix
    import gtp.check
    import gtp.modules
    import gtp.sdata
    import gtp.program
    import gtp.exits
    import gtp.pending
    import gtp.trace
    import gtp.event
    import gtp.syscall
    import gtp.collect
    import gtp.condition
    import gtp.watch
    import gtp.print
    import gtp.status
    import gtp.ended
    import gtp.table
    import gtp.view.printers
    import gtp.save
    import gtp.wait
    import gtp.count
    import gtp.show
    import gtp.stacks
    import gtp.merge
    import gtp.explain
    import gtp.lines
    import gtp.report.command
    import gtp.export.stacks
    import gtp.export.perfetto
    import gtp.export.ctf
    import gtp.export.ctf2
    import gtp.export.csv
    import gtp.export.command  # noqa: these imports make the commands; export.command comes after all formats
finally:
    sys.path.pop(0)
