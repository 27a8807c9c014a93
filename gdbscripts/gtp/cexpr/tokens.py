# SPDX-License-Identifier: GPL-2.0-only
"""The text of an expression as C's tokens, with the offsets at which they begin and end."""
import re
from typing import NamedTuple

from gtp.cexpr.error import Error


class Token(NamedTuple):
    """kind: name, number, char, string, dollar ($n), scope ('file.c':: or function::), op, end."""
    kind: str
    text: str
    start: int
    end: int


PATTERNS = [
    ("space", r"\s+"),
    ("float", r"(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?[fFlL]?|0[xX][0-9a-fA-F.]+[pP][-+]?\d+"),
    ("number", r"0[xX][0-9a-fA-F]+[uUlL]*|0[bB][01]+[uUlL]*|\d+[uUlL]*"),
    ("scope", r"'[^']+'\s*::|[A-Za-z_]\w*\s*::"),
    ("wide", r"(?:u8|[LuU])(?=['\"])"),
    ("char", r"'(?:[^'\\]|\\.)+'"),
    ("string", r'"(?:[^"\\]|\\.)*"'),
    ("name", r"[A-Za-z_]\w*"),
    ("dollar", r"\$\w*"),
    ("op", r"->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:.,()\[\]{}@]"),
]
SPLIT = re.compile("|".join("(?P<%s>%s)" % pattern for pattern in PATTERNS))

ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "\\": 92,
           "'": 39, '"': 34, "?": 63}
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]+|.)", re.S)


def tokens(text):
    """Return the list of a text's tokens; the last one is of the kind end."""
    found = []
    at = 0
    while at < len(text):
        match = SPLIT.match(text, at)
        if match is None:
            raise Error(unknown(text[at]), at)
        kind = match.lastgroup
        if kind == "float":
            raise Error("there is no floating point at a hit", at, "Write whole numbers.")
        if kind == "wide":
            raise Error("the kernel has no wide characters and strings", at, "Leave out the prefix.")
        if kind != "space":
            found.append(Token(kind, match.group(), at, match.end()))
        at = match.end()
    found.append(Token("end", "", len(text), len(text)))
    return found


def unknown(char):
    if char in "'\"":
        return "the quote is not closed"
    if char == ";":
        return "there are no statements at a hit"
    return "%s is not part of a C expression" % char


def unescaped(body, at=None):
    """Return the bytes that the text between a literal's quotes denotes."""
    data = bytearray()
    last = 0
    for match in ESCAPE.finditer(body):
        data += body[last:match.start()].encode()
        data.append(escape(match.group(1), at))
        last = match.end()
    return bytes(data + body[last:].encode())


def escape(code, at):
    if code[0] in "01234567":
        value = int(code, 8)
    elif code[0] == "x" and len(code) > 1:
        value = int(code[1:], 16)
    elif code in ESCAPES:
        value = ESCAPES[code]
    else:
        raise Error("\\%s is not an escape in C" % code, at)
    if value > 255:
        raise Error("\\%s is more than a byte holds" % code, at)
    return value
