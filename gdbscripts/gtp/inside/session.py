# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside GDB: does the work of the shell command `gtp`, and reports to it by lines of JSON.

The environment variable GTP_SHELL holds the request: the command, its arguments, and "fd", the descriptor of the socket
to `gtp`. The messages on the socket are: doing (long work has begun), note, text, error, ready (the layout of the
rows), counts, frames.
"""
import contextlib
import json
import os
import re
import socket

import gdb

from gtp.gdblib import gdbcall, progress, remote, runstate, words
from gtp.inside import atend, values
from gtp.places import names, points
from gtp.shell import rowcode

UNKNOWN = re.compile(r"gtp modules|No symbol|not defined|no function matches|No source file|no event matches")
SETTINGS = ("confirm off", "pagination off", "width 0", "height 0", "remotetimeout 600", "dprintf-style agent",
            "breakpoint pending off", "language c")


class Channel:
    """The socket to the shell command `gtp`."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.file = self.socket.makefile("r")

    def say(self, **words):
        self.socket.sendall(json.dumps(words).encode() + b"\n")

    def hear(self):
        """Return the next word that the shell command `gtp` sends, or "stop" if that command has exited."""
        return json.loads(self.file.readline() or '"stop"')


class Place:
    """One address of a tracepoint, with the columns of the rows for its hits."""

    def __init__(self, number, pc, condition, columns):
        self.number, self.pc, self.condition, self.columns = number, pc, condition, columns
        self.nulls = [index for index, column in enumerate(columns) if column.null]
        self.arguments = [column.argument for column in columns] + [columns[index].null for index in self.nulls]
        self.least = 1

    def parts(self):
        return rowcode.layout([c.kind["kind"] == "string" for c in self.columns], self.least, len(self.nulls))

    def spec(self):
        return {"name": function(self.pc), "parts": len(self.parts()),
                "columns": [dict(c.kind, title=c.title) for c in self.columns], "nulls": self.nulls}

    def argument(self, field):
        """Return the expression that GDB compiles for a field of a row."""
        if isinstance(field.what, int):
            return self.arguments[field.what]
        return {rowcode.CLOCK: "$clock", rowcode.CPU: "$cpu_id", rowcode.TASK: "$cpu_id << 32 | $current_task_pid",
                rowcode.TASK_NAME: values.column("task", "current->comm", self.number, self.pc).argument}[field.what]

    def arm(self, mark, index):
        """Define the dprintfs of this place. GDB sends them to the module at the next `continue'."""
        for part, fields in enumerate(self.parts()):
            text = rowcode.template(mark, index, part, fields, lambda column: self.columns[column].room)
            gdbcall.execute('dprintf *%#x,"%s",%s' % (self.pc, text, ",".join(map(self.argument, fields))))
            if self.condition:
                gdbcall.execute("condition $bpnum " + self.condition)


def function(pc):
    """Return the name of the function that contains PC. If PC is the address of an event, return the event's name."""
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    name = block.function.name if block is not None else "%#x" % pc
    return re.sub(r"^__traceiter_|^__x64_sys_", "", name)


def define(request, channel):
    """Set the tracepoints with the GDB command `gtp VERB`. Return their numbers. Load a module's symbols if they are
    missing."""
    line = "gtp %s --limit %d %s" % (request["verb"], request["limit"], request["place"])
    before = points.numbers()
    if request["modules"] is not None:
        load_modules(request, channel)
    progress.say = lambda text: channel.say(doing=text)
    try:
        told = gdbcall.execute(line)
    except gdb.error as error:
        if request["modules"] is not None or not UNKNOWN.search(str(error)):
            raise
        load_modules(request, channel)
        told = gdbcall.execute(line)
    for one in told.splitlines():
        if not re.match(r"Tracepoint \d+ at", one):
            channel.say(note=one)
    return sorted(points.numbers() - before)


def load_modules(request, channel):
    channel.say(doing="reading the symbols of modules")
    gdbcall.execute("gtp modules " + words.quoted(request["modules"] or ""))


def wanted(request, numbers):
    """Return the numbers of the tracepoints whose hits are shown. For system calls these are the exits, or with --enter
    the entries."""
    if request["verb"] != "syscall":
        return numbers
    at_exit = [n for n in numbers if "$ret" in names.of(n).stands_for]
    if not request["enter"]:
        return at_exit
    entries = [n for n in numbers if n not in at_exit]
    if not entries:
        raise gdb.GdbError("$ret is known when the call returns, and --enter shows it when it begins")
    return entries


def condition(number):
    found = re.search(r"^\ttrace only if (.*)$", points.listing(number), re.M)
    return found.group(1) if found else None


def places(request, numbers, channel):
    """Return the Places of all tracepoints. If a tracepoint cannot have the requested columns, report it, and leave it
    out unless it is the only one."""
    found, refused = [], []
    for number in progress.over(numbers, "looking up the columns of tracepoints"):
        for pc in sorted(set(points.addresses(number))):
            try:
                viewed = not request["csv"]  # programs that read a CSV file want plain numbers
                columns = (values.typed(request["collect"], number, pc, viewed) if request["collect"] else
                           values.usual(request["verb"], number, pc, viewed))
                found.append(Place(number, pc, condition(number), columns))
            except values.NotCarried:
                raise
            except (gdb.error, gdb.GdbError) as error:
                refused.append((function(pc), pc, error))
    if not found:
        raise refused[0][2]
    for name, pc, error in refused:
        channel.say(note="not set: %s (%#x): %s" % (name, pc, str(error).splitlines()[0]))
    most = max(len(place.parts()) for place in found)
    for place in found:
        place.least = most
    return found


def counted():
    """Return the number of hits and of drops of all dprintfs so far."""
    found = re.search(r"all so far: (\d+) hits, (\d+) lines printed, (\d+) dropped", remote.monitor("dprintf"))
    return [int(n) for n in found.groups()]


@contextlib.contextmanager
def on_console():
    """Context manager: send the text of dprintfs to GDB's console. At the end restore the user's choice of monitor
    dprintf."""
    shown = remote.monitor("dprintf")
    before = next((word for word, where in (("trace", "kernel's trace"), ("log", "kernel's log")) if where in shown),
                  "console")
    remote.monitor("dprintf console")
    try:
        yield
    finally:
        remote.monitor("dprintf " + before)


def refuse_others():
    """Refuse to run if other clients of the module have dprintfs: when this connection ends, the module would remove
    their dprintfs, too."""
    if re.search(r"\b0x[0-9a-f]+\b", remote.monitor("dprintf")):
        raise gdb.GdbError("dprintfs of another session are armed, which would end with this one; "
                           "take them out first: gtp gdb, monitor dprintf clear")


def live(found, channel):
    """Wait in a `continue' while the shell command `gtp` prints the rows."""
    refuse_others()
    before, mark = counted(), rowcode.new_mark()
    for index, place in enumerate(found):
        place.arm(mark, index)
    most = len(found[0].parts())
    channel.say(ready={"places": [place.spec() for place in found], "lines": most, "mark": mark})
    with on_console():
        gdbcall.execute("continue")
    hits, _, dropped = (now - then for now, then in zip(counted(), before))
    channel.say(counts={"hits": hits // most, "dropped": dropped})


def trace(request, channel):
    if runstate.state() == runstate.RUNNING:
        raise gdb.GdbError("a trace run is going on already; end it first: gdb, target remote /proc/gtp, tstop")
    numbers = wanted(request, define(request, channel))
    try:
        if request["at_end"]:
            raise values.NotCarried("--at-end")
        found = places(request, numbers, channel)
    except values.NotCarried as reason:
        atend.run(request, numbers, str(reason), channel)
        return
    gdbcall.execute("delete " + " ".join(map(str, points.numbers())))
    live(found, channel)


def command(request, channel):
    """Run a GDB command that only prints. Quote its words, except the place of gtp explain, which is an expression."""
    name, *given = request["words"]
    channel.say(text=gdbcall.execute(" ".join(["gtp", name, *(given if name == "explain" else map(words.quoted, given))])))


def do(request, channel):
    for setting in SETTINGS:
        gdbcall.execute("set " + setting)
    channel.say(doing="")
    gdbcall.execute("target remote " + request["target"])
    gdbcall.execute("gtp check")
    (trace if request["command"] == "trace" else command)(request, channel)


def main():
    request = json.loads(os.environ.pop("GTP_SHELL"))
    channel = Channel(request["fd"])
    status = 0
    try:
        do(request, channel)
    except (gdb.error, gdb.GdbError, RuntimeError) as error:
        channel.say(error=str(error).strip())
        status = 1
    except OSError:
        status = 1  # the shell command `gtp` has exited
    gdbcall.execute("quit %d" % status, shown=True)
