# SPDX-License-Identifier: GPL-2.0-only
"""Locks the kernel down while GDB is connected. A lockdown cannot be undone, so no module can be loaded after these
tests."""

import errno
import os

from fixture import REGIONS, counted, load, load_fixture, load_table, main, put_table, table, target_aside
from kernel import CPUS, get, kprobes, probes, put, symbols
from rsp import LINE, Client
from tap import equal, skip, test

STATE = "/sys/kernel/security/lockdown"
load("allow_write=1")
load_fixture()
SYM = symbols("gtp_target_leaf", "linux_banner", "__traceiter_gtp_target_count")
MARKER = SYM["__traceiter_gtp_target_count"]
LEAF = SYM["gtp_target_leaf"]


def lock(level):
    put(STATE, level)


def need_lockdown():
    if not os.path.exists(STATE):
        skip("this kernel has no lockdown")


@test("lockdown for integrity allows tracing, but no writing and no table of regions")
def integrity():
    need_lockdown()
    with Client() as client:
        counter = symbols("gtp_target_counter")["gtp_target_counter"]
        load_table("gtp_target")
        assert put_table(b"forget\n") == 0
        lock("integrity")
        # A table of regions tells gdbtp where it may overwrite code. Root could have forged it, so under lockdown gdbtp must
        # refuse it.
        assert put_table(b"module gtp_target\n" + table("gtp_target")) == errno.EPERM
        assert "locked down" in get(REGIONS), get(REGIONS)
        client.start((1, LEAF))
        how = probes(client.monitor("probes"))[LEAF].how
        assert "jump" not in how, how
        before = counted("leaf")
        target_aside("loop leaf 20")
        client.ok("QTStop")
        equal(client.hits(1, LEAF), counted("leaf") - before, "hits")
        equal(counted("leaf") - before, 20 * CPUS, "calls")
        assert client.ask(f"M{counter:x},1:00").startswith("E.")


@test("lockdown for confidentiality ends probing and reading in an existing session")
def confidentiality():
    need_lockdown()
    with Client() as client:
        lock("confidentiality")
        client.define((1, LEAF))
        assert client.ask("QTStart").startswith("E."), "armed"
        assert not kprobes()
        client.define((1, MARKER))
        assert "locked down" in client.ask("QTStart")
        assert client.ask(f"m{SYM['linux_banner']:x},4").startswith("E")
    for name, flags in ((LINE, os.O_RDWR), (REGIONS, os.O_WRONLY), (REGIONS, os.O_RDONLY)):
        try:
            os.open(name, flags)
            raise AssertionError("opened")
        except OSError as error:
            assert error.errno == errno.EPERM, error


main()
