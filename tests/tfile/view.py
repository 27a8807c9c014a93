# SPDX-License-Identifier: GPL-2.0-only
# Job: print the frames of a trace in GDB without any address, to compare a target with its trace files.
import re

import gdb

# No registers: a trace file cannot say that a frame has only some of them, and so GDB reads the others as 0 offline.
EXPRESSIONS = ("$tracepoint", "a", "b", "t->id", "t->big", "t->next->name", "t->next->id", "$hits", "counter")


def value(expression):
    try:
        return str(gdb.parse_and_eval(expression))
    except gdb.error as e:
        # A variable that is out of scope must differ from a value that is unavailable.
        return "no symbol" if "No symbol" in str(e) else "unavailable"


def location():
    pc = gdb.execute("info symbol $pc", to_string=True)
    return re.sub(r" in section .*\n", "", pc)


def lines_of_tdump():
    text = gdb.execute("tdump", to_string=True)
    return [re.sub(r"0x[0-9a-f]+", "ADDRESS", line) for line in text.splitlines() if " = " in line]


class View(gdb.Command):
    """view: print every frame of the trace."""

    def __init__(self):
        super().__init__("view", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        gdb.execute("tfind start", to_string=True)
        while int(gdb.parse_and_eval("$trace_frame")) >= 0:
            shown = [f"{e}={v}" for e in EXPRESSIONS for v in [value(e)] if v != "no symbol"]
            print("frame", gdb.parse_and_eval("$trace_frame"), location(), *shown, sep=" | ")
            for line in lines_of_tdump():
                print("  tdump", line, sep=" | ")
            gdb.execute("tfind", to_string=True)
        gdb.execute("tfind none", to_string=True)


class Hit(gdb.Command):
    """hit LOCATION ARGUMENT...: make the target execute a location. LOCATION#2 is the second of several with that name."""

    def __init__(self):
        super().__init__("hit", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        where, *arguments = gdb.string_to_argv(arg)
        name, _, which = where.partition("#")
        pc = gdb.decode_line(name)[1][int(which or 1) - 1].pc
        numbers = [str(int(gdb.parse_and_eval(a))) for a in arguments]
        gdb.execute(f"monitor hit {pc:#x} " + " ".join(numbers), to_string=True)


View()
Hit()
