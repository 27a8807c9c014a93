# SPDX-License-Identifier: GPL-2.0-only
"""Tests that words of the command line arrive unchanged, with blanks and quotes, as arguments of commands in GDB."""
import importlib
import shlex
import sys
import types
from unittest import mock

from gtp.shell import options
from tap import equal, test

ODD = ("/my src", "it's", 'a "b" c', "back\\slash", "a\tb", "'", "$x *?[1]", "-v w")


def executed(function, request):
    """Call a function of gtp's inside/session.py, imported with a fake module gdb. Return the line that GDB would execute."""
    with mock.patch.dict(sys.modules, gdb=mock.MagicMock(error=RuntimeError, GdbError=RuntimeError)):
        session = importlib.import_module("gtp.inside.session")
    lines = []
    door = types.SimpleNamespace(execute=lines.append)
    with mock.patch.object(session, "gdbcall", door):
        getattr(session, function)(request, mock.MagicMock())
    equal(len(lines), 1)
    return lines[0]


def shown(*words):
    return executed("command", {"words": options.words(options.parser().parse_args(words))})


@test("folders and patterns with blanks, quotes and backslashes are one word in GDB; an expression stays as it is")
def whole():
    for odd in ODD:
        equal(shlex.split(shown("lines", "vfs_read", odd)), ["gtp", "lines", "vfs_read", odd])
        equal(shlex.split(executed("load_modules", {"modules": odd})), ["gtp", "modules", odd])
        equal(shlex.split(shown("events", "-v", "--", odd)), ["gtp", "events", "-v", odd])
    equal(shown("lines", "vfs_read"), "gtp lines vfs_read")
    equal(shown("events"), "gtp events")
    equal(executed("load_modules", {"modules": None}).split(), ["gtp", "modules"])
    equal(shown("explain", "vfs_read + 0x20"), "gtp explain vfs_read + 0x20")
