# SPDX-License-Identifier: GPL-2.0-only
"""Shows values as text for people: addresses, errors, flags, times. In files for programs, numbers stay numbers."""
