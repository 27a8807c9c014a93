# SPDX-License-Identifier: GPL-2.0-only
"""vmlinux and GDB's index of it, where the shell's command looks: without an index each start takes minutes in a guest."""
import os

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = "/var/cache/gdbtp/%s/gdb-index" % os.uname().release


def at_hand():
    with open("%s/build/kernels/%s/env" % (TOP, os.environ["GTP_GUEST"]), encoding="ascii") as file:
        env = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    os.environ["VMLINUX"] = env["vmlinux"].strip("'")
    if os.environ.get("GTP_GDB_INDEX") and not os.path.exists(CACHE):
        os.makedirs(os.path.dirname(CACHE), exist_ok=True)
        os.symlink(os.environ["GTP_GDB_INDEX"], CACHE)
