# SPDX-License-Identifier: GPL-2.0-only
# Reads the stopped run as the bytes of a trace file, in the fastest available way.
import contextlib
import os
import re

import gdb

from gtp.gdblib import gdbcall, hooks, remote, runstate
from gtp.run import kaslr

NOTHING = "there is no run to read; say target remote /proc/gtp, or target tfile FILE"
LOCAL = "/proc/gtpframe"
PIECE = 1 << 20
ASKED = 0x3fff  # the size of a packet's data; another byte says whether more follows


def unescaped(data):
    """Return the bytes of a binary reply. A '}' precedes a byte that is sent XORed with 0x20."""
    first, *others = data.split(b"}")
    return first + b"".join(bytes((part[0] ^ 0x20,)) + part[1:] for part in others)


def ask(packet):
    """Return the reply to a packet that only gdbtp answers."""
    return gdb.selected_inferior().connection.send_packet(packet)


def transferred(what):
    """Read an object from gdbtp with packets qXfer:OBJECT:read:ANNEX. WHAT is OBJECT:read:ANNEX. Yield the data of each
    reply."""
    at = 0
    while True:
        reply = ask(b"qXfer:%s:%x,%x" % (what, at, ASKED))
        if reply[:1] not in (b"m", b"l"):
            raise gdb.GdbError(reply[2:].decode(errors="replace") or "the module is older than this command")
        data = unescaped(reply[1:])
        yield data
        at += len(data)
        if reply[:1] == b"l":
            return


def from_file(path):
    try:
        with open(path, "rb") as file:
            while True:
                data = file.read(PIECE)
                if not data:
                    return
                yield data
    except OSError as error:
        if path == LOCAL and error.errno == 16:
            raise gdb.GdbError("the run is going on; tstop ends it, gtp wait waits for its end") from None
        raise gdb.GdbError("%s: %s" % (path, error.strerror)) from None


def is_local():
    """Return whether the kernel that GDB is connected to is this machine's."""
    return os.path.exists(LOCAL) and gdb.selected_inferior().connection.details == remote.DEVICE


def is_trace_file():
    """Return whether GDB's target is a trace file."""
    connection = gdb.selected_inferior().connection
    return connection is not None and connection.type == "tfile"


def opened():
    """Return the path of the file that `target tfile` has opened."""
    found = re.search(r"^Local trace dump file:\n\t`(.*)'", gdbcall.execute("info files"), re.M)
    if not found:
        raise gdb.GdbError(NOTHING)
    return found.group(1)


def check_same(path):
    """Check that the file is the one that GDB has open: if another file has replaced it, GDB still reads the old
    file."""
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink("/proc/self/fd/" + number) == path + " (deleted)":
                raise gdb.GdbError("%s is not the file any more that GDB has read: target tfile FILE again" % path)


def pieces():
    """Return an iterable of the pieces of the run that GDB has open, as bytes of a trace file. Raise an error if there
    is no run."""
    connection = gdb.selected_inferior().connection
    if connection is None:
        raise gdb.GdbError(NOTHING)
    if is_trace_file():
        check_same(opened())
        kaslr.settle(opened())
        return from_file(opened())
    if connection.type == "ctf":
        raise gdb.GdbError("GDB's CTF files are not read by this command; tsave FILE writes what is")
    if not remote.is_gtp():
        raise gdb.GdbError(NOTHING)
    runstate.refresh()
    return from_file(LOCAL) if is_local() else transferred(b"gtpframe:read:")


def whole():
    return b"".join(pieces())


def settle():
    """Called after `target tfile` in a script."""
    if is_trace_file():
        kaslr.settle(opened())


def look(*_):
    """Called before a prompt, because GDB runs no hookpost for a `target tfile` that was typed."""
    global looked
    connection = gdb.selected_inferior().connection
    if connection is not looked:
        looked = connection
        with contextlib.suppress(gdb.error, gdb.GdbError, RuntimeError):
            settle()


looked = None  # GDB's connection at the last prompt
if not hooks.is_defined("target hookpost-tfile"):
    hooks.define("target hookpost-tfile", "gtp.run.source", "settle")
gdb.events.before_prompt.connect(look)
