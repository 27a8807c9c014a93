#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run the tool, built with ASan and UBSan, on damaged files. The tool must refuse these files, or read only within their
bounds.

Usage: damage.py TOOL FOLDER FILE... [SEED=N] [ROUNDS=N]     prints TAP, one line for each file
"""
import os
import random
import subprocess
import sys

COMMANDS = (["stats"], ["dump"], ["rows"], ["deny"])


def altered(data, rng):
    """Return the data with some bytes changed, mostly in headers and tables, and at times with the end cut off."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        where = rng.choice((64, len(data), len(data)))
        at = rng.randrange(where) if where == 64 else rng.randrange(len(data) // 2, len(data))
        data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
    if rng.randrange(8) == 0:
        del data[rng.randrange(len(data)):]
    return data


def run(tool, command, path):
    done = subprocess.run([tool, *command, path], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=60)
    return done.returncode in (0, 1, 2) and "anitizer" not in done.stderr and \
        "runtime error" not in done.stderr, done.stderr


def main():
    options = dict(a.split("=") for a in sys.argv[1:] if "=" in a)
    tool, folder, *files = (a for a in sys.argv[1:] if "=" not in a)
    seed = int(options.get("SEED", random.randrange(2**32)))
    rounds = int(options.get("ROUNDS", 60))
    failed = False
    print("# SEED=%d" % seed)
    path = os.path.join(folder, "damaged")
    for i, name in enumerate(files, 1):
        rng = random.Random("%d %s" % (seed, os.path.basename(name)))
        with open(name, "rb") as file:
            data = file.read()
        refused = bad = 0
        for _ in range(rounds):
            with open(path, "wb") as file:
                file.write(altered(data, rng))
            good, said = run(tool, rng.choice(COMMANDS), path)
            refused += bool(said)
            if not good:
                bad += 1
                keep = "%s-%s-%d" % (path, os.path.basename(name), bad)
                os.replace(path, keep)
                print("# %s: %s" % (keep, said[:1500].replace("\n", "\n# ")))
        print("%sok %d - %s altered %d times, %d of them refused" %
              ("not " if bad else "", i, os.path.basename(name), rounds, refused))
        failed |= bad > 0
    sys.exit(failed)


main()
