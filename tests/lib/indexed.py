# SPDX-License-Identifier: GPL-2.0-only
"""Provides vmlinux and GDB's index of it where the shell command `gtp` looks for them. Without an index, each start of
GDB takes minutes in a guest."""
import os

from where import there

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = "/var/cache/gdbtp/%s/gdb-index" % there.release


def at_hand():
    """Set VMLINUX for commands here. Return the words that set it for a command on the tested kernel's machine."""
    with open("%s/build/kernels/%s/env" % (TOP, os.environ["GTP_GUEST"]), encoding="ascii") as file:
        env = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    os.environ["VMLINUX"] = env["vmlinux"].strip("'")
    index = os.environ.get("GTP_GDB_INDEX")
    if index and not there.exists(CACHE):
        there.run(["mkdir", "-p", os.path.dirname(CACHE)], check=True)
        there.run(["ln", "-s", index, CACHE], check=True)
    return ["env", "VMLINUX=" + os.environ["VMLINUX"]]
