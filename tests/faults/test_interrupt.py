# SPDX-License-Identifier: GPL-2.0-only
"""A QTStart of thousands of tracepoints or a QTStop, and a GDB that is killed, or whose user presses ^C."""

import os
import re
import signal
import threading

from fixture import child, kill, load, load_fixture, main, target
from kernel import DEBUG, TRACING, kprobes, lines, symbols
from rsp import Client
from tap import note, test, until

load("self_trace=1")
load_fixture()
LEAF = symbols("gtp_target_leaf")["gtp_target_leaf"]


def start_all(places):
    with Client() as client:
        client.define(*enumerate(places, 1))
        note("QTStart ended by itself:", client.ask("QTStart"))


def many_places():
    """Some 2000 functions, which take as many seconds as kprobes."""
    ends = symbols("_stext", "_etext")
    traceable = {line.split()[0] for line in lines(TRACING + "available_filter_functions")}
    traceable -= {line.split()[1] for line in lines(DEBUG + "kprobes/blacklist")}
    with open("/proc/kallsyms", encoding="ascii") as file:
        found = re.findall(r"^(\w+) [tT] ((?:tcp|ip|sock|vfs|inode|dentry|pci)_\w+)$", file.read(), re.M)
    places = [int(a, 16) for a, name in found if name in traceable]
    places = [a for a in places if ends["_stext"] <= a < ends["_etext"]][:2000]
    assert len(places) > 1000, len(places)
    return places


@test("GDB dies in the middle of a QTStart of 2000 tracepoints: it does not wait for the rest")
def killed_while_arming():
    pid = child(lambda: start_all(many_places()))
    until(lambda: len(kprobes()) > 3)
    kill(pid)
    assert not kprobes()


def interrupted_start(how):
    """QTStart of 2000 tracepoints as kprobes; HOW(client) once some are there."""
    with Client() as client:
        client.monitor("jumps off")
        client.define(*enumerate(many_places(), 1))
        sender = threading.Thread(target=client.send, args=("QTStart",))
        sender.start()
        until(lambda: len(kprobes()) > 3)
        how(client)
        reply = client.reply()
        sender.join()
        assert reply == "E.interrupted: nothing is armed", reply
        assert not kprobes() and client.status()["run"] == "T0"
        # The next one is a start as any other.
        client.start((1, LEAF))
        target("call leaf 1")
        assert client.hits(1, LEAF) == 1
        client.ok("QTStop")
        client.monitor("jumps on")


@test("^C in the middle of a QTStart of 2000 tracepoints: what was armed is taken off, and the reply says so")
def interrupted_by_packet():
    interrupted_start(lambda client: os.write(client.fd, b"\x03"))


def by_signal():
    """In a process of its own, whose first thread is the one that writes, as GDB's is."""
    signal.signal(signal.SIGINT, lambda *_: None)
    with Client() as client:
        client.monitor("jumps off")
        client.define(*enumerate(many_places(), 1))
        reply = client.ask("QTStart")
        with open("/tmp/interrupted", "w", encoding="ascii") as file:
            file.write(reply)


@test("the signal of a ^C does the same to a GDB that is in its write; one of a resized window does not")
def interrupted_by_signal():
    pid = child(by_signal)
    until(lambda: len(kprobes()) > 3)
    os.kill(pid, signal.SIGWINCH)
    seen = len(kprobes())
    until(lambda: len(kprobes()) > seen + 3)
    os.kill(pid, signal.SIGINT)
    assert os.waitpid(pid, 0)[1] == 0
    with open("/tmp/interrupted", encoding="ascii") as file:
        assert file.read() == "E.interrupted: nothing is armed"
    assert not kprobes()
    with Client() as client:
        client.monitor("jumps on")


def stopping(client, how):
    """QTStop of some kprobes, which go one after the other; HOW() once some are gone and others not. Its answer."""
    client.monitor("jumps off")
    client.start(*enumerate(many_places()[:60], 1), (9999, LEAF))
    target("call leaf 3")
    armed = len(kprobes())
    sender = threading.Thread(target=client.send, args=("QTStop",))
    sender.start()
    until(lambda: len(kprobes()) < armed - 3)
    how()
    target("call leaf 4")
    assert len(kprobes()) > 1, "the stop was over before"
    reply = client.reply()
    sender.join()
    client.monitor("jumps on")
    return reply


@test("^C in the middle of a QTStop changes nothing: the run is over already, all goes, and the next answer is the next")
def interrupted_stop():
    with Client() as client:
        reply = stopping(client, lambda: os.write(client.fd, b"\x03"))
        assert reply == "OK", reply
        assert not kprobes() and client.status()["run"] == "T0" and client.status()["why"] == "tstop"
        assert client.hits(9999, LEAF) == 1, "calls hit while the stop goes on"


@test("what a client did not read of an answer that ^C came for is not the answer to its next packet")
def unread():
    with Client() as client:
        client.monitor("jumps off")
        client.define(*enumerate(many_places(), 1))
        sender = threading.Thread(target=client.send, args=("QTStart",))
        sender.start()
        until(lambda: len(kprobes()) > 3)
        os.write(client.fd, b"\x03")
        sender.join()
        assert client.ask("qAttached") == "1"
        assert client.status()["run"] == "T0"
        client.monitor("jumps on")


main()
