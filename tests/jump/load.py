# SPDX-License-Identifier: GPL-2.0-only
"""Keeps the kernel at work on every CPU: files, processes, memory, pipes, sockets, signals, mounts, modules.

Usage: load.py ROUNDS [KO]     KO is loaded and unloaded in every round
"""
import errno
import fcntl
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

SIOCSIFFLAGS, IFF_UP = 0x8914, 1  # linux/sockios.h, linux/if.h


def files(where):
    for i in range(8):
        path = "%s/f%d" % (where, i)
        with open(path, "wb") as f:
            f.write(os.urandom(5000) * 4)
            f.flush()
            os.fsync(f.fileno())
        os.rename(path, path + "x")
        os.link(path + "x", path)
        os.truncate(path, 100)
        with open(path, "rb") as f:
            f.read()
    for name in os.listdir(where):
        os.stat(where + "/" + name)
        os.unlink(where + "/" + name)


def processes():
    subprocess.run(["sh", "-c", "echo a b c | sort | cat >/dev/null; kill -0 $$; (exit 3) || true"], check=True)
    pid = os.fork()
    if not pid:
        signal.pause()
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)


def memory():
    for _ in range(4):
        with mmap.mmap(-1, 1 << 20) as m:
            for at in range(0, 1 << 20, 4096):
                m[at] = 1
            m.madvise(mmap.MADV_DONTNEED)


def tcp():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as a:
            b, _ = server.accept()
            with b:
                for _ in range(20):
                    a.sendall(b"x" * 3000)
                    b.recv(3000, socket.MSG_WAITALL)
                    b.sendall(b"y")
                    a.recv(1)


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as a:
        a.bind(("127.0.0.1", 0))
        for _ in range(20):
            a.sendto(b"z" * 500, a.getsockname())
            a.recv(1000)


def pairs():
    a, b = socket.socketpair()
    with a, b:
        for _ in range(20):
            a.sendall(b"q" * 100)
            b.recv(100)


def threads():
    lock = threading.Lock()

    def work():
        for _ in range(50):
            with lock:
                pass

    made = [threading.Thread(target=work) for _ in range(4)]
    for t in made:
        t.start()
    for t in made:
        t.join()


def look():
    for path in ("/proc/self/maps", "/proc/self/status", "/proc/meminfo", "/proc/interrupts", "/proc/slabinfo",
                 "/proc/net/tcp", "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/loadavg"):
        with open(path) as f:
            f.read()


def worker(rounds):
    with tempfile.TemporaryDirectory() as where:
        for _ in range(rounds):
            files(where)
            processes()
            memory()
            tcp()
            udp()
            pairs()
            threads()
            look()


def remove(name):
    """Remove a module. Retry for a minute: while the kernel checks a kprobe at an address that an earlier module had, it
    holds a reference to the module that is there now."""
    end = time.monotonic() + 60
    while True:
        done = subprocess.run(["rmmod", name], capture_output=True, text=True, check=False)
        if not done.returncode or "is in use" not in done.stderr or time.monotonic() > end:
            break
        time.sleep(0.1)
    assert not done.returncode, done.stderr


def system(module):
    """Do one step of the work."""
    where = tempfile.mkdtemp()
    subprocess.run(["mount", "-t", "tmpfs", "none", where], check=True)
    files(where)
    subprocess.run(["umount", where], check=True)
    os.rmdir(where)
    if module:
        subprocess.run(["insmod", module], check=True)
        remove(os.path.basename(module).split(".")[0])


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def move_to(cpu):
    """Run this task on the CPU, or on any CPU if that one has gone offline after its number was read."""
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise


def main(rounds, module=None):
    loopback_up()
    pids = []
    for cpu in os.sched_getaffinity(0):
        pid = os.fork()
        if not pid:
            move_to(cpu)
            worker(int(rounds))
            os._exit(0)
        pids.append(pid)
    for _ in range(int(rounds)):
        system(module)
    bad = [pid for pid in pids if os.waitpid(pid, 0)[1]]
    sys.exit(bool(bad))


main(*sys.argv[1:])
