# SPDX-License-Identifier: GPL-2.0-only
"""One session on many machines: gtp fleet. Does not import gdb."""
