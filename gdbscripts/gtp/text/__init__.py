# SPDX-License-Identifier: GPL-2.0-only
"""Text for people and programs: escapes, numbers with units, histograms. Does not import gdb."""
