# SPDX-License-Identifier: GPL-2.0-only
# Runs inside GDB for `gtp compile`: executes the commands of a session. The target is gdbtp-record, which has only a
# vmlinux file instead of a running kernel.
import os
import re
import shlex

import gdb

from gtp.commands import check, show
from gtp.gdblib import gdbcall, remote
from gtp.gdblib.command import Command
from gtp.inside import reply
from gtp.places import places
from gtp.run import aggtypes, outfile, tail

SETTINGS = ("confirm off", "pagination off", "width 0", "height 0", "breakpoint pending off", "remotetimeout 60",
            "print inferior-events off")
NO_CONTENTS = """%s has debug information but not the kernel's code and data: it was split off.
Take the whole vmlinux, as Debian's -dbg packages have it"""
NO_RUN = """the session does not start a run on the target that it finds connected: leave target remote and
disconnect out of it"""
NO_FILES = """nothing is traced while a session is compiled: it would write %s without a frame.
Leave out the commands after tstart that write files"""
NO_QUIT = "a compiled session has no quit: later lines would not be read. Leave it out"
DPRINTF = """dprintf %d cannot be compiled: it prints where GDB waits, and there is none later. Write a tracepoint
that collects what is to be printed"""


def address(name):
    """Return the address of a symbol, or None if there is none."""
    try:
        return gdbcall.address(name)
    except gdb.error:
        return None


def release():
    """Return the release that the kernel of this vmlinux reports."""
    try:
        banner = gdbcall.value("(char *)&linux_banner").string(length=200, errors="replace")
    except gdb.error:
        return "unknown"
    found = re.match(r"Linux version (\S+)", banner)
    return found.group(1) if found else "unknown"


# Kernel tracepoints, as the kernel's own tables list them -----------------------------------------


def fields(call):
    """Return the module's text for an event's fields. The table ends with a NULL type, or with a special one."""
    found, at = [], call["class"]["fields_array"]
    while 0 < int(at["type"]) % 2**64 < 2**64 - 1:
        kind, length = at["type"].string(), int(at["len"])
        if length > 0:
            kind = re.sub(r"\[.*", "[%d]" % length, kind)
        found.append("%s %s;" % (kind, at["name"].string()))
        at += 1
    return " ".join(found)


def events():
    """Yield (marker, id, fields) of each event on a tracepoint of the kernel itself."""
    start, end = (address(name) for name in ("__start_ftrace_events", "__stop_ftrace_events"))
    if start is None or end is None:
        return
    pointer = gdb.lookup_type("struct trace_event_call").pointer().pointer()
    is_tracepoint = int(gdbcall.value("TRACE_EVENT_FL_TRACEPOINT"))
    for n in range((end - start) // 8):
        call = (gdb.Value(start).cast(pointer) + n).dereference()
        if int(call["flags"]) & is_tracepoint and call["class"]["probe"]:
            tp = call["tp"].dereference()
            name = "%s:%s" % (call["class"]["system"].string(), tp["name"].string())
            yield int(tp["iterator"]) % 2**64, name, fields(call)


def write_markers(path):
    """Write the list of markers for gdbtp-record, in the order in which the module would list them."""
    with open(path, "w", encoding="utf-8") as file:
        for marker, name, extra in sorted(events(), key=lambda event: event[1]):
            file.write("%x %s\t%s\n" % (marker, name, extra))


# The session --------------------------------------------------------------------------------------


def connect(request, file, text):
    """Connect to gdbtp-record."""
    words = [request["record"], "--text=%#x" % text, "--slide=%#x" % request["slide"],
             "--build-id=" + file.build_id, "--release=" + release(), "--markers=" + request["markers"],
             "--output=" + request["packets"], file.filename]
    gdbcall.execute("target remote | " + " ".join(map(shlex.quote, words)))
    if address("linux_banner") is not None and not check.banner_is_there():
        raise gdb.GdbError(NO_CONTENTS % file.filename)


def refuse_dprintf():
    found = re.search(r"^(\d+)\s+dprintf\s", gdbcall.execute("info breakpoints"), re.M)
    if found:
        raise gdb.GdbError(DPRINTF % int(found.group(1)))


def refuse_files():
    """Refuse all commands that write files: they would replace a saved run by an empty one."""
    def refuse(path, **_):
        raise gdb.GdbError(NO_FILES % path)

    outfile.whole = refuse
    Refuse("tsave", NO_FILES % "the file of tsave")


class Refuse(Command):
    """A hook that refuses a GDB command that a session must not contain, and says why."""

    def __init__(self, command, why):
        super().__init__("gtp-refuse-" + command, gdb.COMMAND_OBSCURE)
        self.why = why
        gdbcall.block("define hook-" + command, "gtp-refuse-" + command, "end")

    def invoke(self, arg, from_tty):
        raise gdb.GdbError(self.why)


def say_into(path):
    """Redirect the output of GDB and of the session's shell commands to a file, which is shown to the user."""
    gdb.flush()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def play(request):
    """Execute the user's commands, and tstart if they lack it."""
    refuse_files()
    Refuse("quit", NO_QUIT)
    say_into(request["said"])
    gdbcall.execute("source " + request["session"], shown=True)
    refuse_dprintf()
    if not os.path.exists(request["packets"]) and remote.is_gtp():
        gdbcall.execute("tstart", shown=True)
    if not os.path.exists(request["packets"]):
        raise gdb.GdbError(NO_RUN)


def compiled(request):
    """Play the session. Return the data that the compiled file needs besides the packets."""
    file = check.main_objfile()
    text, end = address("_text"), address("_end")
    if text is None or end is None or not file.build_id:
        raise gdb.GdbError("%s is not a vmlinux: it has no _text, no _end or no build-id" % file.filename)
    write_markers(request["markers"])
    found = {"text": text, "end": end, "build_id": file.build_id, "release": release()}
    connect(request, file, text)
    play(request)
    variables = " ".join(aggtypes.variables)
    found["names"] = list(tail.name_lines(variables))
    found["keys"] = sorted(show.known_stacks().keys)
    return found


def plain(text):
    """Extract the module's message from GDB's message."""
    text = re.sub(r"Protocol error with Rcmd.*", "the monitor command is refused; the module's words are above", text)
    return re.sub(r"Target returns error code '\.?(.*)'\.$", r"\1", text.strip())


def advised(text, slide):
    """If a place that was typed as a number is refused, say what to type instead."""
    found = re.search(r"(0x[0-9a-f]+) is typed as a number", text)
    return text + ": " + places.address(int(found.group(1), 16) + slide) if found else text


def answered(request):
    """Return the result of compiled(). Turn its errors into sentences that the user can act on."""
    try:
        return compiled(request)
    except (gdb.GdbError, RuntimeError) as error:  # includes gdb.error
        raise gdb.GdbError(advised(plain(str(error)), request["slide"])) from None


def main():
    reply.answer(SETTINGS, answered)
