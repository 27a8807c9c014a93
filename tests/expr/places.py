# SPDX-License-Identifier: GPL-2.0-only
# Tests that a place uses the types of its own source file. For each tag that vmlinux defines more than once, checks each
# file with a definition against the file's own DWARF.
#
# Runs in a GDB with vmlinux and no kernel. GTP_TAGS has the expected results, which tests/expr/tags.c finds with libdw.
import os
import re
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

import tap
from gtp import cexpr
from gtp.cexpr import compiler, notes

PLACE = "vfs_read"  # a place in a file that defines none of the tags


def rows():
    """Yield (words, size, address, unit, {member: offset}) of each line of GTP_TAGS."""
    with open(os.environ["GTP_TAGS"], encoding="utf-8") as file:
        for line in file:
            word, tag, size, address, unit, *members = line.split()
            yield "%s %s" % (word, tag), int(size), int(address, 16), unit, {
                name: int(offset) for name, offset in (member.split("=") for member in members)}


ROWS = list(rows())
TAGS = sorted({row[0] for row in ROWS})


def meets_all():
    """For each tag, make GDB read one of the types before the tests. GDB then prefers this type at all places, although
    it is the right one at only one of them."""
    for words in TAGS:
        gdb.execute("ptype " + words, to_string=True)


def listed(text, pc):
    """Return the constants in the bytecode to which GDB compiles a text."""
    where = compiler.location(pc)
    out = gdb.execute("maint agent-eval -at %s, %s" % (where, text), to_string=True) if where else ""
    return [int(n) for n in re.findall(r"const\d+ (\d+)", out)]


def of_place(words, size, pc, members):
    """Yield a line for each wrong result with a tag at a place."""
    texts = {"sizeof(%s)" % words: size}
    texts.update(("offsetof(%s, %s)" % (words, name), offset) for name, offset in members.items())
    texts.update(("(unsigned long)&((%s *)0)->%s" % (words, name), offset) for name, offset in members.items())
    texts.update(("(unsigned long)container_of((char *)4096, %s, %s)" % (words, name), 4096 - offset)
                 for name, offset in members.items())
    for text, wanted in texts.items():
        yield from wrong("%s == %d" % (text, wanted), text, wanted, pc)


def wrong(question, text, wanted, pc):
    try:
        made = cexpr.condition(text, pc)
    except gdb.GdbError as error:
        yield "%s at %#x: %s" % (question, pc, error)
        return
    numbers = listed(made, pc)
    if not numbers and compiler.location(pc) is None:
        return
    total = sum(numbers) if " - " not in made else numbers[0] - sum(numbers[1:])
    if total != wanted:
        yield "%s at %#x: %s has the numbers %s" % (question, pc, made, numbers)


def tag_test(words, found):
    def test():
        problems = [line for _, size, pc, _, members in found for line in of_place(words, size, pc, members)]
        tap.check(not problems, "\n".join(problems[:20]))
    tap.test("%s is that of the place, at a place in each of %s" % (words, ", ".join(row[3] for row in found)))(test)


def said(text, pc):
    """Return the translation of a text, and the notes that gtp prints for the user."""
    notes.told.clear()
    out = gdb.execute("python cexpr.condition(%r, %d)" % (text, pc), to_string=True)
    notes.told.add(out.partition("note: ")[2].strip())
    return cexpr.condition(text, pc), out


@tap.test("of several structures none of which is the place's own, the user reads which one it is and how to choose")
def strangers():
    pc = int(gdb.parse_and_eval("(unsigned long)" + PLACE))
    for words in TAGS:
        found = [row for row in ROWS if row[0] == words]
        made, out = said("sizeof(%s)" % words, pc)
        tap.check(made.isdigit() and int(made) in [size for _, size, *_ in found], "%s: %s" % (words, made))
        tap.matches(r"^note: %s means the one in \S+ here, and there is another in .*; (struct|union) 'FILE'::\w+ chooses\n$" % words, out)


@tap.test("a structure is chosen by its file, or by a function of its unit")
def by_file():
    pc = int(gdb.parse_and_eval("(unsigned long)" + PLACE))
    chosen = set()
    for words, size, address, unit, members in ROWS:
        word, tag = words.split()
        symbol = gdb.block_for_pc(address).function
        for where in ("'%s'" % unit, symbol and symbol.name):
            text = "%s %s::%s" % (word, where, tag)
            if where is None or twice(text, pc):
                continue
            tap.equal(cexpr.condition("sizeof(%s)" % text, pc), str(size), text)
            for name, offset in members.items():
                tap.equal(listed(cexpr.condition("(long)&((%s *)0)->%s" % (text, name), pc), pc), [offset] if offset else [0])
            chosen.add((words, address))
    tap.equal(len(chosen), len(ROWS), "layouts that were chosen")


def twice(text, pc):
    """Return whether a file is compiled more than once, or has no code. In both cases a function must be given."""
    try:
        cexpr.condition("sizeof(%s)" % text, pc)
    except cexpr.Error as error:
        return "is compiled more than once" in str(error) or "there is no type" in str(error)
    return False


def main():
    for name in ("cpu_id", "current_task"):
        gdb.execute("tvariable $" + name, to_string=True)
    tap.note("%d tags are defined more than once, %d layouts" % (len(TAGS), len(ROWS)))
    meets_all()
    for words in TAGS:
        tag_test(words, [row for row in ROWS if row[0] == words])
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
