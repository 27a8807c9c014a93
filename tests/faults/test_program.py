# SPDX-License-Identifier: GPL-2.0-only
"""Traces programs while the n-th allocation fails, for every n, from QGtpFile to the last reply. Also tests clients and
programs that die."""

import signal
import time

from fixture import child, kill, load, main, parameter, unload, users
from linked import linked
from rsp import Client
from tap import note, rounds, seeded, test, until
from traced import PROGRAM, Traced, base_of, disassembled, hexed, returns

SYMBOLS = linked(PROGRAM)
RETURNS = returns("work")

load()


def at_return(num, place):
    """Return the packets that define a tracepoint in work(). It reports its hits when work() returns, and collects $ret."""
    return f"QGtpExits:{place:x}:0:{RETURNS}", f"QTDP:{num}:{place:x}:E:0:0-", f"QTDP:-{num}:{place:x}:X4,2c000527"


def session(client, program):
    """Trace a program. Return the packets whose reply differs from the reply with enough memory."""
    wrong = []
    answer = client.ask("QGtpFile:" + hexed(PROGRAM))
    if answer.startswith("E."):
        assert "no memory" in answer, answer
        return [answer]
    place = base_of(answer) + SYMBOLS["work"]
    for packet in ("QTinit", f"QTDP:1:{place:x}:E:0:0-", f"QTDP:-1:{place:x}:R10020", *at_return(2, place), "QTStart"):
        answer = client.ask(packet)
        if answer != "OK":
            wrong.append((packet, answer))
        elif "not armed" in client.console:
            # Without enough memory for QGtpExits, the exits of work() are unknown, and the tracepoint may be refused.
            assert wrong or "no memory" in client.console, client.console
            wrong.append((packet, client.console))
    if not wrong:
        program("call 0 3")
        frames = int(client.status()["tframes"], 16)
        assert frames == 6, frames
    client.ask("QTStop")
    assert " 0 probes" in client.monitor("files"), client.console
    return wrong


@test("whichever allocation fails, a reply says so, no probe stays, and the next run works")
def memory():
    program = Traced()
    failed = 0
    for n in range(1, 500):
        with Client() as client:
            client.ok("QTinit")
            parameter("fail_alloc", n)
            wrong = session(client, program)
            left = int(parameter("fail_alloc"))
            parameter("fail_alloc", 0)
            assert wrong or left or n > 1, "allocation %d failed, and nobody said so" % n
            failed += bool(wrong)
            assert not session(client, program)
            client.ok("QTinit")
        if left:
            break
    else:
        raise AssertionError("500 allocations and no end")
    note("%d of %d allocations end the run" % (failed, n - 1))
    assert failed > 3
    program.kill()


def instructions():
    """Disassemble the program's own functions. Return the offsets of their instructions."""
    names = ("work", "pushed", "slow_sum", "obey", "call", "threads", "mapped", "main")
    return [at for name, at, text in disassembled() if name in names and "lock" not in text]


def connected(places):
    """Connect, then arm all places and remove them again and again until this process is killed."""
    client = Client()
    base = base_of(client.ask("QGtpFile:" + hexed(PROGRAM)))
    while True:
        client.ok("QTinit")
        for place in places:
            client.ok(f"QTDP:1:{base + place:x}:E:0:0")
        for packet in at_return(2, base + SYMBOLS["work"]):
            client.ok(packet)
        client.ok("QTStart")
        client.ok("QTStop")


def text_of(program):
    """Return 256 bytes of the program's code, starting at work(), read from the memory of a process."""
    with open("/proc/%d/mem" % program.process.pid, "rb") as memory:
        memory.seek(int(program("address work"), 16))
        return memory.read(256)


@test("clients that are killed at any moment leave nothing: no breakpoint in the program, no open file")
def killed():
    program = Traced()
    before, places = text_of(program), instructions()
    assert len(places) > 100, places
    dice = seeded()
    for n in range(rounds(40, 15)):
        pid = child(lambda: connected(places))
        time.sleep(0.1 + dice.random() * 0.5)
        kill(pid, signal.SIGKILL)
        until(lambda: not users(), "the connection to be closed")
        assert text_of(program) == before, "a breakpoint has stayed, client %d" % n
    with Client() as client:
        client.ok("QTinit")
    with Client() as client:
        assert client.monitor("files") == "", client.console
    total = int(program("call 0 1"))
    assert int(program("call 0 5")) == total + 5
    program.kill()
    unload()
    load()


@test("paths that name nothing: any bytes get a reply, and nothing stays")
def hostile():
    dice = seeded()
    with Client() as client:
        client.ok("QTinit")
    with Client() as client:
        for n in range(rounds(300, 100)):
            name = bytes(dice.randrange(1, 256) for _ in range(dice.choice((1, 3, 100, 255, 3000))))
            answer = client.ask("QGtpFile:" + (b"/" * (n % 3) + name).hex())
            assert answer.startswith("E."), answer
        assert client.ask("QGtpFile:" + "2f" * 4096).startswith("E.")
        assert client.monitor("files") == "", client.console


main()
