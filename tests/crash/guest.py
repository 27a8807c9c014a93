# SPDX-License-Identifier: GPL-2.0-only
"""Runs in a guest: sets a probe at a place where the kernel would write a jump, although other code jumps into the bytes
that the jump replaces.

Usage: tests/lib/env python3 guest.py stock|gdbtp uevent|string|feature LINK_ADDRESS CONTROL_LINK_ADDRESS

"stock" sets a kprobe without gdbtp. The kernel turns the kprobe into a jump, and the guest must die when it executes the
place. "gdbtp" sets a tracepoint of gdbtp there instead, waits until the kernel has optimised another kprobe (the control),
and executes the place in the same way."""

import re
import subprocess
import sys

import fixture
from kernel import DEBUG, KprobeEvent, optimized, symbols
from rsp import Client
from tap import until

LINK_TEXT = 0xffffffff81000000
ROUNDS = 40

# Features of the scheduler. Switching them changes jump labels that lead to places like the tested ones. Not every kernel
# has all of them.
FEATURES = ("UTIL_EST", "PLACE_LAG", "PLACE_DEADLINE_INITIAL")


def write(path, text):
    """Write to a file in another process, since the client's own tasks are not traced. Ignore the kernel's result."""
    subprocess.run(["/bin/sh", "-c", 'printf %s "$1" >"$2"', "sh", text, path], stderr=subprocess.DEVNULL,
                   check=False)


def wait_optimized(address):
    """Wait until the kernel has optimised a probe, which it does with a delay. The time limit only ends a failed test."""
    until(lambda: address in optimized(), "the kernel to make a jump of its kprobe")


def provoke(what):
    """Make the kernel execute the code at the place. Return how often the kernel has executed it, or None if the number is
    not known."""
    if what == "uevent":
        for _ in range(ROUNDS):
            write("/sys/devices/virtual/mem/null/uevent", "change\n")
            write("/sys/devices/virtual/mem/null/uevent", "garbage\n")
        return ROUNDS
    if what == "string":
        for _ in range(ROUNDS):
            write("/sys/module/gtp_target/parameters/word", "fits")
            write("/sys/module/gtp_target/parameters/word", "is longer than its place")
        return ROUNDS
    for i in range(ROUNDS):
        for name in FEATURES:
            write(DEBUG + "sched/features", name if i & 1 else "NO_" + name)
        subprocess.run(["/bin/sh", "-c", "for i in 1 2 3 4; do /bin/true & done; wait"], check=True)
    return None


def stock(what, address, _control):
    KprobeEvent(address, "here").enable()
    wait_optimized(address)
    print("optimized", flush=True)
    provoke(what)
    print("survived", flush=True)


def gdbtp(what, address, control):
    fixture.load()
    fixture.load_tables()
    with Client() as client:
        client.start((1, address))
        KprobeEvent(control, "control").enable()
        wait_optimized(control)
        assert address not in optimized(), "the kernel has made a jump of our kprobe"
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
    fixture.load_fixture()
    slide = symbols("_text")["_text"] - LINK_TEXT
    address, control = (int(a, 16) + slide for a in (address, control))
    {"stock": stock, "gdbtp": gdbtp}[mode](what, address, control)


main()
