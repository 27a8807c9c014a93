# SPDX-License-Identifier: GPL-2.0-only
"""Tests that the ftrace instance that $_sdata needs is removed with the module, unless another process uses the instance."""

import os

from fixture import load, load_fixture, main, target, unload
from kernel import CPUS, TRACING, mount_tracing, symbols
from rsp import Client
from tap import test

INSTANCE = TRACING + "instances/gdbtp"
mount_tracing()
load_fixture()
MARKER = symbols("__traceiter_gtp_target_count")["__traceiter_gtp_target_count"]


def one_run(client):
    client.start((1, MARKER, "L"))
    target("loop event 5")
    client.ok("QTStop")
    assert client.hits(1, MARKER) == 5 * CPUS
    assert int(client.status()["tcreated"], 16) == client.hits(1, MARKER)


@test("the instance is created with the first $_sdata, stays for the next, and is removed with the module")
def goes():
    load()
    with Client() as client:
        client.start((1, MARKER))
        client.ok("QTStop")
        assert not os.path.exists(INSTANCE), "made for nothing"
        one_run(client)
        one_run(client)
        assert os.path.isdir(INSTANCE)
    unload()
    assert not os.path.exists(INSTANCE), "left behind"


@test("an instance with an open file stays, and the next module treats it as another program's")
def stays():
    load()
    with Client() as client:
        one_run(client)
        try:
            os.rmdir(INSTANCE)
            raise AssertionError("taken away while the module has it")
        except OSError:
            pass
    with open(INSTANCE + "/trace_pipe", "rb"):
        unload()
    assert os.path.isdir(INSTANCE), "gone"
    load()
    with Client() as client:
        client.define((1, MARKER, "L"))
        reply = client.ask("QTStart")
        assert reply.startswith("E.") and "somebody else has the ftrace instance" in reply, reply
        os.rmdir(INSTANCE)
        one_run(client)


main()
