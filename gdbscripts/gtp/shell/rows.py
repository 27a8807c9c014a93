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
    the cell's text."""

    def __init__(self, spec, symbols, null):
        self.name, self.titles = spec["name"], [column["title"] for column in spec["columns"]]
        self.cells = [decode.cell(column, symbols, null) for column in spec["columns"]]
        strings = [column["kind"] == "string" for column in spec["columns"]]
        self.parts = rowcode.layout(strings, spec["parts"])


class Rows:
    """feed() takes the kernel's text and returns the rows in it, and the lines that are not part of a row."""

    def __init__(self, spec):
        symbols, null = decode.Symbols(), spec["null"].encode()
        self.places = [Place(place, symbols, null) for place in spec["places"]]
        self.reader = rowcode.Reader(spec["mark"])
        self.open = {}  # CPU -> the row that still lacks parts

    def feed(self, data):
        found = []
        for item in self.reader.feed(data):
            found += [item] if isinstance(item, str) else self.part(*item)
        return found

    def rest(self):
        """Return the rows that still lack parts, and forget them."""
        rows, self.open = list(self.open.values()), {}
        return rows

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
            done.append(row)
        return done

    def begin(self, number, place, values):
        """Begin a new row. Return the row, and a list with the unfinished row of the same CPU, if there is one."""
        task = int(values[rowcode.TASK], 16)
        row = Row(int(values[rowcode.CLOCK], 16), task >> 32, task & 0xffffffff,
                  decode.printable(values[rowcode.TASK_NAME]), number, [CUT] * len(place.cells))
        given_up = self.open.pop(row.cpu, None)
        self.open[row.cpu] = row
        return row, [given_up] if given_up else []
