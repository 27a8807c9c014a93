# SPDX-License-Identifier: GPL-2.0-only
# The files that `gtp export` writes for other programs: a format in each file, the command in command.py.
