# SPDX-License-Identifier: GPL-2.0-only
"""Texts of values for people: addresses, errors, flags, times. In files for programs numbers stay numbers."""
