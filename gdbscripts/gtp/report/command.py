# SPDX-License-Identifier: GPL-2.0-only
# The GDB command `gtp report`: writes the run as one HTML page for a browser.
import os
import re

import gdb

from gtp.gdblib import remote, screen
from gtp.gdblib.command import Command
from gtp.report import data, page
from gtp.run import outfile, source

USAGE = "gtp report [-o] FILE.html [N] [COLUMN, ...] [if EXPRESSION] [--limit FRAMES]"
FILE = re.compile(r"""\s*(?:(?:-o|--output)(?:\s+|=))?((?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)(.*)""", re.S)


def split(arg):
    """Return the name of the page's file from the command's arguments, and the text after the name."""
    found = FILE.match(arg)
    if not found or re.match(r"-", found.group(1)):
        raise gdb.GdbError("a page needs a name; say %s" % USAGE)
    return os.path.expanduser("".join(gdb.string_to_argv(found.group(1)))), found.group(2).strip()


def amount(number, one, many):
    return "%d %s" % (number, one if number == 1 else many)


class GtpReport(Command):
    """Write the run as one page for a browser, which needs no network.

gtp report [-o] FILE.html [N] [COLUMN, ...] [if EXPRESSION] [--limit FRAMES]
The page shows a stopped run or a trace file: how the run went and what it
missed, a timeline by CPU, task or place, histograms, counts by their keys,
flame graphs, and a table of all frames that can be filtered and sorted.
The arguments after FILE are as for gtp table, and select one tracepoint, other
columns or fewer frames. Without --limit the page has the first 200,000 frames.
FILE is written as a whole or not at all."""

    def __init__(self):
        super().__init__("gtp report", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        path, asked = split(arg)
        if not source.is_trace_file() and not remote.is_gtp():
            raise gdb.GdbError(source.NOTHING)
        found = data.collected(asked, USAGE)
        with outfile.whole(path) as part:
            with open(part, "w", encoding="utf-8") as file:
                file.write(page.page(found))
        screen.put("%s: %s, %s\n" % (path, amount(len(found["frames"]["place"]), "frame", "frames"),
                                    amount(len(found["aggregations"]), "aggregation", "aggregations")))


GtpReport()
