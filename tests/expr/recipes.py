#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The recipes of docs/recipes.md as one compiled session: a GDB with an index of vmlinux and one without must make the
same file.

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


sys.exit(not run())
