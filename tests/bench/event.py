# SPDX-License-Identifier: GPL-2.0-only
# What a hit of a kernel tracepoint costs, beside the kernel's own ways to look at one: as hit.py, in a
# guest that counts instructions.
#
# The bench module's event has the fields a, b and n; o->a is 42, o->b is 7, n is 3. A row counts only if
# whoever was measured says that it has seen every call, or none where its condition is false.
import os
import re
import statistics
import subprocess
import sys
import time
import traceback

import gdb

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = os.path.join(TOP, "build/bench")
RELEASE = os.uname().release
BENCH = "/proc/gtp_bench"
TRACING = "/sys/kernel/tracing"
EVENT = "gtp_bench/gtp_bench_hit"

CALLS, REPEATS = 2000, 5
ALL = 2 * CALLS * REPEATS


class Wrong(Exception):
    """A figure that would not mean what it says."""


def check(good, text):
    if not good:
        raise Wrong(text)


def cmd(*lines):
    return gdb.execute("\n".join(lines), to_string=True)


# The bench module ----------------------------------------------------------------------------------

def order(line):
    """From a process of its own: the tasks of the gdb that is connected are not traced."""
    subprocess.run(["sh", "-c", 'echo "$1" >' + BENCH, "sh", line], check=True)


def answers(word):
    with open(BENCH) as f:
        return [line.split()[1:] for line in f if line.startswith(word + " ")]


def measure(name):
    order("measure %s %d %d" % (name, CALLS, REPEATS))
    return [int(ticks) / CALLS for ticks, in answers("ticks")]


def both():
    """Once to warm up, once for the figures: ALL hits together."""
    measure("event")
    return measure("event")


# Rows ----------------------------------------------------------------------------------------------

table = []


def add_row(what, ticks, engine=None):
    table.append((what, engine, *(f(ticks) - f(bare) for f in (min, statistics.median))))


def floor():
    order("probe event")
    ticks = both()
    hits = int(answers("floor_hits")[0][0])
    order("unprobe")
    check(hits == ALL, "%d hits of the module's own probe" % hits)
    add_row("a probe that counts", ticks)


# Each: name, condition, actions, does a hit leave a frame.
OURS = (
    ("condition n == 4, false", "n == 4", (), False),
    ("condition o->a > 1000, false", "o->a > 1000", ("collect $_sdata",), False),
    ("condition o->a > 5, true: an empty frame", "o->a > 5", (), True),
    ("condition o->a > 5, true, and collect *o", "o->a > 5", ("collect *o",), True),
    ("collect $_sdata", "", ("collect $_sdata",), True),
    ("condition o->a > 5, true, and collect $_sdata", "o->a > 5", ("collect $_sdata",), True),
    ("condition o->a > 5, true, and collect *o, $_sdata", "o->a > 5", ("collect *o, $_sdata",), True),
)


def status(pattern):
    text = cmd("monitor status")
    found = re.search(pattern, text)
    check(found, "monitor status has no %r:\n%s" % (pattern, text))
    return int(found.group(1))


def check_hits(what, frames):
    wanted = ALL if frames else 0
    got = (status(r"tracepoint \d+ at \S+ (\d+) hits"), status(r"(\d+) collected"),
           status(r"(\d+) hits inside another") + status(r"(\d+) missed by the kernel"))
    check("the trace is running" in cmd("monitor status"), what + ": the run has ended")
    check("no $_sdata" not in cmd("monitor status"), what + ": frames without a record")
    check(got == (wanted, wanted, 0), "%s: %d hits, %d frames, %d lost" % (what, *got))


def ours(engine, case):
    what, condition, actions, frames = case
    # By the marker's address: GDB 13's strace crashes.
    cmd("trace *__traceiter_gtp_bench_hit%s" % (" if " + condition if condition else ""))
    if actions:
        cmd("commands", *actions, "end")
    cmd("tstart")
    ticks = both()
    check_hits(what, frames)
    cmd("tstop")
    cmd("delete")
    add_row(what, ticks, engine)


def write(path, text):
    with open(os.path.join(TRACING, path), "w") as f:
        f.write(text)


def ftrace(what, filter_, entries):
    write("trace", "")
    write("events/%s/filter" % EVENT, filter_ or "0")
    write("events/%s/enable" % EVENT, "1")
    ticks = both()
    write("events/%s/enable" % EVENT, "0")
    with open(os.path.join(TRACING, "per_cpu/cpu0/stats")) as f:
        stats = dict(line.split(": ") for line in f.read().splitlines())
    seen = int(stats["entries"]) + int(stats["overrun"])
    check(seen == entries, "ftrace, %s: %d records, wanted %d" % (what, seen, entries))
    add_row("ftrace: " + what, ticks)


def bpftrace_env():
    """It compiles with the kernel's headers, in the two parts that Debian makes of them."""
    headers = os.environ["GTP_HEADERS"]
    common = re.sub(r"-cloud-amd64$|-amd64$", "-common", headers)
    return dict(os.environ, BPFTRACE_KERNEL_SOURCE=common, BPFTRACE_KERNEL_BUILD=headers)


def bpftrace(what, program, seen):
    """The program counts in @n; it prints that at its end."""
    with subprocess.Popen(["bpftrace", "-q", "-e", program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=bpftrace_env(), text=True) as child:
        line = child.stdout.readline()
        check(line.startswith("ready"), "bpftrace, %s: %s" % (what, line))
        time.sleep(1)  # it attaches after its BEGIN; that it missed nothing is checked below
        ticks = both()
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


# All of it ---------------------------------------------------------------------------------------

def load_symbols():
    places = {}
    for name in (".text", ".data"):
        with open("/sys/module/gtp_bench/sections/" + name) as f:
            places[name] = f.read().strip()
    cmd("add-symbol-file %s/kmod/%s/gtp_bench.ko %s -s .data %s" % (
        BUILT, RELEASE, places[".text"], places[".data"]))


def set_up():
    for setting in ("confirm off", "pagination off", "width 0"):
        cmd("set " + setting)
    subprocess.run(["insmod", "%s/kmod/%s/gtp_bench.ko" % (BUILT, RELEASE)], check=True)
    subprocess.run(["insmod", "%s/module/%s/gdbtp.ko" % (BUILT, RELEASE)], check=True)
    cmd("target remote /proc/gtp")
    load_symbols()
    cmd("set trace-buffer-size %d" % (1 << 25))


def print_table():
    print("# %s: instructions per hit of a kernel tracepoint above a call that nobody traces"
          % RELEASE)
    print("%-54s %11s %8s" % ("", "interpreter", "jit"))
    rows = {}
    for what, engine, low, median in table:
        text = "%.0f" % low if median - low < 1 else "%.0f/%.0f" % (low, median)
        rows.setdefault(what, {})[engine] = text
    for what, cost in rows.items():
        print("  %-52s %11s %8s" % (what, cost.get(None) or cost["interpreter"], cost.get("jit", "-")))
    sys.stdout.flush()


def main():
    set_up()
    nothing, nops = min(measure("empty")), min(measure("nops"))
    check(nops - nothing == 100, "100 nops take %s ticks" % (nops - nothing))
    measure("event")
    bare.extend(measure("event"))
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
except Exception:  # whatever it is, gdb would end with status 0
    traceback.print_exc(file=sys.stdout)
    print_table()
    gdb.execute("quit 1")
print_table()
