# SPDX-License-Identifier: GPL-2.0-only
# Tests expressions with the kernel's idioms in a running program: lists, flexible arrays, 128-bit numbers, constants,
# assignments.
import os
import re
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

import tap
from gtp import cexpr
from gtp.cexpr import compiler
from gtp.commands import prefix  # noqa: F401  the prefix of the commands, which the next line defines
from gtp.commands import count, show
from gtp.inside import values
from gtp.run import tail
from gtp.shell import decode
from gtp.view import cells, formdict, forms

FUNCTION = "in_values"
IN_REGISTER = (("one.value", 0x80000001), ("one.value == 0x80000001 && mixed.yes", 1), ("mixed.small", -1), ("mixed.yes", 1),
               ("mixed.wide", 0xfffe), ("mixed.inner.value", 0xdeadbeef), ("mixed.small < 0 && mixed.wide > 0xfff0", 1))
IN_REGISTERS = (("pair.on", 1), ("pair.field", -3), ("pair.number", -4), ("pair.last", 5), ("pair.text[0] == 'g'", 1),
                ("pair.text == \"gadget\"", 1), ("pair.number < 0 && pair.field + pair.last == 2", 1), ("sizeof(pair)", 16))
LISTS = (("list_first_entry(&list, struct entry, list)->id", 1), ("list_last_entry(&list, struct entry, list)->id", 3),
         ("list_next_entry(entry, list)->id", 3), ("list_prev_entry(entry, list)->id", 1),
         ("list_next_entry(list_first_entry(&list, struct entry, list), list)->id", 2),
         ("list_first_entry_or_null(&list, struct entry, list)->id", 1),
         ("list_first_entry_or_null(&empty, struct entry, list) == 0", 1),
         ("list_first_entry_or_null(&list, struct entry, list) == 0", 0),
         ("list_empty(&empty)", 1), ("list_empty(&list)", 0), ("list_entry(list.next, struct entry, list)->id", 1),
         ("hlist_entry(hlist.first, struct entry, node)->id", 1), ("hlist_entry_safe(none.first, struct entry, node) == 0", 1),
         ("hlist_entry_safe(hlist.first->next, struct entry, node)->id", 2))
STRINGS = tuple(('%s->name %s' % (name, rest), wanted) for name in ("named", "open_end", "zero")
                for rest, wanted in (('== "gadget"', 1), ('!= "gadget"', 0), ('== "gadge"', 0), ('== "gadgets"', 0)))
PREFIXES = tuple(('$_strprefix(%s->name, "gad")' % name, 1) for name in ("named", "open_end", "zero"))

NUMBERS = {"wide.value": -2, "wide.other": 5 << 64 | 7, "huge": (1 << 128) - 3, "wide.least": -(1 << 127),
           "entry->id": 2, "-1": -1, "0x8000000000000000ul": 1 << 63, "(__int128)-5": -5}
UNSIGNED = ("huge",)


def wrapped(number, unsigned):
    number %= 1 << 128
    return number if unsigned or number < 1 << 127 else number - (1 << 128)


def of_wide():
    """Yield (text, value) for 128-bit comparisons, sums, shifts and casts. The values are computed with Python's
    integers."""
    for left, a in NUMBERS.items():
        for right, b in NUMBERS.items():
            if not (left.startswith(("wide", "huge")) or right.startswith(("wide", "huge"))):
                continue
            unsigned = left in UNSIGNED or right in UNSIGNED
            a_, b_ = wrapped(a, unsigned), wrapped(b, unsigned)
            for op in ("<", "<=", ">", ">=", "==", "!="):
                yield "%s %s %s" % (left, op, right), int(eval("%d %s %d" % (a_, op, b_)))
            for op in ("+", "-", "&", "|", "^"):
                total = eval("%d %s %d" % (a_, op, b_)) % (1 << 128)
                for shift in (0, 64):
                    yield "(unsigned long)((%s %s %s) >> %d)" % (left, op, right, shift), total >> shift & (1 << 64) - 1
    for name in ("wide.value", "wide.other", "huge", "wide.least"):
        a = NUMBERS[name]
        for by in (0, 1, 31, 63, 64, 65, 127):
            up, down = wrapped(a << by, name in UNSIGNED), a >> by
            yield "(unsigned long)(%s << %d >> 64)" % (name, by), up >> 64 & (1 << 64) - 1
            yield "(int)(%s >> %d)" % (name, by), (down & 0xffffffff ^ 0x80000000) - 0x80000000
        yield "!%s" % name, 0
        yield "-%s < 0" % name, int(name == "wide.other" or name == "wide.least")
        yield "~%s == (%s ^ (__int128)-1)" % (name, name), 1
        yield "%s && entry->id == 2" % name, 1


def pc():
    return int(gdb.parse_and_eval("(unsigned long)" + FUNCTION))


def stop_at(function):
    gdb.Breakpoint("*" + function, temporary=True).silent = True
    gdb.execute("run", to_string=True)
    tap.equal(gdb.selected_frame().name(), function)


def value(text):
    made = cexpr.condition(text, pc())
    compiler.check(made, pc(), False)
    return int(gdb.parse_and_eval(made))


def values_test(name, rows):
    @tap.test("%s: %d expressions have the values that C gives them" % (name, len(rows)))
    def values():
        stop_at(FUNCTION)
        for text, wanted in rows:
            got = value(text)
            tap.equal(got % (1 << 64) if "unsigned" in text else got, wanted, text)


def refused(text):
    try:
        return "it became %s" % cexpr.condition(text, pc())
    except gdb.GdbError as error:
        return str(error)


def members(function, rows):
    """Check the values of ROWS at a function's beginning. Return the function's address."""
    stop_at(function)
    at = int(gdb.parse_and_eval("(unsigned long)" + function))
    for text, wanted in rows:
        made = cexpr.condition(text, at)
        compiler.check(made, at, False)
        tap.equal(int(gdb.parse_and_eval(made)), wanted, "%s, %s" % (text, made))
    return at


@tap.test("a structure in a register: members have the values that C gives them, and it is collected whole")
def in_register():
    at = members("in_register", IN_REGISTER)
    tap.equal(cexpr.collected("one, mixed", at), (["one", "mixed"], []))


@tap.test("a structure in two registers: members have the values that C gives them, and the whole is collected by its registers")
def in_registers():
    at = members("in_registers", IN_REGISTERS)
    for text in ("pair", "$args"):
        takes, told = cexpr.collected(text, at)
        tap.equal((takes, told, [take.called for take in takes]), (["$rdi", "$rsi"], [], ["pair", "pair"]), text)


@tap.test("128 bits are collected whole; a computed number of them is refused with how to write that")
def wide():
    stop_at(FUNCTION)
    takes, _ = cexpr.collected("wide.value, wide", pc())
    tap.equal(len(takes), 2)
    for text in takes:
        compiler.check(text, pc(), True)
    tap.matches(r"16 bytes.*\(unsigned long\)\(x >> 64\)", refused("wide.value"))
    tap.matches(r"16 bytes.*\(unsigned long\)\(x >> 64\)", refused("wide.value * 3 == 5"))
    tap.matches(r"by a constant only", refused("wide.value >> entry->id == 5"))
    tap.equal(value("((long *)&wide.value)[0]"), -2)


class Memory:
    """Stands in for a frame that has all of the program's memory."""

    def read(self, address, size):
        return gdb.selected_inferior().read_memory(address, size).tobytes()

    def word(self, address, size):
        return int.from_bytes(self.read(address, size), "little")


@tap.test("bit fields have their signs in tables, an enum with a negative constant too; /d of such an enum in live rows")
def fields():
    value = gdb.parse_and_eval("fields")
    text = cells.Formats().aggregate(value.type)(Memory(), int(value.address))
    tap.equal(text, "{sign = BELOW, whole = BELOW, natural = LAST, number = -5, count = 21}")
    tap.equal(text, value.format_string(**cells.STYLE), "GDB's own")
    for name, signed in (("whole", True), ("natural", False)):
        tap.equal(formdict.described(forms.parsed("/d x")[0], value[name].type)["signed"], signed, name)


@tap.test("a structure's parts are its numbers, pointers and strings: unions by the member that has them all in the fewest")
def parts():
    wanted = {"entry": ["entry"], "entry->list": ["entry->list.next", "entry->list.prev"], "*entry": [
        "(*entry).id", "(*entry).list.next", "(*entry).list.prev", "(*entry).node.next", "(*entry).node.pprev"],
        "keyed": ["keyed.mac[%d]" % i for i in range(3)] + ["keyed.word", "keyed.name"], "entry->id": ["entry->id"]}
    stop_at(FUNCTION)
    for text, texts in wanted.items():
        tap.equal(cexpr.parts(text, text, pc()), texts)
        for part in texts:
            compiler.check(cexpr.number(part, pc())[0], pc(), False)
    for text in ("wide", "odd"):
        try:
            tap.check(False, "%s became %s" % (text, cexpr.parts(text, text, pc())))
        except gdb.GdbError as error:
            part = "value .__int128" if text == "wide" else "union odd"
            tap.matches("has parts that are not numbers, pointers or strings: %s.*Name the members" % part, str(error).replace("\n", " "))


REFUSED_KEYS = {
    "entries": "entries is an array of struct entry, and a key is a number, a pointer, a string or one structure\n  entries\n  ^\n"
               "Name an element, as entries[0], or a member of it; &entries[0] is the address.",
    "entries[1]@2": "entries[1]@2 is an array of struct entry, and a key is a number, a pointer, a string or one structure\n"
                    "  entries[1]@2\n  ^\nName an element, as (entries[1]@2)[0], or a member of it; &(entries[1]@2)[0] is the address.",
    "ratio": "double is neither a number nor a pointer\n  ratio\n  ^\n"
             "There is no floating point at a hit; cast its address to read its bytes: *(unsigned long *)&x.",
    FUNCTION: "in_values is a function: its address is the same at every hit\n  in_values\n  ^\nThe callers are in $kstack.",
}


@tap.test("a key that has no value is refused: what it is, where it is written, and what to write instead")
def refused_keys():
    stop_at(FUNCTION)
    for text, wanted in REFUSED_KEYS.items():
        try:
            found = [cexpr.key(part, pc()) for part in cexpr.parts(text, text, pc())]
            tap.check(False, "%s became %s" % (text, found))
        except gdb.GdbError as error:
            tap.matches(re.escape(wanted), str(error))
    for text in ("entries[0]", "entries[1].id", "&entries[0]", "(entries[1]@2)[0]", "*(unsigned long *)&ratio", "entries[1].list.next"):
        for part in cexpr.parts(text, text, pc()):
            compiler.check(cexpr.key(part, pc())[0], pc(), False)


@tap.test("the @ of GDB takes an object in memory: &a[0]@n is refused with a[0]@n, whatever n is, as GDB refuses it")
def repeated():
    stop_at(FUNCTION)
    for text, cure in (("&entries[0]@2", "entries[0]@2"), ("&entries[0]@entry->id", "entries[0]@entry->id"),
                       ("(&entry->id)@2", "entry->id@2"), ("sizeof(&entries[0]@2)", "entries[0]@2"), ("&entry->id@2 == 1", "entry->id@2")):
        for translate in (cexpr.condition, cexpr.collected, cexpr.key):
            try:
                tap.check(False, "%s became %s" % (text, translate(text, pc())))
            except gdb.GdbError as error:
                tap.matches(re.escape("@ makes an array of an object in memory, and an address is none") +
                            r"\n(?:.*\n)+" + re.escape("Write the object: %s." % cure), str(error))
    try:
        tap.check(False, "GDB prints %s" % gdb.parse_and_eval("&entries[0]@2"))
    except gdb.error as error:
        tap.matches("Only values in memory can be extended with '@'", str(error))
    (text,), _ = cexpr.collected("entries[0]@2", pc())
    tap.equal(gdb.parse_and_eval(text)[1]["id"], gdb.parse_and_eval("entries[1].id"))


@tap.test("an array of bytes that are not text is a number of all its bytes, or of eight each: a zero ends nothing; char is text")
def octets():
    wanted = {"ether.dest": ["ether.dest"], "ether.name": ["ether.name"], "ether.all": ["ether.all"],
              "ether.address": ["ether.address[0]@8", "ether.address[8]@8"], "ether.rest": ["ether.rest"],
              "ether.long_name": ["ether.long_name[%d]@8" % i for i in range(0, 40, 8)]}
    stop_at(FUNCTION)
    for text, texts in wanted.items():
        tap.equal(cexpr.parts(text, text, pc()), texts)
    for text, octets in (("ether.dest", "52:54:00:12:34:96"), ("ether.all", "ff:00:01"), ("(&ether)->dest", "52:54:00:12:34:96"),
                         ("ether.address[0]@8", "20:01:0d:b8:00:00:00:00"), ("ether.address[8]@8", "00:00:00:00:00:00:00:fe"),
                         ("ether.dest[2]@3", "00:12:34")):
        made, kind = cexpr.key(text, pc())
        compiler.check("(long)(%s)" % made, pc(), False)
        number = int(gdb.parse_and_eval("(unsigned long)(%s)" % made))
        tap.equal(show.number_text(number, kind), octets, text)
        tap.equal(show.number_text(number, tail.type_of(tail.type_text(kind))), octets, "from a trace file: " + text)
        if "@" not in text:
            shown = values.column(text, text, 0, pc())
            tap.equal(decode.cell(shown.kind)(b"%x" % int(gdb.parse_and_eval("(unsigned long)(%s)" % shown.argument))), octets)
    tap.equal(count.is_string(cexpr.key("ether.name", pc())[1]), True)
    tap.equal(values.described(cexpr.key("ether.name", pc())[1]), {"kind": "string"})
    tap.equal([count.is_string(cexpr.key(text, pc())[1]) for text in ("ether.dest", "ether.rest")], [False, False])


@tap.test("a variable that is a constant in this copy of the function is that number, in conditions, collections and $args")
def constants():
    symbol = gdb.lookup_static_symbol("in_copy")
    at = int(symbol.value().address)
    argument = next(s for s in gdb.block_for_pc(at) if s.name == "always")
    tap.equal(argument.addr_class, gdb.SYMBOL_LOC_CONST, "gcc has made a copy")
    tap.equal(int(gdb.parse_and_eval(cexpr.condition("always == 7", at))), 1)
    tap.equal(int(gdb.parse_and_eval(cexpr.condition("always * 2 + 1", at))), 15)
    (text,), told = cexpr.collected("always", at)
    tap.equal((int(gdb.parse_and_eval(text)), told), (7, []))
    compiler.check(text, at, True)
    takes, told = cexpr.collected("$args", at)
    tap.equal(told, [])
    tap.equal(sorted(getattr(take, "called", take) for take in takes), ["always", "entry"])
    for take in takes:
        compiler.check(take, at, True)


@tap.test("a part of a condition may set a trace state variable, as GDB's own condition may; a condition that is one is a misspelt ==")
def assignments():
    tap.equal(cexpr.condition("($n = $n + 1) % 100 == 0", pc()), "($n = $n + 1) % 100 == 0")
    tap.equal(cexpr.condition("($n += entry->id) > 5", pc()), "($n = $n + entry->id) > 5")
    tap.matches("can be assigned to", refused("(entry->id = 5) == 5"))
    tap.matches("can be assigned to", refused("$n = 5"))
    tap.matches("can be assigned to", refused("($rdi = 5) == 5"))


def main():
    gdb.execute("set confirm off")
    for name in ("cpu_id", "current_task", "n"):
        gdb.execute("tvariable $" + name, to_string=True)
    values_test("lists", LISTS)
    values_test("flexible arrays as strings", STRINGS + PREFIXES)
    values_test("128 bits", tuple(of_wide())[::7])
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
