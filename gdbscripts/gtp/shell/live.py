# SPDX-License-Identifier: GPL-2.0-only
"""`gtp live`: checks the preconditions, then becomes the GDB that prints the frames (inside/live.py)."""
import os
import signal
import sys

from gtp.shell import child, ready, record
from gtp.shell.failure import told
from gtp.shell.signals import CAUGHT

READING = "reading the symbols of %s"


def run(given):
    if given.pipe:
        gdb, vmlinux, index = ready.gdb(), ready.vmlinux(given.vmlinux, os.uname().release), None
    else:
        record.prepare()
        gdb, vmlinux, index = ready.all_of_it(given.vmlinux)
    request = {"asked": " ".join(given.asked), "pipe": given.pipe or record.PIPE, "count": given.count,
               "seconds": given.seconds}
    if sys.stderr.isatty():
        sys.stderr.write(told(READING % vmlinux))
    words = [*child.arguments(gdb, vmlinux, index), "-batch", "-ex", child.MAIN.format("gtp.inside.live")]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, CAUGHT)  # otherwise GDB would ignore such a signal while it reads the symbols
    os.execve(gdb, words, child.environment(request))
