# SPDX-License-Identifier: GPL-2.0-only
"""Tests which messages the command gtp gets from a run with frames (--at-end). A table of answers stands in for GDB."""
import importlib
import os
import re
import socket
import sys
import types
from unittest import mock

from tap import equal, test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_ARMED = ("gdbtp: tracepoint 1 is not armed at 0x10 (f): it is on the list\n"
             "gdbtp: 1 of 2 places is not armed; monitor probes lists them all\n")


def of_gdb():
    """Return the module atend.py, imported with a fake module gdb."""
    fake = mock.MagicMock(error=RuntimeError, GdbError=RuntimeError)
    with mock.patch.dict(sys.modules, gdb=fake):
        return importlib.import_module("gtp.inside.atend")


class Channel:
    """Stands in for the channel to the shell command `gtp`. It stores the messages for the command, and does not send
    them."""

    def __init__(self):
        self.socket, self.peer = socket.socketpair()
        self.told = []

    def say(self, **words):
        self.told += words.items()

    def hear(self):
        return "go"

    def close(self):
        self.socket.close()
        self.peer.close()


def told(how, tstart="", **settings):
    """Let atend.run(), with a fake GDB, show a run that has ended for the reason HOW. Return the notes and the texts that the
    command gets."""
    atend, channel = of_gdb(), Channel()
    request = dict(collect=None, count=None, csv=None)
    request.update(settings)
    answers = {"tstart": tstart, "gtp table": "the table\n"}
    gdb = types.SimpleNamespace(error=RuntimeError, GdbError=RuntimeError)
    door = types.SimpleNamespace(execute=lambda line: next(
        (text for begin, text in answers.items() if line.startswith(begin)), ""))
    with mock.patch.object(atend, "gdb", gdb), mock.patch.object(atend, "gdbcall", door), mock.patch.object(atend, "points"), \
            mock.patch.object(atend.runstate, "state", lambda: how), mock.patch.object(atend.runstate, "refresh"):
        atend.run(request, [1], "--at-end", channel)
    channel.close()
    return [[text for word, text in channel.told if word == wanted] for wanted in ("note", "text")]


@test("--at-end: a place that is not armed is reported, and nothing else that tstart prints")
def not_armed():
    notes = [line[len("gdbtp: "):] for line in NOT_ARMED.splitlines()]
    equal(told("the trace was stopped by tstop", "Target returns no error.\n" + NOT_ARMED), [notes, ["the table\n"]])
    equal(told("the trace was stopped by tstop"), [[], ["the table\n"]])


@test("--at-end: the reason for an early end is printed, even with --count; an end by --count or ^C is not reported")
def why():
    with open(os.path.join(TOP, "stub/wait.c"), encoding="utf-8") as file:
        sentences = re.findall(r'"(the trace (?:was )?stopped\b[^"]*)"', file.read())
    equal(len(sentences), 6)
    for sentence in sentences:
        how = sentence.replace("%u", "1").replace("%s", "cannot read memory at 0x10 (8 bytes)")
        silent = "pass count" in how or how.endswith("by tstop")
        for count in (None, 5):
            equal(told(how, count=count), [[] if silent else [how], ["the table\n"]], how)
