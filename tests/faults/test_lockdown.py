# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that is locked down while GDB is connected. It stays so: nothing can be loaded after this."""

import errno
import os

from gtp import LINE, Client, armed, load, load_fixture, main, symbols, test

STATE = "/sys/kernel/security/lockdown"
load_fixture()
SYM = symbols("gtp_target_leaf", "linux_banner", "__traceiter_gtp_target_count")
MARKER = SYM["__traceiter_gtp_target_count"]
LEAF = SYM["gtp_target_leaf"]


def lock(level):
    with open(STATE, "w", encoding="ascii") as file:
        file.write(level)


@test
def integrity():
    """lockdown for integrity allows tracing, but no writing"""
    load("allow_write=1")
    if not os.path.exists(STATE):
        print("# skipped: this kernel has no lockdown")
        return
    with Client() as client:
        counter = symbols("gtp_target_counter")["gtp_target_counter"]
        lock("integrity")
        client.start((1, LEAF))
        client.ok("QTStop")
        assert client.ask(f"M{counter:x},1:00").startswith("E.")


@test
def confidentiality():
    """lockdown for confidentiality ends probing and reading in a session that was there before"""
    if not os.path.exists(STATE):
        print("# skipped: this kernel has no lockdown")
        return
    with Client() as client:
        lock("confidentiality")
        client.define((1, LEAF))
        assert client.ask("QTStart").startswith("E."), "armed"
        assert not armed()
        client.define((1, MARKER))
        assert "locked down" in client.ask("QTStart")
        assert client.ask(f"m{SYM['linux_banner']:x},4").startswith("E")
    for name, flags in ((LINE, os.O_RDWR), ("/proc/gtpregions", os.O_WRONLY), ("/proc/gtpregions", os.O_RDONLY)):
        try:
            os.open(name, flags)
            raise AssertionError("opened")
        except OSError as error:
            assert error.errno == errno.EPERM, error


main()
