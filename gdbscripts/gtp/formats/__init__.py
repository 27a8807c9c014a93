# SPDX-License-Identifier: GPL-2.0-only
"""Formats of files and of words that other parts of gdbtp write. Does not import gdb."""
