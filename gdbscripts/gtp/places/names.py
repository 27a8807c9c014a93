# SPDX-License-Identifier: GPL-2.0-only
# Names in expressions that only gdbtp knows: fields of an event's record, arguments of a system call.
#
# Before an expression is translated for a tracepoint, as a condition or to be collected, expand(text, number, pc)
# replaces these names by C. The Names of a tracepoint that a command of gdbtp has made are remembered by the
# tracepoint's number. The Names of other tracepoints, such as those that a new GDB takes over from the target, are
# found by address if possible.
import re

import gdb

from gtp.cexpr.expansion import Expanded
from gtp.cexpr.parse import MEMBER_SECOND, TYPE_FIRST

TOKEN = re.compile(r"""(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
                     |(?P<number>\.?\d[\w.]*)
                     |(?P<member>(?:->|\.|::)\s*[A-Za-z_]\w*)
                     |(?P<tagged>\b(?:struct|union|enum)\s+\w+)
                     |(?P<name>\$?[A-Za-z_]\w*)
                     |(?P<other>.)""", re.X | re.S)

# In these macros a name after the first comma is a type or a member.
MEMBER_MACROS = (*TYPE_FIRST, *MEMBER_SECOND, "offsetofend", "sizeof_field")

INDEX = re.compile(r"\s*\[\s*(0+|[1-9]\d*|0[xX][0-9a-fA-F]+)\s*\]", re.A)

of_tracepoint = {}

# Functions that return the Names at an address, or None.
providers = []


class Names:
    """The meaning of names at a tracepoint.

    title: the place of the tracepoint, for messages
    stands_for: name -> C text
    unsaid: name -> the reason why it has no value here
    notes: name -> a note about something unexpected, for users of the name
    own: the names that the debug information has at the place
    elements: name of an array whose elements are not in one place -> C text of each element
    guard: a test that every condition at the place must include, such as for the number of a system call; usually empty
    """

    def __init__(self, title, stands_for, unsaid=None, notes=None, own=(), elements=None, guard=""):
        self.title, self.stands_for, self.own, self.guard = title, stands_for, list(own), guard
        self.unsaid, self.notes, self.elements = unsaid or {}, notes or {}, elements or {}

    def all(self):
        """Return every name that an expression may use. Names from the debug information come first."""
        return self.own + [name for name in self.stands_for if name not in self.own] + list(self.elements)

    def expand(self, text):
        """Return the expression with C for the names. An error points at a name without a meaning."""
        return Expanded(((at, typed, self.one(text, at, kind, word)) for at, kind, word, typed in self.indexed(text)), text)

    def indexed(self, text):
        """Yield the pieces of words(), but with each element of an array in self.elements as a single piece. The fourth
        item of each tuple is the text that the user typed."""
        end = 0
        for at, kind, word in words(text):
            if at < end:
                continue
            own = self.elements.get(word) if kind == "name" else None
            if own is None:
                yield at, kind, word, word
                continue
            found = INDEX.match(text, at + len(word))
            if found is None or int(found.group(1), 0) >= len(own):
                raise gdb.GdbError("column %d, %s: say %s[0] to %s[%d], each by its number" % (at + 1, word, word, word, len(own) - 1))
            end = found.end()
            yield at, "other", own[int(found.group(1), 0)], text[at:end]

    def one(self, text, at, kind, word):
        if kind == "name" and word in self.stands_for:
            return self.stands_for[word]
        if kind == "name" and word in self.unsaid:
            raise gdb.GdbError("column %d, %s: %s; %s" % (at + 1, word, self.unsaid[word], self.advice()))
        return word

    def advised(self, error):
        """Return the text of an error in an expression, followed by the names that it may use."""
        text = str(error).strip().rstrip(".")
        return "%s%s%s" % (text, "\n" if "\n" in text else "; ", self.advice())

    def advice(self):
        return "%s has %s" % (self.title, ", ".join(self.all()) or "no names of its own")

    def guarded(self, condition):
        """Return a condition for GDB, or None, combined with the guard of this place."""
        if not self.guard:
            return condition
        return "%s && (%s)" % (self.guard, condition) if condition else self.guard

    def require(self, text, shared):
        """Raise an error if the text uses a name that other tracepoints of the same command have, but not this one.
        SHARED has the names of all these tracepoints. Without this check, the name could mean a variable, say."""
        missing = sorted((identifiers(text) & shared) - set(self.all()) - set(self.unsaid))
        if missing:
            raise gdb.GdbError("it has no %s" % ", ".join(missing))

    def noted(self, text):
        """Return notes about the names that an expression uses."""
        used = identifiers(text)
        return [note for name, note in self.notes.items() if name in used]


def words(text):
    """Yield (position, kind, text) for each piece of an expression. A name has the kind "name" unless it is a member or
    tag."""
    calls, last = [], ""
    for found in TOKEN.finditer(text):
        kind, word = found.lastgroup, found.group(0)
        if kind == "name" and any(call in MEMBER_MACROS and commas for call, commas in calls):
            kind = "member"
        if word == "(":
            calls.append([last, 0])
        elif word == ")" and calls:
            calls.pop()
        elif word == "," and calls:
            calls[-1][1] += 1
        if not word.isspace():
            last = word
        yield found.start(), kind, word


def identifiers(text):
    """Return the names that an expression uses, except members and tags."""
    return {word for _, kind, word in words(text) if kind == "name"}


def remember(number, names):
    """Remember the Names of the tracepoint with this number."""
    of_tracepoint[number] = names


def of(number, pc=None):
    """Return the Names of a tracepoint, or None if it has none."""
    if number in of_tracepoint:
        return of_tracepoint[number]
    found = (provider(pc) for provider in providers) if pc is not None else ()
    return next((names for names in found if names), None)


def expand(text, number, pc=None):
    """Return the expression for a tracepoint, with C in place of the names that only gdbtp knows."""
    names = of(number, pc)
    return names.expand(text) if names else text


def guarded(condition, number):
    """Return GDB's condition for a tracepoint, combined with the guard of the tracepoint's Names."""
    names = of_tracepoint.get(number)
    return names.guarded(condition) if names else condition
