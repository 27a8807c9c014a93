# SPDX-License-Identifier: GPL-2.0-only
# What a hit costs, measured from inside a guest that counts instructions: tests/bench/run boots it
# and has a real gdb run this file.
#
# A row is one tracepoint, as this gdb compiles it, at one place. Its cost is the time of a call with
# it minus the time of a call without, and a call's time is the TSC, which under QEMU's -icount
# shift=0 counts instructions. A row counts only if every call was a hit and every hit that had to
# leave a frame left one.
import os
import re
import signal
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
ONLY = os.environ.get("BENCH_ONLY", "")

CALLS, REPEATS = 2000, 5
PLACES = ("jump", "entry", "int3")
PLACE_MEANS = {
    "jump": "mid-function, where the kernel makes a kprobe a jump",
    "entry": "function entry, where the kernel uses ftrace",
    "int3": "mid-function, where a kprobe stays a breakpoint",
}
# What stands at the address when the kernel is done with it: optimising takes its time.
FORM = {"entry": None, "jump": "e9", "int3": "cc"}
# What monitor probes says of a tracepoint that is no kprobe.
DIRECT = {"entry": "ftrace call", "jump": "jump", "int3": "jump"}


class Wrong(Exception):
    """A figure that would not mean what it says."""


def check(good, text):
    if not good:
        raise Wrong(text)


def say(text):
    print(text)
    sys.stdout.flush()


# The bench module ----------------------------------------------------------------------------------

def order(line):
    """From a process of its own: the tasks of the gdb that is connected are not traced."""
    subprocess.run(["sh", "-c", 'echo "$1" >' + BENCH, "sh", line], check=True)


def answers(word):
    with open(BENCH) as f:
        return [line.split()[1:] for line in f if line.startswith(word + " ")]


def measure(name):
    """Instructions of each call, loop included: one figure for each repetition."""
    order("measure %s %d %d" % (name, CALLS, REPEATS))
    return [int(ticks) / CALLS for ticks, in answers("ticks")]


def address(place):
    return next(at for name, at, *code in answers("place") if name == place)


def code(place):
    return next(code for name, at, *code in answers("place") if name == place)


def has_form(place, first):
    """A jump is really one, and what ftrace patches is no nop any more."""
    now = code(place)
    return now[0] == first if first else now != original[place]


def wait_for(place, armed, engine=""):
    """The kernel rewrites a probe's code later, when it has time: watch the code itself."""
    end = time.monotonic() + 30
    first = "e9" if engine == "direct" and FORM[place] else FORM[place]
    while has_form(place, first) != armed if armed else code(place) != original[place]:
        check(time.monotonic() < end, "%s: the code is %s" % (place, " ".join(code(place))))
        time.sleep(0.02)


# Rows ----------------------------------------------------------------------------------------------

table = []


def add_row(place, what, engine, ticks):
    cost = [f(ticks) - f(bare[place]) for f in (min, statistics.median)]
    table.append((place, what, engine, *cost))


def floor(place):
    order("probe " + place)
    wait_for(place, True)
    measure(place)
    ticks = measure(place)
    hits = int(answers("floor_hits")[0][0])
    check(hits == 2 * CALLS * REPEATS, "floor at %s: %d hits" % (place, hits))
    order("unprobe")
    wait_for(place, False)
    add_row(place, "a kprobe that does nothing", "-", ticks)


# Each: name, condition, actions, does a hit leave a frame. o->a is 42, o->b is 7, n is 3.
RING = "collect $regs, dropping the oldest frame"
CASES = (
    ("condition n == 4, false", "n == 4", (), False),
    ("condition o->a > 1000, false", "o->a > 1000", (), False),
    ("condition on the pid, false", "$current_task_pid == 0x7fffffff", (), False),
    ("condition o->a > 5, true", "o->a > 5", (), True),
    ("no condition, an empty frame", "", (), True),
    ("collect o->a + o->b", "", ("collect o->a + o->b",), True),
    ("condition true, collect o->a + o->b", "o->a > 5", ("collect o->a + o->b",), True),
    ("collect *o", "", ("collect *o",), True),
    ("collect $regs", "", ("collect $regs",), True),
    (RING, "", ("collect $regs",), True),
    ("teval $n = $n + 1", "", ("teval $n = $n + 1",), True),
)


def cmd(*lines):
    return gdb.execute("\n".join(lines), to_string=True)


def status(pattern):
    text = cmd("monitor status")
    found = re.search(pattern, text)
    check(found, "monitor status has no %r:\n%s" % (pattern, text))
    return int(found.group(1))


def set_buffer(ring):
    """Room for every frame of a row, or for so few that each new one drops an old one."""
    cmd("set circular-trace-buffer " + ("on" if ring else "off"))
    cmd("set trace-buffer-size %d" % (65536 if ring else 1 << 25))


def define(place, condition, actions):
    cmd("trace *%s%s" % (address(place), " if " + condition if condition else ""))
    if actions:
        # Not "actions": GDB reads what follows that from its terminal only.
        cmd("commands", *actions, "end")


def check_hits(what, frames):
    """All calls of both measurements arrived, and ended as the row says."""
    wanted = 2 * CALLS * REPEATS if frames else 0
    hits = status(r"tracepoint \d+ at \S+ (\d+) hits")
    collected = status(r"(\d+) collected")
    lost = status(r"(\d+) hits inside another") + status(r"(\d+) missed by the kernel")
    check("the trace is running" in cmd("monitor status"), what + ": the run has ended")
    check((hits, collected, lost) == (wanted, wanted, 0),
          "%s: %d hits, %d frames, %d lost; wanted %d" % (what, hits, collected, lost, wanted))


def traced(place, engine, case):
    what, condition, actions, frames = case
    set_buffer(what == RING)
    define(place, condition, actions)
    cmd("tstart")
    if engine == "direct":
        told = cmd("monitor probes")
        check(DIRECT[place] in told, "%s: not a %s: %s" % (place, DIRECT[place], told))
    wait_for(place, True, engine)
    measure(place)
    ticks = measure(place)
    check_hits("%s, %s" % (place, what), frames)
    cmd("tstop")
    wait_for(place, False)
    cmd("delete")
    add_row(place, what, engine, ticks)


# The kernel's own --------------------------------------------------------------------------------

def write(path, text):
    """A file opened to be written anew loses what is in it: every probe, every record."""
    with open(os.path.join(TRACING, path), "w") as f:
        f.write(text)


def kprobe_event(place, what, fetch, filter_, entries):
    """What `perf probe` and trace-cmd use: fetches, then filters, then writes its record."""
    write("kprobe_events", "p:gtpb/ev %s %s\n" % (address(place), fetch))
    try:
        if filter_:
            write("events/gtpb/ev/filter", filter_)
        write("trace", "")
        write("events/gtpb/ev/enable", "1")
        wait_for(place, True)
        measure(place)
        ticks = measure(place)
        with open(os.path.join(TRACING, "per_cpu/cpu0/stats")) as f:
            stats = dict(line.split(": ") for line in f.read().splitlines())
        seen = int(stats["entries"]) + int(stats["overrun"])
        check(seen == entries, "kprobe_events, %s: %d records, wanted %d" % (what, seen, entries))
        write("events/gtpb/ev/enable", "0")
    finally:
        write("kprobe_events", "")
    wait_for(place, False)
    add_row(place, what, "-", ticks)


def kprobe_events(place):
    both = 2 * CALLS * REPEATS
    kprobe_event(place, "kprobe_events: filter a > 1000, false", "a=+0(%di):s32", "a > 1000", 0)
    kprobe_event(place, "kprobe_events: a and b", "a=+0(%di):s32 b=+4(%di):s32", "", both)
    kprobe_event(place, "kprobe_events: filter true, a and b", "a=+0(%di):s32 b=+4(%di):s32",
                 "a > 5", both)


# bpftrace ------------------------------------------------------------------------------------------

OBJECT = "struct gtp_bench_obj { int a; int b; }; "
# Name, condition, what is done, how often with 20000 calls. A count is the least that leaves something.
BPF_CASES = (
    ("filter a > 1000, false", "$o->a > 1000", "@n = count();", False),
    ("filter a > 5, true, a count", "$o->a > 5", "@n = count();", True),
    ("a + b", "", "@n = count(); @x = $o->a + $o->b;", True),
    ("filter true, a + b", "$o->a > 5", "@n = count(); @x = $o->a + $o->b;", True),
)


def bpf_program(probe, argument, condition, action):
    body = "$o = %s; " % argument
    body += "if (%s) { %s }" % (condition, action) if condition else action
    return OBJECT * (argument != "args->o") + "%s { %s }" % (probe, body)


def bpftrace(place, what, program, hits):
    """The program is attached when the code has changed, and ends when it is interrupted."""
    run = subprocess.Popen(["bpftrace", "--unsafe", "-e", program], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    try:
        wait_for(place, True)
        measure(place)
        ticks = measure(place)
    finally:
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=60)[0]
    wait_for(place, False)
    wanted = 2 * CALLS * REPEATS if hits else 0
    seen = re.search(r"@n: (\d+)", said)
    check((int(seen.group(1)) if seen else 0) == wanted, "%s: wanted %d:\n%s" % (what, wanted, said))
    add_row(place, what, "-", ticks)


def symbol(place):
    """As bpftrace names the address."""
    start = int(str(gdb.parse_and_eval("(unsigned long)&gtp_bench_" + place)), 0)
    offset = int(address(place), 16) - start
    return "gtp_bench_" + place + ("+%d" % offset if offset else "")


def bpf(place):
    kinds = [("bpftrace kprobe", "kprobe:" + symbol(place), "(struct gtp_bench_obj *)arg0")]
    if place == "entry" and os.path.exists("/sys/kernel/btf/gtp_bench"):
        kinds.append(("bpftrace fentry", "kfunc:gtp_bench_entry", "args->o"))
    for kind, probe, argument in kinds:
        for name, condition, action, hits in BPF_CASES:
            bpftrace(place, kind + ": " + name, bpf_program(probe, argument, condition, action), hits)


# All of it ---------------------------------------------------------------------------------------

def calibrate():
    """Only where 100 nops are exactly 100 does any figure below count instructions."""
    nothing, nops = min(measure("empty")), min(measure("nops"))
    check(nops - nothing == 100,
          "100 nops take %s ticks: this machine does not count instructions" % (nops - nothing))


# Columns: how its expressions run, and what stands in the text.
ENGINES = ("interpreter", "compiled", "direct")


def choose(engine):
    cmd("monitor jit " + ("off" if engine == "interpreter" else "on"))
    cmd("monitor direct " + ("on" if engine == "direct" else "off"))


def load_symbols():
    sections = "/sys/module/gtp_bench/sections/"
    with open(sections + ".text") as f:
        text = f.read().strip()
    with open(sections + ".data") as f:
        data = f.read().strip()
    cmd("add-symbol-file %s/kmod/%s/gtp_bench.ko %s -s .data %s" % (BUILT, RELEASE, text, data))


def set_up():
    for setting in ("confirm off", "pagination off", "width 0"):
        cmd("set " + setting)
    subprocess.run(["insmod", "%s/kmod/%s/gtp_bench.ko" % (BUILT, RELEASE)], check=True)
    subprocess.run(["insmod", "%s/module/%s/gdbtp.ko" % (BUILT, RELEASE)], check=True)
    subprocess.run([TOP + "/tools/gdbtp-tables", "load", "%s/tables/%s" % (BUILT, RELEASE)], check=True)
    cmd("target remote /proc/gtp")
    load_symbols()
    cmd("tvariable $n = 0")


def print_table():
    for place in PLACES:
        say("")
        say("%-54s %11s %8s %6s" % (PLACE_MEANS[place], *ENGINES))
        rows = {}
        for at, what, engine, low, median in table:
            if at == place:
                rows.setdefault(what, {})[engine] = (low, median)
        for what, cost in rows.items():
            first = cost.get("-") or cost.get("interpreter")
            say("  %-52s %11s %8s %6s" % (what, figure(first), figure(cost.get("compiled")),
                                          figure(cost.get("direct"))))


def figure(cost):
    """The smallest; and the median where an instruction's fraction is not the difference."""
    if not cost:
        return "-"
    low, median = cost
    return "%.0f" % low if median - low < 1 else "%.0f/%.0f" % (low, median)


def main():
    set_up()
    calibrate()
    for place in PLACES:
        original[place] = code(place)
        measure(place)
        bare[place] = measure(place)
    for place in PLACES:
        floor(place)
        for engine in ENGINES:
            choose(engine)
            for case in CASES:
                if ONLY in case[0]:
                    traced(place, engine, case)
        if not ONLY:
            kprobe_events(place)
            bpf(place)
    cmd("disconnect")
    say("# %s: instructions per hit above a call that is not traced; %d calls, %d times"
        % (RELEASE, CALLS, REPEATS))
    print_table()


original, bare = {}, {}
try:
    main()
except Exception:  # whatever it is, gdb would end with status 0
    traceback.print_exc(file=sys.stdout)
    gdb.execute("quit 1")
