# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
"""Replays whole sessions in which GDB dies, or in which packets are wrong. Nothing may be leaked."""
import os
import re
import subprocess
import time

from fixture import TOP, child, facts, hammering, kill, load, load_fixture, main, target_aside
from kernel import kprobes
from rsp import Client
from tap import check, equal, seeded, test

load()
load_fixture()
LEAF = facts()["gtp_target_leaf"]


def one_run(client, calls=5):
    """Define a tracepoint, make a run, and check the number of hits and the frames."""
    client.start((1, LEAF, "R00ffffff", "M7,0,20"))
    for i in range(calls):
        target_aside("call leaf %d" % i)
    client.ok("QTStop")
    equal(client.hits(1, LEAF), calls, "hits")


def stop(client):
    if client.running():
        client.ok("QTStop")


def alive():
    """Check that a new client can connect at once, and that its run counts correctly."""
    with Client() as client:
        stop(client)
        one_run(client)


@test("10 GDBs killed with SIGKILL at random moments of their start, run and exit")
def killed_gdbs():
    rng = seeded()
    addr = facts()["gtp_target_add"]
    script = ["target remote /proc/gtp", "trace *%#x" % addr, "tstart"] + \
        ["tstatus", "x/8gx %#x" % addr] * 50 + ["tstop", "tfind start", "info registers"]
    with hammering():
        for _ in range(10):
            gdb = subprocess.Popen(["gdb", "-batch", "-nx"] + [w for c in script for w in ("-ex", c)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.3, 2.5))
            gdb.kill()
            gdb.wait()
            with Client() as client:
                stop(client)
    alive()


@test("a client that is killed while it waits in continue, and another while it waits in read")
def killed_waiting():
    told, tell = os.pipe()
    for packet in "c", "":
        def wait(packet=packet):
            client = Client()
            one_run(client)
            client.start((1, LEAF))
            if packet:
                client.send(packet)
            os.write(tell, b"x")
            os.read(client.fd, 1)
            os.read(client.fd, 1)
            time.sleep(1000)
        pid = child(wait)
        os.read(told, 1)
        kill(pid)
        alive()


def seeds():
    """Return the packets of the transcripts in tests/sessions, with the fixture's addresses in place of their names."""
    names = {k: "%x" % v for k, v in facts().items()}
    found = []
    folder = os.path.join(TOP, "tests/sessions")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            for line in file:
                if line.startswith("> "):
                    text = re.sub(r"\{(?:\w+:)?(\w+)\}",
                                  lambda m: names.get(m.group(1), names["gtp_target_leaf"]),
                                  line[2:].rstrip("\n"))
                    found.append(text.encode())
    return found


def mutated(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            data[at:at] = bytes((rng.randrange(256),))
        elif kind == 1:
            del data[at:at + rng.randrange(1, 8)]
        elif kind == 2 and at < len(data):
            data[at] = rng.choice(b"0123456789abcdef:;,-$#}*ERXMST\0\xff")
        elif kind == 3:
            data[at:at] = rng.choice((b"ffffffffffffffff", b"-1", b":" * 50, b"0" * 100, b"80000000"))
        elif kind == 4:
            data[at:at] = data[:at][-40:] * rng.randrange(1, 20)
        else:
            data = data[:at]
    return bytes(data)


def tame(data, leaf):
    """Change mutated packets so that they set probes only in the fixture and write only one file. Other tests cover the
    rest."""
    low, high = leaf - 0x10000, leaf + 0x10000

    def place(match):
        inside = low <= int(match.group(2), 16) < high
        return match.group(0) if inside else match.group(1) + b"%x" % leaf
    data = re.sub(rb"(QTDP:-?[0-9a-fA-F]*:)([0-9a-fA-F]+)", place, data)
    return re.sub(rb"QTSave:.*", b"QTSave:" + b"gtp-save".hex().encode(), data, flags=re.S)


@test("mutated packets: none of them hangs the session or harms the kernel")
def mutations():
    rng = seeded()
    packets = seeds()
    check(len(packets) > 50, "%d seeds" % len(packets))
    with hammering():
        for _ in range(12):
            with Client(acks=True) as client:
                for _ in range(250):
                    data = tame(mutated(rng, rng.choice(packets)), LEAF)
                    if data[:1] in (b"c", b"C", b"s", b"S", b"k", b"D") or data[:4] == b"vCon":
                        continue
                    client.send(data)
                    while client.arrived(0.0 if rng.random() < 0.7 else 0.01) is not None:
                        pass
                client.resync()
    # Reset the buffer size. A mutated packet may have set one with which the next run would rightly be refused.
    with Client() as client:
        client.ask("QTinit")
        client.ask("QTBuffer:size:-1")
    alive()


def leaked():
    """Return the lines of /proc/vmallocinfo about memory that the module still has, apart from its own text and data."""
    with open("/proc/vmallocinfo") as file:
        return [line for line in file if "gdbtp" in line and "module_alloc" not in line
                and "load_module" not in line and "execmem" not in line]


@test("nothing is left after these tests: no probe, no buffer")
def nothing_left():
    with Client() as client:
        client.ok("QTinit")
    probes = "\n".join(kprobes())
    check("gtp_target" not in probes, probes)
    areas = leaked()
    check(len(areas) == 0, "".join(areas))


main()
