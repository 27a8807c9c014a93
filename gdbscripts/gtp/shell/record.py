# SPDX-License-Identifier: GPL-2.0-only
"""A row as lines of dprintfs: which value is in which line, the lines' formats, and the values out of the text again.

Both sides use it: GDB's for the formats, the shell's for the text. A record is

    FF VT place . part { VT field } FF LF

A dprintf has 8 arguments and 255 characters, so that a row may need several records, its parts, which come in order
from one CPU. The first begins with $clock, CPU and pid in one number, and the task's name; the others with the CPU.
Numbers are hexadecimal, and stand before the strings, which are cut where there is no room.
"""
import re
from typing import NamedTuple, Union

MOST_ARGUMENTS, MOST_TEXT = 8, 255
NUMBER, COMM, LEAST_STRING = 17, 16, 64  # characters with the VT in front
FRAME = len("\f\v1000.10\f\n")
CLOCK, TASK, TASK_NAME, CPU = "clock", "task", "comm", "cpu"

BEGIN = b"\f\v"
RECORD = re.compile(rb"\f\v(\d+)\.(\d+)\v((?:(?!\f\v).)*?)\f\n", re.S)


class Field(NamedTuple):
    """One value of a record: what it is, or the number of its column; whether it is a string."""
    what: Union[int, str]
    string: bool


def length(fields):
    """The characters that a record of these fields takes at least."""
    return FRAME + sum(COMM if f.what == TASK_NAME else LEAST_STRING if f.string else NUMBER for f in fields)


def first():
    return [Field(CLOCK, False), Field(TASK, False), Field(TASK_NAME, True)]


def layout(strings, least=1):
    """The parts of a row whose columns are strings (True) or numbers: a list of Fields each, at least so many parts."""
    parts = [first()]
    for index in sorted(range(len(strings)), key=lambda i: strings[i]):
        field = Field(index, strings[index])
        if len(parts[-1]) == MOST_ARGUMENTS or length(parts[-1] + [field]) > MOST_TEXT:
            parts.append([Field(CPU, False)])
        parts[-1].append(field)
    parts += [[Field(CPU, False)] for _ in range(least - len(parts))]
    return [sorted(fields, key=lambda f: f.string) for fields in parts]


def precision(fields, most):
    """How many characters each string of a part has; MOST gives the length of a column's array, None without one."""
    strings = [f for f in fields if f.string and f.what != TASK_NAME]
    if not strings:
        return {}
    room = MOST_TEXT - length(fields) + LEAST_STRING * len(strings)
    return {f.what: min(room // len(strings) - 1, most(f.what) or MOST_TEXT) for f in strings}


def template(place, part, fields, most):
    """The format of a part's dprintf, as it is typed to GDB."""
    long = precision(fields, most)
    conversions = ("%.15s" if f.what == TASK_NAME else "%%.%ds" % long[f.what] if f.string else "%lx" for f in fields)
    return "\\f\\v%d.%d%s\\f\\n" % (place, part, "".join("\\v" + c for c in conversions))


class Reader:
    """Text as it comes, in any pieces: feed() returns what is complete.

    A record is (place, part, its fields in one piece), a line of any other text is a str. What is no whole record is
    left out: a string may look like the beginning of one.
    """

    def __init__(self):
        self.rest = b""

    def feed(self, data):
        self.rest += data
        found = []
        while True:
            at = self.rest.find(BEGIN)
            end = at if at >= 0 else self.rest.rfind(b"\n") + 1
            found += self.lines(self.rest[:end])
            self.rest = self.rest[end:]
            record = at >= 0 and RECORD.match(self.rest)
            if record:
                found.append((int(record.group(1)), int(record.group(2)), record.group(3)))
                self.rest = self.rest[record.end():]
            elif at < 0 or self.rest.find(BEGIN, 1) < 0:
                return found
            else:
                self.rest = self.rest[self.rest.find(BEGIN, 1):]

    @staticmethod
    def lines(text):
        return [line for line in text.decode(errors="replace").splitlines() if line.strip()]
