# SPDX-License-Identifier: GPL-2.0-only
# Asks gdbtp-regions, the tool that knows where a jump may replace an instruction.
import os
import shutil
import subprocess

import gdb

from gtp.gdblib import gdbcall
from gtp.text import infosymbol

NAME = "gdbtp-regions"
BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/tools", NAME)

MISSING = """%s is not installed. It comes with gdbtp's tools (make tools; needs libzydis-dev,
libdw-dev and libelf-dev); if it is elsewhere, set GDBTP_REGIONS to its path""" % NAME


def tool():
    for path in (os.environ.get("GDBTP_REGIONS"), BUILT, shutil.which(NAME)):
        if path and os.access(path, os.X_OK):
            return path
    raise gdb.GdbError(MISSING)


def ask(*arguments):
    """Return the output of gdbtp-regions. No shell is involved, so names may have blanks and quotes."""
    done = subprocess.run([tool(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True)
    if done.returncode:
        raise gdb.GdbError(done.stderr.strip() or "%s ended with %d" % (NAME, done.returncode))
    return done.stdout


def address(text):
    """Return the address that the user's text names. The text is an expression or a place in the source."""
    text = text.strip()
    if not text:
        raise gdb.GdbError("which place? An expression such as FUNCTION+OFFSET, or FILE:LINE")
    if text.startswith("*"):
        text = text[1:]
    try:
        return int(gdbcall.value("(unsigned long)(%s)" % text))
    except gdb.error as error:
        reason = error
    try:
        places = gdbcall.decoded(text)[1]
    except gdb.error:
        raise gdb.GdbError(str(reason))
    if not places or not places[0].pc:
        raise gdb.GdbError("no code is at %s" % text)
    return places[0].pc


def symbol(pc):
    """Return name, offset and file of the symbol at an address, as GDB knows them."""
    found = infosymbol.parse(gdbcall.execute("info symbol %#x" % pc))
    if not found:
        raise gdb.GdbError("no symbol file covers %#x" % pc)
    return found.name, found.offset, found.file or gdb.current_progspace().filename


def files(path):
    """Return the tool's arguments for a symbol file: the file with the code, and the one with the DWARF."""
    for objfile in gdb.objfiles():
        if objfile.filename != path:
            continue
        if objfile.owner is not None:
            return [objfile.owner.filename, "--debug", path]
        for other in gdb.objfiles():
            if other.owner is not None and other.owner.filename == path:
                return [path, "--debug", other.filename]
    return [path]


def about(command, pc, *more):
    """Ask gdbtp-regions about an address. Pass it the address in the running kernel, or else the function's name and an
    offset."""
    name, offset, path = symbol(pc)
    arguments = files(path)
    if path == gdb.current_progspace().filename:
        try:
            start = int(gdbcall.value("(unsigned long)&_text"))
            return ask(command, arguments[0], "%#x" % pc, "--at", "_text=%#x" % start,
                       *arguments[1:], *more)
        except gdb.error:
            pass  # there is no kernel, so use names
    return ask(command, arguments[0], "%s+%#x" % (name, offset), *arguments[1:], *more)
