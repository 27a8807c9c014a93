# SPDX-License-Identifier: GPL-2.0-only
# What `gtp export` writes for other programs: a format in each file, the command in command.py.
