# SPDX-License-Identifier: GPL-2.0-only
"""Tests /proc/gtp as a file: who may open it, what its calls return, and which calls wait."""

import errno
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys

from fixture import command, load, loaded, main
from rsp import LINE, Client, framed
from tap import SECONDS, test, until
from tasks import state

TCGETS, TCSETS, TCSBRK, TCFLSH = 0x5401, 0x5402, 0x5409, 0x540b
TCGETS2, TCSETS2, TIOCGWINSZ = 0x802c542a, 0x402c542b, 0x5413
HELP = framed("qRcmd," + b"help".hex())
FULL = 64 << 10  # with this many unread bytes, the module accepts no packet
PACKET_MOST = 256 << 10  # the most bytes that the replies to one packet may add

load()


def refused(number, function, *args):
    try:
        function(*args)
    except OSError as error:
        assert error.errno == number, error
        return
    raise AssertionError("it was allowed")


def nonblocking(client):
    fcntl.fcntl(client.fd, fcntl.F_SETFL, os.O_RDWR | os.O_NONBLOCK)


def flood(fd, data, most):
    """Write to /proc/gtp without reading from it, until EAGAIN. Return the number of bytes that were accepted."""
    taken = 0
    try:
        while taken < most:
            taken += os.write(fd, data)
    except BlockingIOError:
        return taken
    raise AssertionError(f"{taken} bytes taken without a limit")


def drain(fd):
    got = 0
    try:
        while True:
            got += len(os.read(fd, 65536))
    except BlockingIOError:
        return got


def child(code, fd=None):
    """Start a process that inherits the descriptor and runs the Python CODE. Return the process when it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import os, signal\nprint(flush=True)\n" + code],
        stdout=subprocess.PIPE, pass_fds=[fd] if fd is not None else [])
    process.stdout.readline()
    return process


def sleeping(process):
    return state(process.pid) == "S"


@test("a second client gets EBUSY, and can connect when the first has closed the line")
def one_client():
    with Client():
        refused(errno.EBUSY, os.open, LINE, os.O_RDWR)
    Client().close()


@test("the line opens for reading and writing only")
def both_ways():
    refused(errno.EINVAL, os.open, LINE, os.O_RDONLY)
    refused(errno.EINVAL, os.open, LINE, os.O_WRONLY)


@test("an ordinary user may not open it, nor root without CAP_SYS_ADMIN")
def ordinary_user():
    done = command("setpriv", "--reuid", "1000", "--clear-groups", "cat", LINE)
    assert "Permission denied" in done.stderr, done
    done = command("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin",
               sys.executable, "-c", f"import os; os.open('{LINE}', os.O_RDWR)")
    assert "Operation not permitted" in done.stderr, done


@test("rmmod says in use while a client is connected")
def in_use():
    with Client() as client:
        done = command("rmmod", "gdbtp")
        assert done.returncode and "in use" in done.stderr, done
        assert loaded() and client.ask("qAttached") == "1"


@test("the ioctls of a serial line are answered, all others refused")
def terminal():
    with Client() as client:
        settings = bytearray(36)
        fcntl.ioctl(client.fd, TCGETS, settings)
        assert struct.unpack_from("I", settings, 8)[0], "no c_cflag"
        settings2 = bytearray(44)
        fcntl.ioctl(client.fd, TCGETS2, settings2)
        assert struct.unpack_from("II", settings2, 36) == (9600, 9600)
        fcntl.ioctl(client.fd, TCSETS, bytes(settings))
        fcntl.ioctl(client.fd, TCSETS2, bytes(settings2))
        fcntl.ioctl(client.fd, TCFLSH, 0)
        fcntl.ioctl(client.fd, TCSBRK, 0)
        refused(errno.ENOTTY, fcntl.ioctl, client.fd, TIOCGWINSZ, bytes(8))


@test("poll says readable only when there is something to read, and never an exception")
def poll():
    with Client() as client:
        poller = select.poll()
        poller.register(client.fd, select.POLLIN | select.POLLOUT | select.POLLPRI)
        assert poller.poll(0) == [(client.fd, select.POLLOUT)], poller.poll(0)
        client.send("qAttached")
        assert poller.poll(0) == [(client.fd, select.POLLIN | select.POLLOUT)]
        assert client.packet() == "1"
        assert poller.poll(0) == [(client.fd, select.POLLOUT)]
        nonblocking(client)
        refused(errno.EAGAIN, os.read, client.fd, 1)


@test("a packet arrives byte by byte, several arrive at once")
def split():
    with Client() as client:
        for byte in framed("qAttached"):
            assert os.write(client.fd, bytes([byte])) == 1
        assert client.packet() == "1"
        os.write(client.fd, framed("qAttached") * 3)
        assert [client.packet() for _ in range(3)] == ["1"] * 3


@test("a client that never reads is stopped before the replies fill the memory")
def never_reads():
    with Client() as client:
        nonblocking(client)
        # The first write begins with a space, because one that begins with a packet would drop unread replies.
        flood(client.fd, b" " + HELP * 100, 64 << 20)
        flood(client.fd, b"-" * 4096, 64 << 20)
        poller = select.poll()
        poller.register(client.fd, select.POLLOUT)
        assert not poller.poll(0), "writable though it is not"
        got = drain(client.fd)
        assert FULL <= got <= FULL + PACKET_MOST, got
        assert poller.poll(0)


@test("a reply of many packets, larger than the queue's limit, to a client that acknowledges each")
def acknowledges():
    # The client does not block, so a write that would have to wait fails.
    packets = size = 0
    with Client(acks=True, flags=os.O_RDWR | os.O_NONBLOCK) as client:
        for n in range(1, 1501):
            client.ask(f"QTDP:{n:x}:{0xffffffff81000000 + n:x}:E:0:0")
        client.send("qRcmd," + b"status".hex())
        while (reply := client.packet()) != "OK":
            assert reply.startswith("O"), reply
            size += len(reply)
            packets += 1
    assert size > 2 * FULL and packets > 1000, f"{packets} packets, {size} bytes: nothing shown"


@test("a writer that waits for the reader wakes up for a signal, and dies of SIGKILL")
def blocked_writer():
    with Client() as client:
        writer = child(f"""
signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
while True: os.write({client.fd}, {HELP!r} * 200)
""", client.fd)
        until(lambda: sleeping(writer))
        writer.send_signal(signal.SIGUSR1)
        assert writer.wait(SECONDS) == 7
        writer = child(f"while True: os.write({client.fd}, {HELP!r} * 200)", client.fd)
        until(lambda: sleeping(writer))
        writer.kill()
        assert writer.wait(SECONDS) == -signal.SIGKILL


@test("a reader that waits for a packet dies of SIGKILL, and the line is free at once")
def blocked_reader():
    reader = child(f"fd = os.open('{LINE}', os.O_RDWR)\nos.read(fd, 1)")
    until(lambda: sleeping(reader))
    reader.kill()
    assert reader.wait(SECONDS) == -signal.SIGKILL
    Client().close()


@test("an unmapped buffer is EFAULT, and no byte is lost")
def bad_memory():
    with Client() as client:
        libc = __import__("ctypes").CDLL(None, use_errno=True)
        get_errno = __import__("ctypes").get_errno
        assert libc.write(client.fd, 8, 4) == -1 and get_errno() == errno.EFAULT
        client.send("qAttached")
        assert libc.read(client.fd, 8, 4) == -1 and get_errno() == errno.EFAULT
        assert client.packet() == "1"


main()
