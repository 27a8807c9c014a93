#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compiles the recipes of docs/recipes.md as one session. A GDB with an index of vmlinux and one without must make the
same file. Also checks the sums in docs/tools.md. (Compiling the lines of docs/tools-*.md takes too long here; gdb/tools
does it.)

With an index, GDB may look up a name in another file first than without one. So one GDB may find a definition, the
other a declaration.

Usage: tests/lib/env tests/expr/recipes.py VMLINUX INDEX
"""
import os
import re
import subprocess
import sys
import tempfile

import documented
from tap import Failure, check, equal, run, test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VMLINUX, INDEX = sys.argv[1:]
DEFINES = re.compile(r"gtp (trace|event|syscall|count|sum|min|max|stats|hist|lhist)\b")
PER_CPU = re.compile(r"this_cpu|per_cpu")  # gtp compile refuses such lines: it cannot relocate a computed address
FIRST = "gtp syscall read"


def session():
    """Return the lines of the recipes that define something."""
    lines = [line for recipe in documented.recipes("recipes.md")[1].values() for line in recipe]
    return [FIRST] + [line for line in lines if DEFINES.match(line) and not PER_CPU.search(line)]


def compiled(folder, name, **environment):
    """Compile the session. Return its bytes, and the messages."""
    with open(folder + "/session.gdb", "w", encoding="utf-8") as file:
        file.write("\n".join(session()) + "\n")
    done = subprocess.run([sys.executable, "-B", TOP + "/tools/gtp", "compile", "session.gdb", "-o", name, "--no-table", "--vmlinux",
                           VMLINUX], cwd=folder, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failure(done.stdout[-2000:])
    with open(os.path.join(folder, name), "rb") as file:
        return file.read(), done.stdout.replace(name, "")


@test("the recipes make the same session in a GDB that has read vmlinux itself and in a GDB that uses an index")
def same():
    check(len(session()) > 30, "recipes: %s" % session())
    with tempfile.TemporaryDirectory(prefix="gtp-recipes-") as folder:
        alone = compiled(folder, "alone.gtpd", XDG_CACHE_HOME=folder + "/cache")
        equal(alone, compiled(folder, "indexed.gtpd", GTP_GDB_INDEX=INDEX))


@test("each tool of others stands in docs/tools.md and its pages once, and the sums at the top are right")
def sums():
    own, others = documented.tools(), documented.other_tools()
    kinds = [own, others["The same as a recipe"], others["Not tested"], others["Not yet"]]
    names = [[name for some in kind for name in some.split(", ")] for kind in kinds]
    for some in own.items():
        check(sum(line.startswith("gtp ") and not line.startswith("gtp stacks") for line in some[1]) <= 3, str(some))
    every = sum(names, [])
    equal([name for name in set(every) if every.count(name) > 1], [])
    with open(os.path.join(documented.DOCUMENTS, "tools.md"), encoding="utf-8") as file:
        text = " ".join(file.read().split())
    found = re.search(r"Of these (\d+) different tools: - (\d+) can be done .* (\d+) by a \[recipe\].* (\d+) by lines of the pages "
                      r"below\. (\d+) of these only in part.* - (\d+) more probably can.* - (\d+) cannot", text)
    equal([int(number) for number in found.groups()], [
        len(every), len(names[0]) + len(names[1]), len(names[1]), len(names[0]), len(documented.only_in_part()), len(names[2]), len(names[3])])


@test("the recipes that the other tools name exist")
def links():
    anchors = {re.sub(r"[^\w -]", "", question.lower()).replace(" ", "-") for question in documented.recipes("recipes.md")[1]}
    for names, rest in documented.other_tools()["The same as a recipe"].items():
        there = re.findall(r"\(recipes\.md#([^)]+)\)", rest)
        check(there and set(there) <= anchors, "%s: %s" % (names, rest))


sys.exit(not run())
