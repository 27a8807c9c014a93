# SPDX-License-Identifier: GPL-2.0-only
# What is typed behind gtp trace, gtp event and gtp syscall: [--limit N] PLACE [if EXPRESSION].
import collections
import contextlib
import re

import gdb

from gtp import quiet

LIMIT = 200

IF = re.compile(r"(?:^|\s)if(?=[\s(]|$)")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
GLOB = re.compile(r"[*?\[]")

Words = collections.namedtuple("Words", "place condition limit")


def blanked(text):
    """The text with what is in quotes blanked out, every character where it was."""
    return QUOTED.sub(lambda quoted: "_" * len(quoted.group(0)), text)


def halves(text):
    """What is in front of the `if` and what is behind it; None behind when there is none."""
    found = IF.search(blanked(text))
    if found is None:
        return text.strip(), None
    return text[:found.start()].strip(), text[found.end():].strip()


def limit_of(place):
    """The place without its --limit, and the limit."""
    found = re.search(r"(?:^|\s)--limit(?:[ =]+(\S+)|\s*$)", place)
    if found is None:
        return place, LIMIT
    if found.group(1) is None or not found.group(1).isdigit():
        raise gdb.GdbError("--limit takes a number, as in --limit %d" % (5 * LIMIT))
    return (place[:found.start()] + place[found.end():]).strip(), int(found.group(1))


def split(text, usage):
    """The Words of a command; USAGE is what an error shows."""
    place, condition = halves(text)
    place, limit = limit_of(place)
    if not place:
        raise gdb.GdbError("no place is named; say %s" % usage)
    if condition == "":
        raise gdb.GdbError("no expression behind `if'; say %s" % usage)
    return Words(place, condition, limit)


def unquoted(text):
    """The text without a pair of quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def is_glob(text):
    return GLOB.search(text) is not None


def few(items, most=8):
    """The items in a sentence, the first ones when there are many."""
    items = list(items)
    more = ["and %d more" % (len(items) - most)] if len(items) > most else []
    return ", ".join(items[:most] + more)


def completed(candidates, text, word):
    """Those of the candidates that begin with the text, without what stands in front of the word."""
    start = len(text) - len(word)
    return [c[start:] for c in candidates if c.startswith(text)]


@contextlib.contextmanager
def in_c():
    """Types are printed as C has them: the language of the selected frame may be assembly, which has no `struct'."""
    before = gdb.parameter("language")
    quiet.execute("set language c")
    try:
        yield
    finally:
        quiet.execute("set language " + before)
