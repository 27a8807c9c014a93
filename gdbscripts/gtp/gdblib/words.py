# SPDX-License-Identifier: GPL-2.0-only
# Parses the arguments of GDB commands: places with conditions, names and options.
import collections
import contextlib
import re

import gdb

from gtp.gdblib import gdbcall

LIMIT = 200

IF = re.compile(r"(?:^|\s)if(?=[\s(]|$)")
GLOB = re.compile(r"[*?\[]")
# A word between two operands, or after the last one: there is no such word in C, so it begins another clause of the command.
CLAUSE = re.compile(r"[\w)\]]\s+(by|at|if|collect|from|on|to|keep|rw|w)(?:\s*\(|\s+[\w$*&!~]|\s*$)", re.A)
OPTION = re.compile(r"[\w)\]]\s+(--[a-z]+)", re.A)

Words = collections.namedtuple("Words", "place condition limit")


def blanked(text):
    """Return the text with quoted parts blanked out, so that positions stay the same."""
    return gdbcall.QUOTED.sub(lambda quoted: "_" * len(quoted.group(0)), text)


def halves(text):
    """Return the text before the `if` and the text after it. The second text is None if there is no `if`."""
    found = IF.search(blanked(text))
    if found is None:
        return text.strip(), None
    return text[:found.start()].strip(), text[found.end():].strip()


def refuse_options(text, usage):
    """Raise an error if a condition goes on with an option of the command. The text may be None."""
    found = OPTION.search(blanked(text or ""))
    if found:
        raise gdb.GdbError("`%s' belongs before `if'; say %s" % (found.group(1), usage))


def refuse_clauses(text, usage):
    """Raise an error if the text of one clause of a command goes on with another clause. The text may be None."""
    found = CLAUSE.search(blanked(text or ""))
    if not found:
        return
    if re.search(r"\b%s\b" % found.group(1), usage.split(";")[0]):
        raise gdb.GdbError("`%s' is in the wrong place; the order is %s" % (found.group(1), usage))
    raise gdb.GdbError("`%s' is no part of this command; say %s" % (found.group(1), usage))


def limit_of(place):
    """Return a place without its --limit option, and the limit."""
    found = re.search(r"(?:^|\s)--limit(?:[ =]+(\S+)|\s*$)", place)
    if found is None:
        return place, LIMIT
    if found.group(1) is None or not found.group(1).isdecimal():
        raise gdb.GdbError("--limit takes a number, as in --limit %d" % (5 * LIMIT))
    return (place[:found.start()] + place[found.end():]).strip(), int(found.group(1))


def split(text, usage):
    """Parse a command's arguments. Return Words, or raise an error that shows USAGE."""
    place, condition = halves(text)
    place, limit = limit_of(place)
    if not unquoted(place):
        raise gdb.GdbError("no place is named; say %s" % usage)
    if place.startswith("--"):
        raise gdb.GdbError("%s is not understood; say %s" % (place.split()[0], usage))
    if condition == "":
        raise gdb.GdbError("no expression after `if'; say %s" % usage)
    refuse_options(condition, usage)
    for part in place, condition:
        refuse_clauses(part, usage)
    return Words(place, condition, limit)


def options(arg, usage, valued, flags=(), may=()):
    """Return the words of a command that are not options, and {option: its argument, or None}.

    VALUED options take a word, after a blank or `='. FLAGS take none. Options in MAY take the next word unless that is an
    option.
    """
    rest, found = [], {}
    argv = gdb.string_to_argv(re.sub(r"(?<!\S)(--\w+)=", r"\1 ", arg))
    while argv:
        word = argv.pop(0)
        if word in valued:
            if not argv:
                raise gdb.GdbError("nothing after %s; say %s" % (word, usage))
            found[word] = argv.pop(0)
        elif word in flags or word in may:
            takes = word in may and argv and not argv[0].startswith("--")
            found[word] = argv.pop(0) if takes else None
        elif word.startswith("--"):
            raise gdb.GdbError("%s is not understood; say %s" % (word, usage))
        else:
            rest.append(word)
    return rest, found


def name_of(rest, usage):
    """Return the only word, a variable's name, without its $. Return None if there are no words."""
    if len(rest) > 1:
        raise gdb.GdbError("%s is not understood; say %s" % (rest[1], usage))
    return rest[0].lstrip("$") if rest else None


def top_of(found, default):
    """Return the argument of --top as a number, or the default."""
    text = found.get("--top", str(default))
    if not text.isdecimal() or not int(text):
        raise gdb.GdbError("--top takes a number, as in --top 10")
    return int(text)


def unquoted(text):
    """Return the text without a pair of quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def quoted(word):
    """Return the word quoted for gdb.string_to_argv()."""
    return re.sub(r"""([\\"'\s])""", r"\\\1", word)


def is_glob(text):
    return GLOB.search(text) is not None


def few(items, most=8):
    """Return the items in a sentence, only the first ones if there are many."""
    items = list(items)
    more = ["and %d more" % (len(items) - most)] if len(items) > most else []
    return ", ".join(items[:most] + more)


def completed(candidates, text, word):
    """Return the candidates that begin with the text, without the part that precedes the word.

    GDB asks twice. The first time, to learn what separates words, there is no word, and only the type of the result
    matters.
    """
    if word is None:
        return []
    start = len(text) - len(word)
    return [c[start:] for c in candidates if c.startswith(text)]


@contextlib.contextmanager
def in_c():
    """Context manager: use C as GDB's language. If the selected frame is assembly, GDB prints types without
    `struct'."""
    before = gdb.parameter("language")
    gdbcall.execute("set language c")
    try:
        yield
    finally:
        gdbcall.execute("set language " + before)
