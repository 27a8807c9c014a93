# SPDX-License-Identifier: GPL-2.0-only
"""`gtp record` and `gtp snapshot`: check the preconditions, then become gtp-drain."""
import os
import re
import socket
import subprocess
import sys
import tempfile

from gtp.shell import child, ready, tools
from gtp.shell.failure import USAGE, Failure, told

PIPE = "/proc/gtpframe_pipe"
NO_PIPE = """%s is not there: the module that is loaded is older than this command.
End its run, then: rmmod gdbtp; modprobe gdbtp"""
NO_SIZE = "--rotate needs --size"


class Until:
    """The argument of --until: [TRACEPOINT:]FRAMES, or [TRACEPOINT:] and a condition, which GDB translates for gtp-drain."""

    def __init__(self, text):
        number, rest = re.fullmatch(r"\s*(?:(\d+):)?(.*)", text, re.S | re.A).groups()
        self.text, self.tracepoint, self.expression = text, number and int(number), rest.strip()
        self.frames = self.expression.isdigit() or not self.expression


def asked(until, vmlinux, own_pipe):
    """Start a GDB that translates the condition of --until once it has read the symbols. Return the descriptor of a
    socket to it."""
    if own_pipe:
        words = child.arguments(ready.gdb(), ready.vmlinux(vmlinux, os.uname().release), None)
    else:
        words = child.arguments(*ready.all_of_it(vmlinux))
    ours, theirs = socket.socketpair()
    request = {"fd": theirs.fileno(), "expression": until.expression, "tracepoint": until.tracepoint}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([*words, "-batch", "-ex", child.MAIN.format("gtp.inside.until")], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, pass_fds=[theirs.fileno()], start_new_session=True,
                                   env=child.environment(request))
        theirs.close()
        try:
            is_ready = ours.recv(1)
        except KeyboardInterrupt:
            process.kill()
            raise
        if not is_ready:
            process.wait()
            log.seek(0)
            raise Failure(child.silence(log.read()))
    ours.set_inheritable(True)
    return ours.detach()


def words(given):
    """Yield the arguments of gtp-drain that only gtp record uses."""
    if given.seconds:
        yield from ("--for", "%dms" % max(1, round(given.seconds * 1000)))
    if given.size:
        yield from ("--size", str(given.size))
    if given.rotate:
        yield from ("--rotate", str(given.rotate))
    if given.until is None:
        return
    until = Until(given.until)
    if until.frames:
        yield from ("--until", until.text.strip())
    else:
        yield from ("--ask", str(asked(until, given.vmlinux, given.pipe)))


def prepare():
    """Check that the user is root, and that the loaded module offers the pipe of frames."""
    if os.geteuid() != 0:
        raise Failure(ready.NOT_ROOT)
    ready.module()
    if not os.path.exists(PIPE):
        raise Failure(NO_PIPE % PIPE)


def snapshot(given):
    become(given, lambda: ["--snapshot"])


def become(given, more):
    """Replace this process with gtp-drain. MORE() returns further arguments for gtp-drain. It is called after the
    module has been loaded."""
    program = tools.gtp_drain()
    if not given.pipe:
        prepare()
    os.execv(program, [program, "-o", given.output, *(["--pipe", given.pipe] if given.pipe else []), *more()])


def run(given):
    if given.rotate and not given.size:
        sys.stderr.write(told(NO_SIZE))
        return USAGE
    become(given, lambda: words(given))
