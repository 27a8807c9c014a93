# SPDX-License-Identifier: GPL-2.0-only
"""/proc/gtpregions: tables that fit, tables that do not, modules that go; and what is decided by them."""

import errno
import os
import re
import signal
import struct
import subprocess
import threading
import time
import zlib

from gtp import (KMOD, SECONDS, Client, counted, load, load_fixture, loaded, main, run, seeded, symbols, target,
                 test, unload, until)

FILE = "/proc/gtpregions"
TABLES = os.path.join(os.path.dirname(KMOD.rstrip("/")), "..", "tables", os.path.basename(KMOD.rstrip("/")))
DEBUG = "/sys/kernel/debug"


def table(name):
    with open(f"{TABLES}/{name}.rgn", "rb") as file:
        return file.read()


def put(*pieces):
    """Write the pieces, each by a call of its own; 0 or the errno of the last."""
    fd = os.open(FILE, os.O_WRONLY)
    try:
        for piece in pieces:
            while piece:
                piece = piece[os.write(fd, piece):]
    except OSError as error:
        return error.errno
    finally:
        os.close(fd)
    return 0


def shown():
    with open(FILE, encoding="ascii") as file:
        return file.read()


def refused():
    return re.search(r"last refused: (.*)", shown()).group(1)


def sealed(data):
    """With the checksum that belongs to it."""
    return data[:12] + struct.pack("<I", zlib.crc32(data[16:])) + data[16:]


def event(text):
    """Of ftrace's, in a file that is there without debugfs."""
    fd = os.open("/sys/kernel/tracing/kprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode() + b"\n")
    finally:
        os.close(fd)


def fresh():
    load_fixture()
    load("self_trace=1")


fresh()
ENDBR64 = "f30f1efa"
HEAD = b"module gtp_target\n"


def behind_endbr(client, address):
    """Where indirect calls arrive nothing else may be."""
    return address + (4 if client.ask(f"m{address:x},4") == ENDBR64 else 0)


def mechanism(client):
    """Of a run at gtp_target_leaf, which is called once; as `monitor probes` has it."""
    place = behind_endbr(client, symbols("gtp_target_leaf")["gtp_target_leaf"])
    client.start((1, place))
    text = client.monitor("probes")
    target("call leaf 1")
    client.ok("QTStop")
    assert client.hits(1, place) == 1
    return re.search(r"0x[0-9a-f]+  (.*)", text).group(1)


@test
def without_a_table():
    """without a table a probe is a kprobe, and the user is told why"""
    with Client() as client:
        text = mechanism(client)
    assert text.startswith("kprobe, "), text
    assert "no jump: no table of regions has been loaded" in text, text


@test
def taken():
    """tables of the kernel and of a module are taken in any pieces, and shown"""
    whole = table("vmlinux")
    assert put(whole) == 0
    assert re.match(r"vmlinux [0-9a-f]{40} \d+ bytes for \d+ bytes of code\n$", shown()), shown()
    assert put(*(whole[i:i + 7777] for i in range(0, len(whole), 7777))) == 0
    small = HEAD + table("gtp_target")
    assert put(*(small[i:i + 1] for i in range(len(small)))) == 0
    assert [line.split()[0] for line in shown().splitlines()] == ["vmlinux", "gtp_target"]
    with Client() as client:
        text = mechanism(client)
    assert text.startswith("jump, "), text


@test
def not_taken():
    """what is no table, or of something else, is refused by the write and in words; what was there stays"""
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
        assert put(data) == number, (data[:40], number)
        assert words in refused(), (words, refused())
    assert shown().splitlines()[:2] == before.splitlines()
    assert put(HEAD + small + b"x") == errno.EFBIG


@test
def damaged():
    """damaged tables with a right checksum are refused or harmless"""
    chance = seeded()
    small = table("gtp_target")
    with Client() as client:
        for _ in range(300):
            data = bytearray(small)
            for _ in range(chance.choice((1, 1, 2, 8))):
                # Behind the build-id, which must be right for the rest to be looked at.
                data[chance.randrange(48, len(data))] = chance.randrange(256)
            put(HEAD + sealed(bytes(data)))
            if chance.randrange(10) == 0:
                mechanism(client)
    assert put(HEAD + small) == 0


@test
def nobody_else():
    """only root, only one way, and no rmmod while it is open"""
    for flags, number in ((os.O_RDWR, errno.EINVAL),):
        try:
            os.close(os.open(FILE, flags))
            raise AssertionError("opened")
        except OSError as error:
            assert error.errno == number, error
    done = run("setpriv", "--reuid", "65534", "--clear-groups", "cat", FILE)
    assert done.returncode and "Permission denied" in done.stderr, done.stderr
    with open(FILE, "wb", buffering=0):
        assert run("rmmod", "gdbtp").returncode
        assert loaded()


@test
def gone_with_its_module():
    """a module's table goes with it, and what comes in its place has none; forget forgets all"""
    assert put(table("vmlinux")) == 0
    assert put(HEAD + table("gtp_target")) == 0
    unload("gtp_target")
    assert "gtp_target" not in shown(), shown()
    load_fixture()
    assert "gtp_target" not in shown(), shown()
    assert put(b"forget\n") == 0
    assert shown() == ""


@test
def killed():
    """a client is killed while it has jumps: a dying task has no root directory to look up files from"""
    assert put(HEAD + table("gtp_target")) == 0
    place = symbols("gtp_target_leaf")["gtp_target_leaf"]
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        client = Client()
        place = behind_endbr(client, place)
        client.start((1, place))
        os.write(tell, b"j" if "  jump, " in client.monitor("probes") else b"?")
        signal.pause()
    assert os.read(told, 1) == b"j"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with Client() as client:
        assert mechanism(client).startswith("jump, ")


@test
def someone_disabled():
    """somebody's kprobe that is disabled is seen, with debugfs and without it"""
    assert put(HEAD + table("gtp_target")) == 0
    with Client() as client:
        # Past the function tracer's five bytes; ftrace's own probes want a function that has these.
        place = behind_endbr(client, symbols("gtp_target_add")["gtp_target_add"]) + 5
        for mounted in (True, False):
            if not mounted:
                subprocess.run(["umount", "-l", DEBUG], check=True)
            event(f"p:gtptest/other {place:#x}")
            client.start((1, place))
            with_other = client.monitor("probes")
            client.ok("QTStop")
            event("-:gtptest/other")
            client.start((1, place))
            without = client.monitor("probes")
            client.ok("QTStop")
            if not mounted:
                subprocess.run(["mount", "-t", "debugfs", "none", DEBUG], check=True)
            assert "  kprobe, " in with_other and "no jump: " in with_other, with_other
            assert "  jump, " in without, without


def calls_for(seconds):
    """As many as keep a task in the kernel, without sleeping, for about that long."""
    count, begin = 200000, time.monotonic()
    target(f"loop leaf {count}")
    return int(count * seconds / (time.monotonic() - begin))


def compute(count):
    """A task that makes so many calls, and is at it."""
    before = counted("leaf")
    busy = subprocess.Popen(["sh", "-c", f"echo loop leaf {count} >/proc/gtp_target"])
    until(lambda: counted("leaf") > before)
    return busy


def waiting(client):
    """QTStart is sent, and waits for a task that computes; the breakpoints are in. Writing it takes as long."""
    threading.Thread(target=client.send, args=("QTStart",)).start()
    while True:
        text = client.packet()
        assert text.startswith("O") and text != "OK", f"nothing kept it waiting: {text}"
        if "busy tasks" in bytes.fromhex(text[1:]).decode():
            return


def behind_site(client, function):
    """Behind the nop that the function tracer has at the entry."""
    address = symbols(function)[function]
    code = bytes.fromhex(client.ask(f"m{address:x},10"))
    return address + code.index(bytes.fromhex("0f1f440000")) + 5


def obj_place(client):
    """Instructions of 3 and 4 bytes. With what is there."""
    place = behind_site(client, "gtp_target_obj")
    code = client.ask(f"m{place:x},7")
    assert code == "4863c6" "48034708", code
    return place, code


def refuses(place):
    """The kernel lets nobody set a kprobe there."""
    try:
        event(f"p:gtptest/guest {place:#x}")
    except OSError as error:
        return error.errno in (errno.EILSEQ, errno.EINVAL)
    event("-:gtptest/guest")
    return False


@test
def guests():
    """nobody sets a kprobe among the bytes of a jump, while tstart waits or later; tasks go on all the while"""
    assert put(HEAD + table("gtp_target")) == 0
    count = calls_for(6)
    with Client() as client:
        place, code = obj_place(client)
        busy = compute(count)
        client.define((1, place))
        waiting(client)
        taken = [n for n in range(len(code) // 2) if not refuses(place + n)]
        for n in (0, 3):  # who comes, and who was behind the first instruction: by breakpoints
            target(f"at {place + n:x}")
        assert busy.poll() is None, "the wait is over"
        assert client.reply() == "OK"
        assert "  jump, " in client.monitor("probes")
        assert not taken, f"accepted at {taken} while tstart waited"
        taken = [n for n in range(1, len(code) // 2) if not refuses(place + n)]
        assert not taken, f"accepted at {taken} in a jump"
        for _ in range(10):
            target("call obj 3")
        assert client.hits(1, place) == 10
        assert busy.wait() == 0
        client.ok("QTStop")
        assert client.ask(f"m{place:x},7") == code


@test
def module_goes_while_rmmod_waits():
    """rmmod waits for somebody's kprobe on a jump, and the module that the jump is in goes: that ends it"""
    load_fixture("gtp_target2")
    assert put(b"module gtp_target2\n" + table("gtp_target2")) == 0
    with Client() as client:
        client.ok("QTDisconnected:1")
        place = behind_site(client, "gtp_target2_fn")
        client.start((1, place))
        assert "  jump, " in client.monitor("probes")
        event(f"p:gtptest/guest {place:#x}")
    leaving = subprocess.Popen(["rmmod", "gdbtp"])
    until(lambda: "rmmod waits" in run("dmesg").stdout)
    unload("gtp_target2")
    assert leaving.wait(SECONDS) == 0
    event("-:gtptest/guest")
    load("self_trace=1")


main()
