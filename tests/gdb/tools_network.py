# SPDX-License-Identifier: GPL-2.0-only
"""Provocations for the lines of docs/tools-network.md and docs/tools-programs.md."""
import contextlib
import ctypes
import gc
import os
import pty
import socket
import ssl
import subprocess
import time

from process import LIBC, deaf_network, made
from provoke import listener, receiver, sends_again
from toolbox import calling_itself, timed, tool

CONTROL = 21000  # the first of the ports that these provocations choose


# TCP ---------------------------------------------------------------------------------------------

CLOSE, ESTABLISHED, SYN_SENT, FIN_WAIT1, FIN_WAIT2 = 7, 1, 2, 4, 5


def talk(port, sent=0, answered=0, times=1, address="127.0.0.1"):
    """Connect to a server from PORT, and close the connection. Return the server's port, and how long the connect
    took."""
    took, server = [], listener()
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.bind((address, port))
    with timed(took):
        client.connect(server.getsockname())
    other, _ = server.accept()
    for _ in range(times):
        client.sendall(b"x" * sent)
        other.recv(sent + 1) if sent else None
        other.sendall(b"x" * answered)
        client.recv(answered + 1) if answered else None
    client.close()
    other.close()
    return server.getsockname()[1], took[0]


@tool("tcpstates")
def states():
    port = CONTROL
    server, _ = talk(port)
    return [port, [[server, was, now] for was, now in (
        (CLOSE, SYN_SENT), (SYN_SENT, ESTABLISHED), (ESTABLISHED, FIN_WAIT1), (FIN_WAIT1, FIN_WAIT2), (FIN_WAIT2, CLOSE))]]


@tool("tcptracer")
def connection():
    port = CONTROL + 1
    server, _ = talk(port)
    return [port, [[server, SYN_SENT, ESTABLISHED], [server, FIN_WAIT2, CLOSE]]]


@tool("tcplife")
def life():
    port = CONTROL + 2
    took = []
    with timed(took):
        server, _ = talk(port, 1000, 300)
    return [port, [[server, [1, took[0]], 1002, 301]]]  # these counts include our SYN and FIN, and the peer's FIN


@tool("tcpconnlat")
def connect_time():
    port = CONTROL + 3
    server, took = talk(port)
    return [server, [1, took // 1000]]


@tool("tcprtt")
def round_trips():
    began = time.monotonic_ns()
    server, _ = talk(CONTROL + 4, 100, 100, 10)
    longest = (time.monotonic_ns() - began) // 1000
    return [[0, [server], {"count": [10, 40], "sum": [10, 40 * longest]}]]


@tool("tcptop")
def tcp_bytes():
    with calling_itself("tool-tcptop") as name:
        server, _ = talk(CONTROL + 5, 700, 70, 3)
    return [[0, [name, server], {"sum": 2100}], [0, [name, CONTROL + 5], {"sum": 210}],
            [1, [name, server], {"sum": 210}], [1, [name, CONTROL + 5], {"sum": 2100}]]


@tool("tcpsubnet")
def subnets():
    talk(CONTROL + 6, 0, 70, 3, "127.9.8.7")
    return [[0, [int.from_bytes(bytes((127, 9, 8, 0)), "little")], {"sum": 210}]]


@tool("tcpsynbl")
def backlog():
    server = listener(13)
    clients = [socket.create_connection(server.getsockname()) for _ in range(3)]
    return [[0, [13], {"count": len(clients), "sum": 0 + 1 + 2}]]


@tool("tcpcong")
def congestion():
    port, peer, _ = sends_again()
    loss = 4
    return [port, [[peer, loss]]]


# Other network -----------------------------------------------------------------------------------

@tool("bindsnoop")
def binds():
    with calling_itself("tool-bind") as name:
        socket.socket().bind(("127.0.0.1", CONTROL + 7))
        receiver(CONTROL + 8)
    return [[name, int(socket.IPPROTO_TCP), CONTROL + 7], [name, int(socket.IPPROTO_UDP), CONTROL + 8]]


@tool("netqtop")
def packets():
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with deaf_network("gtptool", "198.51.100.1/24"):
        for _ in range(9):
            client.sendto(b"x" * 1200, ("198.51.100.9", 4444))
    where = receiver().getsockname()
    client.sendto(b"x" * 20000, where)
    return [[0, ["gtptool", 0], {"bucket": {12: 9}}], [1, ["lo", 0], {"bucket": {16: [1, None]}}]]  # begin at 1024 and 16384


@tool("sofdsnoop")
def sends_files():
    one, _ = socket.socketpair(socket.AF_UNIX)
    files = [os.open(made(name), os.O_RDONLY) for name in ("tool-first", "tool-second")]
    with calling_itself("tool-sofd") as name:
        socket.send_fds(one, [b"x"], files)
    return [[name, 2, "tool-first"]]


@tool("undump")
def unix_data():
    one, other = socket.socketpair(socket.AF_UNIX)
    one.sendall(b"tool was here\0")
    with calling_itself("tool-undump") as name:
        other.recv(100)
    return [[name, 14, "tool was here"]]


# Programs ----------------------------------------------------------------------------------------

@tool("bashreadline")
def shell_lines():
    outside, terminal_ = pty.openpty()
    lines = ["echo tool one", "true tool two", "exit"]
    bash = subprocess.Popen(["/bin/bash", "--norc", "-i"], stdin=terminal_, stdout=terminal_, stderr=terminal_,
                            start_new_session=True, env={"TERM": "dumb", "PS1": "$ ", "HISTFILE": ""})
    os.close(terminal_)
    for line in lines:
        os.write(outside, line.encode() + b"\n")
    with contextlib.suppress(OSError):  # the other end is closed
        while os.read(outside, 1000):
            pass
    bash.wait()
    return [[bash.pid, line] for line in lines]


@tool("gethostlatency")
def looks_up():
    took = []
    with calling_itself("tool-gethost") as name, timed(took):
        socket.getaddrinfo("localhost", 80, socket.AF_INET)
    return [[name, 0, [1, took[0]], "localhost"]]


@tool("sslsniff")
def secrets():
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = []
    for side, pair in ((ssl.PROTOCOL_TLS_CLIENT, (incoming, outgoing)), (ssl.PROTOCOL_TLS_SERVER, (outgoing, incoming))):
        context = ssl.SSLContext(side)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("aNULL:@SECLEVEL=0")  # no certificate is needed
        ends.append(context.wrap_bio(*pair, server_side=side == ssl.PROTOCOL_TLS_SERVER))
    done = set()
    while len(done) < 2:
        for end in ends:
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
                done.add(end)
    with calling_itself("tool-ssl") as name:
        ends[0].write(b"tool secret\0")
    assert ends[1].read(100) == b"tool secret\0"
    return [[name, 12, "tool secret"]]


@tool("uobjnew")
def allocates():
    size, times = 1 << 27, 4
    LIBC.malloc.restype = ctypes.c_void_p
    with calling_itself("tool-malloc") as name:
        for _ in range(times):
            LIBC.free(ctypes.c_void_p(LIBC.malloc(ctypes.c_size_t(size))))
    return [[0, [name], {"bucket": {29: times}}]]  # bucket 29 begins at 2^27


@tool("ugc")
def collects():
    gc.disable()
    with calling_itself("tool-gc") as name:
        for generation in (2, 2, 1):
            gc.collect(generation)
    return [[0, [2, name], {"count": 2}], [0, [1, name], {"count": 1}]]
