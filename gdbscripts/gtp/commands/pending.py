# SPDX-License-Identifier: GPL-2.0-only
# Before a run, name the enabled tracepoints for which GDB has no address: they are not sent, and have no hits.
import re

from gtp.gdblib import remote, runstate, screen
from gtp.places import points

PENDING = re.compile(r"(\d+)\s.*?\s(?:keep|dis|del)\s+y\s+<PENDING>\s+(.+)")

# When symbols are added, GDB looks up the tracepoint of a marker again by this text, which GDB itself cannot parse.
MARKER = re.compile(r"-qualified -m (\S+)")

LOST = "GDB lost its place when symbols were added; delete it and say gtp event %s"
UNKNOWN = "its place %s is not known yet"


def pending(line):
    """Return (number, place) of a tracepoint's line in GDB's table, or None if it is disabled or has an address."""
    found = PENDING.match(line)
    return found and found.groups()


def before_run():
    if not remote.may_be_gtp():
        return
    for number, place in filter(None, map(pending, points.table().splitlines())):
        marker = MARKER.match(place)
        screen.say("tracepoint %s is not traced: %s" % (number, LOST % marker.group(1) if marker else UNKNOWN % place))


runstate.before_run.append(before_run)
