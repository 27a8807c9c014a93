# SPDX-License-Identifier: GPL-2.0-only
"""Runs in a guest: kills the machine during a run, or a task inside a hit.

Usage: tests/lib/env python3 guest.py panic|oops, or guest.py kdump VMLINUZ INITRD

panic: probes of every mechanism are hit on all CPUs, and their hits take the lock of the trace state variables; then the
kernel panics. The run continues while the panic is printed and the other CPUs are stopped wherever they are. One of them
nearly always holds the lock, because each hit computes for a long time while it holds it.

kdump: the same, with a crash kernel loaded, so that the panic starts it.

oops: a task is killed in the middle of a hit. The run ends, its frames and counts can be read, and the next run is
correct. Since 7.0 the kernel would wait for the dead task for ever before it removes a probe from an event. On such kernels
gdbtp then refuses further events, and the module cannot be unloaded."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import fixture
from kernel import CPUS, Kcore, probes, put, symbols
from rsp import Client
from tap import until

VARIABLE, RET, PID = 46, 5, 4
ENDBR = (b"\xf3\x0f\x1e\xfa", b"\x66\x0f\x1f\x00", b"\x0f\x1f\x40\xd6")
SITE = 5  # the size of the function tracer's site, in bytes

# $n = $n * 5 * 5 * ...: the interpreter needs a tenth of a millisecond, longer than the time between two hits of the load.
LONG = "2c%04x%s2d%04x27" % (VARIABLE, "220504" * 800, VARIABLE)
ACTION = "X%x,%s" % (len(LONG) // 2, LONG)
COLLECT_RET = "X4,2e%04x27" % RET


def behind_site(kcore, address):
    """Return the instruction after the function tracer's site. A tracepoint there prevents a jump at the entry."""
    return address + (4 if kcore.read(address, 4) in ENDBR else 0) + SITE


def places():
    """Return two lists of (address, actions...) at code that a panic, its console and the load execute. Together they need
    every mechanism, if jumps are turned off before the second list is armed."""
    names = ("serial8250_console_write", "vfs_read", "vfs_write", "ksys_read", "ksys_write",
             "__traceiter_sched_switch", "vfs_statx", "wait_for_xmitr")
    at = symbols(*names)
    with Kcore() as kcore:
        behind = behind_site(kcore, at["ksys_read"])
    early = [(at["serial8250_console_write"], ACTION), (at["vfs_read"], ACTION), (at["__traceiter_sched_switch"], ACTION),
             (at["ksys_read"], ACTION), (behind, ACTION), (at["vfs_statx"], ACTION, COLLECT_RET)]
    late = [(at["vfs_write"], ACTION), (at["ksys_write"], ACTION)]
    if "wait_for_xmitr" in at:
        late.append((at["wait_for_xmitr"], ACTION))
    return early, late


def samples():
    """Return samples of all CPUs as (address, actions...), by the clock and by a counter that interrupts by NMI: their hits
    take the lock, too, also while the kernel panics."""
    fixture.must("insmod", fixture.KMOD + "/gtp_pmu.ko", "every_us=1000",
                 "overflow=%#x" % symbols("perf_event_overflow")["perf_event_overflow"])
    return [(0x4310000000000000 | 1999993, ACTION), (0x4300000000000000 | 2999999, ACTION)]


def load():
    """Read, write and stat files for ever. Sleep at times, so that the kernel switches tasks."""
    zero, null = os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
    while True:
        for _ in range(20):
            os.read(zero, 1)
            os.write(null, b"x")
            os.stat("/dev/null")
        time.sleep(0)


def check_mechanisms(client):
    """Check that a tracepoint of each mechanism is armed, and that each has hits."""
    found = probes(client.monitor("probes"))
    how = sorted({probe.how for probe in found.values()})
    print("armed:", "; ".join(how), flush=True)
    for wanted in ("jump", "ftrace call", "tracepoint", "jump, follows the call", "sample"):
        assert wanted in how, (wanted, how)
    assert any(name.startswith("kprobe") for name in how), how


def frames(client):
    return int(client.status()["tframes"], 16)


def dies_in_a_hit():
    """Kill a task inside a hit: to make the record for $_sdata, the hit calls the event's own function, which reads a string
    at a bad address."""
    os.sched_setaffinity(0, {CPUS - 1})
    fixture.target("call event 4096")


# Since 7.0, kernel tracepoints call their probe functions under SRCU. A task that dies in one never leaves its SRCU
# read-side critical section.
STAYS = int(os.uname().release.split(".")[0]) >= 7


def dies():
    """Make a run with tracepoints at an event, an instruction and a return. A task dies at the event."""
    names = "__traceiter_gtp_target_many", "gtp_target_leaf", "vfs_statx"
    marker, leaf, statx = map(symbols(*names).get, names)
    with Client() as client:
        client.ok("QTinit")
        client.ok("QTDV:%x:0:0:6e" % VARIABLE)
        client.tracepoint(1, marker, "L")
        client.tracepoint(2, leaf, "XA,2c%04x2201022d%04x27" % (VARIABLE, VARIABLE))
        client.tracepoint(3, statx, COLLECT_RET)
        client.ok("QTStart")
        before = fixture.counted("leaf")
        fixture.target("loop leaf 10")
        calls = fixture.counted("leaf") - before
        assert fixture.ended(fixture.child(dies_in_a_hit)) == signal.SIGKILL
        until(lambda: not client.running(), "the end of the run")
        why = client.status()["terror"]
        assert b"kernel" in bytes.fromhex(why.split(":")[0]), why
        assert client.hits(2, leaf) == calls > 0, (client.hits(2, leaf), calls)
        assert frames(client) >= calls
        check_stays(client)


def check_stays(client):
    said = [line for line in client.monitor("status").splitlines() if line.startswith("unloading:")]
    assert len(said) == STAYS and (not STAYS or "reboot" in said[0]), said


def goes_on():
    """Check the run after the task's death; this run traces an event, too. Do not use the fixture, because the dead
    task still holds the fixture's lock."""
    names = "__traceiter_sched_switch", "__x64_sys_getppid", "vfs_statx"
    switch, getppid, statx = map(symbols(*names).get, names)
    with Client() as client:
        for _ in range(2):
            client.ok("QTinit")
            client.tracepoint(1, getppid, condition="2c%04x24%08x1327" % (PID, os.getpid()))
            client.tracepoint(2, switch)
            client.tracepoint(3, statx, COLLECT_RET)
            client.ok("QTStart")
            refused = [line for line in client.monitor("probes").splitlines() if "refused: " in line]
            assert len(refused) == STAYS and (not STAYS or "reboot" in refused[0]), refused
            for _ in range(50):
                os.getppid()
            client.ok("QTStop")
            assert client.hits(1, getppid) == 50, client.hits(1, getppid)
            assert STAYS or client.hits(2, switch) > 0
            check_stays(client)


def check_unloading():
    if not STAYS:
        # After the last pad that followed calls is removed, the module stays in use until one of its workers notices this.
        until(lambda: fixture.users() == 0, "nothing to hold the module")
        fixture.unload()
        return
    done = subprocess.run(["rmmod", "gdbtp"], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode and "in use" in done.stderr, done


def oops():
    put("/proc/sys/kernel/panic_on_oops", "0")
    fixture.load("self_trace=1")
    fixture.load_tables()
    fixture.load_fixture()
    dies()
    goes_on()
    check_unloading()
    print("survived", flush=True)


def panic():
    # The process that causes the panic is a client of /proc/gtp, whose hits count only with self_trace.
    fixture.load("self_trace=1")
    fixture.load_tables()
    early, late = places()
    early += samples()
    client = Client()
    client.monitor("jit off")
    client.ok("QTinit")
    client.ok("QTBuffer:circular:1")
    client.ok("QTDV:%x:1:0:6e" % VARIABLE)
    for number, place in enumerate(early, 1):
        client.tracepoint(number, *place)
    client.ok("QTStart")
    client.monitor("jumps off")
    for number, place in enumerate(late, len(early) + 1):
        client.tracepoint(number, *place)
    check_mechanisms(client)
    for _ in range(CPUS + 1):
        fixture.child(load)
    until(lambda: client.hits(2, early[1][0]) > 2000, "hits on all CPUs")
    put("/proc/sysrq-trigger", "c")


KEXEC_FILE_LOAD, ON_CRASH = 320, 2


def kdump(image, initrd):
    """Load the crash kernel, with this kernel's command line, and panic."""
    with open("/proc/cmdline", encoding="ascii") as file:
        line = " ".join(word for word in file.read().split() if not word.startswith("crashkernel=")) + " nr_cpus=1"
    libc = ctypes.CDLL(None, use_errno=True)
    with open(image, "rb") as kernel, open(initrd, "rb") as tree:
        text = line.encode() + b"\0"
        if libc.syscall(KEXEC_FILE_LOAD, kernel.fileno(), tree.fileno(), len(text), text, ON_CRASH):
            raise OSError(ctypes.get_errno(), "kexec_file_load")
    panic()


{"panic": panic, "kdump": kdump, "oops": oops}[sys.argv[1]](*sys.argv[2:])
