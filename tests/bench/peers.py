# SPDX-License-Identifier: GPL-2.0-only
# Measures other tools at an instruction: ftrace's kprobe events, bpftrace, SystemTap. They run in the same boot as gdbtp, at
# the same function. Each must report that it has seen every call, or none if its condition is false.
#
# Each row has up to four columns: "false" (o->a > 1000), "true" (o->a > 5, recording as little as the tool can), "sum"
# (o->a + o->b, without a condition), "both" (the sum if o->a > 5). o->a is 42, o->b is 7.
#
# A place is an object with these members:
#   name, address (for ftrace), symbol (for bpftrace), events (the file in which ftrace lists probes of this kind),
#   warmly(name) (makes all calls of a function and returns the figures), all (the number of these calls),
#   wait(armed, other) (waits until a probe is set or removed)
import os
import re
import signal
import subprocess
import time

from common import (ALL, BUILT, RELEASE, TRACING, bpftrace_env, check, records, warmly, write)

EACH = 42 + 7
SUM = ALL * EACH


# ftrace --------------------------------------------------------------------------------------------

A, B = "a=+0(%di):s32", " b=+4(%di):s32"
# ftrace has no arithmetic, and its record always contains the filter's fields.
FTRACE = {
    "false": (A, "a > 1000"),
    "true": (A, "a > 5"),
    "sum": (A + B, ""),
    "both": (A + B, "a > 5"),
}


def ftrace(place, case):
    """Measure an event at a probe, as `perf probe` and trace-cmd use it. At a hit the event fetches its arguments, applies
    its filter, and writes its record."""
    fetch, filter_ = FTRACE[case]
    write(place.events, "p:gtpb/ev %s %s\n" % (place.address, fetch))
    try:
        if filter_:
            write("events/gtpb/ev/filter", filter_)
        write("trace", "")
        write("events/gtpb/ev/enable", "1")
        place.wait(True)
        ticks = place.warmly(place.name)
        wanted = 0 if case == "false" else place.all
        check(records() == wanted, "ftrace, %s: %d records, wanted %d" % (case, records(), wanted))
        write("events/gtpb/ev/enable", "0")
    finally:
        write(place.events, "")
    place.wait(False)
    return ticks


# bpftrace ------------------------------------------------------------------------------------------

# case -> (condition; action; a pattern that the program's output matches at the end if it has seen all calls).
COUNT = ("@n = count();", r"@n: %(all)d$")
MAP = {
    "false": ("$o->a > 1000", "@n = count();", "@n: 0$|^$"),
    "true": ("$o->a > 5", *COUNT),
    "sum": ("", "@s = sum($o->a + $o->b);", r"@s: %(sum)d$"),
    "both": ("$o->a > 5", "@s = sum($o->a + $o->b);", r"@s: %(sum)d$"),
}
# A record of each hit, comparable to a frame: the kernel passes it to bpftrace, which prints it.
PRINT = {
    "sum": ("", 'printf("%d\\n", $o->a + $o->b);', None),
    "both": ("$o->a > 5", 'printf("%d\\n", $o->a + $o->b);', None),
}
OBJECT = "struct gtp_bench_obj { int a; int b; }; "
EPOLL_WAITS = "232", "281"


def bpf_program(place, kind, condition, action):
    fentry = kind == "fentry"
    probe = "kfunc:" + place.symbol if fentry else "%s:%s" % (kind, place.symbol)
    body = "$o = %s; " % ("args->o" if fentry else "(struct gtp_bench_obj *)arg0")
    body += "if (%s) { %s }" % (condition, action) if condition else action
    return "%s%s { %s }" % ("" if fentry else OBJECT, probe, body)


def contents(path):
    with open(path) as f:
        return f.read()


def wait_for_lines(path, count):
    """Wait until the program has printed COUNT lines, because it prints none after the interrupt."""
    end = time.monotonic() + 30
    while contents(path).count("\n") < count and time.monotonic() < end:
        time.sleep(0.5)


def interrupt(run):
    """Interrupt a bpftrace until it ends. One that has only just attached its program may ignore the interrupt."""
    for _ in range(60):
        run.send_signal(signal.SIGINT)
        try:
            run.wait(1)
            return
        except subprocess.TimeoutExpired:
            pass
    run.kill()
    run.wait()


def wait_for_all(run):
    """Wait until bpftrace waits for records: by then, all of its probes are attached. Waiting for the code at the place
    to change would not be enough, because the first of the probes already changes it."""
    while run.poll() is None and contents("/proc/%d/syscall" % run.pid).split()[0] not in EPOLL_WAITS:
        time.sleep(0.05)


def run_program(place, program, lines, calls=None):
    """Run a bpftrace program. Measure calls of the place's function, or call CALLS, once the code has changed. Then
    interrupt the program. Return the figures and the output."""
    path = "/tmp/bpftrace.out"
    with open(path, "w+") as out:
        run = subprocess.Popen(["bpftrace", "--unsafe", "-q", "-e", program], stdout=out,
                               stderr=subprocess.STDOUT, env=bpftrace_env())
        try:
            place.wait(True, run)
            wait_for_all(run)
            ticks = place.warmly(calls or place.name)
            if lines:
                wait_for_lines(path, place.all)
        finally:
            interrupt(run)
    return ticks, contents(path).strip()


def bpftrace(place, kind, cases, case):
    condition, action, said = cases[case]
    ticks, told = run_program(place, bpf_program(place, kind, condition, action), not said)
    if said:
        wanted = said % {"all": place.all, "sum": place.all * EACH}
        check(re.search(wanted, told), "bpftrace %s, %s: %s" % (kind, case, told))
    else:
        check(told.split() == [str(EACH)] * place.all, "bpftrace %s, %s: %d lines, wanted %d: %s" % (
            kind, case, len(told.split()), place.all, set(told.splitlines())))
    place.wait(False)
    return ticks


# Returns -------------------------------------------------------------------------------------------

# A row's name says what the tool records. bpftrace's programs keep the time of the entry in a map, with the task as key.
RETURNED = 42 + 3  # the value of o->a + n
ENTER = "@s[tid] = nsecs;"
TOOK = "$ns = nsecs - @s[tid]; delete(@s[tid]);"
BPF_RETURNS = {
    "a histogram of the time by o->a": "@h[$o->a] = hist($ns);",
    "the time and o->a + o->b, printed": 'printf("%d %d\\n", $ns, $o->a + $o->b);',
}


def bpf_returns(place, kind, action):
    """Measure bpftrace at returns. A kretprobe cannot access the arguments, so the map keeps the arguments, too."""
    if kind == "fexit":
        program = "kfunc:%s { %s } kretfunc:%s { $o = args->o; %s %s }" % (
            place.symbol, ENTER, place.symbol, TOOK, action)
    else:
        program = OBJECT + ("kprobe:%s { %s @o[tid] = arg0; } "
                            "kretprobe:%s { $o = (struct gtp_bench_obj *)@o[tid]; delete(@o[tid]); %s %s }" % (
                                place.symbol, ENTER, place.symbol, TOOK, action))
    printed = "printf" in action
    ticks, told = run_program(place, program, printed)
    if printed:
        made = len(re.findall(r"^\d+ 49$", told, re.M))
    else:
        made = sum(int(n) for n in re.findall(r"[\])] +(\d+) \|", told))
    check(made == ALL, "bpftrace %s: %d of %d returns: %s" % (kind, made, ALL, told[:500]))
    place.wait(False)
    return ticks


def ftrace_returns(place, entry):
    """Measure ftrace with one record for the entry and one for the return. The reader subtracts the times."""
    write("kprobe_events", "r:gtpb/back %s v=$retval:s64\n" % place.symbol +
          ("p:gtpb/ev %s %s\n" % (place.address, A + B) if entry else ""))
    try:
        write("trace", "")
        write("events/gtpb/enable", "1")
        place.wait(True)
        ticks = warmly(place.name)
        wanted = (2 if entry else 1) * ALL
        check(records() == wanted, "ftrace: %d records, wanted %d" % (records(), wanted))
        check("v=%d" % RETURNED in contents(TRACING + "trace"), "ftrace has not seen what is returned")
        write("events/gtpb/enable", "0")
    finally:
        write("kprobe_events", "")
    place.wait(False)
    return ticks


def returns(place):
    """Yield the other tools' rows for returns of the function that begins at the place. A row is a name and the function
    that measures it."""
    yield "return, ftrace r: event: what is returned", lambda: ftrace_returns(place, False)
    yield "return, ftrace p: and r: events: a record for each end", lambda: ftrace_returns(place, True)
    kinds = {"kprobe": "kprobe and kretprobe"}
    if os.path.exists("/sys/kernel/btf/gtp_bench"):
        kinds["fexit"] = "fentry and fexit"
    for kind, probes in kinds.items():
        for what, action in BPF_RETURNS.items():
            yield ("return, bpftrace %s: %s" % (probes, what),
                   lambda kind=kind, action=action: bpf_returns(place, kind, action))
    if os.path.exists(STAP):
        yield "return, SystemTap .return: a histogram of the time by o->a", lambda: stap(place, "return")


# SystemTap -----------------------------------------------------------------------------------------

STAP = os.path.join(BUILT, "stap", RELEASE)
STAP_SAYS = {"false": 0, "true": ALL, "sum": SUM, "both": SUM, "return": ALL}


def stap(place, case):
    """Measure SystemTap. Its module is built before the guest starts, because that takes a minute. staprun disables the
    optimising of kprobes while it runs; this function enables it again."""
    with subprocess.Popen(["staprun", "%s/%s/gtp_stap_%s.ko" % (STAP, case, case)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as run:
        line = run.stdout.readline()
        check(line == "ready\n", "staprun, %s: %r" % (case, line))
        with open("/proc/sys/debug/kprobes-optimization", "w") as f:
            f.write("1")
        try:
            place.wait(True, run)
            ticks = warmly(place.name)
        finally:
            run.send_signal(signal.SIGINT)
            told = run.stdout.read()
    check(told.split() == [str(STAP_SAYS[case])], "SystemTap, %s: wanted %d: %s" % (
        case, STAP_SAYS[case], told))
    place.wait(False)
    return ticks


# The kernel's stack ----------------------------------------------------------------------------------

# Measured at a place where each hit has the same stack of 16 addresses.
STACK, STACK_AT = "count by $kstack, 16 addresses", "jump"


def ftrace_stack(place, trigger, records_each):
    write("kprobe_events", "p:gtpb/ev %s\n" % place.address)
    try:
        write("trace", "")
        write("events/gtpb/ev/trigger", trigger)
        write("events/gtpb/ev/enable", "1")
        place.wait(True)
        ticks = warmly("deep")
        check(records() == records_each * ALL, "%s: %d records" % (trigger, records()))
        write("events/gtpb/ev/enable", "0")
        write("events/gtpb/ev/trigger", "!" + trigger)
    finally:
        write("kprobe_events", "")
    place.wait(False)
    return ticks


def bpftrace_stack(place):
    ticks, told = run_program(place, "kprobe:%s { @[kstack] = count(); }" % place.symbol, False, "deep")
    check(re.search(r"\]: %d$" % ALL, told), "bpftrace, kstack: %s" % told)
    place.wait(False)
    return ticks


STACK_ROWS = {
    "bpftrace kprobe: @[kstack] = count()": bpftrace_stack,
    "ftrace kprobe event, trigger stacktrace": lambda place: ftrace_stack(place, "stacktrace", 2),
}


def stack_rows(place):
    """Yield the rows for the kernel's stack. Each row has one case."""
    if place.name == STACK_AT:
        for row, run in STACK_ROWS.items():
            yield row, {STACK: lambda run=run: run(place)}


# All -----------------------------------------------------------------------------------------------

CASES = ("false", "true", "sum", "both")


def rows(place):
    """Yield the other tools' rows. A row is a name, and {case: the function that measures it}."""
    def each(cases, measure_one):
        return {case: lambda case=case: measure_one(case) for case in CASES if case in cases}

    yield "ftrace kprobe event", each(FTRACE, lambda case: ftrace(place, case))
    kinds = ["kprobe"]
    if place.name == "entry" and os.path.exists("/sys/kernel/btf/gtp_bench"):
        kinds.append("fentry")
    for kind in kinds:
        yield "bpftrace %s, into a map" % kind, each(MAP, lambda case, kind=kind: bpftrace(place, kind, MAP, case))
        yield "bpftrace %s, printed" % kind, each(PRINT, lambda case, kind=kind: bpftrace(place, kind, PRINT, case))
    if os.path.exists(STAP):
        yield "SystemTap, into a variable", each(STAP_SAYS, lambda case: stap(place, case))
