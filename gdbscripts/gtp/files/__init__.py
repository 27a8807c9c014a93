# SPDX-License-Identifier: GPL-2.0-only
"""Files on disk: written as a whole, found, copied. Does not import gdb."""
