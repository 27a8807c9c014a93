# SPDX-License-Identifier: GPL-2.0-only
"""Reads arrays of bytes that are not text as numbers of up to eight bytes, with the first byte as the lowest one."""
import re

WORD = 8
PIECE = re.compile(r"(.+)\[(\d+)\]@(\d)", re.S)
WIDTHS = ((8, "unsigned long"), (4, "unsigned int"), (2, "unsigned short"), (1, "unsigned char"))


def suffixes(count):
    """Return the suffixes that turn an array of COUNT bytes into numbers: one number for all bytes if there are at most
    eight, else one number for every eight bytes."""
    if count <= WORD:
        return [""]
    return ["[%d]@%d" % (first, min(WORD, count - first)) for first in range(0, count, WORD)]


def wide(array, first, size):
    """Return the number in SIZE bytes of an array as a C expression with as few reads as possible. No read goes beyond
    the array."""
    found, at = [], 0
    for width, name in WIDTHS:
        while size - at >= width:
            read = "*(%s *)((unsigned long)(%s) + %d)" % (name, array, first + at)
            found.append("((unsigned long)%s << %d)" % (read, 8 * at) if at else "(unsigned long)" + read)
            at += width
    return " | ".join(found)


def bytewise(array, first, size):
    """Return the number in SIZE bytes of an array as a C expression that takes no address, for an array in a
    register."""
    return " | ".join("((unsigned long)(unsigned char)(%s)[%d] << %d)" % (array, first + i, 8 * i) for i in range(size))


def piece(text):
    """Return (ARRAY, N, M) for a text ARRAY[N]@M, which means M bytes starting at byte N. Return None for any other
    text."""
    found = PIECE.fullmatch(text)
    return found and (found.group(1), int(found.group(2)), int(found.group(3)))
