# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp unwind`: send the call frame information of programs and libraries to the module, so that $ustack follows
# their functions without frame pointers.
import os
import re
import shutil
import subprocess
import tempfile

import gdb

from gtp.commands import lib
from gtp.gdblib import remote, screen, words
from gtp.gdblib.command import Command
from gtp.run import source

NAME = "gdbtp-unwind"
BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/tools", NAME)
USAGE = "gtp unwind [--at PATH] FILE..., or gtp unwind -p PID"
PIECE = 4096  # bytes in a packet, which has two digits for each
VDSO = "vdso"
# A line of /proc/PID/maps: an executable mapping of a file that still has its name.
CODE = re.compile(r"^\S+ \S\Sx\S \S+ \S+ \d+ +(/.*?)$", re.M)

MISSING = """%s is not installed. It comes with gdbtp's tools (make tools; needs libdw-dev);
if it is elsewhere, set GDBTP_UNWIND to its path""" % NAME


def tool():
    for path in (os.environ.get("GDBTP_UNWIND"), BUILT, shutil.which(NAME)):
        if path and os.access(path, os.X_OK):
            return path
    raise gdb.GdbError(MISSING)


def table(path):
    """Return the table of a file. Raise an error if it has no call frame information."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "table")
        done = subprocess.run([tool(), "table", "-o", out, "--", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise gdb.GdbError(done.stderr.decode(errors="replace").strip() or "%s ended with %d" % (NAME, done.returncode))
        with open(out, "rb") as f:
            return f.read()


def send(base, bytes_):
    """Send a table to the module. BASE is the first address of the file's space, or 0 for the vDSO."""
    for at in range(0, len(bytes_), PIECE):
        part = bytes_[at:at + PIECE]
        answer = source.ask(b"QGtpFrames:%x:%x:%x:%s" % (base, at, len(bytes_), part.hex().encode())) or b""
        if answer != b"OK":
            raise gdb.GdbError(answer[2:].decode(errors="replace") if answer[:2] == b"E." else
                               "gdbtp on the traced machine is too old: it takes no call frame information")


def load(path, there=None):
    """Load the call frame information of a file, and its symbols. Return the size of the table."""
    program = lib.known(path, there)
    bytes_ = table(program.path)
    send(program.base, bytes_)
    return len(bytes_)


def files_of(pid):
    """Return the files that a process of this machine executes."""
    if not source.is_local():
        raise gdb.GdbError("process %s is on another machine; name its files: %s" % (pid, USAGE))
    try:
        with open("/proc/%d/maps" % int(pid), errors="surrogateescape") as f:
            found = CODE.findall(f.read())
    except (OSError, ValueError) as error:
        raise gdb.GdbError("process %s: %s" % (pid, error)) from None
    return [path for path in dict.fromkeys(found) if not path.endswith(" (deleted)")]


def report(path, action):
    """Load one of several files. Return whether that succeeded; if not, say why and go on with the others."""
    try:
        screen.say("%s: %d KiB" % (path, -(-action() // 1024)))
    except gdb.GdbError as error:
        screen.say("%s: left out: %s" % (path, error))
        return False
    return True


def load_vdso():
    bytes_ = table(VDSO)
    send(0, bytes_)
    return len(bytes_)


class GtpUnwind(Command):
    """Load call frame information, by which $ustack follows programs without frame pointers.

gtp unwind [--at PATH] FILE...
gtp unwind -p PID
FILE is a program or a library; PID is a process, whose program and libraries are
loaded. The files' symbols are loaded too, so that gtp stacks names their
functions. PATH is the file on the traced machine, if it has another name there.
The information is used in all processes that map these files, until GDB
disconnects and the run has ended."""

    def __init__(self):
        super().__init__("gtp unwind", gdb.COMMAND_FILES, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        rest, found = words.options(arg, USAGE, valued=("--at", "-p"))
        if not remote.is_gtp():
            raise gdb.GdbError(remote.NOT_CONNECTED)
        if bool(rest) == ("-p" in found) or ("--at" in found and len(rest) != 1):
            raise gdb.GdbError("say %s" % USAGE)
        if len(rest) == 1:
            screen.say("%s: %d KiB" % (rest[0], -(-load(rest[0], found.get("--at")) // 1024)))
        else:
            for path in rest or files_of(found["-p"]):
                report(path, lambda path=path: load(path))
        if source.is_local():
            report(VDSO, load_vdso)


GtpUnwind()
