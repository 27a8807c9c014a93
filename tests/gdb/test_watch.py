# SPDX-License-Identifier: GPL-2.0-only
# Tests hardware watchpoints as tracepoints. The fixture writes each watched variable with a single instruction, and knows
# the values.
import os

import fixture as modules
from lib import *

WATCHED = "gtp_target_watched[%d]"
VALUES = ("$watch_prev_val", "$watch_val")


def gtp_watch(arg):
    return int(matches(r"Tracepoint (\d+): ", cmd("gtp watch " + arg)).group(1))


def place(expression):
    return address("&" + expression)


def set_values(*values):
    """Give the first watched variables known values, before a watchpoint is set."""
    for n, value in enumerate(values):
        target("call watch %d %d" % (n, value))


def end_of(function):
    symbol = gdb.lookup_global_symbol(function)
    block = gdb.block_for_pc(int(symbol.value().address))
    return block.start, block.end


@test("each write is a hit: old and new value, and the pc in the function that has written")
def values():
    set_values(7)
    num = gtp_watch(WATCHED % 0)
    run_trace(*("call watch 0 %d" % n for n in (1, -5, 2**40, 2**40)))
    equal(hits(num), 4)
    equal(collected(*VALUES), [(7, 1), (1, -5), (-5, 2**40), (2**40, 2**40)])
    start, end = end_of("gtp_target_write")
    for _ in frames():
        pc = number("(unsigned long)$pc") % 2**64
        check(start < pc < end, "pc %#x is not in %#x to %#x" % (pc, start, end))
        matches("gtp_target_write", cmd("info symbol $pc"))
    equal((nested(), missed()), (0, 0))


@test("variables of one and of four bytes are extended as their types say")
def sizes():
    target("call watchint 0")
    target("call watchu8 0")
    said = [cmd("gtp watch gtp_target_watched_" + name) for name in ("int", "u8")]
    matches(", 4 bytes at 0x", said[0])
    matches(", 1 byte at 0x", said[1])
    nums = [int(matches(r"Tracepoint (\d+): ", text).group(1)) for text in said]
    run_trace("call watchint -3", "call watchint 2147483647", "call watchu8 255", "call watchu8 3")
    equal([hits(num) for num in nums], [2, 2])
    equal(collected("$tracepoint", *VALUES),
          [(nums[0], 0, -3), (nums[0], -3, 2147483647), (nums[1], 0, 255), (nums[1], 255, 3)])


@test("reads are hits with rw, and not without")
def reads():
    set_values(0, 5)
    nums = [gtp_watch(WATCHED % 0), gtp_watch((WATCHED % 1) + " rw")]
    run_trace("call unwatch 0", "call unwatch 1", "call watch 0 6", "call watch 1 6", "call unwatch 1")
    equal([hits(num) for num in nums], [1, 3])
    equal([row[1:] for row in collected("$tracepoint", *VALUES) if row[0] == nums[1]], [(5, 5), (5, 6), (6, 6)])


@test("registers of the frame, the context and the task are those of the code that has written")
def registers():
    set_values(0)
    gtp_watch((WATCHED % 0) + " collect $regs, $current_task_pid, $irq_count, $hardirq_count, $watch_addr, $bt")
    run_trace("call watch 0 4711")
    cmd("tfind start")
    equal(number("$rsi"), 4711)
    equal((number("$irq_count"), number("$hardirq_count")), (0, 0))
    equal(number("$current_task_pid"), shell().pid)
    equal(number("$watch_addr") % 2**64, place(WATCHED % 0))
    matches(r"#0 .*gtp_target_write.*\n#1 .*call_watch", cmd("backtrace 3"))


@test("conditions on values and on the task; what is false is no hit, but its value is seen")
def conditions():
    set_values(0)
    num = gtp_watch((WATCHED % 0) + " if $watch_val > 10 && $watch_val != $watch_prev_val")
    none = gtp_watch((WATCHED % 0) + " if $current_task_pid == 1")
    run_trace(*("call watch 0 %d" % n for n in (11, 11, 5, 12)))
    equal((hits(num), hits(none)), (2, 0))
    equal(collected(*VALUES), [(0, 11), (5, 12)])


@test("a file of the run, and gtp table, have the values and each frame's own pc")
def saved():
    set_values(3)
    num = gtp_watch(WATCHED % 0)
    run_trace("call watch 0 8", "call watch 0 9")
    matches(r"old gtp_target_watched\[0\] +new gtp_target_watched\[0\]", cmd("gtp table %d" % num))
    matches(r"\b3 +8\b(.|\n)*\b8 +9\b", cmd("gtp table %d" % num))
    path = os.path.join(scratch(), "watch")
    cmd("tsave " + path)
    text = other_gdb(fixture_symbols(), "target tfile " + path, "tfind start", "info symbol $pc", "print $watch_val", "tfind",
                     "print $watch_prev_val")
    matches("gtp_target_write(.|\n)* = 8\n(.|\n)* = 8\n", text)


@test("all CPUs write at once: each write is a hit, and each old value is the new one of another hit")
def together():
    rounds = 500
    set_values(0)
    cmd("set trace-buffer-size 16777216")
    num = gtp_watch(WATCHED % 0)
    cmd("tstart")
    before = calls("watch")
    target("loop watch %d" % rounds)
    made = calls("watch") - before
    cmd("tstop")
    equal(made, rounds * CPUS)
    equal((hits(num), nested(), missed()), (made, 0, 0))
    rows = collected(*VALUES)
    old, new = sorted(row[0] for row in rows), sorted(row[1] for row in rows)
    left = [value for value in set(new) if new.count(value) > old.count(value)]
    equal(len(left), 1)
    old.append(left[0])
    new.append(0)
    equal(sorted(old), sorted(new), "old values and the last, new values and the first")


@test("counted by command and by stack: the exact numbers, and no frames")
def counted():
    cmd("gtp count by current->comm at watch " + WATCHED % 0)
    cmd("gtp count by $kstack at watch " + WATCHED % 1)
    run_trace(*["call watch 0 1"] * 3 + ["call watch 1 1"] * 5)
    matches(r"(?m)bash +3$|^ *3 +bash|bash.* 3\b", cmd("gtp show"))
    matches(r"gtp_target_write(.|\n)*5|5(.|\n)*gtp_target_write", cmd("gtp show"))
    matches("Collected 0 trace frames|no trace frames", cmd("tstatus"))


@test("four at a time; the fifth is refused by a sentence, the run goes on, and nothing is left of it")
def five():
    set_values(0, 0, 0, 0, 0)
    nums = [gtp_watch(WATCHED % n) for n in range(5)]
    text = cmd("tstart")
    matches("four places at a time, and all are in use", text + cmd("monitor status") + cmd("tstatus"))
    for n in range(5):
        target("call watch %d 1" % n)
    cmd("tstop")
    equal([hits(num) for num in nums], [1, 1, 1, 1, 0])
    cmd("delete %d" % nums[0])
    run_trace(*("call watch %d 2" % n for n in range(5)))
    equal([hits(num) for num in nums[1:]], [1, 1, 1, 1])
    cmd("monitor strict on")
    try:
        gtp_watch(WATCHED % 0)
        matches("four places at a time", refused("tstart"))
        cmd("delete %d" % nums[4])
        run_trace("call watch 0 3")
    finally:
        cmd("monitor strict off")


@test("one that joins a run counts from there on; one that is disabled does not")
def joins():
    set_values(0, 0)
    first = gtp_watch(WATCHED % 0)
    cmd("tstart")
    target("call watch 1 1")
    second = gtp_watch(WATCHED % 1)
    target("call watch 1 2")
    target("call watch 0 1")
    cmd("disable %d" % first)
    target("call watch 0 2")
    cmd("tstop")
    equal((hits(first), hits(second)), (1, 1))


@test("what the processor cannot watch, or must not, is refused by a sentence, and nothing is set")
def wrong():
    for text, words in (("gtp_target_objs[0].name", "has 16 bytes, and the processor watches 1, 2, 4 or 8"),
                        ("gtp_target_objs[0].low", "is a bit field"), ("5", "is not a variable in memory"),
                        ("gtp_target_add", "is code, not a variable"), ("*(long *)0x1000", "is not an address of the kernel"), ("no_such_variable", "no_such_variable"),
                        ("", "no variable is named"), ((WATCHED % 0) + " if", "nothing after `if'")):
        matches(words, refused("gtp watch " + text))
    equal(cmd("info tracepoints"), "No tracepoints.\n")
    odd = place(WATCHED % 0) + 1
    for where, words in ((odd, "is no multiple of 8"), (int(fixture_gdbtp(), 16), "memory of gdbtp itself"),
                         (place("gtp_target_add"), "that is code"), (place("__per_cpu_offset"), "the kernel refuses it"),
                         (place("x86_pred_cmd"), "which would have no end"), (place("__cpu_online_mask"), "which would have no end"),
                         *((on_first_cpu(name), "per-CPU variables cannot be watched") for name in ("nmi_state", "cpu_dr7", "runqueues")),
                         (0xffff800000000000 | place("gtp_target_add") % 2**32, "no memory of the kernel can be read there")):
        cmd("delete")
        trace("*%#x" % (0x79 << 56 | where % 2**56))
        matches(words, refused("tstart"))
    cmd("delete")
    trace("gtp_target_add", "collect $watch_val")
    matches("only watchpoints have", refused("tstart"))


def fixture_gdbtp():
    """Return the address of gdbtp's own data, as text."""
    with there.open("/sys/module/gdbtp/sections/.data", encoding="ascii") as file:
        return file.read().strip()


def on_first_cpu(name):
    """Return the address of CPU 0's copy of a per-CPU variable, by its name in /proc/kallsyms."""
    with there.open("/proc/kallsyms", encoding="ascii") as file:
        found = next(line.split()[0] for line in file if line.split()[2:] == [name])
    return (number("__per_cpu_offset[0]") + int(found, 16)) % 2**64


@test("GDB's own watch and hbreak say at once what to type; plain GDB's are refused, and its next continue says so")
def plain():
    commands = ["watch " + WATCHED % 0, "rwatch " + WATCHED % 0, "awatch " + WATCHED % 0, "hbreak gtp_target_add"]
    for command in commands:
        matches("gtp watch EXPRESSION", cmd(command))
        cmd("delete")
    symbols = fixture_symbols()
    disconnect()
    for command in commands:
        text = other_gdb(symbols, "target remote " + LINE, command, "continue", "delete", "continue")
        matches(r"Could not insert hardware|Cannot insert hardware", text)
        matches("gdbtp: (watch, rwatch and awatch|hbreak) would stop the kernel", text)
    connect()


def section(name):
    """Return the address of a section of the module gtp_target2."""
    with there.open("/sys/module/gtp_target2/sections/" + name, encoding="ascii") as file:
        return int(file.read().strip(), 16)


def hole(low, high):
    """Return the address of the first page between two addresses that cannot be read, or None."""
    for page in range((low | 4095) + 1, high, 4096):
        try:
            number("*(unsigned char *)%#x" % page)
        except gdb.error:
            return page
    return None


def watch_byte(addr):
    """Set a watchpoint for writes of one byte at an address. Return its number."""
    return trace("*%#x" % (0x61 << 56 | addr % 2**56))


@test("variables of a module that is unloaded during the run: their watchpoints go, and all else stays")
def unloaded():
    modules.load_fixture("gtp_target2")
    cmd("gtp modules " + modules.KMOD)
    set_values(0)
    gone = [watch_byte(section(".data")), trace("gtp_target2_fn")]
    num = gtp_watch(WATCHED % 0)
    # Since 6.4 a module has several areas. An address between them does not belong to the module.
    between = hole(*sorted((section(".data"), place("gtp_target2_fn"))))
    note("between its text and its data there is %s" % ("no hole" if between is None else "a hole at %#x" % between))
    if between is not None:
        cmd("disable %d" % trace("*%#x" % between))
    cmd("tstart")
    modules.unload("gtp_target2")
    target("call watch 0 1")
    cmd("tstop")
    equal(([hits(n) for n in gone], hits(num)), ([0, 0], 1))
    matches("the code of module gtp_target2 has gone, and 2 tracepoints with it", shell()("dmesg | grep 'has gone' | tail -1"))
    nums = [gtp_watch(WATCHED % n) for n in range(1, 4)]
    for n in gone:
        cmd("delete %d" % n)
    run_trace(*("call watch %d 5" % n for n in range(4)))
    equal([hits(n) for n in [num] + nums], [1, 1, 1, 1])


@test("a CPU that goes and comes back has the watchpoint again: what it writes is missed, and counted")
def hotplug():
    online = "/sys/devices/system/cpu/cpu%d/online" % (CPUS - 1)
    set_values(0)
    num = gtp_watch(WATCHED % 0)
    write = "taskset -c %d sh -c 'echo call watch 0 1 >/proc/gtp_target'" % (CPUS - 1)
    shell()("echo 0 >" + online)
    try:
        cmd("tstart")
        shell()("echo 1 >" + online)
        shell()(write)
        target("call watch 0 2")
        shell()("echo 0 >" + online)
        target("call watch 0 3")
        shell()("echo 1 >" + online)
        shell()(write)
        cmd("tstop")
    finally:
        shell()("echo 1 >" + online)
    equal(hits(num) + missed(), 4)
    check(missed() >= 2, "missed %d" % missed())
    run_trace("call watch 0 4")
    equal(hits(num), 1)


@test("no memory for a watchpoint: tstart says so, and nothing is left")
def memory():
    set_values(0)
    num = gtp_watch(WATCHED % 0)
    failed = 0
    for n in range(1, 60):
        modules.parameter("fail_alloc", n)
        text = cmd("maint packet QTStart")
        modules.parameter("fail_alloc", 0)
        if '"OK"' in text:
            cmd("maint packet QTStop")
            break
        failed += "no memory for a watchpoint" in text
    equal(failed, 1)
    run_trace("call watch 0 1")
    equal(hits(num), 1)


@test("gdbtp is unloaded while a run goes on without GDB: no event is left")
def module():
    set_values(0)
    gtp_watch(WATCHED % 0)
    cmd("set disconnected-tracing on")
    cmd("tstart")
    disconnect()
    target("call watch 0 1")
    modules.unload()
    target("call watch 0 2")
    modules.load()
    modules.load_tables()
    connect()
    nums = [gtp_watch(WATCHED % n) for n in range(4)]
    run_trace(*("call watch %d 5" % n for n in range(4)))
    equal([hits(n) for n in nums], [1, 1, 1, 1])


run()
