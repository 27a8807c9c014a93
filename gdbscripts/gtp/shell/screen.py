# SPDX-License-Identifier: GPL-2.0-only
"""Prints rows as a growing table: aligned columns for people, or CSV."""
import csv
import io
import time

from gtp.text import harmless

WIDEST = 40  # no column becomes wider than this many characters


def offset(known=None):
    """Return the time of day minus the monotonic clock, in ns. Return KNOWN, an earlier result, unless the clocks show
    that it is no longer right."""
    before, now, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return known if known is not None and now - after <= known <= now - before else now - before


def wall(ns, ahead):
    """Return a time of the monotonic clock as a time of day with microseconds. AHEAD is the result of offset()."""
    s, ns = divmod(ns + ahead, 10**9)
    return "%s.%06d" % (time.strftime("%H:%M:%S", time.localtime(s)), ns // 1000)


class Table:
    """Makes the text of rows. If the traced places have different columns, a single column has name=value pairs."""

    def __init__(self, places):
        self.places = places
        self.alike = all(place.titles == places[0].titles for place in places)
        self.several = len({place.name for place in places}) > 1
        self.titles = ["time", "cpu", "pid", "task"] + ["where"] * self.several + (
            places[0].titles if self.alike else ["values"])

    def values(self, row):
        place = self.places[row.place]
        cells = row.cells if self.alike else [" ".join("%s=%s" % pair for pair in zip(place.titles, row.cells))]
        return [place.name] * self.several + cells

    def begin(self):
        """Prepare for new rows; called before they are printed."""


class Screen(Table):
    """Aligned columns. A column that gets a longer cell is wider from that row on."""

    def __init__(self, places, columns=()):
        super().__init__(places)
        self.offset = offset()
        self.widths = [15, 3, 7, 15] + [max(6, min(len(title), WIDEST)) for title in self.titles[4:]]
        self.right = [False, True, True, False] + [False] * self.several + [
            self.alike and column["kind"] in ("int", "pointer") for column in columns or [{"kind": ""}]]

    def line(self, cells):
        """Return the cells as a line, each padded to its column's width so far, except the last cell."""
        pieces = []
        for i, cell in enumerate(map(harmless.line, cells)):
            self.widths[i] = max(self.widths[i], min(len(cell), WIDEST))
            pieces.append(cell.rjust(self.widths[i]) if self.right[i] else cell.ljust(self.widths[i]))
        return "  ".join(pieces).rstrip() + "\n"

    def begin(self):
        """Read the clocks again: since the last rows the time may have been set, or the machine suspended."""
        self.offset = offset(self.offset)

    def head(self):
        return self.line(self.titles)

    def text(self, row):
        return self.line([wall(row.time, self.offset), str(row.cpu), str(row.pid), row.task] + self.values(row))


class Csv(Table):
    """Prints rows as CSV. The time column is $clock, in seconds."""

    def joined(self, cells):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow([harmless.cell(str(cell)) for cell in cells])
        return out.getvalue()

    def head(self):
        return self.joined(self.titles)

    def text(self, row):
        return self.joined(["%d.%09d" % divmod(row.time, 10**9), row.cpu, row.pid, row.task] + self.values(row))
