# SPDX-License-Identifier: GPL-2.0-only
# Two units of a small program have different types with the same name. Tests that each place uses the type of its own unit.
# If the unit has no such type, the user chooses.
#
# GDB runs tests/expr/units; gcc has put the expected numbers there.
import os
import re
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

gdb.execute("source " + os.path.join(TOP, "gdbscripts/gtp.py"))

import tap
from gtp import cexpr
from gtp.cexpr import compiler
from gtp.view import columns

# (expression, its value in one.c, its value in two.c)
VALUES = (("sizeof(struct twin)", 28, 64), ("offsetof(struct twin, number)", 24, 0), ("sizeof(union either)", 2, 32),
          ("RED", 5, 1), ("(int)(enum color)RED", 5, 1), ("sizeof(u32)", 1, 8), ("(u32)0x1ff", 0xff, 0x1ff),
          ("mine.number", 1, 2), ("((struct twin *)&mine)->number", 1, 2), ("container_of(&mine.number, struct twin, number)->number", 1, 2),
          ("other.number", 1, 2), ("*(u32 *)&mine.number", 1, 2), ("sizeof(typeof(mine))", 28, 64))


def pc_of(function):
    return int(gdb.parse_and_eval("(unsigned long)" + function))


def stop_at(function):
    gdb.Breakpoint("*" + function, temporary=True).silent = True
    gdb.execute("run", to_string=True)
    tap.equal(gdb.selected_frame().name(), function, "function")


def meet(file):
    """Make GDB read the types of one file before those of the other."""
    gdb.execute("ptype '%s.c'::mine" % file, to_string=True)
    gdb.execute("ptype struct twin", to_string=True)


def value(text, pc):
    """Translate a text, and return its value from GDB's evaluator, which uses the types of the selected frame's place."""
    return int(gdb.parse_and_eval(cexpr.condition(text, pc)))


def values_test(function, which):
    @tap.test("at %s types, enums, statics and macros of theirs are those of its file" % function)
    def own():
        stop_at(function)
        for text, *both in VALUES:
            tap.equal(value(text, pc_of(function)), both[which], text)

    @tap.test("at %s a table's columns have the types of its file" % function)
    def in_columns():
        stop_at(function)
        for text, *both in VALUES:
            tap.equal(int(columns.evaluated(text)), both[which], text)
        tap.equal(cexpr.type_named("struct twin").sizeof, (28, 64)[which])


@tap.test("at a place without one the user reads which is taken, and chooses by file or by function, whatever GDB has met first")
def strangers():
    stop_at("in_none")
    pc = pc_of("in_none")
    out = gdb.execute("python from gtp import cexpr; cexpr.condition('sizeof(struct twin)', %d)" % pc, to_string=True)
    tap.matches(r"^note: struct twin means the one in \S*(one|two)\.c here, and there is another in \S*(one|two)\.c; struct 'FILE'::twin chooses$",
                out)
    for where, wanted, offset in (("'one.c'", 28, 24), ("'two.c'", 64, 0), ("in_one", 28, 24), ("in_two", 64, 0)):
        tap.equal(value("sizeof(struct %s::twin)" % where, pc), wanted, where)
        tap.equal(value("offsetof(struct %s::twin, number)" % where, pc), offset, where)
        tap.equal(value("((struct %s::twin *)&'one.c'::mine)->number" % where, pc), 1 if wanted == 28 else 0, where)
        tap.equal(int(columns.evaluated("((struct %s::twin *)&'two.c'::mine)->number" % where)), 2 if wanted == 64 else 0,
                  where)
    tap.equal(value("sizeof('two.c'::u32)", pc), 8)
    tap.equal(value("('one.c'::u32)0x1ff", pc), 0xff)
    for name in ("RED", "mine"):
        tap.matches(r"%s is static in several files" % name, refused(name, pc))
    tap.matches(r"there is no type struct 'three\.c'::twin", refused("sizeof(struct 'three.c'::twin)", pc))


@tap.test("a structure that is only declared where two files define it is never read by GDB's choice")
def declared_only():
    stop_at("in_none")
    pc = pc_of("in_none")
    size = value("sizeof(struct twin)", pc)
    offset = {28: 24, 64: 0}[size]
    for text in ("held->twin->number", "held->row[1]->number", "(*held->twin).number", "held->twin[2].number"):
        made = cexpr.condition("(unsigned long)&%s" % text, pc)
        listing = gdb.execute("maint agent-eval -at %s, %s" % (compiler.location(pc), made), to_string=True)
        numbers = [int(n) for n in re.findall(r"const\d+ (\d+)", listing)]
        wanted = offset + (2 * size if "[2]" in text else 0)
        tap.check(numbers[-1:] == [wanted] if wanted else wanted not in numbers[1:], "%s is %s: %s" % (text, made, listing))
        tap.check("->number" not in made and ".number" not in made, made)
    tap.matches("is only declared here", refused("held->twin + 1", pc))


@tap.test("current is the task of the hit, except in a file that has a variable of this name")
def current():
    for function in ("in_one", "in_none"):
        tap.matches(r"\$current_task\b.*pid", cexpr.condition("current->pid == 3", pc_of(function)), function)
    # The variable is thread-local, and no expression can read it.
    tap.matches("current has no location", refused("current->number == 3", pc_of("in_two")))
    tap.matches("twin has no member pid", refused("current->pid == 3", pc_of("in_two")))


def refused(text, pc):
    try:
        return "%s became %s" % (text, cexpr.condition(text, pc))
    except gdb.GdbError as error:
        return str(error)


def main():
    gdb.execute("set confirm off")
    for name in ("cpu_id", "current_task"):
        gdb.execute("tvariable $" + name, to_string=True)
    meet(os.environ["GTP_FIRST"])
    values_test("in_one", 0)
    values_test("in_two", 1)
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
