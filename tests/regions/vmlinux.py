#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks invariants of the tool's output for a whole kernel image of any version.

Usage: vmlinux.py TOOL VMLINUX FOLDER     prints TAP; time and memory are shown, not judged
"""
import os
import re
import resource
import subprocess
import sys
import time

tool, vmlinux, folder = sys.argv[1:]
failed = False
count = 0


def ok(good, what):
    global failed, count
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    failed |= not good


def run(*arguments, status=0):
    done = subprocess.run([tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != status:
        print("# %s: status %d: %s" % (" ".join(arguments), done.returncode, done.stdout[:500]))
    return done.stdout


def section(text, title):
    """Return [(NAME, NUMBER)] from the lines "  NUMBER  NAME" below a title."""
    body = text.split("\n" + title + "\n", 1)[1]
    rows = []
    for line in body.splitlines():
        found = re.match(r"\s+(\d+)\s+(\S+)", line)
        if not found:
            break
        rows.append((found.group(2), int(found.group(1))))
    return rows


def share(text, row):
    """Return the numbers in columns K and B of a row of the tool's table."""
    found = re.search(r"^\s+%s\s+(\d+)\s+\S+ %%\s+(\d+)" % row, text, re.M)
    return int(found.group(1)), int(found.group(2))


NO_PROBE = ("bad", "int3", "entry", "noinstr", "nokprobe", "bug", "jump-label", "static-call",
            "ftrace")


def sums():
    start = time.monotonic()
    text = run("stats", vmlinux)
    took = time.monotonic() - start
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("# analysis and count: %.2f s, of which CPU %.2f s; %d MB" %
          (took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    print("# " + "\n# ".join(text.splitlines()[1:7]))
    insns, probeable = map(int, re.search(r"I (\d+) .* P (\d+)", text).groups())
    verdicts = dict(section(text, "our rule"))
    kernel = section(text, "the kernel's rule (before 6.5), by its own reasons")
    ok(insns > 10**6, "an image of a million instructions and more")
    ok(sum(verdicts.values()) == insns, "every instruction has one verdict")
    ok(sum(n for word, n in verdicts.items() if word not in NO_PROBE) == probeable,
       "those of probe-able ones sum up to P")
    ok(sum(n for _, n in kernel) == probeable, "and so do the kernel's")
    ok(share(text, "with the kernel's copier")[0] == kernel[-1][1], "K is what the kernel accepts")
    ok(share(text, "with a relocating copier")[1] == verdicts["jump"] + verdicts["relocate"],
       "B is what is accepted here")
    ok(share(text, "region only")[1] > share(text, "region only")[0],
       "the finer rule accepts more regions than the kernel's")
    ok(100 * share(text, "with a relocating copier")[1] > 85 * probeable,
       "more than 85 % of the addresses can carry a jump")


def cpus():
    text = run("stats", "--cpu", "all", vmlinux)
    shares = [share(part, "with a relocating copier")
              for part in text.split("CPU: ")[1:]]
    kernel = [share(part, "with the kernel's copier")[0] for part in text.split("CPU: ")[1:]]
    print("# K with the kernel's copier by CPU: %s; B with a relocating one: %s" %
          (kernel, [b for _, b in shares]))
    ok(len(shares) == 3 and kernel[0] >= kernel[1] >= kernel[2],
       "the more return thunks, the less the kernel accepts")
    ok(min(b for _, b in shares) * 100 > max(b for _, b in shares) * 99,
       "what is accepted here hardly depends on them")


def table():
    path = os.path.join(folder, "vmlinux.rgn")
    print("# " + run("table", "--all", vmlinux, "-o", path).replace("\n", "\n# ").rstrip("# \n"))
    shown = run("show", "--all", path)
    lists, name = {}, None
    for line in shown.splitlines()[1:]:
        if line.startswith("  "):
            lists[name].append(int(line, 16))
        else:
            name = re.search(r"bytes  (.*)", line).group(1).split()[0]
            promised = int(re.search(r"(\d+) entries", line).group(1))
            lists[name] = []
            ok(promised > 0, "the table has a list of %s" % name)
    notes = subprocess.run(["readelf", "-n", vmlinux], stdout=subprocess.PIPE, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes).group(1)
    ok("build-id " + build_id in shown, "the table carries the image's build-id")
    ok(set(lists["leaders"]) < set(lists["all"]), "hidden leaders are leaders")
    denied = set()
    for line in run("deny", vmlinux).splitlines():
        denied.add(int(line.split()[0], 16))
    ok(denied == set(lists["places"]), "the denied addresses of the table are those that are named")
    leaders = set(lists["leaders"])
    ok(all(any(a + i in leaders for i in range(1, 5)) for a in denied),
       "each of them has a hidden leader within its five bytes")
    with open(path, "r+b") as file:
        file.seek(1000)
        byte = file.read(1)
        file.seek(1000)
        file.write(bytes([byte[0] ^ 1]))
    ok("checksum" in run("show", path, status=1), "a damaged table is refused")


def crashes():
    """Check two addresses at which a stock 6.1 kernel was made to crash by its own optimisation."""
    if "6.1.0-56-cloud" not in vmlinux:
        print("# the crash addresses are those of another kernel")
        return
    text = run("explain", vmlinux, "find_idlest_group+0x2fb")
    ok("breakpoint only" in text and "find_idlest_group+0x2ff: a jump label" in text and
       "denied" in text, "find_idlest_group+0x2fb is denied, for a jump label")
    text = run("explain", vmlinux, "uevent_store+0x24", status=1)
    first = re.search(r"several functions.*?(0x\w+)", text)
    ok(first, "uevent_store is the name of several functions, which are listed")
    text = run("explain", vmlinux, first.group(1))
    ok("breakpoint only" in text and "uevent_store+0x27: a jump or call from another function" in
       text and "denied" in text, "uevent_store+0x24 is denied, for its part elsewhere")


def lines():
    text = run("lines", vmlinux, "vfs_read")
    rows = re.findall(r"^([jbf-])\s+(\d+)\s+vfs_read\+0x(\w+)", text, re.M)
    ok(len(rows) > 10 and re.search(r"^vfs_read at \S*fs/read_write.c:\d+", text),
       "vfs_read's lines are listed")
    ok(rows[0][0] in "fb" and rows[0][2] == "0",
       "its first line takes no jump: the function tracer's site, or a landing pad before it")
    text = run("explain", vmlinux, *["vfs_read+0x" + offset for _, _, offset in rows])
    verdicts = re.split(r"^(?=\S)", text, flags=re.M)[1:]  # each begins with a line without indent
    names = [verdict.split(" ")[0] for verdict in verdicts]
    ok(names == ["vfs_read+0x" + offset for _, _, offset in rows], "explain takes several addresses, in their order")
    mistaken = [offset for (mark, _, offset), verdict in zip(rows, verdicts) if ("yes:" in verdict) != (mark == "j")]
    ok(not mistaken, "each line's mark is what explain says of its address %s" % mistaken)
    ok("no function is called" in run("lines", vmlinux, "no_such_function", status=1),
       "a name that is no function's is said to be none")


sums()
cpus()
table()
crashes()
lines()
sys.exit(failed)
