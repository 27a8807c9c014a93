# SPDX-License-Identifier: GPL-2.0-only
"""What the commands need from GDB: calls, output, words of a command, hooks, the state of the run."""
