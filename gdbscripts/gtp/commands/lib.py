# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp lib`: give a program or a library a range of addresses of its own, and load its symbols there.
#
# Each process may map a file at another address, and an address in a packet does not say which process is meant. So the
# module gives each file a file space (base/space.h), in which a place has the same address for all processes. GDB loads
# the file's symbols there, and the pc in frames is an address in it.
import os
import re

import gdb

from gtp.commands import modules
from gtp.formats import space
from gtp.gdblib import gdbcall, remote, screen, words
from gtp.gdblib.command import Command
from gtp.places import functions, points
from gtp.run import source

USAGE = "gtp lib [--at PATH] FILE"
SHF_ALLOC = 2

OTHER_BUILD = """{file} is another build than {there} on the traced machine: its places are wrong there
  build-id of {file}: {ours}
  build-id of {there}: {theirs}"""


class Program:
    """A file with symbols. there: its path on the traced machine. base: the address at which its file space begins."""

    def __init__(self, path, there, base):
        self.path, self.there, self.base = path, there, base
        self.time = os.stat(path).st_mtime_ns
        self.own = None  # GDB's objfile of this file; files of other containers may have the same path

    def is_current(self, base):
        """Return whether the file's symbols are loaded at this base, and the file has not been written since."""
        return self.base == base and self.time == os.stat(self.path).st_mtime_ns and self.objfile() is not None

    def has(self, address):
        return self.base <= address < self.base + space.SIZE

    def inside(self):
        """Return an address in one of the program's sections."""
        with functions.opened(self.path) as elf:
            return self.base + next(section[3] for section in elf.sections if section[2] & SHF_ALLOC and section[3])

    def objfile(self):
        """Return GDB's objfile of this program, or None if the user has removed its symbols."""
        return self.own if self.own is not None and self.own.is_valid() else None


def packet(there):
    """Return the module's answer about a file: where its space begins, and its build-id in hex, which may be empty."""
    if not remote.is_gtp():
        raise gdb.GdbError(remote.NOT_CONNECTED)
    answer = source.ask(b"QGtpFile:" + os.fsencode(there).hex().encode())
    found = re.fullmatch(rb"([0-9a-f]+);([0-9a-f]*)", answer)
    if found:
        return int(found.group(1), 16), found.group(2).decode()
    if answer.startswith(b"E."):
        raise gdb.GdbError(answer[2:].decode(errors="replace"))
    raise gdb.GdbError("gdbtp on the traced machine is too old: it knows no programs")


def add_symbols(program, build_id):
    before, files = points.enabled(), gdb.objfiles()
    try:
        gdbcall.execute(modules.without_index_cache("add-symbol-file %s -o %#x" % (modules.quoted(program.path), program.base)))
        program.own = next((one for one in gdb.objfiles() if one not in files and one.owner is None), None)
        ours = program.objfile()
        if ours is not None and build_id and ours.build_id != build_id:
            forget(program)
            raise gdb.GdbError(OTHER_BUILD.format(file=program.path, there=program.there, ours=ours_of(ours), theirs=build_id))
    finally:
        modules.enable_again(before)


def ours_of(objfile):
    return objfile.build_id if objfile.is_valid() and objfile.build_id else "none"


def forget(program):
    try:
        gdbcall.execute("remove-symbol-file -a %#x" % program.inside())
    except (gdb.error, OSError, ValueError, StopIteration):
        pass  # the user has already removed the symbols, or the file no longer exists


def known(path, there=None):
    """Return the Program of a file. Load its symbols at the base that the module has for it now."""
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(path):
        raise gdb.GdbError("%s does not exist; is it elsewhere on the traced machine? %s" % (path, USAGE))
    there = there or path
    base, build_id = packet(there)
    before = space.programs.get((path, there))
    if before is not None and before.is_current(base):
        return before
    if before is not None:
        forget(before)
    program = Program(path, there, base)
    functions.programs.add(os.path.realpath(path))
    add_symbols(program, build_id)
    space.programs[path, there] = program
    return program


class GtpLib(Command):
    """Load the symbols of a program or a library, to trace it in all processes.

gtp lib [--at PATH] FILE
FILE gets a space of addresses that no process has, and its symbols are loaded
there. A tracepoint there is in each process that runs the program or has the
library, also in those that start later. PATH is the file on the traced machine,
if it has another name there; /proc/PID/exe and /proc/PID/root/PATH find files
of other mount namespaces, and files that have been removed. Without FILE, lists
the files."""

    def __init__(self):
        super().__init__("gtp lib", gdb.COMMAND_FILES, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        rest, found = words.options(arg, USAGE, valued=("--at",))
        if not rest and not found:
            screen.put(remote.monitor("files") or "no file of a program is known\n")
            return
        if len(rest) != 1:
            raise gdb.GdbError("one FILE, please; say %s" % USAGE)
        program = known(rest[0], found.get("--at"))
        screen.say("%s is at %#x" % (program.there, program.base))


GtpLib()
