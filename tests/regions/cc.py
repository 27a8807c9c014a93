#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that gdbtp-cc makes exactly the same code as the compiler, and a basic_block row for every place to which code can
jump.

Usage: cc.py TOOLS FOLDER duktape.c [HEADERS]     prints TAP

TOOLS is the folder of gdbtp-cc and gdbtp-regions. HEADERS is the folder of a kernel's headers, with which the test
builds a module.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
tools, folder, source, *headers = sys.argv[1:]
cc = os.path.abspath(os.path.join(tools, "gdbtp-cc"))
regions = os.path.join(tools, "gdbtp-regions")
ROW = 0x800
JUMP = 1
LANDING = 0x1000
failed = False
count = 0


def ok(good, what, details=()):
    global failed, count
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    for line in list(details)[:10]:
        print("#  %s" % (line,))
    failed |= not good


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **more)
    if done.returncode:
        raise SystemExit("%s: %s" % (" ".join(command), done.stdout))
    return done.stdout


def path(name):
    return os.path.join(folder, name)


def sections(obj):
    """Return the names, flags and contents, with relocations, of the sections that must not differ."""
    found = {}
    for line in run("readelf", "-SW", obj).splitlines():
        words = re.match(r"\s*\[\s*(\d+)\]\s+(\S+)\s+(\S+)\s+\w+ (\w+) (\w+) \w+\s+([A-Zop]*)", line)
        if not words:
            continue
        _, name, kind, offset, size, flags = words.groups()
        if kind != "NOBITS" and ("A" in flags or name.startswith(".rela") or
                                 re.match(r"\.debug_(info|rnglists|abbrev)$", name)):
            with open(obj, "rb") as file:
                file.seek(int(offset, 16))
                found[name] = file.read(int(size, 16))
    return found


def same_code(plain, marked, what):
    a, b = sections(plain), sections(marked)
    differ = [name for name in sorted(set(a) | set(b))
              if a.get(name) != b.get(name) and name != ".rela.debug_line" and
              name != ".note.gnu.build-id"]
    ok(a.get(".text") and not differ, "%s: %d sections are the same bit for bit" % (what, len(a)),
       differ)


def line_table(obj):
    text = run(regions, "rows", obj)
    return [int(n) for n in re.findall(r"\d+", text)]


def dump(obj):
    """Return {address: leader bits} and {function: address}, as the tool's dump lists them."""
    rows = [line.split() for line in run(regions, "dump", obj).splitlines()]
    return {int(r[0], 16): int(r[6], 16) for r in rows}, \
        {r[1][:-4]: int(r[0], 16) for r in rows if r[1].endswith("+0x0")}


def symbols(obj):
    """Return {symbol: (section, value)}. Local labels are included if the assembler has kept them."""
    found = {}
    for line in run("readelf", "-sW", obj).splitlines():
        words = line.split()
        if len(words) == 8 and words[6].isdigit():
            found[words[7]] = (int(words[6]), int(words[1], 16))
    return found


def jump_table_labels(assembler):
    """Return the labels of code whose address or distance is in data that the compiler has written."""
    found = set()
    with open(assembler) as file:
        for line in file:
            match = re.match(r"\s+\.(?:long|quad)\s+(\.L\d+)(?:-\.L\d+)?\s*$", line)
            if match:
                found.add(match.group(1))
    return found


def placed(obj):
    """Return the leaders, and a function that takes a label and returns its address in the tool's layout. It returns None
    for a label in a section that the tool does not list."""
    syms = symbols(obj)
    leaders, functions = dump(obj)
    base = {syms[name][0]: addr - syms[name][1] for name, addr in functions.items() if name in syms}

    def address(label):
        section, value = syms[label]
        return base[section] + value if section in base else None
    return leaders, address


def covered(obj, labels, what):
    leaders, address = placed(obj)
    missing = [label for label in labels
               if address(label) is not None and not leaders.get(address(label), 0) & ROW]
    code = [label for label in labels if address(label) is not None]
    ok(code and not missing, "%s: each of %d labels in jump tables has a row" % (what, len(code)),
       missing)
    direct = [bits for bits in leaders.values() if bits & JUMP]
    ok(direct and all(bits & ROW for bits in direct),
       "%s: so has each of %d targets of direct jumps" % (what, len(direct)))


def growth(plain, marked, what):
    rows, blocks, size, broken = line_table(plain)
    rows2, blocks2, size2, broken2 = line_table(marked)
    print("# %s: .debug_line %d -> %d bytes (%+.2f %%), rows %d -> %d, %d start basic blocks" %
          (what, size, size2, 100.0 * (size2 - size) / size, rows, rows2, blocks2))
    ok(blocks == 0 and blocks2 > 0 and not broken + broken2,
       "%s: only the marked one has basic blocks in its line table" % what)


def large():
    assembler = path("duktape.s")
    run("gcc", "-O2", "-g", "-S", "-o", assembler, source)
    run("gcc", "-c", "-Wa,-L", "-o", path("plain.o"), assembler)
    run(cc, "-c", "-Wa,-L", "-o", path("marked.o"), assembler)
    same_code(path("plain.o"), path("marked.o"), "duktape")
    growth(path("plain.o"), path("marked.o"), "duktape")
    covered(path("marked.o"), jump_table_labels(assembler), "duktape")
    for name in "plain.o", "marked.o":
        text = run(regions, "stats", path(name))
        print("# %s: %s" % (name, " ".join(re.search(r"region only.*", text).group(0).split())))
        print("#   " + " ".join(re.search(r"with the kernel's copier.*", text).group(0).split()))
    ok(not re.search(r"^\s+\d+  D  ", text, re.M) and re.search(r"^\s+\d+  W  ", text, re.M),
       "duktape: every function is covered by its rows")


SMALL = r"""
int small(int x, int *p);
static inline void skip(int *p)
{
	__asm__ volatile("test %0, %0\n\tje 1f\n\tincl (%0)\n1:" : : "r"(p) : "memory");
}
__attribute__((noinline)) int small(int x, int *p)
{
	static const void *const table[] = { &&zero, &&one, &&two };

	if (x < 3u)
		goto *table[x];
	while (x--)
		skip(p);
	return *p;
zero:
	*p = 1;
one:
	skip(p);
two:
	return *p + x;
}
"""


def small():
    """Compile C to an object in one command, through a pipe, with inline assembler and computed goto."""
    with open(path("small.c"), "w") as file:
        file.write(SMALL)
    flags = ["-O2", "-g", "-pipe", "-Wa,-L", "-c", path("small.c")]
    run("gcc", *flags, "-o", path("small-plain.o"))
    run(cc, *flags, "-o", path("small-marked.o"))
    same_code(path("small-plain.o"), path("small-marked.o"), "inline assembler")
    leaders, _ = dump(path("small-marked.o"))
    # A label in the assembler statement is the target of a direct jump, and so it must have a row.
    direct = [bits for bits in leaders.values() if bits & JUMP]
    ok(len(direct) >= 3 and all(bits & ROW for bits in direct),
       "inline assembler: its labels have rows too")
    run("gcc", "-O2", "-g", "-S", path("small.c"), "-o", path("small.s"))
    covered(path("small-marked.o"), jump_table_labels(path("small.s")), "computed goto")
    run(cc, "-O2", "-c", path("small.c"), "-o", path("small-nodebug.o"))
    run(cc, "-O2", "-g", path("small.c"), "-shared", "-o", path("small.so"))
    ok("Free Software" in run(cc, "--version"), "what is no compilation goes through to the compiler")
    done = subprocess.run([cc, "-c", path("missing.c")], stderr=subprocess.PIPE, text=True)
    ok(done.returncode == 1 and "missing.c" in done.stderr, "and so does its failure")


def exceptions():
    """Check that landing pads are found in the exception tables, and that gdbtp-cc adds a basic_block row for each."""
    program = os.path.join(HERE, "landing.cc")
    run("g++", "-O2", "-g", program, "-o", path("landing-plain"))
    run(cc, "-O2", "-g", program, "-o", path("landing-marked"),
        env=dict(os.environ, GDBTP_CC="g++"))
    # In landing.cc, one function has two handlers and a destructor; the landing pad of another function destroys the
    # exception.
    pads, _ = dump(path("landing-plain"))
    pads = [addr for addr, bits in pads.items() if bits & LANDING]
    ok(len(pads) >= 3, "exceptions: %d landing pads are found" % len(pads))
    bits = list(dump(path("landing-marked"))[0].values())
    marked = [b for b in bits if b & LANDING]
    ok(len(marked) == len(pads) and all(b & ROW for b in marked),
       "exceptions: gdbtp-cc gives each of them a row")


def module(kernel):
    for name, more in ("plain", []), ("marked", ["CC=" + cc]):
        # NM, cmd_checkdoc: see kbuild_words in tests/lib/suites.sh.
        text = run(os.path.join(TOP, "tests/kmod/build"), kernel, path("kmod-" + name), "NM=gcc-nm", "cmd_checkdoc=", *more)
        ok("warning:" not in text, "the fixture module builds through Kbuild, %s" % name,
           text.splitlines()[-10:] if "warning:" in text else [])
    plain, marked = (path("kmod-%s/gtp_target.ko" % name) for name in ("plain", "marked"))
    a, b = sections(plain), sections(marked)
    ok(a[".text"] and a[".text"] == b[".text"], "module: .text is the same bit for bit")
    growth(plain, marked, "module")


os.makedirs(folder, exist_ok=True)
large()
small()
exceptions()
if headers:
    module(headers[0])
sys.exit(failed)
