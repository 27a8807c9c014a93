#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that a speedscope file and a flame graph agree with the folded lines. It uses no code of gdbtp.

Usage: tests/tfile/pictures.py FOLDED SPEEDSCOPE SVG TOTAL UNIT      prints faults as remarks
"""
import collections
import json
import sys
import xml.etree.ElementTree

UNITS = ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
SVG = "{http://www.w3.org/2000/svg}"


def folded(path):
    """Return {names, the outermost first: weight} from a folded file."""
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            names, _, weight = line.rstrip("\n").rpartition(" ")
            found[tuple(names.split(";"))] += int(weight)
    return found


def speedscope(path, unit):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json", data["$schema"]
    profile, = data["profiles"]
    frames = [frame["name"] for frame in data["shared"]["frames"]]
    assert len(set(frames)) == len(frames), "a frame is there twice"
    assert profile["type"] == "sampled" and profile["name"] and data["activeProfileIndex"] == 0, profile
    assert profile["unit"] == unit and unit in UNITS, profile["unit"]
    samples, weights = profile["samples"], profile["weights"]
    assert len(samples) == len(weights) and profile["endValue"] - profile["startValue"] == sum(weights), "the total"
    return collections.Counter({tuple(frames[i] for i in sample): weight for sample, weight in zip(samples, weights)})


def picture(path):
    """Return {names, the outermost first: own weight} from the data in the flame graph. The own weight of a function excludes
    that of its callees."""
    root = xml.etree.ElementTree.parse(path).getroot()
    data = json.loads(next(one.text for one in root.iter(SVG + "script") if one.get("class") == "data"))
    found, way = collections.Counter(), []
    for at in range(0, len(data["nodes"]), 3):
        depth, name, weight = data["nodes"][at:at + 3]
        way[depth:] = [data["names"][name]]
        if depth > 1:
            found[tuple(way[1:-1])] -= weight
        if depth:
            found[tuple(way[1:])] += weight
    texts = [one.text for one in root.iter(SVG + "text")]
    return collections.Counter({names: weight for names, weight in found.items() if weight}), data, texts


def main(folded_path, speedscope_path, svg_path, total, unit):
    lines = folded(folded_path)
    drawn, data, texts = picture(svg_path)
    wrong = []
    for what, got, wanted in (("the total", sum(lines.values()), int(total)),
                              ("speedscope", speedscope(speedscope_path, unit), lines),
                              ("the picture", drawn, lines), ("its total", data["nodes"][2], int(total))):
        if got != wanted:
            wrong.append("%s: %s, wanted %s" % (what, got, wanted))
    if data["title"] not in texts:
        wrong.append("the title %s is not among the texts of the still picture" % data["title"])
    for line in wrong:
        print("# " + line)
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
