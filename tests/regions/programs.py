#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare gdbtp-regions with independent readers of programs: objdump's text, readelf's FDEs.

Usage: programs.py TOOL FOLDER FILE...      fixtures go to FOLDER; prints TAP

This test shares no code with the tool. Every FILE is a program or library as it is installed, without symbols. The
fixtures are made-up code that a careless analysis would accept.
"""
import bisect
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INSN = re.compile(r"^ *([0-9a-f]+):\t(.*)")
JUMP = re.compile(r"(?:notrack |bnd )?(?:j[a-z]+|loop[a-z]*|call)(?:,p[nt])?\s+(?:0x)?([0-9a-f]+)\b")
LEA = re.compile(r"lea .*\(%rip\),%r\w+ +# ([0-9a-f]+)")
FDE = re.compile(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Tap:
    failed = False
    count = 0

    def ok(self, good, what, details=()):
        self.count += 1
        print("%sok %d - %s" % ("" if good else "not ", self.count, what))
        for line in [] if good else list(details)[:10]:
            print("#  " + line)
        self.failed |= not good


class Program:
    """A file: its instructions by objdump, its FDEs by readelf, and the tool's verdicts."""

    def __init__(self, tool, path):
        self.name = os.path.basename(path)
        self.path = path
        self.starts, self.targets, self.text = {}, set(), []
        for line in run("objdump", "-d", "--no-show-raw-insn", path).splitlines():
            found = INSN.match(line)
            if not found or "(bad)" in line:
                continue
            addr = int(found.group(1), 16)
            self.starts[addr] = len(self.text)
            self.text.append((addr, found.group(2)))
            found = JUMP.match(found.group(2))
            if found:
                self.targets.add(int(found.group(1), 16))
        # Ignore readelf's status, which is 1 if the file names a debug file that is not installed.
        frames = subprocess.run(["readelf", "--debug-dump=frames", "-W", path],
                                stdout=subprocess.PIPE, text=True).stdout
        self.fdes = sorted((int(a, 16), int(b, 16)) for a, b in FDE.findall(frames))
        self.verdicts, self.functions = {}, set()
        for line in run(tool, "dump", path).splitlines():
            addr, place, _, _, word, *_ = line.split()
            self.verdicts[int(addr, 16)] = word
            if place.endswith("+0x0"):
                self.functions.add(int(addr, 16))
        self.accepted = {a for a, word in self.verdicts.items() if word in ("jump", "relocate")}

    def fde_of(self, addr):
        i = bisect.bisect_right(self.fdes, (addr, 1 << 64)) - 1
        return self.fdes[i] if i >= 0 and addr < self.fdes[i][1] else None

    def entered(self, targets):
        """Return the accepted places with one of the targets in the four bytes after them."""
        return sorted({t - back for t in targets for back in range(1, 5)} & self.accepted)


def lists(tool, path, out):
    """Make a program's table of regions. Return {the last word of a list's name: addresses in the list}."""
    run(tool, "table", path, "-o", out)
    found, now = {}, None
    for line in run(tool, "show", "--all", out).splitlines():
        if " entries " in line:
            now = found.setdefault(line.split("bytes  ")[1], set())
        elif line.startswith("  0x"):
            now.add(int(line, 16))
    return {name.split()[-1]: addrs for name, addrs in found.items()}


def compare_table(tap, tool, folder, program):
    """Check that the functions in the program's table of regions have the bounds of readelf's FDEs."""
    table = lists(tool, program.path, os.path.join(folder, program.name + ".rgn"))
    starts, lasts = sorted(table["trusted"]), sorted(table["it"])
    wrong = [a for a, b in zip(starts, lasts) if not program.fde_of(a) or program.fde_of(a)[0] != a
             or b + 1 < program.fde_of(a)[1]]
    tap.ok(len(starts) > 0.95 * len(program.fdes) and len(starts) == len(lasts) and not wrong,
           "%s: its table's functions are FDEs" % program.name, map(hex, wrong))


def compare(tap, program, share):
    """Make all checks that any program must pass."""
    name, accepted = program.name, program.accepted
    took = len(accepted) / max(1, len(program.verdicts))
    print("# %s: %d FDEs, %d of %d instructions take a jump: %.2f %%" %
          (name, len(program.fdes), len(accepted), len(program.verdicts), 100 * took))
    tap.ok(took > share, "%s: most instructions take a jump" % name)
    lost = [a for a, _ in program.fdes if a in program.verdicts and a not in program.functions]
    tap.ok(len(program.functions) >= len(program.fdes) - len(lost) and not lost,
           "%s: a function begins at every FDE" % name, map(hex, lost))
    outside = sorted(a for a in accepted if not program.fde_of(a))
    tap.ok(not outside, "%s: what no FDE bounds takes no jump" % name, map(hex, outside))
    wrong = sorted(a for a in accepted if a not in program.starts)
    tap.ok(not wrong, "%s: what is accepted is an instruction to objdump too" % name,
           map(hex, wrong))
    wrong = program.entered(program.targets | {a for a, _ in program.fdes})
    tap.ok(len(program.targets) > 1000 and not wrong,
           "%s: none of %d direct jumps and calls enters an accepted region" %
           (name, len(program.targets)), map(hex, wrong))
    found = {t for t in looked_back(program) if t in program.starts}
    wrong = program.entered(found)
    tap.ok(len(found) > 100 and not wrong, "%s: none of %d entries of jump tables does" %
           (name, len(found)), map(hex, wrong))


def library(folder, name):
    """Link a fixture. Return {label: address}, and the path of the stripped library."""
    whole, bare = os.path.join(folder, name + ".so"), os.path.join(folder, name + ".stripped")
    # Remove the dynamic symbols as well, except one. Make no index of FDEs: a linker refuses it for FDEs that overlap.
    run("gcc", "-shared", "-nostdlib", "-Wl,--build-id,-Bsymbolic,--no-eh-frame-hdr",
        "-Wl,--version-script=" + os.path.join(HERE, "exported.map"), "-o", whole,
        os.path.join(HERE, name + ".s"))
    run("strip", "-o", bare, whole)
    labels = {}
    for line in run("nm", whole).splitlines():
        words = line.split()
        labels[words[-1]] = int(words[0], 16) if len(words) == 3 else None
    return labels, bare


def bounds(tap, tool, folder):
    at, path = library(folder, "bounds")
    program = Program(tool, path)
    accepted = program.accepted

    def takes(start, end):
        return sorted(a for a in accepted if start <= a < end)
    tap.ok(at["exported"] + 3 not in accepted and at["exported"] in program.functions and
           at["exported"] + 6 in accepted,
           "a jump of code without CFI is found, though data before it hides it",
           [str(program.verdicts)])
    tap.ok(not takes(at["no_cfi"], at["no_cfi_end"]) and
           program.verdicts[at["no_cfi"]] == "no-bounds", "code without CFI takes no jump")
    tap.ok(at["back_from_cold"] - 3 not in accepted and at["back_from_cold"] in accepted,
           "the cold part's way back is seen")
    tap.ok(at["plain_cold"] in program.functions and at["plain_cold"] in accepted,
           "a cold part is a function of its own")
    tap.ok(not takes(at["astray"], at["astray_end"]),
           "a function that jumps into the middle of what is decoded takes no jump")
    tap.ok({at["lock_prefix"], at["lock_prefix"] + 3} & accepted,
           "a jump over a lock prefix is none of these")
    tap.ok(not takes(at["crossed"], at["crossed_end"]), "FDEs that cross bound nothing")


def functions(at):
    """Yield the name and the bounds of each function good_... and bad_... of the fixture, from its labels."""
    names = sorted((addr, name) for name, addr in at.items() if re.match("(good|bad)_", name))
    ends = sorted(addr for name, addr in at.items()
                  if re.match("(good|bad|part)_|foreign$|the_end$", name))
    for addr, name in names:
        yield name, addr, ends[bisect.bisect_right(ends, addr)]


def switches(tap, tool, folder):
    at, path = library(folder, "switches")
    program = Program(tool, path)
    for name, start, end in functions(at):
        took = sorted(a for a in program.accepted if start <= a < end)
        words = {program.verdicts[a] for a in program.verdicts if start <= a < end}
        if name.startswith("good"):
            tap.ok(took and "indirect" not in words, "%s: proven" % name, words)
        else:
            tap.ok(not took and "indirect" in words, "%s: refused" % name, map(hex, took))
    table = lists(tool, path, os.path.join(folder, "switches.rgn"))
    good = {start for name, start, _ in functions(at) if name.startswith("good")}
    tap.ok(good and table["leaders"] == good, "the table has the proven functions, and no others",
           map(hex, table["leaders"] ^ good))
    targets = {addr for name, addr in at.items() if name.startswith("target_")}
    wrong = program.entered(targets)
    tap.ok(len(targets) > 30 and not wrong, "no table's entry leads into a region, proven or not",
           map(hex, wrong))


def section_reader(path):
    """Return a function that takes an address and a length, and returns these bytes from the file. It uses the section
    headers."""
    with open(path, "rb") as file:
        data = file.read()
    sections = []
    for line in run("readelf", "-SW", path).splitlines():
        found = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+(\S+)\s+(\w{16}) (\w+) (\w+)", line)
        if found and found.group(2) != "NOBITS":
            sections.append(tuple(int(x, 16) for x in found.group(3, 4, 5)))

    def read(addr, n):
        for start, offset, size in sections:
            if start and start <= addr and addr + n <= start + size:
                return data[offset + addr - start:offset + addr - start + n]
        return b""
    return read


def looked_back(program):
    """Yield the targets in the jump tables of compilers, which are found from the instructions before each indirect jump.

    A table ends at the bound of the nearest preceding compare, or where another table begins.
    """
    read = section_reader(program.path)
    bases = sorted({int(found.group(1), 16) for _, text in program.text
                    for found in [LEA.match(text)] if found})
    for i, (_, text) in enumerate(program.text):
        jump = re.match(r"(?:notrack )?jmp +\*(?:%(\w+)|0x(\w+)\(,%\w+,8\))", text)
        if not jump:
            continue
        base, limit, size = int(jump.group(2) or "0", 16), None, 8
        for _, before in reversed(program.text[max(0, i - 60):i]):
            found = LEA.match(before)
            if found and not base:
                base, size = int(found.group(1), 16), 4
            found = re.match(r"cmp[bwl]? +\$0x([0-9a-f]+),", before)
            if found:
                limit = int(found.group(1), 16)
                break
        if limit is None or limit > 4096 or not base:
            continue
        after = bisect.bisect_right(bases, base)
        end = base + size * (limit + 1)
        for at in range(base, min(end, bases[after]) if after < len(bases) else end, size):
            entry = read(at, size)
            if len(entry) == size:
                value = int.from_bytes(entry, "little", signed=True)
                yield value if size == 8 else base + value


def main():
    tool, folder, *files = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    tap = Tap()
    bounds(tap, tool, folder)
    switches(tap, tool, folder)
    for path in files:
        program = Program(tool, path)
        compare(tap, program, 0.8)
        compare_table(tap, tool, folder, program)
    print("1..%d" % tap.count)
    sys.exit(tap.failed)


main()
