# SPDX-License-Identifier: GPL-2.0-only
"""Makes untrusted text safe for a terminal, a browser, a spreadsheet or another program.

Any user can choose the name of a task or a file, and a trace file may contain anything: escape sequences, newlines,
characters that reverse the order of other characters or are not drawn. Such characters are shown escaped, as in GDB and
C. Escaping happens at the output, where a string is written: gtp.gdblib.screen for GDB's commands, shell/ and fleet/ by line()
and printable(), exports by line() and cell().
"""
import re

ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 27: "\\033", 92: "\\\\"}
# The characters that begin a formula in a spreadsheet. East Asian spreadsheets also take their full-width forms.
STARTS = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
# A spreadsheet takes text with such a beginning for a formula, unless it is a number; some skip blanks before it.
FORMULA = re.compile(" *" + STARTS)
# The beginning of a formula after a semicolon. Where the comma is the decimal point, a semicolon starts a cell, even
# within quotes.
NEXT_FORMULA = re.compile(r";(?=[\s\"]*%s)" % STARTS)
# Letters and marks for which nothing is drawn: the characters of Unicode's property Default_Ignorable_Code_Point that
# str.isprintable() takes for printable. With them two different names look the same.
IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def octal(c):
    """Return a character's bytes as C escapes them."""
    return "".join("\\%03o" % byte for byte in c.encode(errors="surrogateescape" if "\udc80" <= c <= "\udcff" else "surrogatepass"))


def is_shown(text):
    """Return whether a terminal draws every character of a text, and acts upon none."""
    return text.isprintable() and (text.isascii() or not IGNORABLE.search(text))


def escaped(text, keep):
    """Return the text with characters escaped that are not drawn, except those in KEEP."""
    return "".join(c if c in keep or is_shown(c) and c != "\\" else ESCAPES.get(ord(c)) or octal(c) for c in text)


def line(text):
    """Return a text on one line. Backslashes are not doubled, so a text that is already escaped does not change."""
    return text if is_shown(text) else escaped(text, "\\")


def lines(text):
    """Return a text of several lines, in which a tab is an indent."""
    return "\n".join(one if is_shown(one) else escaped(one, "\\\t") for one in text.split("\n"))


def printable(data):
    """Return a string's bytes on one line. A backslash becomes two, so that an escape differs from a name that looks
    like one."""
    text = data.decode(errors="surrogateescape")
    return text if is_shown(text) and "\\" not in text else escaped(text, "")


def everything(value):
    """Return a value that will be written as JSON, with line() applied to all of its strings."""
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
