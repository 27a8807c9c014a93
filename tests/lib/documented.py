# SPDX-License-Identifier: GPL-2.0-only
"""The commands in a page of recipes in docs/."""
import os

from tap import check

DOCUMENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")


def recipes(page):
    """Return the lines with which a session begins, and {question: the lines of the recipe}."""
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
    return found.pop(None)[0], {question: blocks[0] for question, blocks in found.items()}
