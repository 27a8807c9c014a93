# SPDX-License-Identifier: GPL-2.0-only
"""The shell command `gtp`. It drives a GDB in batch mode, in which the files of inside/ run. Does not import gdb."""
