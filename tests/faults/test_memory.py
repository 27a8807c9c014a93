# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
"""Lets the kernel run out of memory: the n-th allocation fails, for every n, from insmod to the last reply."""

import errno
import os

from fixture import MODULE, command, load, load_fixture, loaded, main, parameter, target, unload
from kernel import kprobes, symbols
from rsp import Client
from tap import note, test

load("self_trace=1")
load_fixture()
SYM = symbols("gtp_target_leaf", "gtp_target_add")
LEAF, ADD = SYM["gtp_target_leaf"], SYM["gtp_target_add"]


@test("insmod fails cleanly whichever allocation fails, and works if none fails")
def at_load():
    unload()
    for n in range(1, 100):
        done = command("insmod", MODULE, f"fail_alloc={n}")
        if done.returncode == 0 and int(parameter("fail_alloc")):
            return
        assert done.returncode == 0 or "Cannot allocate memory" in done.stderr, done
        unload()
    raise AssertionError("100 allocations and no end")


def session(client):
    """Use every part of the stub. Return the packets whose reply differs from the reply with enough memory."""
    wrong = []
    client.mechanisms = None

    def ask(text, want="OK"):
        reply = client.ask(text)
        if reply != want:
            wrong.append((text, reply))
        return reply == want

    ask("QTinit")
    ask("QTDV:45:7:0:" + b"foo".hex())
    ask(f"QTDP:1:{LEAF:x}:E:0:0:X4,26000527-")
    ask(f"QTDP:-1:{LEAF:x}:R30")
    ask(f"QTDPsrc:1:{LEAF:x}:at:0:4:" + b"leaf".hex())
    ask(f"QTDP:2:{ADD:x}:E:0:0")
    ask("QTNotes:user:6162;notes:6364;")
    if not ask("QTStart"):
        assert client.status()["run"] == "T0" and not kprobes()
        return wrong
    ask(f"QTDP:3:{LEAF:x}:E:0:0")
    client.mechanisms = client.monitor("probes")
    target("call leaf 4")
    frames = int(client.status()["tframes"], 16)
    assert wrong or frames == 2, frames
    ask("QTStop")
    assert not kprobes()
    ask("QTFrame:0", "F0T1")
    ask("QTFrame:ffffffff", "F-1")
    ask("QTSave:" + b"saved".hex())
    if os.path.exists("/tmp/saved"):
        os.unlink("/tmp/saved")
    return wrong


@test("whichever allocation fails in a session, a reply says so or nothing is lost; the next session works")
def in_session():
    load("self_trace=1")
    with Client() as client:
        assert not session(client)
        usual = client.mechanisms
    harmless = []
    for n in range(1, 500):
        parameter("fail_alloc", n)
        try:
            client = Client()
        except OSError as error:
            assert error.errno == errno.ENOMEM and int(parameter("fail_alloc")) == 0, error
            continue
        with client:
            wrong = session(client)
        left = int(parameter("fail_alloc"))
        parameter("fail_alloc", 0)
        if left:
            assert not wrong, wrong
            note(f"{n - left} allocations, done without: {harmless}")
            return
        assert all(reply.startswith(("E.", "F")) for _, reply in wrong), wrong
        if not wrong:
            # The failed allocation changed no reply. It may have made gdbtp choose another kind of probe, which a message
            # reports.
            harmless.append(n)
            assert client.mechanisms == usual or "no memory" in client.mechanisms, (n, client.mechanisms)
    raise AssertionError("500 allocations and no end")


@test("the failures leave nothing: a session without failures is right, and the module unloads")
def afterwards():
    with Client() as client:
        assert not session(client)
    unload()
    assert not loaded() and not kprobes()


main()
