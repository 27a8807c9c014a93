#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Job: check the data in a page of gtp report: it must match gtp table, equal another page's data, or have N frames.
#
# Usage: tests/tfile/report.py table PAGE CSV... | same PAGE PAGE | limited PAGE N | counts PAGE NAME KEY=COUNT... |
#        figures PAGE NAME FIGURE...
# If the data is wrong, prints the differences and fails.
import itertools
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

import sheet  # noqa: E402

HEAD = {"time": None, "cpu": "cpu", "pid": "pid"}


def data_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1)
    if re.search("[<>&]", found):
        sys.exit("%s: its data has characters of HTML" % path)
    return json.loads(found)


def values(column):
    return column["n"] if "n" in column else [None if code < 0 else column["d"][code] for code in column["c"]]


def clocks(frames):
    """Return $clock of each frame, in ns."""
    now, found = int(frames["start"] or 0), []
    for difference in frames["time"] or [None] * len(frames["place"]):
        now += difference or 0
        found.append(None if difference is None else now)
    return found


def rows_of(data):
    """Return {frame's number: {title: value}} from a page's data."""
    frames, found = data["frames"], {}
    taken = [itertools.count() for _ in data["places"]]
    columns = [[(field["name"], values(column)) for field, column in zip(place["fields"], place["columns"])] for place in data["places"]]
    for i, (place, clock) in enumerate(zip(frames["place"], clocks(frames))):
        row = next(taken[place])
        one = {name: column[row] for name, column in columns[place]}
        one["time"] = None if clock is None else "%d.%09d" % divmod(clock, 10**9)
        one["cpu"] = frames["cpu"][i] if frames["cpu"] else None
        one["pid"] = data["tasks"][frames["task"][i]][0] if frames["task"] and frames["task"][i] is not None else None
        found[frames["index"][i] if frames["index"] else i] = one
    return found


def same_value(have, text):
    """Compare a value in the page with its text in gtp table. In a column that has only numbers, the value is a number."""
    if have is None:
        return text == "<unavailable>" or text.startswith("<")
    if str(have) == text:
        return True
    try:
        return int(text, 0) == int(str(have), 0)
    except ValueError:
        return isinstance(have, int) and text in ("%d '%s'" % (have, chr(have % 256)), "%d %s" % (have, text.partition(" ")[2]))


def table(path, *tables):
    data = data_of(path)
    rows, bad, cells, frames = rows_of(data), [], 0, 0
    for name in tables:
        with open(name, newline="", encoding="utf-8", errors="backslashreplace") as file:
            for line in sheet.rows(file):
                have = rows[int(line.pop("frame"))]
                frames += 1
                for title, text in line.items():
                    if title in have:
                        cells += 1
                        if not same_value(have[title], text):
                            bad.append("%s: %r, the table has %r" % (title, have[title], text))
    if frames != len(rows) or not cells:
        bad.append("%d frames and %d cells of %d frames are in the tables" % (frames, cells, len(rows)))
    return bad


def same(one, other):
    a, b = data_of(one), data_of(other)
    parts = ("frames", "places", "tasks", "stacks", "names", "aggregations", "hits", "missing", "title", "flames")
    bad = [part for part in parts if a[part] != b[part]]
    pictures = [re.findall(r"<svg.*?</svg>", open(path, encoding="utf-8").read(), re.S) for path in (one, other)]
    if pictures[0] != pictures[1] or len(pictures[0]) != a["flames"] or not pictures[0]:
        bad.append("pictures: %s" % list(map(len, pictures)))
    return bad


def limited(path, n):
    frames = data_of(path)["frames"]
    return [] if len(frames["place"]) == int(n) < frames["total"] else ["%d of %d frames" % (len(frames["place"]), frames["total"])]


def counts(path, name, *wanted):
    one = next(one for one in data_of(path)["aggregations"] if one["name"] == name)
    have = {entry["keys"][0]["text"]: str(entry["count"]) for entry in one["entries"]}
    return [] if have == dict(pair.split("=") for pair in wanted) else [str(have)]


def figures(path, name, *wanted):
    """Compare the figures of an aggregation's first entry, and their types: long numbers must be texts, because a browser
    would round the numbers. Return a list with the figures if they are wrong, else an empty list."""
    one = next(one for one in data_of(path)["aggregations"] if one["name"] == name)
    have = list(map(repr, [*one["entries"][0]["summary"], *(one["bounds"] or ())]))
    return [] if have == list(wanted) else [str(have)]


wrong = {"table": table, "same": same, "limited": limited, "counts": counts, "figures": figures}[sys.argv[1]](*sys.argv[2:])
for text in wrong[:20]:
    print(text)
sys.exit(bool(wrong))
