# SPDX-License-Identifier: GPL-2.0-only
# Measures the cost of a hit of a kernel tracepoint, and the cost of the kernel's own tools there. Like hit.py, this runs in
# a guest that counts instructions.
#
# The bench module's event has the fields a, b and n; o->a is 42, o->b is 7, n is 3. A row counts only if
# the measured tool reports that it has seen every call, or none if its condition is false.
import re
import subprocess
import sys
import time
import traceback

from common import (ALL, RELEASE, above, answers, bpftrace_env, calibrate, check, check_hits, cmd, figure, order,
                    records, set_up, warmly, write)

import gdb

EVENT = "gtp_bench/gtp_bench_hit"


# Rows ----------------------------------------------------------------------------------------------

table = []


def add_row(what, ticks, engine=None):
    table.append((what, engine, above(ticks, bare)))


def floor():
    order("probe event")
    ticks = warmly("event")
    hits = int(answers("floor_hits")[0][0])
    order("unprobe")
    check(hits == ALL, "%d hits of the module's own probe" % hits)
    add_row("a probe that counts", ticks)


# Rows: name, condition, actions, whether a hit leaves a frame.
OURS = (
    ("condition n == 4, false", "n == 4", (), False),
    ("condition o->a > 1000, false", "o->a > 1000", ("collect $_sdata",), False),
    ("condition o->a > 5, true: an empty frame", "o->a > 5", (), True),
    ("condition o->a > 5, true, and collect *o", "o->a > 5", ("collect *o",), True),
    ("collect $_sdata", "", ("collect $_sdata",), True),
    ("condition o->a > 5, true, and collect $_sdata", "o->a > 5", ("collect $_sdata",), True),
    ("condition o->a > 5, true, and collect *o, $_sdata", "o->a > 5", ("collect *o, $_sdata",), True),
)


def ours(engine, case):
    what, condition, actions, frames = case
    # GDB 13 crashes at the command strace. An ordinary tracepoint at the marker's address has the same effect.
    cmd("trace *__traceiter_gtp_bench_hit%s" % (" if " + condition if condition else ""))
    if actions:
        cmd("commands", *actions, "end")
    cmd("tstart")
    ticks = warmly("event")
    check_hits(what, frames)
    check("no $_sdata" not in cmd("monitor status"), what + ": frames without a record")
    cmd("tstop")
    cmd("delete")
    add_row(what, ticks, engine)


def ftrace(what, filter_, entries):
    write("trace", "")
    write("events/%s/filter" % EVENT, filter_ or "0")
    write("events/%s/enable" % EVENT, "1")
    ticks = warmly("event")
    write("events/%s/enable" % EVENT, "0")
    check(records() == entries, "ftrace, %s: %d records, wanted %d" % (what, records(), entries))
    add_row("ftrace: " + what, ticks)


def bpftrace(what, program, seen):
    """Measure a bpftrace program that counts hits in @n, and prints @n when it ends."""
    with subprocess.Popen(["bpftrace", "-q", "-e", program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=bpftrace_env(), text=True) as child:
        line = child.stdout.readline()
        check(line.startswith("ready"), "bpftrace, %s: %s" % (what, line))
        time.sleep(1)  # bpftrace attaches its probe after its BEGIN; if this takes longer, its count shows the missed calls
        ticks = warmly("event")
        child.send_signal(2)
        rest = child.stdout.read()
    found = re.search(r"@n: (\d+)", rest)
    count = int(found.group(1)) if found else 0
    check(count == seen, "bpftrace, %s: saw %d, wanted %d: %s" % (what, count, seen, rest))
    add_row("bpftrace: " + what, ticks)


AT = 'BEGIN { printf("ready\\n") } tracepoint:%s ' % EVENT.replace("/", ":")


def others():
    ftrace("the record", "", ALL)
    ftrace("filter a > 1000, false", "a > 1000", 0)
    ftrace("filter a > 5, true, the record", "a > 5", ALL)
    bpftrace("/args->a > 1000/, false", AT + "/args->a > 1000/ { @n = count(); }", 0)
    bpftrace("/args->a > 5/, true, a count", AT + "/args->a > 5/ { @n = count(); }", ALL)


# The measurement ---------------------------------------------------------------------------------

def print_table():
    print("# %s: instructions per hit of a kernel tracepoint above a call that nobody traces"
          % RELEASE)
    print("%-54s %11s %8s" % ("", "interpreter", "jit"))
    rows = {}
    for what, engine, cost in table:
        rows.setdefault(what, {})[engine] = figure(cost)
    for what, cost in rows.items():
        print("  %-52s %11s %8s" % (what, cost.get(None) or cost["interpreter"], cost.get("jit", "-")))
    sys.stdout.flush()


def main():
    set_up()
    cmd("set trace-buffer-size %d" % (1 << 25))
    calibrate()
    bare.extend(warmly("event"))
    floor()
    for engine in ("interpreter", "jit"):
        cmd("monitor jit " + ("on" if engine == "jit" else "off"))
        for case in OURS:
            ours(engine, case)
    others()
    cmd("disconnect")


bare = []
try:
    main()
except Exception:  # without this, gdb would exit with status 0 after an exception
    traceback.print_exc(file=sys.stdout)
    print_table()
    gdb.execute("quit 1")
print_table()
