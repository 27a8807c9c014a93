# SPDX-License-Identifier: GPL-2.0-only
# Tests that every expression of a class is translated, and that GDB compiles the result. An expression that GDB can compile
# itself must stay as it was typed. Runs in a GDB with vmlinux and no kernel, and hands its results on to the tests in the
# guest.
import functools
import os
import re
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

import data
import handed
import tap
from gtp import cexpr
from gtp.cexpr import compiler, headers

VARIABLES = ("cpu_id", "clock", "current_task", "current_task_pid", "ret", "latency", "entry_clock", "kret", "kstack", "bt",
             "n")
MOST_SHOWN = 20
CLASS = os.environ["GTP_CLASS"]  # the class of expressions to test; if empty, test the refusals instead
translations = {}


def compiles(row, text):
    """Return why GDB does not compile a text at the row's function, or None if GDB compiles it."""
    try:
        gdb.execute("maint agent-eval -at %s, %s" % (row.function, text), to_string=True)
    except gdb.error as error:
        return str(error)
    return None


@functools.lru_cache(None)
def pc_of(function):
    return int(gdb.parse_and_eval("(unsigned long)%s" % function))


def is_action(text, pc):
    """Return whether the expression can be an action: it is short enough, and GDB does not abort. May raise Refused."""
    try:
        compiler.check("$n = (long)(%s)" % text, pc, True)
    except (compiler.TooLong, compiler.Unbalanced):
        return False
    return True


def wrong(row):
    """Return a sentence about a wrong translation of a row, or None if the translation is right."""
    pc = pc_of(row.function)
    try:
        text = cexpr.condition(row.text, pc)
    except gdb.GdbError as error:
        return str(error)
    try:
        translations["%s %s" % (row.function, row.text)] = text, is_action(text, pc)
    except compiler.Refused as refusal:
        return "%s, which GDB does not compile: %s" % (text, refusal)
    if row.mark == "!":
        return None if text != row.text else "GDB would abort, and it is handed on"
    alone = text == row.text or compiles(row, row.text) is None
    if row.mark == "~":
        return None if alone and text != row.text else "this is not one that GDB compiles to something else: %s" % text
    return None if not alone or text == row.text else "GDB compiles it, and it became %s" % text


def names_of_tags():
    return ["struct task_struct"] + [row.text + row.oracle for row in data.rows(headers.release())]


def group_test(name, function, rows):
    def test():
        problems = [(row, wrong(row)) for row in rows]
        lines = ["%s: %s: %s" % (row.line, row.text, problem) for row, problem in problems if problem]
        tap.check(not lines, "\n".join(lines[:MOST_SHOWN]))
    tap.test("%s: %d expressions at %s become what GDB compiles, and what it compiles by itself stays" %
             (name, len(rows), function))(test)


def enough():
    count = len(list(data.rows(headers.release())))
    tap.note("%d expressions" % count)
    tap.check(count >= 400, "only %d" % count)


def read_refusals():
    """Yield (place, expression, the lines of the message) for each block of refusals.txt."""
    with open(os.path.join(HERE, "refusals.txt"), encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    for block in blocks:
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            where, _, text = lines[0].partition(" ")
            yield where, text, [line[4:] for line in lines[1:]]


def message(where, text):
    """Translate a text that must be refused. Return the lines of the message. WHERE is FUNCTION[+OFFSET] for a condition, or
    collect:FUNCTION for the arguments of gtp collect."""
    kind, _, place = where.rpartition(":")
    function, _, offset = place.partition("+")
    pc = pc_of(function) + int(offset or 0)
    try:
        cexpr.collected(text, pc) if kind == "collect" else cexpr.condition(text, pc)
    except gdb.GdbError as error:
        return str(error).splitlines()
    return ["it was not refused"]


def refusal_test(where, text, wanted):
    def test():
        tap.equal("\n".join(message(where, text)), "\n".join(wanted), "message")
    tap.test("refused: %s" % text)(test)


def inlined():
    pc = next(pc for pc in range(pc_of("vfs_read"), pc_of("vfs_read") + 400) if inner(pc) is not None)
    takes, lines = cexpr.collected("$args", pc)
    tap.check(takes and all(text.startswith("vfs_read::") for text in takes if "::" in text), str((takes, lines)))
    tap.check(any("::" in text for text in takes), "nothing of the function around: %s" % takes)


def gone():
    start = pc_of("vfs_read")
    for offset in range(8, 600, 12):
        lines = message("vfs_read+%d" % offset, "count > 3")
        if lines[0] == "count has no location at this address":
            tap.equal(lines[1:], ["  count > 3", "  ^", "It is known at the function's first instruction: *vfs_read."])
            return
    raise tap.Failure("count is everywhere from %#x on" % start)


def inner(pc):
    """Return the inlined function that contains pc, or None if pc is not in an inlined function."""
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block.function if block is not None and not block.superblock.is_static else None


def homonyms():
    for name in ("attr_groups", "set_root", "format_attr_umask"):
        shown = "\n".join(message("vfs_read", "&%s" % name))
        if "is static in several files" in shown:
            advised = re.search(r": ('[^']+'::\w+)\.$", shown).group(1)
            file = advised.split("'")[1]
            pc = pc_of("vfs_read")
            equal = cexpr.condition("(unsigned long)&%s" % advised, pc)
            tap.check(advised in equal and os.path.basename(file) in shown.splitlines()[0], shown)
            return
    raise tap.Failure("none of the names is in several files: %s" % shown)


def expressions():
    """Define the tests of a class."""
    handed.make_tags(names_of_tags())
    handed.load_tags()
    for (name, function), rows in data.by_group(headers.release()).items():
        if name == CLASS:
            group_test(name, function, rows)


def refusals():
    """Define the tests for refusals, and a few that belong to no class."""
    others = ((enough, "at least 400 expressions are tried"),
              (inlined, "an expression in an inlined function names the variables around it"),
              (gone, "an argument that is gone is refused, with the first instruction as the place where it is not"))
    for function, name in others:
        tap.test(name)(function)
    for where, text, wanted in read_refusals():
        refusal_test(where, text, wanted)
    # This test comes last, because GDB then reads the debug information of all these source files.
    tap.test("a name that is static in several files is refused with the files, and the advice is taken")(homonyms)


def main():
    gdb.execute("set gtp-headers " + os.environ["GTP_HEADERS"])
    for name in VARIABLES:
        gdb.execute("tvariable $" + name, to_string=True)
    if CLASS:
        expressions()
    else:
        refusals()
    good = tap.run()
    if CLASS:
        handed.write(translations, names_of_tags())
    gdb.execute("quit %d" % (0 if good else 1))


main()
