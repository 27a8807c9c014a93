# SPDX-License-Identifier: GPL-2.0-only
# Load gdbtp's GDB commands: (gdb) source gdbscripts/gtp.py, then: help gtp
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import gtp.prefix
    import gtp.check
    import gtp.modules
    import gtp.status
finally:
    sys.path.pop(0)
