# SPDX-License-Identifier: GPL-2.0-only
# Every string for GDB passes through this file: commands, expressions, locations. No other file calls gdb.execute() and
# similar functions.
#
# A string may contain text from a file, the target or another machine: a name, a type, an expression. gdb.execute() takes
# each line of its text for a command, so a newline in a name would begin another command. So refuse all control
# characters. An expression from such a source is checked by gtp.cexpr.foreign first.
import contextlib
import re

import gdb

TRACED = "trace-commands"
AT_ONCE = "remote install-in-trace-packet"
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # a tab separates words
WORD = re.compile(r"\$?[A-Za-z_]\w*", re.A)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")

# If a location is malformed, such as an open quote or a bad *EXPRESSION, GDB 13's gdb.decode_line() throws an exception
# through the frames of the Python interpreter. GDB then crashes, or Python misbehaves later. So pass it only names,
# paths and numbers.
LOCATION = re.compile(r"[\w.$/][\w.$/+:@~-]*")

# Functions that raise gdb.error for an expression over which GDB would end. The modules that define them add them.
refusals = []


def line(text):
    """Return the text if it is one line without control characters. Raise an error otherwise."""
    found = CONTROL.search(text)
    if found:
        raise gdb.error("GDB does not get a text with the character %#04x in it" % ord(found.group(0)))
    return text


def word(name):
    """Return the name if it is valid in C or GDB. Raise an error otherwise."""
    if not WORD.fullmatch(name):
        raise gdb.error("%s is not a name" % ascii(name))
    return name


def given(text, shown):
    """Execute a text as a GDB command, and return its output. Parts of the output that come from a file may be any
    bytes."""
    try:
        return gdb.execute(text, to_string=not shown)
    except UnicodeDecodeError:
        raise gdb.error("GDB's answer has bytes that are not text") from None


def untraced(text, shown):
    """Execute the text with `set trace-commands off`. Otherwise GDB would show the text to the user, or put it before
    its own output."""
    if not gdb.parameter(TRACED):
        return given(text, shown)
    gdb.execute("set %s off" % TRACED, to_string=True)
    try:
        return given(text, shown)
    finally:
        gdb.execute("set %s on" % TRACED, to_string=True)


def execute(command, shown=False):
    """Execute a command of one line. Return its output, or None if the output is SHOWN to the user."""
    return untraced(line(command), shown)


def block(*lines):
    """Execute a command that takes further lines, up to `end`. Return its output."""
    return untraced("\n".join(map(line, lines)), False)


@contextlib.contextmanager
def unsent():
    """Context manager: a tracepoint that is set and deleted in the block is not sent to an active run."""
    found = re.search(r'"(auto|on|off)|is (?:set to )?"?(auto|on|off)', execute("show " + AT_ONCE))
    before = next((g for g in found.groups() if g), "auto") if found else "auto"
    execute("set %s off" % AT_ONCE)
    try:
        yield
    finally:
        execute("set %s %s" % (AT_ONCE, before))


def unchecked(expression):
    """Return the gdb.Value of an expression that none of `refusals` would refuse."""
    return gdb.parse_and_eval(line(expression))


def value(expression):
    """Return the gdb.Value of an expression. Raise an error if GDB would end over the expression."""
    for refuse in refusals:
        refuse(line(expression))
    return unchecked(expression)


def address(name):
    """Return the address of a symbol, as an unsigned number."""
    return int(value("(unsigned long)&" + word(name))) % 2**64


def decoded(location):
    """Return the places of FUNCTION, FILE:FUNCTION, FILE:LINE or FUNCTION:LABEL, as gdb.decode_line() returns them."""
    if not LOCATION.fullmatch(QUOTED.sub("_", location)):
        raise gdb.error("%s is not a place: write FUNCTION, FILE:FUNCTION, FILE:LINE or *ADDRESS" % (location or "an empty name"))
    return gdb.decode_line(line(location))
