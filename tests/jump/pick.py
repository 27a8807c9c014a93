# SPDX-License-Identifier: GPL-2.0-only
"""Choose instructions of a kernel and of modules at random, from the list of `gdbtp-regions dump`.

Usage: pick.py SEED COUNT TOOL VMLINUX [KO...]     Prints lines: SET ADDRESS|MODULE VERDICT KERNEL NAME+OFFSET

uniform  every instruction that takes a probe is equally likely, so this set shows which share of them becomes jumps. A
         function without a site of the function tracer takes no probe, nor does its .cold part
entry    functions' entries, which are sites of the function tracer
weak     entries of weak functions that other functions override: the linker has left their code in the file, without a
         name
second   the instruction after the function tracer's site at the entry, which runs exactly once for each call
inner    several instructions of each of some functions
each     one instruction of each of COUNT functions
module   like uniform, but of the modules
"""
import itertools
import random
import subprocess
import sys

PROBEABLE = {b"end", b"bad-near", b"leader", b"indirect", b"site", b"fault", b"return", b"copy",
             b"boot-site", b"relocate", b"jump"}
INNER_FUNCTIONS, INNER_EACH = 1500, 8


def instructions(tool, path):
    """Yield (address, name+offset, gdbtp's verdict, the kernel's verdict) of the instructions that take a probe, and of sites
    of the function tracer."""
    run = subprocess.Popen([tool, "dump", path], stdout=subprocess.PIPE)
    for line in run.stdout:
        addr, name, _, _, verdict, kernel, _ = line.split(b" ", 6)
        if verdict in PROBEABLE or verdict == b"ftrace":
            yield addr, name, verdict, kernel
    if run.wait():
        sys.exit("%s: no list of instructions" % path)


def sample(items, count, rng):
    return rng.sample(items, min(count, len(items)))


def function_of(item):
    return item[1].rsplit(b"+", 1)[0]


def by_set(found):
    """Return the sets of places to choose from, and the instructions of each function."""
    sets = {"uniform": [], "entry": [], "weak": [], "second": []}
    functions, parts, without = {}, [], 0
    for name, items in itertools.groupby(found, function_of):
        has_site = after_entry = False
        for item in items:
            if item[2] == b"ftrace":
                after_entry = item[1].endswith((b"+0x0", b"+0x4"))  # +4 follows an endbr64
                has_site = has_site or after_entry
                sets["entry" if after_entry else "weak"].append(item)
                continue
            if has_site:
                sets["uniform"].append(item)
                functions.setdefault(name, []).append(item)
            elif name.endswith(b".cold"):
                parts.append(item)
            else:
                without += 1
            if after_entry:
                sets["second"].append(item)
            after_entry = False
    of_a_site = [item for item in parts if function_of(item).removesuffix(b".cold") in functions]
    sets["uniform"] += of_a_site
    return sets, functions, without + len(parts) - len(of_a_site)


def show(kind, items, where=None):
    for addr, name, verdict, kernel in items:
        print(kind, where or addr.decode(), verdict.decode(), kernel.decode(), name.decode())


def module_name(path):
    return path.rsplit("/", 1)[-1].split(".")[0].replace("-", "_")


def main(seed, count, tool, vmlinux, *modules):
    rng = random.Random(int(seed))
    sets, functions, without = by_set(instructions(tool, vmlinux))
    print("# %.1f %% of the kernel's instructions are in functions without a site of the function tracer" %
          (100 * without / (without + len(sets["uniform"]))), file=sys.stderr)
    show("uniform", sample(sets["uniform"], int(count), rng))
    show("entry", sample(sets["entry"], min(500, int(count) // 3), rng))
    show("weak", sample(sets["weak"], 20, rng))
    show("second", sample(sets["second"], 6000, rng))
    for name in sample(sorted(functions), INNER_FUNCTIONS, rng):
        show("inner", sample(functions[name], INNER_EACH, rng))
    for name in sample(sorted(functions), int(count), rng):
        show("each", [rng.choice(functions[name])])
    for path in modules:
        found, _, _ = by_set(instructions(tool, path))
        show("module", sample(found["uniform"], 150, rng), module_name(path))


main(*sys.argv[1:])
