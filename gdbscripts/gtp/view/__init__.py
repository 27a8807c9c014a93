# SPDX-License-Identifier: GPL-2.0-only
"""Values as people read them: addresses, errors, flags, times. Numbers for programs stay numbers."""
