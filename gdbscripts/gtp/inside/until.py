# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside GDB for `gtp record --until EXPRESSION`: compiles the condition to bytecode, which gtp-drain evaluates.

gtp-drain has the run's header and the frames, GDB has the types. The kernel would get the same bytecode for the
condition at that place; tools/record/until.h describes the lines that carry it.
"""
import json
import os
import socket
import tempfile

import gdb

from gtp import cexpr
from gtp.formats import marks
from gtp.formats.error import Damaged
from gtp.formats.tracefile import TraceFile
from gtp.gdblib import gdbcall, traceframe
from gtp.places import names
from gtp.run import bytecode, kaslr
from gtp.view import columns

SETTINGS = ("confirm off", "pagination off", "width 0", "height 0", "language c")
READY = b"."


def code(expression, location):
    """Return the bytecode for a condition, as text. The frame selected in GDB must be at LOCATION."""
    own = int(gdbcall.value("$tracepoint"))
    text = cexpr.condition(names.expand(expression, own, location.address), gdb.selected_frame().pc())
    return ";".join(" ".join(word for word in line[1:] if word) for line in bytecode.lines(text))


def reason(error):
    """Return the first line of an error."""
    return columns.sentence(error).strip().partition("\n")[0]


def conditions(locations, expression):
    """Return the lines for gtp-drain with the condition's bytecode at each place. Raise an error if the condition
    compiles at none."""
    found, refused = [], []
    for index, location in enumerate(locations):
        traceframe.select(index)
        text = ""
        try:
            text = code(expression, location)
        except (gdb.error, gdb.GdbError, cexpr.Error, bytecode.Unknown) as error:
            refused.append((location, error))
        found.append("= %x %x %x %s" % (location.number, location.address, location.known, text))
    if len(refused) == len(locations):
        raise gdb.GdbError("--until %s: %s" % (expression, columns.sentence(refused[0][1]).strip()))
    return ["- tracepoint %d cannot have the last frame: %s" % (location.number, reason(error))
            for location, error in refused] + found


def lines(request, header, path):
    """Return the lines for gtp-drain for the run that has this header."""
    trace = TraceFile(header + marks.END, None)
    wanted = request["tracepoint"]
    if wanted is not None and wanted not in trace.locations:
        raise gdb.GdbError("the run has no tracepoint %d; there are %s" %
                           (wanted, ", ".join(map(str, sorted(trace.locations))) or "none"))
    locations = [location for number in sorted(trace.locations) if wanted in (None, number)
                 for location in trace.locations[number].values()]
    if not locations:
        raise gdb.GdbError("the run has no tracepoints")
    with open(path, "wb") as file:
        file.write(header + b"".join(trace.frame_at(location) for location in locations) + marks.END)
    wrong = kaslr.another(path)
    if wrong:
        raise gdb.GdbError(wrong)
    gdbcall.execute("target tfile " + path)
    return conditions(locations, request["expression"])


def answer(request, header):
    """Return the lines for gtp-drain. If they cannot be made, return lines that say why."""
    try:
        with tempfile.TemporaryDirectory(prefix="gtp-") as folder:
            return lines(request, header, folder + "/places.tf")
    except (gdb.GdbError, Damaged, OSError, RuntimeError) as error:  # includes gdb.error
        *first, last = str(error).splitlines() or ["GDB cannot say why"]
        return ["- " + line for line in first] + ["! " + last]


def received(line):
    parts = []
    while not parts or parts[-1]:
        parts.append(line.recv(1 << 20))
    return b"".join(parts)


def main():
    request = json.loads(os.environ.pop("GTP_SHELL"))
    for setting in SETTINGS:
        gdbcall.execute("set " + setting)
    try:
        with socket.socket(fileno=request["fd"]) as line:
            line.sendall(READY)
            header = received(line)
            if header:
                line.sendall("\n".join([*answer(request, header), ".\n"]).encode(errors="replace"))
    except ConnectionError:
        pass  # gtp-drain has ended
    gdbcall.execute("quit", shown=True)
