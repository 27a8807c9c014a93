# SPDX-License-Identifier: GPL-2.0-only
# Tests kernel tracepoints: markers, arguments by name, $_sdata, other users of ftrace, modules that are unloaded.
import re
import time

import cells
import ring
from event import *
from lib import *
from programs import PROGRAM

OURS = TRACING + "instances/gdbtp"
ROUNDS = 5000

kernel.mount_tracing()


@test("another program has an instance of that name: only $_sdata is refused, everything else works")
def name_taken():
    check(not there.exists(OURS), "our instance is there before anybody wanted it")
    there.mkdir(OURS)
    try:
        strace("gtp_target:gtp_target_count", "collect $_sdata")
        matches("somebody else has the ftrace instance", refused("tstart"))
        cmd("delete")
        plain = strace("gtp_target:gtp_target_many", "collect a")
        probe = trace("gtp_target_add", "collect a")
        run_trace("call event 4", "call add 1 2")
        equal((hits(plain), hits(probe)), (1, 1))
    finally:
        there.rmdir(OURS)
    cmd("delete")
    num = strace("gtp_target:gtp_target_many", "collect $_sdata")
    run_trace("call event 4")
    equal(hits(num), 1)
    check(there.isdir(OURS), "no instance of ours")


@test("markers are ftrace's events with a tracepoint, under its names, and the other tracepoints")
def markers():
    began = time.monotonic()
    found = marker_list()
    note("%d markers in %.2f s" % (len(found), time.monotonic() - began))
    known = iterators()
    with there.open(TRACING + "available_events") as file:
        events = {line.strip() for line in file}
    wanted = {e for e in events if e.split(":")[1] in known}
    equal({m for m in found if not m.startswith("raw:")}, wanted, "events")
    raw = {m.split(":")[1] for m in found if m.startswith("raw:")}
    equal(raw, set(known) - {e.split(":")[1] for e in wanted}, "tracepoints without an event")
    for name, (addr, _) in found.items():
        check(known[name.split(":")[1]] in (0, addr), "%s is not at %#x" % (name, addr))
    check("gtp_target_bare" in raw, "the fixture's bare tracepoint is missing")


@test("a marker's extra text is the event's fields as ftrace's format has them")
def extras():
    found = marker_list()
    for event in ("sched:sched_switch", "kmem:kmalloc", "gtp_target:gtp_target_many",
                  "raw_syscalls:sys_enter", "irq:irq_handler_entry"):
        with there.open("%sevents/%s/format" % (TRACING, event.replace(":", "/"))) as file:
            wanted = re.findall(r"field:(.*?);", file.read())[4:]
        got = found[event][1].rstrip(";").split("; ")
        # tracefs has "char name[16]", the module "char[16] name"
        equal([f if f.startswith("__") else re.sub(r"^(.*?)(\[.*?\]) (\w+)$", r"\1 \3\2", f)
               for f in got], wanted, event)


@test("info static-tracepoint-markers lists them; qTSTMat knows each by its address")
def listing():
    reply = cmd("maint packet qTSTMat:%x" % iterators()["sched_switch"])
    matches("sched:sched_switch".encode().hex(), reply)
    disconnect()
    # Use a GDB without symbols, because with them GDB would spend minutes on each marker's source line.
    text = other_gdb("target remote " + LINE, "info static-tracepoint-markers")
    for name in ("sched:sched_switch", "gtp_target:gtp_target_many", "raw:gtp_target_bare"):
        matches(r"^\d+ +%s +[ny] +0x" % name, text)


@test("arguments by name, of every kind, on the stack too; the record; ftrace agrees")
def many():
    num = strace("gtp_target:gtp_target_many", "collect a, b, c, d, p, g, h, pair, last, $_sdata",
                 "collect/s s", condition="a == 7 && h == -7 && pair.y == 7002 && last == 104")
    with ring.Instance("other") as other:
        other.enable("gtp_target:gtp_target_many")
        run_trace("call event 6", "call event 7", "call event 8")
        lines = other.text()
        theirs = [r for records in other.records().values() for r in records]
    equal(hits(num), 1)
    cmd("tfind start")
    equal([number(e) for e in ("a", "b", "c", "d", "g", "h", "pair.x", "pair.y", "last")],
          [7, -7, 207, 1, 7 << 40, -7, 7001, 7002, ord("h")])
    equal(address("p"), fixture()["gtp_target_objs"])
    banner = "gtp_target: the fixture of gdbtp"
    equal(string("s"), banner)
    fields = sdata()
    equal({n: fields[n] for n in ("a", "b", "c", "d", "g", "h", "both", "last", "s")},
          {"a": "7", "b": "-7", "c": "207", "d": "1", "g": str(7 << 40), "h": "-7",
           "both": "{7001, 7002}", "last": str(ord("h")), "s": '"%s"' % banner})
    equal(int(fields["p"], 16), fixture()["gtp_target_objs"])
    text = matches(r"a=7 (.*)", "\n".join(line for line in lines if "a=7 " in line)).group(1)
    for name, shown in re.findall(r"(\w+)=(\w\S*|-\d+)", text):
        if name in "bcdgh":
            equal(fields[name], shown, "ftrace's " + name)
    check(sdata_bytes() in theirs, "not the bytes that another instance got")
    equal(len(theirs), 3, "records of the other instance")


@test("a table has a column for each field of the record, as gtp sdata prints it")
def table():
    num = strace("gtp_target:gtp_target_many", "collect a, $_sdata", condition="a > 4")
    run_trace(*("call event %d" % n for n in range(8)))
    rows = cells.rows("%d" % num)
    equal([row["a"] for row in rows], ["5", "6", "7"])
    for row in rows:
        cmd("tfind " + row["frame"])
        fields = {name: cells.plain(text) for name, text in sdata().items()}
        equal({name: row[name] for name in fields}, fields)
        check(len(fields) > 5, str(fields))


@test("a tracepoint without an event: large structures by value; $_sdata is refused with the reason")
def bare():
    strace("raw:gtp_target_bare", "collect n, triple", condition="triple.z == 27")
    run_trace("call event 9", "call event 10")
    equal(collected("n", "triple.x", "triple.y"), [(9, -9, 18)])
    cmd("delete")
    strace("raw:gtp_target_bare", "collect $_sdata")
    matches("no TRACE_EVENT", refused("tstart"))


@test("a plain trace at the marker's address is the same tracepoint")
def by_address():
    trace("*__traceiter_gtp_target_many if a == 3", "collect b, $_sdata")
    run_trace("call event 2", "call event 3")
    equal(collected("b"), [-3])
    matches("1 hits.*tracepoint$", cmd("monitor status"))
    cmd("tfind start")
    equal(sdata("a", "b"), {"a": "3", "b": "-3"})
    cmd("tfind none")
    cmd("delete")
    trace("gtp_target_add", "collect $_sdata")
    matches("only kernel tracepoints", refused("tstart"))


@test("a backtrace from the frame shows who hit the tracepoint")
def backtrace():
    strace("gtp_target:gtp_target_many", "collect $regs", "collect *(unsigned char (*)[256])$rsp")
    run_trace("call event 1")
    cmd("tfind start")
    lines = cmd("bt").splitlines()
    note("\n".join(lines[:5]))
    matches(r"^#0 +__traceiter_gtp_target_many", lines[0])
    callers = [m.group(1) for m in (re.match(r"#\d+ +(?:0x\w+ in )?(\w+)", l) for l in lines) if m]
    check("gtp_target_event_many" in callers and "call_event" in callers, str(callers))


def first_difference(ours, theirs):
    for n, (one, other) in enumerate(zip(ours, theirs)):
        if one != other:
            return "the first to differ is %d: %s and %s" % (n, one.hex(), other.hex())
    return "one ends before the other"


def same_bytes(ours, theirs, what):
    """Check that gdbtp's records of each CPU are a contiguous part of ftrace's records. Return the number of gdbtp's
    records."""
    total = 0
    for cpu, records in ours.items():
        if not records:
            continue
        all_of = theirs.get(cpu, [])
        where = [i for i in range(len(all_of) - len(records) + 1)
                 if all_of[i:i + len(records)] == records]
        check(where, "%s on CPU %d: %d records are not a run of the %d that ftrace has; %s" % (
            what, cpu, len(records), len(all_of), first_difference(records, all_of)))
        total += len(records)
    return total


def beside_ftrace(event, work):
    """Trace an event by gdbtp and in an ftrace instance, and compare the bytes of the records."""
    num = strace(event, "collect $_sdata, $cpu_id")
    cmd("monitor self-trace on")
    cmd("set trace-buffer-size %d" % (64 << 20))
    try:
        with ring.Instance("other") as other:
            other.enable(event)
            cmd("tstart")
            shell()(work)
            cmd("tstop")
            other.enable(event, False)
            theirs = other.records()
        found = hits(num)
        skipped = nested()
    finally:
        cmd("monitor self-trace off")
    ours = {}
    limit = 400
    for n in frames():
        if n >= limit:
            break
        ours.setdefault(number("$cpu_id"), []).append(sdata_bytes())
    cmd("tfind none")
    check(skipped == 0, "%d hits inside a hit" % skipped)
    return found, same_bytes(ours, theirs, event), sum(map(len, theirs.values()))


@test("sched_switch, a system call, kmem and block or net events: the bytes that ftrace records")
def real_events():
    work = {
        "sched:sched_switch": "for i in 1 2 3 4 5; do sleep 0.01; done",
        "raw_syscalls:sys_enter": "/bin/true",
        "kmem:kmalloc": "/bin/true",
        "net:netif_rx": "ping -c 3 -i 0.2 127.0.0.1 || ip link set lo up && ping -c 3 -i 0.2 127.0.0.1 || "
                        "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
                        "[s.sendto(b\"x\", (\"127.0.0.1\", 9)) for i in range(5)]'",
    }
    for event, script in work.items():
        cmd("delete")
        found, compared, theirs = beside_ftrace(event, script)
        note("%s: %d hits, %d records compared with ftrace's %d" % (event, found, compared, theirs))
        check(compared > 0, "%s: nothing was compared" % event)


@test("every hit on every CPU is counted, beside kprobes; conditions hold exactly")
def counts():
    cmd("set circular-trace-buffer on")
    every = strace("gtp_target:gtp_target_count")
    tenth = strace("gtp_target:gtp_target_count", "collect n, $_sdata", condition="n % 10 == 0")
    probe = trace("gtp_target_add")
    before = fixture()
    run_trace("loop event %d" % ROUNDS, "call add 1 2")
    made = fixture()["event"] - before["event"]
    equal(made, ROUNDS * CPUS)
    equal((hits(every), hits(tenth), hits(probe)), (made, made // 10, 1))
    equal(nested() + missed(), 0, "lost hits")


@test("GDB loses a marker's place when symbols are added: tstart says so, and what to type instead")
def lost_place():
    num = strace("gtp_target:gtp_target_count")
    cmd("gtp lib " + PROGRAM)
    other = trace("gtp_target_add")
    said = cmd("tstart")
    target("call add 1 2")
    cmd("tstop")
    matches("tracepoint %d is not traced: .* gtp event gtp_target:gtp_target_count$" % num, said)
    equal(hits(other), 1)
    cmd("delete %d" % num)
    check("not traced" not in cmd("tstart"), "it is gone")


@test("a false condition makes no record, for gdbtp or for other tracers")
def no_record():
    strace("gtp_target:gtp_target_count", "collect $_sdata", condition="n == 1000000")
    before = ring.entries(OURS), ring.entries(TRACING)
    with ring.Instance("other") as other:
        run_trace("loop event %d" % ROUNDS)
        equal(other.text(), [], "records of an instance that enabled nothing")
    equal((ring.entries(OURS), ring.entries(TRACING)), before, "records")
    with there.open(TRACING + "set_event") as file:
        equal(file.read(), "", "events enabled")


@test("pass count, disable and enable during a run, a variable, several on one marker, one that joins")
def as_trace():
    cmd("tvariable $sum = 0")
    passed = strace("gtp_target:gtp_target_many", "collect a", "teval $sum = $sum + a")
    cmd("tstart")
    target("call event 1")
    cmd("disable %d" % passed)
    target("call event 2")
    cmd("enable %d" % passed)
    late = strace("gtp_target:gtp_target_many", condition="a > 3")  # GDB sends the tracepoint at once, without actions
    target("call event 3")
    target("call event 4")
    cmd("tstop")
    equal(number("$sum"), 8)
    equal((hits(passed), hits(late)), (3, 1))
    equal([number("a") for _ in frames() if number("$tracepoint") == passed], [1, 3, 4])
    cmd("passcount 2 %d" % passed)
    cmd("tstart")
    for i in range(4):
        target("call event %d" % i)
    matches("stopped by tracepoint %d" % passed, cmd("tstatus"))
    equal(hits(passed), 2)


@test("saved by GDB, by the module, and from /proc/gtpframe: frames and gtp sdata offline")
def offline():
    strace("gtp_target:gtp_target_many", "collect a, $_sdata")
    run_trace("call event 5", "call event 6")
    cmd("tfind 1")
    online = cmd("gtp sdata")
    check("  a = 6\n" in online, online)
    cmd("tfind none")
    folder = scratch()
    cmd("tsave %s/event-1.tf" % folder)
    cmd("tsave -r event-2.tf")
    shell()("mv /tmp/event-2.tf %s && cat /proc/gtpframe >%s/event-3.tf" % (folder, folder))
    for i in (1, 2, 3):
        text = other_gdb("set arch i386:x86-64", "target tfile %s/event-%d.tf" % (folder, i),
                         "source " + os.path.join(TOP, "gdbscripts/gtp.py"), "tfind 1", "gtp sdata")
        check(online in text, "offline %d: %s" % (i, text))


@test("a new GDB gets static tracepoints back, with their markers")
def reconnect():
    strace("gtp_target:gtp_target_many", "collect $_sdata")
    cmd("set disconnected-tracing on")
    cmd("tstart")
    disconnect()
    target("call event 5")
    text = other_gdb("target remote " + LINE, "info tracepoints", "tstop", "tfind 0", "p $_sdata")
    note("\n".join(line for line in text.splitlines() if "racepoint" in line))
    matches(r"^\d+ +static", text)
    matches(r"gtp_target:gtp_target_many", text)
    matches(r"collect \$_sdata", text)
    matches(r"\$1 = ", text)
    text = connect()
    # After a reconnection this GDB's own tracepoint has lost its location `-m MARKER', but kept its address. So GDB either
    # recognises the target's tracepoint or creates another.
    matches("(Assuming|Created) tracepoint .* target's tracepoint", text)


@test("a module's events are added and removed with it, armed or not")
def modules():
    check("gtp_target2:gtp_target2_call" not in marker_list(), "there before its module")
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    check("gtp_target2:gtp_target2_call" in marker_list(), "not there with its module")
    cmd("maint flush dcache")
    cmd("gtp modules %s" % KMOD)
    gone = strace("gtp_target2:gtp_target2_call", "collect n, $_sdata")
    stays = strace("gtp_target:gtp_target_many", "collect a")
    cmd("tstart")
    shell()("echo 5 >/sys/module/gtp_target2/parameters/call")
    target("call event 1")
    shell()("rmmod gtp_target2")
    target("call event 2")
    note(cmd("tstop"))
    equal((hits(gone), hits(stays)), (1, 2))
    matches("gone", cmd("monitor status"))
    check("gtp_target2:gtp_target2_call" not in marker_list(), "there after its module")
    cmd("tfind tracepoint %d" % gone)
    equal(sdata("n"), {"n": "5"})
    cmd("tfind none")
    cmd("maint flush dcache")
    cmd("gtp modules %s" % KMOD)


@test("events' tracepoints stay enabled or disabled when symbols follow a module that is loaded and unloaded")
def modules_around():
    cmd("gtp modules %s" % KMOD)
    on, off = strace("gtp_target:gtp_target_many", "collect a"), strace("gtp_target:gtp_target_count", "collect n")
    cmd("disable %d" % off)
    for change in "insmod %s/gtp_target2.ko" % KMOD, "rmmod gtp_target2":
        shell()(change)
        cmd("maint flush dcache")
        matches("^modules: (symbols loaded of|gone): gtp_target2$", cmd("tstart"))
        target("call event 1")
        cmd("tstop")
        equal((hits(on), hits(off)), (1, 0), change)


run()
