#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that reading an untrusted trace file does no harm, and that each command prints its output or an error message.

Usage: tests/tfile/hostile.py FOLDER [SEED [COUNT]]     FOLDER holds a program, and trace files of it

Prints each failure and the file that caused it, FOLDER/strange/N.tf; the exit status is then 1.
"""
import os
import random
import re
import resource
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../lib"))

import strange  # noqa: E402
from tap import SECONDS  # noqa: E402

COUNT = 100
WHOLE = ("kept.tf", "ours.tf", "one.tf")
MOST_SHOWN = 30


class NotBegun(Exception):
    """GDB ended before it read the first file."""


def make(folder, program, seed, count):
    """Write hostile trace files to the folder. Return a description of the change in each file."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    nm = subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    address = int(re.search(r"^(\w+) T add$", nm, re.M).group(1), 16)
    files = []
    for name in WHOLE:
        with open(os.path.join(os.path.dirname(program), name), "rb") as file:
            files.append(file.read())
    titles = []
    for title, data in [*strange.by_hand(address), *strange.strange(seed, count, files)]:
        with open(os.path.join(folder, "%d.tf" % len(titles)), "wb") as file:
            file.write(data)
        titles.append(title)
    return titles


def tripwire(folder):
    """Return the path of a program that stands in for the shell. If it is called, it creates a file."""
    path = os.path.join(folder, "shell")
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho called >>%s/TRIPPED\n" % folder)
    os.chmod(path, 0o755)
    return path


def run(folder, program, shell, *span):
    """Have GDB read files with watched.py. SPAN is the first and the last number; without the last, all files from the first
    are read. Return GDB's output and status."""
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set pagination off", program, "-x",
             HERE + "/watched.py", "-x", HERE + "/../../gdbscripts/gtp.py", "-ex", "python stand_between()",
             "-ex", " ".join(["watched", folder, *map(str, span)])]
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=10 * SECONDS, check=False, env=dict(os.environ, SHELL=shell, PYTHONDONTWRITEBYTECODE="1"))
    return done.stdout.decode(errors="replace"), done.returncode


def read(folder, program, titles, shell, wrong, *span):
    """Have GDB read the files, and add lines to WRONG. Return the number of the file at which GDB ended, or None if it
    read all."""
    text, status = run(folder, program, shell, *span)
    wrong += ["%s (%s)" % (line, titles[int(line.split(":")[0])]) for line in text.splitlines() if re.match(r"\d+: ", line)]
    wrong += [line for line in text.splitlines() if "Python Exception" in line or "Error occurred in Python" in line]
    begun = re.findall(r"^(\d+)$", text, re.M)
    if not begun:
        raise NotBegun("GDB does not begin (status %d): %s" % (status, text[-500:]))
    return None if re.search("^done$", text, re.M) else int(begun[-1])


def read_all(folder, program, titles, shell):
    """Return (a line for each fault, the numbers of the files at which GDB itself ended)

    GDB may end because of state that an earlier file has left in it. So the file at which it ended is read again by
    itself.
    """
    wrong, died, first = [], [], 0
    try:
        while first < len(titles):
            last = read(folder, program, titles, shell, wrong, first)
            if last is None:
                break
            if last == first or read(folder, program, titles, shell, wrong, last, last) is not None:
                died.append(last)
            first = last + 1
    except NotBegun as error:
        wrong.append(str(error))
    return wrong, died


def opens(folder, program, number):
    """Return whether GDB opens the file and reads its frames without gdbtp's scripts. If not, the fault is GDB's."""
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", program]
    for line in ("target tfile %d.tf" % number, "tfind 0", "info tracepoints", "tfind none", "tfind 1"):
        words += ["-ex", line]
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS, check=False)
    # If it cannot write a core file, GDB exits normally after an internal error.
    return done.returncode >= 0 and b"internal-error" not in done.stdout


def main():
    top = os.path.abspath(sys.argv[1])
    seed = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("GTP_SEED", str(random.randrange(10**6)))
    count = int(sys.argv[3]) if len(sys.argv) > 3 else COUNT
    folder, program = os.path.join(top, "strange"), os.path.join(top, "prog")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    titles = make(folder, program, seed, count)
    before = set(os.listdir(folder)) | {"out", "shell"}
    wrong, died = read_all(folder, program, titles, tripwire(folder))
    wrong += ["%d: GDB has ended in one of the commands (%s)" % (n, titles[n]) for n in died if opens(folder, program, n)]
    wrong += ["there is a new file: %s" % name for name in sorted(set(os.listdir(folder)) - before)]
    print("# seed %s, %d files; over %d of them GDB itself ended" % (seed, len(titles), len(died)))
    for line in wrong[:MOST_SHOWN]:
        print("# %s" % line[:400])
    if len(wrong) > MOST_SHOWN:
        print("# and %d more" % (len(wrong) - MOST_SHOWN))
    return bool(wrong)


sys.exit(main())
