# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that is locked down while GDB is connected. It stays so: nothing can be loaded after this."""

import errno
import os

from fixture import REGIONS, load, load_fixture, main
from kernel import kprobes, put, symbols
from rsp import LINE, Client
from tap import skip, test

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


@test("lockdown for integrity allows tracing, but no writing")
def integrity():
    need_lockdown()
    with Client() as client:
        counter = symbols("gtp_target_counter")["gtp_target_counter"]
        lock("integrity")
        client.start((1, LEAF))
        client.ok("QTStop")
        assert client.ask(f"M{counter:x},1:00").startswith("E.")


@test("lockdown for confidentiality ends probing and reading in a session that was there before")
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
