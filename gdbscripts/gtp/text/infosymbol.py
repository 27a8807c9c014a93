# SPDX-License-Identifier: GPL-2.0-only
"""Parses GDB's output of `info symbol`. A C++ name in it has blanks, and may contain " + "."""
import re
from collections import namedtuple

# A symbol, the offset from the symbol, its section, and the file, which is None while GDB has only one.
Found = namedtuple("Found", "name offset section file")

ANSWER = re.compile(r"(.+?)(?: \+ (\d+))? in section (\S+)(?: of (.+))?", re.A)


def parse(text):
    """Return the Found for an output of `info symbol`, or None if it names no symbol."""
    found = ANSWER.fullmatch(text.strip().partition("\n")[0])
    return Found(found.group(1), int(found.group(2) or 0), *found.groups()[2:]) if found else None
