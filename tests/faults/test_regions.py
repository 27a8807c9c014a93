# SPDX-License-Identifier: GPL-2.0-only
"""Tests /proc/gtpregions: matching and wrong tables, unloaded modules, and where the module then makes jumps."""

import contextlib
import ctypes
import errno
import os
import re
import signal
import struct
import subprocess
import threading
import zlib

from fixture import (REGIONS, SECONDS, TOP, child, command, counted, kill, load, load_fixture, loaded, main, parameter,
                     put_table, table, target, unload)
from kernel import DEBUG, TRACING, KprobeEvent, probes, put, symbols
from rsp import Client, framed
from tap import matches, seeded, test, until
from tasks import states, unread
from typed import Gdb


def shown():
    with open(REGIONS, encoding="ascii") as file:
        return file.read()


def refused():
    return re.search(r"last refused: (.*)", shown()).group(1)


def sealed(data):
    """Return the table with its checksum corrected after a change of its data."""
    return data[:12] + struct.pack("<I", zlib.crc32(data[16:])) + data[16:]


def fresh():
    load_fixture()
    load("self_trace=1")


fresh()
ENDBR64 = "f30f1efa"
HEAD = b"module gtp_target\n"


def behind_endbr(client, address):
    """If there is an endbr64 at the address, return the address after it, else the address itself. A jump must not replace
    an endbr64, because indirect calls need it."""
    return address + (4 if client.ask(f"m{address:x},4") == ENDBR64 else 0)


def only(client):
    """Return the Probe from `monitor probes`, which must list exactly one."""
    found = probes(client.monitor("probes"))
    assert len(found) == 1, found
    return next(iter(found.values()))


def mechanism(client):
    """Make a run with a tracepoint at gtp_target_leaf, and check that one call is one hit. Return the Probe."""
    place = behind_endbr(client, symbols("gtp_target_leaf")["gtp_target_leaf"])
    client.start((1, place))
    found = only(client)
    target("call leaf 1")
    client.ok("QTStop")
    assert client.hits(1, place) == 1
    return found


@test("without a table a probe is a kprobe, and the user is told why")
def without_a_table():
    with Client() as client:
        found = mechanism(client)
    assert found.how == "kprobe", found
    assert found.no_jump.startswith("no table of regions has been loaded"), found


@test("tables of the kernel and of a module are accepted in pieces of any size, and shown")
def taken():
    whole = table("vmlinux")
    assert put_table(whole) == 0
    assert re.match(r"vmlinux [0-9a-f]{40} \d+ bytes for \d+ bytes of code\n$", shown()), shown()
    assert put_table(*(whole[i:i + 7777] for i in range(0, len(whole), 7777))) == 0
    small = HEAD + table("gtp_target")
    assert put_table(*(small[i:i + 1] for i in range(len(small)))) == 0
    assert [line.split()[0] for line in shown().splitlines()] == ["vmlinux", "gtp_target"]
    with Client() as client:
        assert mechanism(client).how == "jump"


@test("the write refuses data that is no table, or another's table, with the reason; a loaded table stays")
def not_taken():
    small = table("gtp_target")
    other = bytearray(small)
    other[17] ^= 1
    flipped = bytearray(small)
    flipped[-1] ^= 1
    before = shown()
    for data, number, words in (
            (b"hello\n", errno.EINVAL, "neither a table"),
            (b"module \n", errno.EINVAL, "neither a table"),
            (b"module ../../x\n", errno.EINVAL, "neither a table"),
            (b"module " + 100 * b"x" + b"\n", errno.EINVAL, "neither a table"),
            (b"GTPRGN\0\2" + small[8:], errno.EINVAL, "not a table"),
            (small[:8] + b"\xff\xff\xff\xff" + small[12:], errno.EINVAL, "impossible size"),
            (small, errno.ESTALE, "another kernel"),
            (HEAD + sealed(bytes(other)), errno.ESTALE, "another build"),
            (HEAD + bytes(flipped), errno.EINVAL, "gtp_target: "),
            (HEAD + table("vmlinux"), errno.ESTALE, "another build"),
            (b"module gtp_nothing\n" + small, errno.ENOENT, "not loaded"),
            (HEAD + small[:-1], 0, "cut off"),
            (HEAD, 0, "cut off")):
        assert put_table(data) == number, (data[:40], number)
        assert words in refused(), (words, refused())
    assert shown().splitlines()[:2] == before.splitlines()
    assert put_table(HEAD + small + b"x") == errno.EFBIG


@test("damaged tables with a right checksum are refused, or read within their bounds; a table is trusted like code")
def damaged():
    chance = seeded()
    small = table("gtp_target")
    with Client() as client:
        for _ in range(100):
            data = bytearray(small)
            for _ in range(chance.choice((1, 1, 2, 8))):
                # Change only bytes after the build-id: if the build-id is wrong, the module does not read the rest.
                data[chance.randrange(48, len(data))] = chance.randrange(256)
            put_table(HEAD + sealed(bytes(data)))
            if chance.randrange(10) == 0:
                mechanism(client)
    assert put_table(HEAD + small) == 0


@test("only root can open it, for reading or writing but not both, and rmmod fails while it is open")
def nobody_else():
    for flags, number in ((os.O_RDWR, errno.EINVAL),):
        try:
            os.close(os.open(REGIONS, flags))
            raise AssertionError("opened")
        except OSError as error:
            assert error.errno == number, error
    done = command("setpriv", "--reuid", "65534", "--clear-groups", "cat", REGIONS)
    assert done.returncode and "Permission denied" in done.stderr, done.stderr
    with open(REGIONS, "wb", buffering=0):
        assert command("rmmod", "gdbtp").returncode
        assert loaded()


@test("a module's table is removed with it, and a module loaded in its place has none; forget removes all tables")
def gone_with_its_module():
    assert put_table(table("vmlinux")) == 0
    assert put_table(HEAD + table("gtp_target")) == 0
    unload("gtp_target")
    assert "gtp_target" not in shown(), shown()
    load_fixture()
    assert "gtp_target" not in shown(), shown()
    assert put_table(b"forget\n") == 0
    assert shown() == ""


@test("a client is killed while it has jumps: a dying task has no root directory for looking up files")
def killed():
    assert put_table(HEAD + table("gtp_target")) == 0
    place = symbols("gtp_target_leaf")["gtp_target_leaf"]
    told, tell = os.pipe()

    def die():
        client = Client()
        client.start((1, behind_endbr(client, place)))
        os.write(tell, b"j" if only(client).how == "jump" else b"?")
        signal.pause()

    pid = child(die)
    assert os.read(told, 1) == b"j"
    kill(pid)
    with Client() as client:
        assert mechanism(client).how == "jump"


@test("another's disabled kprobe is found, with debugfs and without it")
def someone_disabled():
    assert put_table(HEAD + table("gtp_target")) == 0
    with Client() as client:
        # The place is after the function tracer's five bytes. ftrace sets kprobe events only in functions that have these.
        place = behind_endbr(client, symbols("gtp_target_add")["gtp_target_add"]) + 5
        for mounted in (True, False):
            if not mounted:
                subprocess.run(["umount", "-l", DEBUG], check=True)
            other = KprobeEvent(place)
            client.start((1, place))
            with_other = only(client)
            client.ok("QTStop")
            other.remove()
            client.start((1, place))
            without = only(client)
            client.ok("QTStop")
            if not mounted:
                subprocess.run(["mount", "-t", "debugfs", "none", DEBUG], check=True)
            assert with_other.how == "kprobe" and with_other.no_jump, with_other
            assert without.how == "jump", without


@contextlib.contextmanager
def computing():
    """Context manager: on each CPU, run a task that stays in the kernel and does not sleep. target("end") ends these tasks,
    at the end of the block at the latest."""
    before = counted("leaf")
    busy = subprocess.Popen(["sh", "-c", "echo loop busy 2000000000 >/proc/gtp_target"])
    try:
        until(lambda: counted("leaf") > before)
        yield
        assert busy.poll() is None, "it has ended by itself"
    finally:
        target("end")
        assert busy.wait() == 0


def waiting(client, packet="QTStart"):
    """Send the packet from a thread, because the write returns only after the module has handled the packet. Return when the
    module reports that it waits for busy tasks. For QTStart, the breakpoints are armed at that time."""
    threading.Thread(target=client.send, args=(packet,)).start()
    while True:
        text = client.packet()
        assert text.startswith("O") and text != "OK", f"nothing kept {packet} waiting: {text}"
        if "busy tasks" in bytes.fromhex(text[1:]).decode():
            return


def behind_site(client, function):
    """Return the address after the function tracer's nop at the entry."""
    address = symbols(function)[function]
    code = bytes.fromhex(client.ask(f"m{address:x},10"))
    return address + code.index(bytes.fromhex("0f1f440000")) + 5


def obj_place(client):
    """Return a place in gtp_target_obj with two instructions of 3 and 4 bytes, and these bytes in hex."""
    place = behind_site(client, "gtp_target_obj")
    code = client.ask(f"m{place:x},7")
    assert code == "4863c6" "48034708", code
    return place, code


def refuses(place):
    """Return whether the kernel refuses kprobes at a place."""
    try:
        KprobeEvent(place).remove()
    except OSError as error:
        return error.errno in (errno.EILSEQ, errno.EINVAL)
    return False


@test("no kprobe can be set within the bytes of a jump, while tstart waits or later; meanwhile tasks go on")
def guests():
    assert put_table(HEAD + table("gtp_target")) == 0
    with Client() as client:
        place, code = obj_place(client)
        client.define((1, place))
        with computing():
            waiting(client)
            taken = [n for n in range(len(code) // 2) if not refuses(place + n)]
            for n in (0, 3):  # tasks that enter at either instruction hit a breakpoint
                target(f"at {place + n:x}")
        assert client.reply() == "OK"
        assert only(client).how == "jump"
        assert not taken, f"accepted at {taken} while tstart waited"
        taken = [n for n in range(1, len(code) // 2) if not refuses(place + n)]
        assert not taken, f"accepted at {taken} in a jump"
        for _ in range(10):
            target("call obj 3")
        assert client.hits(1, place) == 10
        client.ok("QTStop")
        assert client.ask(f"m{place:x},7") == code


def writable_text():
    """Return the lines of /proc/vmallocinfo about the writable mappings of kernel text that gdbtp has now."""
    with open("/proc/vmallocinfo", encoding="ascii") as file:
        return [line for line in file if "[gdbtp]" in line and " vmap" in line]


@test("no mapping of the kernel's text is writable while tstart or tstop wait for a task")
def closed():
    assert put_table(HEAD + table("gtp_target")) == 0
    with Client() as client:
        place, code = obj_place(client)
        usual = writable_text()
        client.define((1, place))
        for packet in "QTStart", "QTStop":
            with computing():
                waiting(client, packet)
                found = writable_text()
            assert client.reply() == "OK", packet
            assert found == usual, f"{packet}: {found}"
        assert client.ask(f"m{place:x},7") == code


PIDFD_GETFD = 438  # number of the system call


def unheard(pid):
    """Return the number of unread bytes in the standard input of a process. GDB has made it a socket."""
    owner = os.pidfd_open(pid)
    copy = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, owner, 0, 0)
    assert copy >= 0, os.strerror(ctypes.get_errno())
    try:
        return unread(copy)
    finally:
        os.close(copy)
        os.close(owner)


def heard():
    """Return whether gdbtp-connect has read everything that GDB has sent: no input is left, and all its threads
    sleep."""
    pid = int(command("pidof", "gdbtp-connect").stdout)
    return not unheard(pid) and "R" not in states(pid)


def give_up(gdb):
    """Interrupt a tstart that waits for busy tasks, then run tstatus. Return the output of tstatus."""
    with computing():
        gdb.begin("tstart")
        gdb.until("busy tasks")
        gdb.interrupt()
        matches("Quit$", gdb.shown().strip())
        gdb.begin("tstatus")
        gdb.until("busy tasks")  # the message that tstart still waits; it precedes the reply for tstatus
        until(heard)
    return gdb.shown()


@test("^C of a real GDB through a pipe, as over ssh: the tstart is undone, and each later reply is the right one")
def behind_a_pipe():
    assert put_table(HEAD + table("gtp_target")) == 0
    banner = symbols("linux_banner")["linux_banner"]
    with open("/proc/version", encoding="ascii") as file:
        version = file.read()
    with Client() as client:
        place, _ = obj_place(client)
    with Gdb() as gdb:
        gdb.type(f"target remote | {TOP}/build/tools/gdbtp-connect")
        gdb.type("delete")  # the previous tests' tracepoints
        gdb.type(f"trace *{place:#x}")
        for _ in range(2):
            matches("No trace has been run on the target", give_up(gdb))
            matches(re.escape(version[:100]), gdb.type(f"x/s {banner:#x}"))
            matches("no trace has run yet", gdb.type("monitor run"))
            matches("No trace has been run on the target", gdb.type("tstatus"))
        gdb.type("tstart")
        target("call obj 3")
        gdb.type("tstop")
        gdb.type("tstatus")
        matches("already hit 1 time", gdb.type("info tracepoints"))


@test("whichever allocation fails while a jump is written: another probe is used or refused, and the text is restored")
def no_memory():
    assert put_table(HEAD + table("gtp_target")) == 0
    ways = set()
    with Client() as client:
        place, code = obj_place(client)
        client.define((1, place))
        for n in range(1, 200):
            parameter("fail_alloc", n)
            reply = client.ask("QTStart")
            left = int(parameter("fail_alloc"))
            parameter("fail_alloc", 0)
            if reply == "OK":
                found = only(client)
                ways.add(found.how)
                assert found.how == "jump" or "no memory" in found.how + (found.no_jump or ""), found
                target("call obj 3")
                assert client.hits(1, place) == 1, (n, found)
                client.ok("QTStop")
            else:
                assert reply.startswith("E.") and "memory" in reply, reply
            # If there is no memory to read the list of kprobes, gdbtp leaves its breakpoints until a retry has read the
            # list.
            until(lambda: client.ask(f"m{place:x},7") == code, f"the text after {n}")
            if left:
                break
    assert left and "jump, kept a breakpoint: no memory to write it" in ways, ways


class Calls:
    """Records when the module itself calls certain functions of the kernel."""

    def __init__(self, *names):
        self.names = names

    def __enter__(self):
        for name in self.names:
            put(TRACING + "kprobe_events", f"p:gtpcalls/{name} {name} by=+0($stack):symbol\n", os.O_APPEND)
        put(TRACING + "trace", "", os.O_TRUNC)
        put(TRACING + "events/gtpcalls/enable", "1")
        return self

    def __exit__(self, *_):
        put(TRACING + "events/gtpcalls/enable", "0")
        for name in self.names:
            put(TRACING + "kprobe_events", f"-:gtpcalls/{name}\n", os.O_APPEND)

    def times(self, name):
        with open(TRACING + "trace", encoding="ascii") as file:
            return [float(at) for at in re.findall(rf" ([0-9.]+): {name}: .*by=.*\[gdbtp\]", file.read())]


@test("another writer has changed a jump: nothing waits, and retries become rare; it is removed when restored")
def not_ours():
    assert put_table(HEAD + table("gtp_target")) == 0
    with Client() as client:
        place, code = obj_place(client)
        client.start((1, place))
        assert only(client).how == "jump"
        byte = client.ask(f"m{place + 2:x},1")
        with Calls("vmap", "call_rcu_tasks") as calls:
            target(f"poke {place + 2:x} {int(byte, 16) ^ 1:x}")
            client.ok("QTStop")
            until(lambda: len(calls.times("vmap")) > 3)
            tries = calls.times("vmap")
            # QTStop makes this call to wait for hits that began earlier. Retries make none.
            assert len(calls.times("call_rcu_tasks")) == 1, calls.times("call_rcu_tasks")
        # The kernel may wait longer than requested, but never shorter.
        gaps = [after - before for before, after in zip(tries, tries[1:])]
        assert gaps[1] > 1.9 and gaps[2] > 3.9, gaps
        target(f"poke {place + 2:x} {byte}")
        mechanism(client)
        assert client.ask(f"m{place:x},7") == code


@test("a kprobe's memory is freed only when no idle CPU can be in its handler any more")
def idle():
    with Client() as client, Calls("stop_machine") as calls:
        client.monitor("jumps off")
        client.start((1, obj_place(client)[0]))
        assert only(client).how == "kprobe"
        before = len(calls.times("stop_machine"))
        client.ok("QTStop")
        assert len(calls.times("stop_machine")) == before + 1
        client.monitor("jumps on")


@test("a run ends by itself, and a busy task delays that: a client that waits for a reply gets signs of life")
def nudges():
    assert put_table(HEAD + table("gtp_target")) == 0
    with Client() as client:
        place, code = obj_place(client)
        client.ok("QTinit")
        client.tracepoint(1, place, passcount=1)
        client.ok("QTStart")
        assert only(client).how == "jump"
        received = b""
        with computing():
            target(f"at {place:x}")
            # While a task computes, the module does not read the next packet. It may only send acknowledgments, because
            # GDB accepts no console text before the reply to this packet.
            threading.Thread(target=client.send, args=(f"m{place:x},7",)).start()
            while len(received) < 3:
                received += os.read(client.fd, 65536)
            assert received == b"+" * len(received), received
        while not re.search(rb"#..$", received):
            received += os.read(client.fd, 65536)
        assert received.lstrip(b"+") == framed(code), received
        assert client.status()["why"] == "tpasscount"


@test("rmmod waits for another's kprobe on a jump, until the module that the jump is in goes")
def module_goes_while_rmmod_waits():
    load_fixture("gtp_target2")
    assert put_table(b"module gtp_target2\n" + table("gtp_target2")) == 0
    with Client() as client:
        client.ok("QTDisconnected:1")
        place = behind_site(client, "gtp_target2_fn")
        client.start((1, place))
        assert only(client).how == "jump"
        other = KprobeEvent(place)
    leaving = subprocess.Popen(["rmmod", "gdbtp"])
    until(lambda: "rmmod waits" in command("dmesg").stdout)
    unload("gtp_target2")
    assert leaving.wait(SECONDS) == 0
    other.remove()
    load("self_trace=1")


main()
