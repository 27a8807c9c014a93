# SPDX-License-Identifier: GPL-2.0-only
# Job: compare the typed events from which gtp export makes its files with GDB's output, frame by frame, value by value.
#
# GDB sources this file and gdbtp's commands, with the program of types.c. `run-calls SEED` makes a run on the target: calls
# and hits on three CPUs by four tasks with hostile names. With `plain`, the first tracepoint does not collect the task.
# `compare-frames SEED [plain]` compares the events of random frames with the values that GDB prints after tfind. If they
# differ, GDB exits with a failure.
import os
import random
import sys

import gdb

HITS = 300
CHOSEN = 60
TASK = "((struct task_struct *)$current_task)->"
COLLECT = """$clock, $cpu_id, $current_task_pid, $latency, $ret, n, t->id, t->small, t->byte, t->tiny, t->flag, t->letter,
t->state, t->mode, t->low, t->high, t->wide, t->name, t->next, t->call, t->data, t->ratio, t->inner, t->numbers,
%scomm, %stgid""" % (TASK, TASK)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename)), "../lib"))
import cells  # noqa: E402


def monitor(text, *numbers):
    gdb.execute("monitor %s %s" % (text, " ".join("%#x" % (n % 2**64) for n in numbers)), to_string=True)


def define(where, *actions):
    gdb.execute("trace " + where)
    gdb.execute("commands\n%s\nend" % "\n".join(actions))


def address(what):
    return int(gdb.parse_and_eval("(long) &" + what))


def run(seed, plain=None):
    chance = random.Random(seed)
    visit = gdb.decode_line("*visit")[1][0].pc
    gdb.execute("monitor stop-on-error off")
    gdb.execute("set trace-buffer-size 6000000")
    for cpu in (1, 2, 0):
        monitor("cpu", cpu)
    if plain:
        define("*visit", "collect $clock, n")
    define("*visit", "collect " + " ".join(COLLECT.split("\n")), "collect/s t->text")
    define("*visit if n > 0", "collect n, t->id")
    define("*visit if n & 1", "collect $clock, $cpu_id, $kstack, $xtime_sec, $xtime_nsec, n, %spid" % TASK)
    gdb.execute("tstart")
    for _ in range(HITS):
        task = chance.randrange(4)
        monitor("cpu", chance.randrange(3))
        monitor("task", address("tasks[%d]" % task), 7 + task)
        monitor("stack", *(chance.choice((address("main") + 8, address("visit") + 4)) for _ in range(2)))
        arguments = address("things[%d]" % chance.randrange(4)), chance.choice((chance.randrange(-9, 9), chance.getrandbits(32)))
        if chance.random() < 0.7:
            monitor("call", visit, chance.randrange(10**chance.randrange(1, 10)), chance.getrandbits(64), *arguments)
        else:
            monitor("hit", visit, *arguments)
    gdb.execute("tstop")


def number(expression):
    """Return an expression's value as a number, or None if the frame does not have the value."""
    try:
        return int(gdb.parse_and_eval(expression))
    except gdb.error as error:
        if "not available" in str(error) or "annot access" in str(error) or "convert value" in str(error):
            return None
        raise


def of_task(member):
    """Return GDB's text for a member of the task that made the hit. Return None if the frame does not have the member, or if
    $current_task is void."""
    if member == "pid" and number("$current_task_pid") is not None:
        return str(number("$current_task_pid"))
    if gdb.parse_and_eval("$current_task").type.code == gdb.TYPE_CODE_VOID:
        return None
    text = cells.truth(TASK + member)
    return None if text == "<unavailable>" else text


def differences(event, kinds):
    """Yield the parts of an event that differ from GDB's values for the selected frame."""
    said = {"time_ns": "$clock", "cpu": "$cpu_id", "latency_ns": "$latency", "stack": "$kstack"}
    for name, expression in said.items():
        if getattr(event, name) != number(expression):
            yield "%s: %s, GDB has %s" % (name, getattr(event, name), number(expression))
    for member in ("pid", "tgid", "comm"):
        want, have = of_task(member), getattr(event, member)
        if want != (have if have is None else str(have)):
            yield "%s: %s, GDB prints %s" % (member, have, want)
    for column, value, text in zip(event.place.columns, event.values, event.texts()):
        want = cells.truth(column.title)
        if cells.plain(text) != want:
            yield "%s: its text is %s, GDB prints %s" % (column.title, text, want)
        elif want == "<unavailable>":
            want = None
        elif column.kind.what not in (kinds.STRING, kinds.TEXT):
            want = number(column.title)
            want = want % 2**64 if column.kind.what == kinds.POINTER else want
        if value != want or type(value) is not type(want):
            yield "%s: %r, GDB has %r" % (column.title, value, want)


class RunCalls(gdb.Command):
    """run-calls SEED [plain]: make a run with calls of visit()."""

    def __init__(self):
        super().__init__("run-calls", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        run(*arg.split())


class CompareFrames(gdb.Command):
    """compare-frames SEED [plain]: compare the events with GDB's tfind and print."""

    def __init__(self):
        super().__init__("compare-frames", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        from gtp.export import frames
        from gtp.view import kinds
        seed, *plain = arg.split()
        tracepoints = 3 + len(plain)
        with frames.Run() as taken:
            events = list(taken.events())
            counts = [sum(event.place is place for event in events) for place in taken.places]
            gdb.execute("set print null-stop on")
            bad = []
            for event in random.Random(seed).sample(events, CHOSEN):
                gdb.execute("tfind %d" % event.index, to_string=True)
                bad += ["frame %d, %s" % (event.index, line) for line in differences(event, kinds)]
        print("# seed %s: %s frames of %d tracepoints, %d differences" % (arg, counts, tracepoints, len(bad)))
        for line in bad[:40]:
            print("# " + line)
        gdb.execute("quit %d" % (bool(bad) or len(counts) != tracepoints or sum(counts) < HITS // 2 or 0 in counts))


RunCalls()
CompareFrames()
