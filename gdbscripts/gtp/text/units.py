# SPDX-License-Identifier: GPL-2.0-only
# Numbers as text, with units.


def duration(ns):
    """Return a time in words, with three digits."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if abs(ns) >= size - size // 2000:  # also values that round up to the next unit at three digits
            return "%.3g %s" % (ns / size, unit)
    return "%d ns" % ns


def octets(word, size):
    """Return the bytes in a number, the lowest first, as in 52:54:00:12:34:56."""
    return word.to_bytes(8, "little")[:size].hex(":")
