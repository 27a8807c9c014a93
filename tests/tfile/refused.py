# SPDX-License-Identifier: GPL-2.0-only
# Job: inside GDB, with the program `types`: check that gtp watch refuses bit fields, that a record
# which is cut has no values, and that errors show the typed text.
import os
import struct
import sys

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
sys.path[:0] = [os.path.join(HERE, "../lib")]

from tap import check, equal  # noqa: E402
from gtp import cexpr  # noqa: E402
from gtp.commands import sdata, watch  # noqa: E402
from gtp.formats.tracefile import Unavailable  # noqa: E402
from gtp.places import names  # noqa: E402

BIT_FIELDS = ("things[0].low", "(things[0].high)", "((things[1]).low)", "things->high", "(*things).low", "flags.inside",
              "to_flags->inside", "(flags.inside)")
OTHERS = ("things[0].id", "things[0].hidden", "(things[0].u.word)", "things[0].u.parts[1]", "counter", "*(int *)things",
          "things->next", "flags.beside", "(to_flags->beside)")


def bit_fields():
    for text in BIT_FIELDS:
        try:
            watch.variable(text)
        except gdb.GdbError as error:
            check("is a bit field" in str(error), str(error))
        else:
            check(False, "%s is watched" % text)
    for text in OTHERS:
        equal(watch.variable(text)[0], int(gdb.parse_and_eval("(unsigned long)&(%s)" % text)), text)


def cut_records():
    number, text = sdata.Field("4 4 1 x int"), sdata.Field("0 4 0 s __data_loc char[]")
    record = struct.pack("<Ii", 3 << 16 | 8, -2) + b"abc"
    equal((number.number(record), number.text(record), text.text(record)), (-2, "-2", '"abc"'))
    for field, sizes in ((number, (0, 4, 6, 7)), (text, (0, 3, 8, 10))):
        for size in sizes:
            for function in (field.number, field.text):
                try:
                    check(False, "%s is %r of %d bytes" % (field.name, function(record[:size]), size))
                except Unavailable:
                    equal(sdata.text_of(field, record[:size]), "<unavailable>")


def error_of(function, *given):
    try:
        function(*given)
    except gdb.GdbError as error:
        return str(error).splitlines()
    return check(False, "%r is no error" % (given,))


def as_typed():
    """Check that an error shows the names that the user typed, not the longer C code that they stand for, with the caret at
    the right place."""
    pc = int(gdb.parse_and_eval("(unsigned long)&main"))
    own = names.Names("event", {"pid": "((struct thing *)things)->id", "next_pid": "things[1].id"},
                      elements={"args": ["things[0].id", "things[1].id"]})
    for typed, at in (("pid > 3 && nosuch == next_pid", 11), ("pid + next_pid.member", 6), ("args[1] + nosuch", 10),
                      ("nosuch", 0), ("next_pid == pid +", 17)):
        what, text, caret = error_of(cexpr.condition, own.expand(typed), pc)[:3]
        equal((text, caret), ("  " + typed, "  " + " " * at + "^"), what)
    for typed, text, at in (("next_pid, pid + nosuch, 1", "pid + nosuch", 6), ("pid, args[1] + nosuch", "args[1] + nosuch", 10),
                            ("pid, , 2", "pid, , 2", 5)):
        what, shown, caret = error_of(cexpr.collected, own.expand(typed), pc)[:3]
        equal((shown, caret), ("  " + text, "  " + " " * at + "^"), what)
    equal(cexpr.condition(own.expand("args[0] == next_pid"), pc), "things[0].id == things[1].id")


bit_fields()
cut_records()
as_typed()
print("all is as typed")
