# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
"""Tests that clients may die, and that modules may be loaded and unloaded, at any moment."""

import os
import random
import time

from fixture import child, hammering, kill, load, load_fixture, loaded, main, target, unload
from kernel import kprobes, symbols
from rsp import Client, framed
from tap import rounds, seeded, test

load_fixture()
LEAF = symbols("gtp_target_leaf")["gtp_target_leaf"]
KILLS = int(os.environ.get("FAULTS_KILLS", rounds(100, 40)))


def busy_client(dice):
    """Send every kind of request in turn, and reconnect now and then. Never returns."""
    client = Client()
    while True:
        client.ok(f"QTDisconnected:{dice.randint(0, 1)}")
        client.start((1, LEAF, "R1ffff"), (2, LEAF))
        for _ in range(dice.randint(0, 5)):
            client.status()
        client.monitor("status")
        half = framed("QTStop")
        at = dice.randrange(1, len(half))
        os.write(client.fd, half[:at])
        os.write(client.fd, half[at:])
        client.reply()
        client.ask("QTFrame:0")
        client.ask("g")
        if dice.random() < 0.3:
            client.close()
            client = Client()


@test("a client is killed at random moments of its runs, under load; the next one finds the line free")
def killed():
    load()
    dice = seeded()
    with hammering("loop leaf 5000"):
        for _ in range(KILLS):
            seed, delay = dice.getrandbits(32), dice.random() * 0.3
            pid = child(lambda s=seed: busy_client(random.Random(s)))
            time.sleep(delay)
            kill(pid)
            Client().close()


@test("the line and the trace are as good as new after that")
def afterwards():
    load("self_trace=1")
    with Client() as client:
        client.start((1, LEAF))
        target("call leaf 1")
        client.ok("QTStop")
        assert client.hits(1, LEAF) == 1
        assert client.ask("QTFrame:0") == "F0T1"


@test("insmod, a run that goes on, rmmod, again and again")
def again_and_again():
    for _ in range(rounds(10, 5)):
        load("self_trace=1")
        with Client() as client:
            client.ok("QTDisconnected:1")
            client.start((1, LEAF))
            target("loop leaf 100")
        assert kprobes()
        unload()
        assert not kprobes() and not loaded()


@test("random bytes and mutated packets: the next client is always served")
def garbage():
    load()
    dice = seeded()
    seeds = [b"QTinit", b"QTDP:1:%x:E:0:0-" % LEAF, b"QTDP:-1:%x:R30M5,0,4" % LEAF, b"QTStart", b"QTStop",
             b"QTDV:45:0:0:6e", b"QTBuffer:size:4000", b"QTFrame:0", b"qTStatus", b"qTfP", b"qTsP", b"qTfV",
             b"m%x,40" % LEAF, b"g", b"qXfer:features:read:target.xml:0,fff", b"QTNotes:user:61;",
             b"qTBuffer:0,400", b"qRcmd,737461747573", b"QTDisconnected:1", b"QTEnable:1:%x" % LEAF, b"c"]

    def mutated():
        body = bytearray(dice.choice(seeds))
        for _ in range(dice.randint(0, 3)):
            at = dice.randrange(len(body) + 1)
            body[at:at + dice.randint(0, 2)] = dice.randbytes(dice.randint(0, 3))
        body = bytes(body)
        return b"$%s#%02x" % (body, sum(body) & 255 if dice.random() < 0.9 else 0)

    for _ in range(20):
        with Client() as client:
            os.set_blocking(client.fd, False)
            for _ in range(300):
                data = mutated() if dice.random() < 0.8 else dice.randbytes(dice.randint(1, 300))
                try:
                    os.write(client.fd, data)
                except BlockingIOError:
                    pass
                try:
                    while os.read(client.fd, 65536):
                        pass
                except BlockingIOError:
                    pass
        with Client() as client:
            client.ask("QTStop")
            client.ok("QTinit")


main()
