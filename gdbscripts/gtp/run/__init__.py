# SPDX-License-Identifier: GPL-2.0-only
"""The data that a run has collected, read from the module or from a trace file."""
