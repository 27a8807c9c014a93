#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Keeps the kernel at work, on the CPU to which this process is bound: files, processes, memory, signals, TCP to itself."""
import mmap
import os
import signal
import socket
import subprocess
import sys
import time


def files():
    path = "/tmp/target"
    with open(path, "wb", buffering=0) as file:
        file.write(b"hello" * 100)
    with open(path, "rb", buffering=0) as file:
        file.seek(3)
        file.read(200)
    os.unlink(path)


def processes():
    subprocess.run(["/bin/true"], check=True)


def memory():
    with mmap.mmap(-1, 1 << 16) as area:
        for i in range(0, 1 << 16, 4096):
            area[i] = 1


def signals():
    signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)


def tcp():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 5001))
        server.listen(1)
        with socket.create_connection(("127.0.0.1", 5001)) as client:
            peer, _ = server.accept()
            with peer:
                client.sendall(b"x" * 50)
                peer.recv(100)


def main():
    os.sched_setaffinity(0, {int(sys.argv[1])})
    for _ in range(3):
        for work in (files, processes, memory, signals, tcp):
            work()
        time.sleep(0.01)


main()
