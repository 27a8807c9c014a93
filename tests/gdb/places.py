# SPDX-License-Identifier: GPL-2.0-only
# Common code of the topics of gtp trace, gtp event and gtp syscall: GDB's definitions, refusals that define nothing.
import re

from lib import check, cmd, equal, hits, refused


def defined():
    """Return {number: addresses} for GDB's tracepoints."""
    found = {}
    for number, at in re.findall(r"^(\d+)(?:\.\d+)?\s.*?(0x[0-9a-f]{16})", cmd("info tracepoints"), re.M):
        found.setdefault(int(number), []).append(int(at, 16))
    return found


def nothing(line, *sentences):
    """Check that a command is refused with these messages, and leaves no tracepoint."""
    text = refused(line)
    for sentence in sentences:
        check(sentence in text, "%s: no %r in: %s" % (line, sentence, text))
    equal(cmd("info tracepoints").strip(), "No tracepoints.", line)


def all_hits():
    return sum(hits(number) for number in defined())
