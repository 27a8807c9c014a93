# SPDX-License-Identifier: GPL-2.0-only
# Before a run, name the enabled tracepoints for which GDB has no address: they are not sent, and have no hits.
import re

from gtp import ended, points, remote, screen

# GDB asks for a marker again by a word of its own when symbols are added, so it does not find it: "-qualified -m ID".
MARKER = re.compile(r".*<PENDING>\s+-qualified -m (\S+)")
PENDING = re.compile(r"(\d+)\s.*?\s(?:keep|dis|del)\s+y\s+<PENDING>\s+(.+)")


def before_run():
    if not remote.may_be_gtp():
        return
    for line in points.table().splitlines():
        pending, marker = PENDING.match(line), MARKER.match(line)
        if pending and marker:
            screen.say("tracepoint %s is not traced: GDB lost its place when symbols were added; delete it and say gtp event %s" %
                       (pending.group(1), marker.group(1)))
        elif pending:
            screen.say("tracepoint %s is not traced: its place %s is not known yet" % pending.groups())


ended.before_run.append(before_run)
