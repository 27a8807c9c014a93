# SPDX-License-Identifier: GPL-2.0-only
"""Makes untrusted text safe for a terminal, a browser, a spreadsheet or another program. Does not import gdb.

Any user can choose the name of a task or a file, and a trace file may contain anything: escape sequences, newlines,
characters that reverse the order of other characters. Such characters are shown escaped, as in GDB and C. Escaping
happens at the output, where a string is written: gtp.screen for GDB's commands, shell/ and fleet/ by line() and
printable(), exports by line() and cell().
"""
import re

ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 27: "\\033", 92: "\\\\"}
# A spreadsheet takes text with such a beginning for a formula, unless it is a number.
FORMULA = re.compile(r"[=+\-@\t\r]")
# The beginning of a formula after a semicolon. Where the comma is the decimal point, a semicolon starts a cell, even
# within quotes.
NEXT_FORMULA = re.compile(r";(?=[\s\"]*[=+\-@])")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def octal(c):
    """Return a character's bytes as C escapes them."""
    return "".join("\\%03o" % byte for byte in c.encode(errors="surrogateescape" if "\udc80" <= c <= "\udcff" else "surrogatepass"))


def escaped(text, keep):
    """Return the text with unprintable characters escaped, except those in KEEP."""
    return "".join(c if c in keep or c.isprintable() and c != "\\" else ESCAPES.get(ord(c)) or octal(c) for c in text)


def line(text):
    """Return a text on one line. Backslashes are not doubled, so a text that is already escaped does not change."""
    return text if text.isprintable() else escaped(text, "\\")


def lines(text):
    """Return a text of several lines, in which a tab is an indent."""
    return "\n".join(one if one.isprintable() else escaped(one, "\\\t") for one in text.split("\n"))


def printable(data):
    """Return a string's bytes on one line. A backslash becomes two, so that an escape differs from a name that looks
    like one."""
    text = data.decode(errors="surrogateescape")
    return text if text.isprintable() and "\\" not in text else escaped(text, "")


def everything(value):
    """Apply line() to all strings in a value for JSON."""
    if isinstance(value, str):
        return line(value)
    if isinstance(value, dict):
        return {line(name): everything(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [everything(one) if isinstance(one, (str, dict, list, tuple)) else one for one in value]
    return value


def cell(text):
    """Return a cell of a CSV file. An apostrophe keeps a spreadsheet from computing it."""
    text = NEXT_FORMULA.sub(";'", line(text))
    return "'" + text if FORMULA.match(text) and not NUMBER.fullmatch(text) else text
