#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare gdbtp-regions with a slow independent reader: objdump's text and the kernel's tables.

Usage: brute.py TOOL VMLINUX

This test shares no code with the tool. It finds instruction starts and jump targets in objdump's output, and the
targets of jump labels and exception fixups in the image's tables. No address that the tool accepts may have one of
these targets in the four bytes after it. Prints TAP.
"""
import re
import struct
import subprocess
import sys

JUMP = re.compile(r"^([0-9a-f]+):\t(?:notrack |bnd )?(?:j[a-z]+|loop[a-z]*|call)(?:,p[nt])?\s+"
                  r"([0-9a-f]{16})\b")
START = re.compile(r"^([0-9a-f]{16}):\t(?!int3|\.byte|\(bad\))")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Image:
    """Sections and symbols of a linked file, from its ELF headers."""

    def __init__(self, path):
        self.path = path
        self.sections = []
        for line in run("readelf", "-SW", path).splitlines():
            found = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+(\S+)\s+(\w{16}) (\w+) (\w+)", line)
            if found:
                name, kind = found.group(1, 2)
                self.sections.append((name, kind) + tuple(int(x, 16) for x in found.group(3, 4, 5)))
        self.symbols = {}
        for line in run("readelf", "-sW", path).splitlines():
            words = line.split()
            if len(words) == 8 and words[0].rstrip(":").isdigit() and words[6] not in ("UND", "ABS"):
                self.symbols.setdefault(words[7], int(words[1], 16))

    def read(self, start, end):
        for _, kind, addr, offset, size in self.sections:
            if kind != "NOBITS" and addr and addr <= start and end <= addr + size:
                with open(self.path, "rb") as file:
                    file.seek(offset + start - addr)
                    return file.read(end - start)
        raise SystemExit("no section holds %#x" % start)

    def relative(self, first, last, entry, field):
        """For each entry of a table, yield the address that a field of the entry stores as an offset relative to the field
        itself."""
        start, end = self.symbols[first], self.symbols[last]
        data = self.read(start, end)
        for at in range(0, len(data), entry):
            value, = struct.unpack_from("<i", data, at + field)
            yield start + at + field + value


def disassembled(path):
    """Return instruction starts and jump targets, by objdump."""
    starts, targets = set(), set()
    objdump = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", path], text=True,
                               stdout=subprocess.PIPE)
    # Most of the lines are int3 between functions. Leave them out.
    lines = subprocess.Popen(["grep", "-v", "int3"], stdin=objdump.stdout, text=True,
                             stdout=subprocess.PIPE)
    for line in lines.stdout:
        found = START.match(line)
        if found:
            starts.add(int(found.group(1), 16))
            found = JUMP.match(line)
            if found:
                targets.add(int(found.group(2), 16))
    if objdump.wait():
        raise SystemExit("objdump failed")
    return starts, targets


def verdicts(tool, path, cpu):
    """Yield address, length and verdict of every instruction, as the tool reports them."""
    dump = subprocess.Popen([tool, "dump", "--cpu", cpu, path], text=True, stdout=subprocess.PIPE)
    for line in dump.stdout:
        addr, _, length, _, word, *_ = line.split()
        yield int(addr, 16), int(length), word
    if dump.wait():
        raise SystemExit("the tool failed")


class Tap:
    failed = False
    count = 0

    def ok(self, good, what, details=()):
        self.count += 1
        print("%sok %d - %s" % ("" if good else "not ", self.count, what))
        for line in list(details)[:10]:
            print("#  " + line)
        self.failed |= not good


def main():
    tool, path = sys.argv[1:]
    tap = Tap()
    image = Image(path)
    starts, targets = disassembled(path)
    leaders = {"direct jumps": targets,
               "jump labels": set(image.relative("__start___jump_table", "__stop___jump_table", 16,
                                                 4)),
               "exception fixups": set(image.relative("__start___ex_table", "__stop___ex_table", 12,
                                                      4))}
    # Get the verdicts for return thunks, because for these the kernel executes the code that is in the file.
    accepted = [addr for addr, _, word in verdicts(tool, path, "rethunk")
                if word in ("jump", "relocate")]
    print("# %d addresses accepted, %d instructions" % (len(accepted), len(starts)))
    tap.ok(len(accepted) > len(starts) // 2, "most instructions are accepted")
    wrong = [a for a in accepted if a not in starts]
    tap.ok(not wrong, "what is accepted is an instruction to objdump too", map(hex, wrong))
    for what, found in leaders.items():
        inside = {target - back for target in found for back in range(1, 5)}
        wrong = sorted(inside.intersection(accepted))
        tap.ok(len(found) > 100 and not wrong, "none of %d %s enters an accepted region" %
               (len(found), what), map(hex, wrong))
    sys.exit(tap.failed)


main()
