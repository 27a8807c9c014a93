# SPDX-License-Identifier: GPL-2.0-only
# Tests kernel tracepoints that have other users as well: the text that ftrace prints for the same hits, perf, BPF, NMIs.
# Also tests long runs.
#
# With GTP_SOAK=1 in the environment the last two tests repeat their work 100 and 1000 times, as often as a user does in a
# day.
import struct
import time

import ring
import rsp
from event import *
from lib import *

OURS = TRACING + "instances/gdbtp"
ROUNDS = 500
SOAK = bool(os.environ.get("GTP_SOAK"))

kernel.mount_tracing()

# Fields that ftrace's text shows in another form: as flags, as letters, or as hashed pointers.
IN_WORDS = {
    "sched:sched_switch": ("prev_state",),
    "kmem:kmalloc": ("call_site", "ptr", "gfp_flags"),
    "net:netif_rx": ("skbaddr",),
    "gtp_target:gtp_target_many": ("p", "last"),
}
SEND = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        "[s.sendto(b'x' * i, ('127.0.0.1', 9)) for i in range(1, 9)]")
WORK = {
    "sched:sched_switch": "for i in 1 2 3 4 5; do sleep 0.01; done",
    "raw_syscalls:sys_enter": "/bin/true",
    "kmem:kmalloc": "/bin/true",
    "net:netif_rx": 'ip link set lo up 2>/dev/null; python3 -c "%s"' % SEND,
    "gtp_target:gtp_target_many": "for i in 1 2 3; do echo call event $i >/proc/gtp_target; done",
    "gtp_target2:gtp_target2_call": "for i in 4 5 6; do "
                                    "echo $i >/sys/module/gtp_target2/parameters/call; done",
}


def unquoted(text):
    return text[1:-1] if text.startswith('"') else text


def agrees(event, line, fields):
    """Check the fields in a line of ftrace's text against the values that gdbtp decodes. Return the number of
    fields."""
    if event == "raw_syscalls:sys_enter":
        args = ", ".join("%x" % (int(a, 0) % 2**64) for a in fields["args"].strip("{}").split(","))
        check("NR %d (%s)" % (int(fields["id"]), args) in line, "%s: %s" % (line, fields))
        return 7
    seen = 0
    for name, text in fields.items():
        if not re.search(r"\b%s=" % name, line) or name in IN_WORDS.get(event, ()):
            continue
        shown = ",".join(text[1:-1].split(", ")) if text.startswith("{") else unquoted(text)
        if name == "accounted":
            shown = ("false", "true")[int(text)]
        check(re.search(r"\b%s=%s( |$)" % (name, re.escape(shown)), line),
              "%s = %s, but ftrace shows: %s" % (name, text, line))
        seen += 1
    return seen


def frames_with_lines(lines, records):
    """For each of the first 100 frames, yield ftrace's line for the same hit."""
    at = {}
    for n in frames():
        if n >= 100:
            return
        cpu, data = number("$cpu_id"), sdata_bytes()
        at.setdefault(cpu, 0)
        while records[cpu][at[cpu]] != data:
            at[cpu] += 1
            check(at[cpu] < len(records[cpu]), "frame %d is not in ftrace's records" % n)
        yield lines[cpu][at[cpu]]
        at[cpu] += 1


def field_by_field(event, work):
    num = strace(event, "collect $_sdata, $cpu_id")
    with ring.Instance("other") as other:
        other.enable(event)
        cmd("tstart")
        shell()(work)
        cmd("tstop")
        other.enable(event, False)
        lines, records = other.lines(), other.records()
    for cpu, found in lines.items():
        equal(len(found), len(records[cpu]), "lines of CPU %d" % cpu)
    compared = [agrees(event, line, sdata()) for line in frames_with_lines(lines, records)]
    cmd("tfind none")
    check(compared, "%s: no frame" % event)
    check(min(compared) > 0, "%s: nothing of a record in the line" % event)
    note("%s: %d hits, %d frames, %d fields compared" % (
        event, hits(num), len(compared), sum(compared)))
    cmd("delete")


@test("the decoded fields are what ftrace prints for the same hits: six events of six kinds")
def fields():
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    try:
        cmd("gtp modules %s" % KMOD)
        cmd("monitor self-trace on")
        for event, work in WORK.items():
            field_by_field(event, work)
    finally:
        cmd("monitor self-trace off")
        shell()("rmmod gtp_target2")


# Others --------------------------------------------------------------------------------------------

LOOP = "echo loop event %d >/proc/gtp_target" % ROUNDS
EVENT = "gtp_target:gtp_target_count"


def perf_stat():
    text = shell()("perf stat -x, -a -e %s -- sh -c '%s' 2>&1" % (EVENT, LOOP))
    return int(matches(r"^(\d+),,%s" % EVENT, text).group(1))


def perf_record():
    text = shell()("cd /tmp && perf record -q -a -m 4M -e %s -o perf.data -- sh -c '%s' && "
                   "perf script -i perf.data 2>/dev/null | grep -c gtp_target_count:" % (EVENT, LOOP))
    return int(text.split()[-1])


def bpf():
    # bpftrace splits the command for -c at spaces, even within quotes.
    with there.open("/tmp/loop", "w") as file:
        file.write(LOOP + "\n")
    text = shell()("bpftrace -q -e 'tracepoint:%s { @n = count(); }' -c '/bin/sh /tmp/loop' 2>&1"
                   % EVENT)
    return int(matches(r"@n: (\d+)", text).group(1))


def instance():
    with ring.Instance("other") as other:
        other.enable(EVENT)
        shell()(LOOP)
        other.enable(EVENT, False)
        return sum(map(len, other.records().values()))


def everybody():
    readers = [perf_stat, perf_record, instance]
    if "bpf_check" in kallsyms():
        readers.append(bpf)
    else:
        note("this kernel has no BPF")
    return {reader.__name__: reader() for reader in readers}


@test("perf, a BPF program and another instance see the same with gdbtp as without; none gets its records", once=True)
def others():
    alone = everybody()
    equal(alone, dict.fromkeys(alone, ROUNDS * CPUS), "without us")
    cmd("set circular-trace-buffer on")
    third = strace(EVENT, "collect $_sdata", condition="n % 3 == 0")
    never = strace(EVENT, "collect $_sdata", condition="n == 1000000")
    before = ring.entries(OURS) if there.isdir(OURS) else 0
    main = ring.entries(TRACING)
    cmd("tstart")
    together = everybody()
    cmd("tstop")
    equal(together, alone, "with us")
    each = len([n for n in range(ROUNDS) if n % 3 == 0]) * CPUS
    equal((hits(third), hits(never)), (len(alone) * each, 0), "our hits")
    equal(ring.entries(OURS) - before, len(alone) * each, "records in our instance")
    equal(ring.entries(TRACING), main, "records in the kernel's main buffer")
    equal(nested() + missed(), 0, "lost")


NMIS = 200


def nmis():
    """Send NMIs to all CPUs but one. Return the number of NMIs."""
    before = fixture()["nmi"]
    target("nmi %d" % NMIS)
    made = fixture()["nmi"] - before
    equal(made, NMIS * (CPUS - 1), "NMIs")
    return made


@test("hits in NMIs are counted and recorded as ftrace does")
def in_nmi():
    here = strace("nmi:nmi_handler", "collect handled, $_sdata, $cpu_id")
    there = strace(EVENT, "collect n, $_sdata, $cpu_id")
    with ring.Instance("other") as other:
        other.enable("nmi:nmi_handler")
        other.enable(EVENT)
        cmd("tstart")
        made = nmis()
        cmd("tstop")
        other.enable("nmi:nmi_handler", False)
        other.enable(EVENT, False)
        theirs = other.records()
    note("%d NMIs, %d hits of their handlers' tracepoint" % (made, hits(here)))
    equal(hits(there), made, "hits in the handler")
    equal(nested() + missed(), 0, "lost")
    ours = {}
    for _ in frames():
        ours.setdefault(number("$cpu_id"), []).append(sdata_bytes())
    cmd("tfind none")
    equal(ours, {cpu: found for cpu, found in theirs.items() if found}, "records")


@test("NMIs that hit the tracepoint whose hit is being recorded: all are counted, and no record is mixed up")
def nmi_in_hit():
    cmd("set circular-trace-buffer on")
    cmd("set trace-buffer-size %d" % (64 << 20))
    num = strace(EVENT, "collect n, $_sdata")
    before = fixture()
    cmd("tstart")
    load = background("loop event 20000")
    while load.poll() is None:
        nmis()
    cmd("tstop")
    equal(load.returncode, 0)
    after = fixture()
    made = after["event"] - before["event"]
    lost = nested()
    note("%d hits, %d NMIs, %d of them inside a hit" % (made, after["nmi"] - before["nmi"], lost))
    check(after["nmi"] > before["nmi"], "no NMI")
    equal(hits(num) + lost + missed(), made, "hits")
    check("no $_sdata" not in cmd("monitor status"), "a hit without a record")
    for frame in frames():
        if frame >= 2000:
            break
        equal(struct.unpack_from("<Q", sdata_bytes(), 8)[0], number("n"), "n of frame %d" % frame)
    cmd("tfind none")


@test("markers and $_sdata without a mounted tracefs")
def unmounted():
    shell()("umount %s" % TRACING)
    try:
        check("sched:sched_switch" in marker_list(), "no names")
        num = strace("gtp_target:gtp_target_many", "collect $_sdata")
        run_trace("call event 3")
        equal(hits(num), 1)
        cmd("tfind start")
        equal(sdata("a"), {"a": "3"})
    finally:
        kernel.mount_tracing()


# Long runs ----------------------------------------------------------------------------------------

NEVER = "2201" + "2202" + "13" + "27"  # the condition 1 == 2


def under_load(rounds):
    for _ in range(rounds):
        shell()("for i in 1 2 3; do find /proc/self /sys/class >/dev/null; "
                "dd if=/dev/zero of=/tmp/load bs=64k count=20 2>/dev/null; rm /tmp/load; done; "
                "echo loop event 200 >/proc/gtp_target")


@test("all markers of the kernel at once with a false condition, under load, and disarmed again")
def everything():
    addresses = [addr for addr, _ in marker_list().values()]
    disconnect()
    client = rsp.Client()
    try:
        client.ok("QTinit")
        for num, addr in enumerate(addresses, 1):
            client.tracepoint(num, addr, condition=NEVER)
        client.ok("QTBuffer:circular:1")
        began = time.monotonic()
        client.ok("QTStart")
        armed = time.monotonic()
        under_load(100 if SOAK else 1)
        loaded = time.monotonic()
        client.ok("QTStop")
        note("%d markers: armed in %.1f s, %.1f s under load, off in %.1f s" % (
            len(addresses), armed - began, loaded - armed, time.monotonic() - loaded))
        equal(sum(client.hits(num, addr) for num, addr in enumerate(addresses, 1)), 0, "hits")
        matches("tcreated:0;", client.ask("qTStatus"), "qTStatus")
    finally:
        client.close()


@test("armed and disarmed again and again while it is being hit")
def cycles():
    addr = kallsyms()["__traceiter_gtp_target_count"]
    disconnect()
    client = rsp.Client()
    load = background("loop event 5000")
    began, n = time.monotonic(), 1000 if SOAK else 8
    try:
        client.ok("QTinit")
        client.tracepoint(1, addr, "L")
        client.ok("QTBuffer:circular:1")
        for _ in range(n):
            client.ok("QTStart")
            client.ok("QTStop")
            if load.poll() is not None:
                equal(load.returncode, 0)
                load = background("loop event 5000")
        note("%d times in %.1f s" % (n, time.monotonic() - began))
    finally:
        client.close()
        equal(load.wait(), 0)


run()
