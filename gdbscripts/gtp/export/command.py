# SPDX-License-Identifier: GPL-2.0-only
# The GDB command `gtp export`: writes the run as a file in another program's format.
import re

import gdb

from gtp.export import registry
from gtp.gdblib import screen, words
from gtp.gdblib.command import Command

USAGE = "gtp export FORMAT FILE [...]"
ABOUT = """Write the run as a file for other programs.

gtp export FORMAT FILE [...]
From a connection or a trace file. FILE is written as a whole or not at all.
FORMAT, and what may stand behind FILE:
"""


def about():
    """Return the help text of `gtp export`, with a few lines for each format."""
    return ABOUT + "".join("  %s FILE %s\n    %s\n" % (one.name, one.takes, one.about.replace("\n", "\n    "))
                           for one in registry.formats.values()).rstrip()


def split(arg):
    """Return FORMAT, FILE without its quotes and backslashes, and the text after it."""
    found = re.match(r"""\s*(\S+)\s+((?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)(.*)""", arg, re.S)
    if not found:
        raise gdb.GdbError("say %s; FORMAT is one of %s" % (USAGE, ", ".join(registry.formats)))
    name, file, rest = found.groups()
    if file.startswith("-"):
        raise gdb.GdbError("the file stands in front of %s; say %s" % (file, USAGE))
    return name, "".join(gdb.string_to_argv(file)), rest.strip()


class GtpExport(Command):
    def __init__(self):
        self.__doc__ = about()
        super().__init__("gtp export", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        name, file, rest = split(arg)
        if name not in registry.formats:
            raise gdb.GdbError("no format %s; there are %s" % (name, ", ".join(registry.formats)))
        screen.put(registry.export(name, file, rest))

    def complete(self, text, word):
        if " " in text.lstrip():
            return gdb.COMPLETE_FILENAME
        return words.completed(sorted(registry.formats), text, word)


GtpExport()
