# SPDX-License-Identifier: GPL-2.0-only
# File spaces: the addresses that stand for places in the files of programs. base/space.h defines them.

TAG, TAG_SHIFT = 0x47, 56
SHIFT = 36
SIZE = 1 << SHIFT  # the size of a file space


def has(address):
    """Return whether an address is in a file space."""
    return address >> TAG_SHIFT == TAG


def linked(address):
    """Return the link-time address of a place in a file space."""
    return address % SIZE


# (path, path on the traced machine) -> program.Program, for all programs whose symbols `gtp lib` has loaded.
programs = {}


def program(address):
    """Return the program.Program in whose space an address is, or None."""
    return next((one for one in programs.values() if one.has(address)), None)
