# SPDX-License-Identifier: GPL-2.0-only
"""The commands' way to GDB: calls, output, the words of a command, hooks, the state of the run."""
