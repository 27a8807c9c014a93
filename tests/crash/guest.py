#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""In a guest: a probe at a place where the kernel's own jump would be entered in the middle.

Usage: guest.py stock|gdbtp uevent|feature LINK_ADDRESS CONTROL_LINK_ADDRESS

"stock" is a kernel without us: its probe becomes a jump, and the guest is to die of what comes then. "gdbtp" puts
our tracepoint at the same place, waits until the kernel has made a jump of another probe (the control), and does the
same."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../faults"))
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
LINK_TEXT = 0xffffffff81000000
DEBUG = "/sys/kernel/debug/"
ROUNDS = 40
SECONDS = 120


def slide():
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        for line in symbols:
            address, _, name = line.split()[:3]
            if name == "_text":
                return int(address, 16) - LINK_TEXT
    raise SystemExit("no _text")


def write(path, text):
    """As another process: the client's own tasks are not traced. What the kernel says to it does not matter."""
    subprocess.run(["/bin/sh", "-c", 'printf %s "$1" >"$2"', "sh", text, path], stderr=subprocess.DEVNULL,
                   check=False)


def kprobe(name, address):
    for path, text in ((DEBUG + "tracing/kprobe_events", f"p:gtptest/{name} {address:#x}\n"),
                       (f"{DEBUG}tracing/events/gtptest/{name}/enable", "1\n")):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(file, text.encode())
        os.close(file)


def optimized(address):
    with open(DEBUG + "kprobes/list", encoding="ascii") as probes:
        return any(int(line.split()[0], 16) == address and "[OPTIMIZED]" in line for line in probes)


def wait_optimized(address):
    """The kernel does it some time later, when it likes; the limit only ends a test that has failed."""
    end = time.monotonic() + SECONDS
    while not optimized(address):
        if time.monotonic() > end:
            raise SystemExit("the kernel has not made a jump of its kprobe")
        time.sleep(0.05)


def provoke(what):
    """How often the place was certainly executed."""
    if what == "uevent":
        for _ in range(ROUNDS):
            write("/sys/devices/virtual/mem/null/uevent", "change\n")
            write("/sys/devices/virtual/mem/null/uevent", "garbage\n")
        return ROUNDS
    for i in range(ROUNDS):
        write(DEBUG + "sched/features", "UTIL_EST" if i & 1 else "NO_UTIL_EST")
        subprocess.run(["/bin/sh", "-c", "for i in 1 2 3 4; do /bin/true & done; wait"], check=True)
    return None


def stock(what, address, _control):
    kprobe("here", address)
    wait_optimized(address)
    print("optimized", flush=True)
    provoke(what)
    print("survived", flush=True)


def gdbtp(what, address, control):
    os.environ.setdefault("GTP_MODULE", f"{TOP}/build/module/{os.uname().release}/gdbtp.ko")
    os.environ.setdefault("GTP_KMOD", f"{TOP}/build/kmod/{os.uname().release}")
    import gtp  # it wants these two
    gtp.load()
    subprocess.run([f"{TOP}/tools/gdbtp-tables", "load", f"{TOP}/build/tables/{os.uname().release}"], check=True)
    with gtp.Client() as client:
        client.start((1, address))
        kprobe("control", control)
        wait_optimized(control)
        assert not optimized(address), "the kernel has made a jump of our kprobe"
        probes = client.monitor("probes")
        assert re.search(r"kept a breakpoint", probes), probes
        wanted = provoke(what)
        client.ok("QTStop")
        hits = client.hits(1, address)
    print("hits", hits, "wanted", "any" if wanted is None else wanted)
    assert hits == wanted if wanted is not None else hits > 0
    print("survived", flush=True)


def main():
    mode, what, address, control = sys.argv[1:]
    address, control = (int(a, 16) + slide() for a in (address, control))
    {"stock": stock, "gdbtp": gdbtp}[mode](what, address, control)


main()
