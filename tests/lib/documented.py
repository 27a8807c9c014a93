# SPDX-License-Identifier: GPL-2.0-only
"""Reads the commands in a page of recipes in docs/, and in the pages docs/tools-*.md about other projects' tools."""
import glob
import os

from tap import check

DOCUMENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")


def recipes(page):
    """Return the lines with which a page's session begins, and {question: the lines of its recipe}."""
    found, question, lines = {}, None, None
    with open(os.path.join(DOCUMENTS, page), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("#"):
                question = line[4:] if line.startswith("### ") else None
            elif line == "```":
                lines = [] if lines is None else None
                if lines is not None:
                    found.setdefault(question, []).append(lines)
            elif lines is not None:
                lines.append(line)
    check(all(len(blocks) == 1 for blocks in found.values()), "a recipe has one block of lines")
    beginning = found.pop(None, [[]])[0]
    return beginning, {question: blocks[0] for question, blocks in found.items()}


def pages_of_tools():
    """Return the names of the pages that have gdbtp's lines for other projects' tools."""
    return sorted(map(os.path.basename, glob.glob(os.path.join(DOCUMENTS, "tools-*.md"))))


def tools():
    """Return {names: lines} of other projects' tools for which the pages have gdbtp's lines. The names are separated by
    commas."""
    found = {}
    for page in pages_of_tools():
        found.update(recipes(page)[1])
    return found


def only_in_part():
    """Return the names of the tools whose text says that the lines do a part of the tool's work."""
    found = []
    for page in pages_of_tools():
        with open(os.path.join(DOCUMENTS, page), encoding="utf-8") as file:
            sections = file.read().split("\n### ")[1:]
        found += [name for text in sections if "In part: " in text for name in text.split("\n", 1)[0].split(", ")]
    return found


def other_tools():
    """Return {heading: {names: the rest of the row}} for the tables of docs/tools.md."""
    found, heading = {}, None
    with open(os.path.join(DOCUMENTS, "tools.md"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("## "):
                heading = line[3:]
            elif line.startswith("| ") and not line.startswith("| tool"):
                names, rest = line.strip("| ").split(" | ", 1)
                found.setdefault(heading, {})[names] = rest
    return found
