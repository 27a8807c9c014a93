# SPDX-License-Identifier: GPL-2.0-only
"""`gtp record`: what must be there, then gtp-drain in this process's place."""
import os
import sys

from gtp.shell import ready, tools
from gtp.shell.failure import USAGE, Failure, told

PIPE = "/proc/gtpframe_pipe"
NO_PIPE = """%s is not there: the module that is loaded is older than this command.
End its run, then: rmmod gdbtp; modprobe gdbtp"""
NO_SIZE = "--rotate needs --size"


def words(given):
    """gtp-drain's own."""
    yield from ("-o", given.output)
    if given.seconds:
        yield from ("--for", "%dms" % max(1, round(given.seconds * 1000)))
    if given.size:
        yield from ("--size", str(given.size))
    if given.rotate:
        yield from ("--rotate", str(given.rotate))
    if given.pipe:
        yield from ("--pipe", given.pipe)


def prepare():
    """Root, and a module that has the pipe."""
    if os.geteuid() != 0:
        raise Failure(ready.NOT_ROOT)
    ready.module()
    if not os.path.exists(PIPE):
        raise Failure(NO_PIPE % PIPE)


def run(given):
    if given.rotate and not given.size:
        sys.stderr.write(told(NO_SIZE))
        return USAGE
    program = tools.gtp_drain()
    if not given.pipe:
        prepare()
    os.execv(program, [program, *words(given)])
