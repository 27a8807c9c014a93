# SPDX-License-Identifier: GPL-2.0-only
"""The GDB commands `gtp NAME`, each in the file NAME.py. Exceptions: `gtp if` is condition.py, `gtp clear` is in show.py."""
