# SPDX-License-Identifier: GPL-2.0-only
"""In a guest: hits of every mechanism, all of which want the lock of variables, on all CPUs; then the machine dies.

Usage: tests/lib/env python3 guest.py

The run goes on while the panic is printed and the other CPUs are stopped, wherever they are: one of them holds that lock
nearly always, since each hit computes for long under it."""

import os
import time

import fixture
from kernel import CPUS, Kcore, probes, put, symbols
from rsp import Client
from tap import until

VARIABLE, RET = 46, 5
ENDBR = (b"\xf3\x0f\x1e\xfa", b"\x66\x0f\x1f\x00", b"\x0f\x1f\x40\xd6")
SITE = 5  # bytes

# $n = $n * 5 * 5 * ..., interpreted: a tenth of a millisecond, which is longer than all that the load does between two hits.
LONG = "2c%04x%s2d%04x27" % (VARIABLE, "220504" * 800, VARIABLE)
ACTION = "X%x,%s" % (len(LONG) // 2, LONG)
COLLECT_RET = "X4,2e%04x27" % RET


def behind_site(kcore, address):
    """The instruction behind the function tracer's site, at which a tracepoint takes the entry's jump away."""
    return address + (4 if kcore.read(address, 4) in ENDBR else 0) + SITE


def places():
    """Those that a panic, its console and the load run through: for each mechanism, (address, actions)."""
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


def load():
    """Reads, writes and looks at files, and sleeps now and then so that there are switches."""
    zero, null = os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
    while True:
        for _ in range(20):
            os.read(zero, 1)
            os.write(null, b"x")
            os.stat("/dev/null")
        time.sleep(0)


def check_mechanisms(client):
    """Each is armed, and has hits."""
    found = probes(client.monitor("probes"))
    how = sorted({probe.how for probe in found.values()})
    print("armed:", "; ".join(how), flush=True)
    for wanted in ("jump", "ftrace call", "tracepoint", "jump, follows the call"):
        assert wanted in how, (wanted, how)
    assert any(name.startswith("kprobe") for name in how), how


def main():
    # The one that has the machine panic is a client of /proc/gtp.
    fixture.load("self_trace=1")
    fixture.load_tables()
    early, late = places()
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


main()
