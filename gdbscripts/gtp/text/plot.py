# SPDX-License-Identifier: GPL-2.0-only
# Draws histograms as text: a line for each bucket, and below these a line with the number of values, their average,
# minimum, maximum and percentiles.
import fractions

WIDTH = 40
UNITS = "KMGTPE"
NEGATIVE, ZERO = 0, 1
PERCENTS = (50, 90, 99)


def short(number):
    """Return a power of two with its unit, such as 1K or 2M."""
    unit = 0
    while number >= 1024 and number % 1024 == 0 and unit < len(UNITS):
        number //= 1024
        unit += 1
    return "%d%s" % (number, UNITS[unit - 1] if unit else "")


def log_range(bucket):
    """Return the first value of a power-of-two bucket and the value after its last one. None means that there is no
    limit."""
    if bucket == NEGATIVE:
        return None, 0
    if bucket == ZERO:
        return 0, 1
    return 1 << (bucket - 2), 1 << (bucket - 1)


def linear_range(bucket, bounds):
    """Return the first value of a linear bucket and the value after its last one. None means that there is no limit."""
    first, last, step = bounds
    begin = first + (bucket - 1) * step
    if bucket == 0:
        return None, first
    if begin >= last:
        return last, None
    return begin, min(begin + step, last)


def range_of(bucket, bounds):
    return log_range(bucket) if bounds is None else linear_range(bucket, bounds)


def label(bucket, bounds):
    """Return a bucket's values, in the notation of intervals."""
    begin, end = range_of(bucket, bounds)
    text = short if bounds is None else str
    if begin is None:
        return "(..., %s)" % text(end)
    if end is None:
        return "[%s, ...)" % text(begin)
    return "[%s]" % text(begin) if end == begin + 1 else "[%s, %s)" % (text(begin), text(end))


def bar(count, most):
    """Return a bucket's bar. It is at least one character long if COUNT is not 0."""
    return "@" * (max(1, round(WIDTH * count / most)) if count else 0)


def lines(buckets, bounds):
    """Yield a line for each bucket from the first to the last nonempty one."""
    if not buckets:
        return
    first, last, most = min(buckets), max(buckets), max(buckets.values())
    shown = [(label(i, bounds), buckets.get(i, 0)) for i in range(first, last + 1)]
    wide = max(len(text) for text, _ in shown)
    digits = max(len(str(count)) for _, count in shown)
    for text, count in shown:
        yield "%-*s %*d |%-*s|" % (wide, text, digits, count, WIDTH, bar(count, most))


def percentile(percent, buckets, bounds, least, greatest):
    """Return the value below which PERCENT of all values are, assuming that they are spread evenly within a bucket."""
    wanted = percent * sum(buckets.values())
    seen = 0
    for bucket in sorted(buckets):
        count = 100 * buckets[bucket]
        if seen + count >= wanted:
            begin, end = range_of(bucket, bounds)
            begin = least if begin is None else max(begin, least)
            end = greatest if end is None else min(end - 1, greatest)
            found = begin + round(fractions.Fraction((end - begin) * (wanted - seen), count))
            return min(max(found, least), greatest)
        seen += count
    return greatest


def true_sum(count, total, least, greatest):
    """Return the exact sum of COUNT values between two bounds, or None if it is not unique. TOTAL is the sum modulo
    2^64."""
    found = total + -((total - count * least) // 2**64) * 2**64  # the lowest possible sum of COUNT values
    return found if found <= count * greatest < found + 2**64 else None


def average(count, total, least, greatest):
    """Return the average of COUNT values as text."""
    found = true_sum(count, total, least, greatest)
    return "? (the sum is beyond 64 bits)" if found is None else str(round(fractions.Fraction(found, count)))


def figures(count, summary, buckets, bounds):
    """Return the line of figures below a histogram. gtp stats prints the same line."""
    total, least, greatest = summary
    text = "n %d, avg %s, min %d, max %d" % (count, average(count, total, least, greatest), least, greatest)
    if buckets:
        text += ", " + ", ".join("p%d %d" % (p, percentile(p, buckets, bounds, least, greatest)) for p in PERCENTS)
    return text
