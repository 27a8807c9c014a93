# SPDX-License-Identifier: GPL-2.0-only
"""The ftrace instance that $_sdata needs: it goes with the module, unless somebody is in it."""

import os

from gtp import Client, load, load_fixture, main, symbols, test, unload

INSTANCE = "/sys/kernel/tracing/instances/gdbtp"
if not os.path.isdir(os.path.dirname(INSTANCE)):
    os.system("mount -t tracefs tracefs /sys/kernel/tracing")
load_fixture()
MARKER = symbols("__traceiter_gtp_target_count")["__traceiter_gtp_target_count"]


def one_run(client):
    client.start((1, MARKER, "L"))
    with open("/proc/gtp_target", "w", encoding="ascii") as file:
        file.write("loop event 5")
    client.ok("QTStop")
    assert client.hits(1, MARKER) == 5 * len(os.sched_getaffinity(0))
    assert int(client.status()["tcreated"], 16) == client.hits(1, MARKER)


@test
def goes():
    """the instance comes with the first $_sdata, stays for the next, and goes with the module"""
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


@test
def stays():
    """an instance that somebody has a file of stays behind, and is somebody else's for the next module"""
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
