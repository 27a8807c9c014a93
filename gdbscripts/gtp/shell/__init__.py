# SPDX-License-Identifier: GPL-2.0-only
"""The shell command `gtp`. It drives a GDB in batch mode; inside.py, asked.py, values.py and atend.py run inside that
GDB."""
