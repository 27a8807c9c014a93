# SPDX-License-Identifier: GPL-2.0-only
"""The command `gtp` of the shell. It drives a GDB in batch; inside.py, asked.py, values.py and atend.py run in there."""
