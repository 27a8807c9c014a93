# SPDX-License-Identifier: GPL-2.0-only
"""The code that runs inside a GDB that the shell command `gtp` has started."""
