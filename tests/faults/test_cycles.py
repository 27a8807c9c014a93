# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
"""Defines tracepoints, starts a run, makes hits, and ends the run in every way, many times. Nothing may be leaked."""

import os
import re

from fixture import load, load_fixture, main, target
from kernel import kprobes, room, symbols
from rsp import Client
from tap import note, rounds, test

load_fixture()
SYM = symbols("gtp_target_add", "gtp_target_leaf", "linux_banner", "_printk")
ADD, LEAF, BANNER = (SYM[s] for s in ("gtp_target_add", "gtp_target_leaf", "linux_banner"))

CYCLES = int(os.environ.get("FAULTS_CYCLES", rounds(120, 75)))
WARM_UP = rounds(40, 20)  # number of first cycles that do not count: the kernel makes some allocations only once

# A leak grows in each part of the test. Other memory use does not. So the cycles are divided into PARTS, and the test fails
# only if a field of /proc/meminfo grew by more than its SLACK (in KiB) in every part. If each cycle leaked a tracepoint (192
# bytes), a part of 25 cycles would leak 4.7 KiB; if each leaked a page of a buffer, the part would leak 100 KiB.
PARTS = 3
SLACK = {"MemAvailable": 1024, "SUnreclaim": 4, "VmallocUsed": 0, "Percpu": 0}

IS_12345 = "26000516202330391327"  # bytecode of (int)$rdi == 12345
NOT_12345 = "2600051620233039130e27"
CPU = "X4,2e000127"  # collect $cpu_id
STRING = f"Xd,25{BANNER:016x}22102f27"  # collect/s linux_banner, 16 bytes at most

load("self_trace=1")


def memory():
    """Return the fields of /proc/meminfo that SLACK names, in KiB."""
    with open("/proc/meminfo", encoding="ascii") as file:
        text = file.read()
    return {name: int(re.search(rf"^{name}: +(\d+)", text, re.M).group(1)) for name in SLACK}


def grown(name, before, after):
    return before[name] - after[name] if name == "MemAvailable" else after[name] - before[name]


def arena(client):
    return room(client.monitor("jit"))[0]


def define(client, number, address, condition, *actions):
    client.tracepoint(number, address, *actions, condition=condition)
    client.ok(f"QTDPsrc:{number:x}:{address:x}:at:0:4:" + b"leaf".hex())


def define_all(client):
    """Define three tracepoints: one whose actions become one snippet of code, one whose actions cannot, and one whose
    condition is false."""
    client.ok("QTinit")
    client.ok("QTDV:45:7:0:" + b"foo".hex())
    define(client, 1, ADD, NOT_12345, "R30023", f"M-1,{BANNER:x},18", CPU)
    define(client, 2, ADD, "", STRING, "R1")
    define(client, 3, LEAF, IS_12345, "R1", CPU)


def stopped(client):
    define_all(client)
    client.ok("QTStart")
    target("call add 3 4")
    client.ok("QTStop")
    assert client.status()["tframes"] == "2"


def ended_by_error(client):
    define_all(client)
    define(client, 4, ADD, "", "R20", "M5,0,8")  # reads *(long *)3, which fails
    client.ok("QTStart")
    target("call add 3 4")
    client.ok("QTStop")
    assert client.status()["why"] == "terror", client.status()


def refused(client):
    define_all(client)
    define(client, 4, 0xffffffffff600000, IS_12345, CPU)  # an address that is not in the kernel's code
    client.monitor("strict on")
    reply = client.ask("QTStart")
    client.monitor("strict off")
    assert reply.startswith("E."), reply
    client.ok("QTStart")
    assert "tracepoint 4 is not armed" in client.console, client.console
    client.ok("QTStop")


def dropped(client):
    define_all(client)
    client.ok("QTStart")
    client.ok("QTinit")


def added_later(client):
    client.ok("QTinit")
    client.ok("QTStart")
    define(client, 1, ADD, NOT_12345, "R30023", CPU)
    target("call add 3 4")
    client.ok("QTStop")


@test("a tracepoint that joins a run and whose code has no room is interpreted, and leaves nothing")
def no_room_later():
    loads = "260005" + "1a" * 4000 + "27"  # a chain of loads, tens of KiB when compiled
    large = f"X{len(loads) // 2:x},{loads}"
    with Client() as client:
        client.ok("QTinit")
        empty = arena(client)
        define(client, 1, ADD, NOT_12345, CPU)
        define(client, 2, LEAF, IS_12345, large)
        client.ok("QTStart")
        before = arena(client)
        too_many = room(client.monitor("jit"))[1] // (before - empty) + 1
        client.ok(f"QTDP:3:{LEAF:x}:E:0:0:Xa,{IS_12345}-")
        for _ in range(too_many):
            client.ok(f"QTDP:-3:{LEAF:x}:{large}-")
        client.ok(f"QTDP:-3:{LEAF:x}:{CPU}")
        assert "1 tracepoint is interpreted" in client.console, client.console
        target("call add 3 4")
        target("call leaf 5")
        assert client.status()["tframes"] == "1"
        client.ok("QTStop")
        assert arena(client) == empty, (empty, arena(client))


ENDS = (stopped, ended_by_error, refused, dropped, added_later)


def cycles(client, count):
    empty = arena(client)
    for n in range(count):
        ENDS[n % len(ENDS)](client)
        assert arena(client) == empty, f"cycle {n}: {arena(client)} bytes of machine code stay"
    client.ok("QTinit")
    assert not kprobes()


@test("repeated cycles of define, start, hit and stop leak no memory")
def nothing_stays():
    with Client() as client:
        cycles(client, WARM_UP)
        seen = [memory()]
        for _ in range(PARTS):
            cycles(client, CYCLES // PARTS)
            seen.append(memory())
            note(f"{CYCLES // PARTS} cycles, KiB: {seen[-1]}")
    least = {name: min(grown(name, *two) for two in zip(seen, seen[1:])) for name in SLACK}
    assert all(least[name] <= SLACK[name] for name in SLACK), f"in each part KiB at least: {least}"


main()
