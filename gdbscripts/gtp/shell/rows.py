# SPDX-License-Identifier: GPL-2.0-only
"""Turns the records of rowcode.py into table rows: joins the parts of a hit, and decodes each value."""
from typing import NamedTuple

from gtp.shell import decode, rowcode

CUT = "<dropped>"


class Row(NamedTuple):
    """One hit: its time in ns of the monotonic clock, its place, its CPU and task, and the text of each column."""
    time: int
    cpu: int
    pid: int
    task: str
    place: int
    cells: list


class Place:
    """A place whose hits become rows: its name, the titles of its columns, and for each column a function that makes
    the cell's text. nulls: the columns with a string that a pointer names."""

    def __init__(self, spec, symbols):
        self.name, self.titles = spec["name"], [column["title"] for column in spec["columns"]]
        self.nulls = spec["nulls"]
        self.cells = [decode.cell(column, symbols) for column in spec["columns"]] + [bytes.decode for _ in self.nulls]
        strings = [column["kind"] == "string" for column in spec["columns"]]
        self.parts = rowcode.layout(strings, spec["parts"], len(self.nulls))

    def finish(self, cells):
        """Use the numbers after the columns, and remove them from the row's CELLS."""
        for column, null in zip(self.nulls, cells[len(self.titles):]):
            if null == CUT:
                cells[column] = CUT
            elif int(null, 16):
                cells[column] = decode.NULL
        del cells[len(self.titles):]


class Rows:
    """feed() takes the kernel's text and returns the rows in it, and the lines that are not part of a row."""

    def __init__(self, spec):
        symbols = decode.Symbols()
        self.places = [Place(place, symbols) for place in spec["places"]]
        self.reader = rowcode.Reader(spec["mark"])
        self.open = {}  # CPU -> the row that still lacks parts

    def feed(self, data):
        found = []
        for item in self.reader.feed(data):
            found += [item] if isinstance(item, str) else self.part(*item)
        return found

    def rest(self):
        """Return the rows that still lack parts, and forget them."""
        rows, self.open = list(map(self.finished, self.open.values())), {}
        return rows

    def finished(self, row):
        self.places[row.place].finish(row.cells)
        return row

    def part(self, number, part, fields):
        """Add a part to its row. Return the rows that are now complete, or can no longer be completed."""
        place = self.places[number]
        layout = place.parts[part]
        if len(fields) != len(layout):
            return []
        values = {field.what: value for field, value in zip(layout, fields)}
        done = []
        if part == 0:
            row, done = self.begin(number, place, values)
        else:
            row = self.open.get(int(values[rowcode.CPU], 16))
            if row is None or (row.place, row.time) != (number, int(values[rowcode.CLOCK], 16)):
                return []
        for what, value in values.items():
            if isinstance(what, int):
                row.cells[what] = place.cells[what](value)
        if part == len(place.parts) - 1:
            self.open.pop(row.cpu, None)
            done.append(self.finished(row))
        return done

    def begin(self, number, place, values):
        """Begin a new row. Return the row, and a list with the unfinished row of the same CPU, if there is one."""
        task = int(values[rowcode.TASK], 16)
        row = Row(int(values[rowcode.CLOCK], 16), task >> 32, task & 0xffffffff,
                  decode.printable(values[rowcode.TASK_NAME]), number, [CUT] * len(place.cells))
        given_up = self.open.pop(row.cpu, None)
        self.open[row.cpu] = row
        return row, [self.finished(given_up)] if given_up else []
