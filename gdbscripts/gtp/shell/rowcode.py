# SPDX-License-Identifier: GPL-2.0-only
"""Encodes a table row as lines that dprintfs print, and decodes these lines.

session.py, in GDB, uses the dprintf formats; the shell command `gtp` uses the decoder. A record is

    FF VT mark place . part { VT number } { VT mark string } FF mark LF

Each run has a new mark, so that no string that a user has chosen, such as the name of a file or a task, can look like a
record or the end of a field. A dprintf has at most 8 arguments and 255 characters, so a row may need several records:
its parts. Each part begins with $clock. All dprintfs of one hit have the same $clock, which shows the parts that belong
together. The CPU follows, and in the first part the pid and the task. After the columns, a row has a number for each
string that a pointer names: 1 if the pointer is NULL. The string is empty then. Numbers are hexadecimal. Strings that do
not fit are cut.
"""
import re
import secrets
from typing import NamedTuple, Union

MOST_ARGUMENTS, MOST_TEXT = 8, 255
MARK = 6  # the length of a mark, in characters
NUMBER, COMM, LEAST_STRING = 17, 16 + MARK, 64 + MARK  # characters that a field takes, including those before its value
FRAME = len("\f\v1000.10\f\n") + 2 * MARK
CLOCK, TASK, TASK_NAME, CPU = "clock", "task", "comm", "cpu"


def new_mark():
    """Return a new random mark of letters that are not hexadecimal digits."""
    return "".join(secrets.choice("ghijklmnopqrstuvwxyz") for _ in range(MARK))


class Field(NamedTuple):
    """One value of a record. what: CLOCK, TASK, TASK_NAME, CPU or the number of a column. string: whether it is a string."""
    what: Union[int, str]
    string: bool


def length(fields):
    """Return the minimum length, in characters, of a record with these fields."""
    return FRAME + sum(COMM if f.what == TASK_NAME else LEAST_STRING if f.string else NUMBER for f in fields)


def first():
    return [Field(CLOCK, False), Field(TASK, False), Field(TASK_NAME, True)]


def later():
    return [Field(CLOCK, False), Field(CPU, False)]


def layout(strings, least=1, nulls=0):
    """Return the parts of a row, each a list of Fields. STRINGS says for each column whether it is a string. NULLS is the
    number of the numbers that follow the columns. There are at least LEAST parts."""
    parts, strings = [first()], [*strings, *[False] * nulls]
    for index in sorted(range(len(strings)), key=lambda i: strings[i]):
        field = Field(index, strings[index])
        if len(parts[-1]) == MOST_ARGUMENTS or length(parts[-1] + [field]) > MOST_TEXT:
            parts.append(later())
        parts[-1].append(field)
    parts += [later() for _ in range(least - len(parts))]
    return [sorted(fields, key=lambda f: f.string) for fields in parts]


def precision(fields, most):
    """Return {column: the maximum length of its string} for a part. MOST(column) is the length of the column's array,
    or None if it is not an array."""
    strings = [f for f in fields if f.string and f.what != TASK_NAME]
    if not strings:
        return {}
    room = MOST_TEXT - length(fields) + LEAST_STRING * len(strings)
    return {f.what: min(room // len(strings) - 1 - MARK, most(f.what) or MOST_TEXT) for f in strings}


def template(mark, place, part, fields, most):
    """Return the dprintf format of a row's part, as it is typed to GDB. %#s copies all bytes of a string unchanged. A
    mark shows where the string ends, and the shell command `gtp` escapes the bytes before it prints them."""
    long = precision(fields, most)
    conversions = (mark + ("%#.15s" if f.what == TASK_NAME else "%%#.%ds" % long[f.what]) if f.string else "%lx"
                   for f in fields)
    return "\\f\\v%s%d.%d%s\\f%s\\n" % (mark, place, part, "".join("\\v" + c for c in conversions), mark)


class Reader:
    """Parses the text of dprintfs, which arrives in pieces: feed() returns the complete records.

    A record is (place, part, its fields); a line of any other text is a str. An incomplete record is left out: the
    kernel cuts text that is too long.
    """

    def __init__(self, mark):
        mark = mark.encode()
        self.begin, self.string = b"\f\v" + mark, b"\v" + mark
        self.record = re.compile(rb"%s(\d+)\.(\d+)((?:\v[0-9a-f]+)+)((?:\v%s(?:(?!\f\v%s).)*?)?)\f%s\n" %
                                 (self.begin, mark, mark, mark), re.S)
        self.rest = b""

    def feed(self, data):
        self.rest += data
        found = []
        while True:
            at = self.rest.find(self.begin)
            end = at if at >= 0 else self.rest.rfind(b"\n") + 1
            found += self.lines(self.rest[:end])
            self.rest = self.rest[end:]
            record = at >= 0 and self.record.match(self.rest)
            if record:
                found.append(self.fields(record))
                self.rest = self.rest[record.end():]
            elif at < 0 or self.rest.find(self.begin, 1) < 0:
                return found
            else:
                self.rest = self.rest[self.rest.find(self.begin, 1):]

    def fields(self, record):
        place, part, numbers, strings = record.groups()
        return int(place), int(part), numbers.split(b"\v")[1:] + strings.split(self.string)[1:]

    @staticmethod
    def lines(text):
        return [line for line in text.decode(errors="replace").splitlines() if line.strip()]
