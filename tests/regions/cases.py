#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Assemble tests/regions/cases/*.s and compare the tool's output with the expectations in their comments.

Usage: cases.py TOOL FOLDER [CASE...]      objects go to FOLDER; prints TAP

  #: PLACE WORD [accepted|refused] [with OPTION...]   the tool's verdict, and that of the kernel's own rule
  #? PLACE [--OPTION VALUE...] REGEX                  the output of `explain`
A file with a line "# link" is linked to an address, as a kernel is.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def build(source, folder):
    name = os.path.splitext(os.path.basename(source))[0]
    result = os.path.join(folder, name + ".o")
    subprocess.run(["as", "--64", "-o", result, source], check=True)
    with open(source) as file:
        text = file.read()
    if "# link\n" in text:
        linked = os.path.join(folder, name)
        subprocess.run(["ld", "-Ttext=0xffffffff81000000", "-e", "0", "-o", linked, result],
                       check=True)
        result = linked
    return result, text


def dump(tool, path, options):
    """Return {place: (verdict, verdict of the kernel's own rule)}. Places where no instruction starts are missing."""
    out = subprocess.run([tool, "dump", path, *options], check=True, stdout=subprocess.PIPE,
                         text=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {row[1]: (row[4], row[5]) for row in rows}


def verdict(tool, path, words):
    options = words[words.index("with") + 1:] if "with" in words else []
    wanted = words[1:words.index("with")] if "with" in words else words[1:]
    got = dump(tool, path, options).get(words[0], ("not-start", "refused"))
    good = got[0] == wanted[0] and (len(wanted) == 1 or got[1] == wanted[1])
    return good, "got %s" % " ".join(got)


def explained(tool, path, line):
    words = line.split(" ")
    options = []
    place = words.pop(0)
    while words[0].startswith("--"):
        options += [words.pop(0), words.pop(0)]
    done = subprocess.run([tool, "explain", path, place, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0 and re.search(" ".join(words), done.stdout), done.stdout


def expectations(text):
    for line in text.splitlines():
        if line.startswith("#: "):
            yield verdict, line[3:].split(), line[3:]
        elif line.startswith("#? "):
            yield explained, line[3:], line[3:]


def main():
    tool, folder, *cases = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    failed = count = 0
    for source in cases or sorted(glob.glob(os.path.join(HERE, "cases", "*.s"))):
        path, text = build(source, folder)
        for check, argument, line in expectations(text):
            good, got = check(tool, path, argument)
            count += 1
            print("%s %d - %s: %s" % ("ok" if good else "not ok", count, os.path.basename(source),
                                      line))
            if not good:
                print("# " + got.replace("\n", "\n# "))
            failed |= not good
    print("1..%d" % count)
    sys.exit(bool(failed))


main()
