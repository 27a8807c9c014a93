# SPDX-License-Identifier: GPL-2.0-only
"""Reads those expressions in tests/expr/expressions/ that are valid for a kernel's release."""
import glob
import os
import re
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))


class Row(NamedTuple):
    """A row of a file in expressions/. text: the expression, which is translated at the function's first instruction.
    oracle: the expression for GDB's evaluator.

    mark: ~ if GDB compiles the text by itself, but not as C; ! if GDB 13 aborts on it.
    """
    line: str
    group: str
    function: str
    text: str
    oracle: str
    mark: str


def rows(release):
    """Yield the Rows for a kernel's release, file by file in the order of the files' names."""
    for path in sorted(glob.glob(os.path.join(HERE, "expressions", "*.txt"))):
        yield from rows_of(path, release)


def rows_of(path, release):
    group, wanted = "", True
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("%"):
                word, _, rest = line.partition(" ")
                group = rest if word == "%class" else group
                wanted = any(release.startswith(r + ".") for r in rest.split()) if word == "%only" else True
            elif wanted and line and not line.startswith("#"):
                yield row("%s:%d" % (os.path.basename(path), number), group, line)


def row(where, group, line):
    mark, function, rest = re.fullmatch(r"([~!]?)(\S+) (.*)", line).groups()
    text, _, oracle = rest.partition(" ;; ")
    return Row(where, group, function, text, oracle or text.replace("$_streq(", "$_equal("), mark)


def by_group(release):
    """Return {(group, function): [Row]}."""
    found = {}
    for each in rows(release):
        found.setdefault((each.group, each.function), []).append(each)
    return found
