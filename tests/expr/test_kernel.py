# SPDX-License-Identifier: GPL-2.0-only
# Tests at hits in the running kernel that the value that the module computes for an expression equals the value that GDB's
# evaluator computes for the same C from the contents of the hit's frame.
import os

import gdb

from lib import *

import data
import handed
import oracle

load_symbols()

from gtp import cexpr
from gtp.cexpr import compiler, headers

HERE = os.path.dirname(os.path.abspath(oracle.__file__))
BATCH = 24
# The kernel chooses the CPU of interrupts; the workload does everything else on CPU 1.
CPUS_OF = {"__handle_irq_event_percpu": (0, 1)}
TRIES = 20
MOST_SHOWN = 15

translations, link = handed.read()


def translated(row):
    """Return the text for GDB, and whether it can be an action. Addresses of per-CPU variables differ in each boot."""
    if "cpu(" in row.text or "cpu_ptr(" in row.text:
        pc = address("(long)%s" % row.function)
        text = cexpr.condition(row.text, pc)
        return text, is_action(text, pc)
    return translations["%s %s" % (row.function, row.text)]


def workload():
    shell()("python3 %s/workload.py 1" % HERE)


def set_tracepoint(rows, cpu):
    """Set a tracepoint that gives $v0, $v1... the rows' values, on one CPU. Return its number, and a list with the action
    for each row. None stands for an expression that cannot be an action."""
    always = "collect $cpu_id, $current_task, $current_task_pid, $regs"
    num = trace("*%s" % rows[0].function)
    cmd("condition %d $cpu_id == %d" % (num, cpu))
    kept = ["$v%d = (long)(%s)" % (i, text) if short else None
            for i, (text, short) in enumerate(map(translated, rows))]
    cmd("commands %d" % num, always, *["collect " + text for text in kept if text], "end")
    return num, kept


def is_action(text, pc):
    """Return whether the expression can be an action: it is short enough, and GDB does not abort."""
    try:
        compiler.check("$v0 = (long)(%s)" % text, pc, True)
    except (compiler.TooLong, compiler.Unbalanced):
        return False
    return True


def run_until_hit(nums):
    """Make a run that ends when all tracepoints have had a hit. Return whether all had one."""
    cmd("passcount 1 %d" % nums[-1])
    cmd("tstart")
    for _ in range(TRIES):
        workload()
        if not running():
            matches("Trace stopped by tracepoint", cmd("tstatus"))
            return True
    cmd("tstop")
    return False


def hit(batches, function):
    """Make runs until every tracepoint of the batches has had a hit in the same run. Return the tracepoints with their
    batches."""
    for cpu in CPUS_OF.get(function, (1,)):
        points = [(set_tracepoint(batch, cpu), batch) for batch in batches]
        if run_until_hit([num for (num, _), _ in points]):
            return points
        before()
    raise Failure("%s was never hit" % function)


def compare(num, rows, kept):
    """Compare the module's values in the tracepoint's frame with the values that GDB computes. Return a line for each
    difference."""
    cmd("tfind tracepoint %d" % num)
    check(number("$trace_frame") >= 0, "tracepoint %d has no frame" % num)
    lines, compared = [], 0
    for i, (row, action) in enumerate(zip(rows, kept)):
        if action is None:
            continue
        compared += 1
        got = number("$v%d" % i) % 2**64
        try:
            wanted = oracle.value(row.oracle)
        except gdb.error as error:
            wanted = error
        if got != wanted:
            lines.append("%s: %s: %s, GDB: %s (%s)" % (row.line, row.text, got, wanted, action))
    return lines, compared


def group_test(name, function, rows):
    def body():
        batches = [rows[i:i + BATCH] for i in range(0, len(rows), BATCH)]
        points = hit(batches, function)
        oracle.begin()
        try:
            results = [compare(num, batch, kept) for (num, kept), batch in points]
        finally:
            oracle.end()
        lines = [line for found, _ in results for line in found]
        compared = sum(count for _, count in results)
        note("%d values compared" % compared)
        check(compared > len(rows) * 9 // 10 - 2, "only %d of %d could be actions" % (compared, len(rows)))
        check(not lines, "\n".join(lines[:MOST_SHOWN]))
    test("%s: %d expressions at %s have the value that GDB's evaluator gives them" % (name, len(rows), function))(body)


def before():
    fresh()
    for i in range(BATCH):
        cmd("tvariable $v%d" % i)


cmd("set gtp-headers " + os.environ["GTP_HEADERS"])
oracle.functions(link)
for (name, function), rows in data.by_group(headers.release()).items():
    group_test(name, function, rows)
run(symbols=False, before=before)
