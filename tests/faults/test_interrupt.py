# SPDX-License-Identifier: GPL-2.0-only
"""Tests a QTStart of thousands of tracepoints, and a QTStop, during which GDB is killed or its user presses ^C."""

import os
import re
import signal
import threading
import time

from fixture import child, kill, load, load_fixture, main, target
from kernel import DEBUG, TRACING, kprobes, lines, symbols
from rsp import Client, framed
from tap import note, rounds, test, until
from typed import Gdb

load("self_trace=1")
load_fixture()
LEAF = symbols("gtp_target_leaf")["gtp_target_leaf"]


def start_all(places):
    with Client() as client:
        client.define(*enumerate(places, 1))
        note("QTStart ended by itself:", client.ask("QTStart"))


def many_places():
    """Return the addresses of some 2000 functions. Arming them as kprobes takes about 2000 seconds."""
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
    """Start a run with 2000 tracepoints as kprobes. When some are armed, call HOW(client), which must interrupt QTStart."""
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
        # After the interrupt, QTStart must succeed again.
        client.start((1, LEAF))
        target("call leaf 1")
        assert client.hits(1, LEAF) == 1
        client.ok("QTStop")
        client.monitor("jumps on")


@test("^C in the middle of a QTStart of 2000 tracepoints: armed probes are removed, and the reply says so")
def interrupted_by_packet():
    interrupted_start(lambda client: os.write(client.fd, b"\x03"))


def by_signal():
    """Send QTStart from the main thread of a separate process, as GDB does, and write the reply to a file."""
    signal.signal(signal.SIGINT, lambda *_: None)
    with Client() as client:
        client.monitor("jumps off")
        client.define(*enumerate(many_places(), 1))
        reply = client.ask("QTStart")
        with open("/tmp/interrupted", "w", encoding="ascii") as file:
            file.write(reply)


@test("the signal of a ^C does the same to a GDB that is in its write; the signal of a resized window does not")
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
    """Send QTStop for a run with 60 kprobes, and call HOW() when some of them are removed and others are not. Return the
    reply to QTStop."""
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


@test("^C in the middle of a QTStop changes nothing: the run is over, all probes are removed, later replies are right")
def interrupted_stop():
    with Client() as client:
        reply = stopping(client, lambda: os.write(client.fd, b"\x03"))
        assert reply == "OK", reply
        assert not kprobes() and client.status()["run"] == "T0" and client.status()["why"] == "tstop"
        assert client.hits(9999, LEAF) == 1, "calls hit while the stop goes on"


@test("an unread reply is not taken for the reply to the next packet, with and without acknowledgements")
def unread():
    for acks in False, True:
        with Client(acks=acks) as client:
            client.write(framed("QTDP:1:%x:E:0:0" % LEAF))
            assert client.ask("qAttached") == "1"
            client.write(framed("qRcmd," + b"help".hex()))
            assert len(os.read(client.fd, 20)) == 20, "GDB is in the middle of it"
            assert client.ask("qAttached") == "1"
            assert client.status()["run"] == "T0"


@test("the same when ^C has come for it")
def unread_interrupted():
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


@test("a read returns at most one packet: GDB would take any further one for the reply to its next question")
def one_packet():
    with Client() as client:
        client.write(framed("qRcmd," + b"help".hex()))
        pieces = []
        for size in 65536, 30, 1, 200:
            piece = b""
            while not re.search(rb"#..$", piece, re.S):
                piece += os.read(client.fd, size)
            pieces.append(piece)
        assert all(re.fullmatch(rb"\+*\$O[^$#]*#..", piece, re.S) for piece in pieces), pieces
        assert client.reply() == "OK"


@test("a tfind whose reply is not read selects no frame: GDB shows the frame that it believes selected")
def unread_frame():
    with Client() as client:
        client.start((1, LEAF, "R20"))  # collects rdi
        target("call leaf 5")
        target("call leaf 6")
        client.ok("QTStop")
        assert client.ask("QTFrame:0") == "F0T1"
        first = client.ask("p5")
        assert first.startswith("05"), first
        client.write(framed("QTFrame:1"))
        assert client.ask("p5") == first
        assert client.ask("QTFrame:1") == "F1T1" and client.ask("p5").startswith("06")


def right_after(gdb_):
    """Return whether GDB takes the right reply for each packet, and not the reply to an earlier packet."""
    status, value = gdb_.type("tstatus"), gdb_.type("print *(unsigned char *) 0x%x == *(unsigned char *) 0x%x" % (LEAF, LEAF))
    return "trace" in status.lower() and "Bogus" not in status and value.rstrip().endswith(" = 1")


@test("^C of a user anywhere in a tstart, even among its definitions: each later reply is the one to its question")
def interrupted_by_user():
    with open("/tmp/many.gdb", "w", encoding="ascii") as file:
        file.writelines("trace *0x%x\n" % place for place in many_places())
    with Gdb() as gdb_:
        gdb_.type("target remote /proc/gtp")
        gdb_.type("source /tmp/many.gdb")
        quits = 0
        tries = rounds(8, 4)
        for i in range(tries):
            gdb_.begin("tstart")
            gdb_.until("tstart")  # GDB has read the command; an earlier ^C would only clear the terminal's line
            time.sleep(i * 1.6 / tries)  # a different moment for ^C in each round
            gdb_.interrupt()
            quits += "Quit" in gdb_.shown()
            assert right_after(gdb_), "after %d" % i
            gdb_.type("tstop")
            assert right_after(gdb_), "after tstop %d" % i
    note("%d of %d quit" % (quits, tries))
    assert quits, "each tstart was over"


main()
