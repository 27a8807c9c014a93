# SPDX-License-Identifier: GPL-2.0-only
# Numbers for a reader, with their units. Knows nothing of GDB.


def duration(ns):
    """A time in words, with three digits."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if abs(ns) >= size - size // 2000:  # also values that round up to the next unit at three digits
            return "%.3g %s" % (ns / size, unit)
    return "%d ns" % ns
