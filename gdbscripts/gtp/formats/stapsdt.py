# SPDX-License-Identifier: GPL-2.0-only
"""The markers that <sys/sdt.h> leaves in a program: the notes of .note.stapsdt, and their arguments as C. Does not import
gdb.

A file may contain anything. Only numbers and known register names from a note become text for GDB. A symbol's name in a
note is only looked up in the file's own symbols.
"""
import re
import struct
from collections import namedtuple

from gtp.text import harmless

OWNER, MARKER = b"stapsdt\0", 3
HEAD, ADDRESSES = struct.Struct("<III"), struct.Struct("<QQQ")
MOST = 1 << 16  # at most this many notes of a file are read
MOST_ARGUMENTS = 64  # at most this many arguments of a note are read; <sys/sdt.h> allows 12

# Note. place, semaphore: link-time addresses, corrected by the present address of .stapsdt.base; semaphore is None if
# there is none. operands: the note's text.
Note = namedtuple("Note", "provider name place semaphore operands")

# Argument. kind: C's type. text: the argument as C, or None if it has no value at a hit. why: the reason for that.
Argument = namedtuple("Argument", "kind text why")

INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long"}
FLOATS = {4: "float", 8: "double"}

OPERAND = re.compile(r"(?:(-?)(\d{1,9})(f?)@)?(\S*)", re.A)
MEMORY = re.compile(r"([^()]*)(?:\(([^()]*)\))?", re.A)
TERM = re.compile(r"([-+]?)(?:(0x[0-9a-fA-F]{1,16}|\d{1,20})|([A-Za-z_.][\w.$@]*))", re.A)


class Refused(Exception):
    """An argument has no value at a hit; the message says why."""


def registers():
    """Return name -> (the whole register's name, the bit at which it begins)."""
    found = {}
    for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp"):
        low = name[0] + "l" if name[1] == "x" else name + "l"
        found.update(dict.fromkeys(("r" + name, "e" + name, name, low), ("r" + name, 0)))
        if name[1] == "x":
            found[name[0] + "h"] = "r" + name, 8
    for number in range(8, 16):
        found.update(dict.fromkeys(("r%d%s" % (number, end) for end in ("", "d", "w", "b", "l")), ("r%d" % number, 0)))
    return found


REGISTERS = registers()
WHOLE = {whole for whole, _ in REGISTERS.values()}


# Notes -------------------------------------------------------------------------------------------

def padded(count):
    return (count + 3) & ~3


def note(data, base):
    """Return the Note of a description, or None if it is damaged. BASE is the present address of .stapsdt.base, or None
    if it is not known."""
    texts = bytes(data[ADDRESSES.size:]).split(b"\0")
    if len(data) < ADDRESSES.size or len(texts) < 4 or not texts[0] or not texts[1]:
        return None
    place, linked, semaphore = ADDRESSES.unpack_from(data)
    moved = base - linked if base is not None else 0
    provider, name, operands = (text.decode(errors="surrogateescape") for text in texts[:3])
    return Note(provider, name, (place + moved) % 2**64, (semaphore + moved) % 2**64 if semaphore else None, operands)


def notes(data, base):
    """Return the Notes of a section, and a sentence about damage in it or None."""
    found, damaged, at = [], 0, 0
    while len(data) - at >= HEAD.size:
        owner, size, kind = HEAD.unpack_from(data, at)
        start = at + HEAD.size + padded(owner)
        if start + size > len(data):
            return found, "the note at byte %d is longer than the section" % at
        if len(found) + damaged == MOST:
            return found, "it has more than %d notes" % MOST
        if kind == MARKER and bytes(data[at + HEAD.size:at + HEAD.size + owner]) == OWNER:
            one = note(data[start:start + size], base)
            if one is None:
                damaged += 1
            else:
                found.append(one)
        at = start + padded(size)
    if damaged:
        return found, "%d of its notes are damaged" % damaged
    return found, "its end is not a note" if at < len(data) else None


# Arguments ---------------------------------------------------------------------------------------

def kind_of(minus, size, real):
    """Return the C type and the size of an operand, from the parts of the text before its @."""
    size = int(size or 8)
    if real:
        if size not in FLOATS:
            raise Refused("a floating-point number of %d bytes" % size)
        return FLOATS[size], size
    if size not in INTEGERS:
        raise Refused("it has %d bytes" % size)
    return ("" if minus and size > 1 else "signed " if minus else "unsigned ") + INTEGERS[size], size


def total(text, file):
    """Return (the sum of a displacement's numbers and of its symbol, whether it has a symbol)."""
    value, named, at = 0, False, 0
    while at < len(text):
        found = TERM.match(text, at)
        if found is None or at and not found.group(1):
            raise Refused("its operand is not understood")
        sign, digits, symbol = found.groups()
        if symbol:
            if named or sign == "-":
                raise Refused("its operand is not understood")
            value, named = value + file.symbol(symbol), True
        else:
            value += int(digits, 16 if digits[:2] == "0x" else 10) * (-1 if sign == "-" else 1)
        at = found.end()
    if not -2**63 <= value < 2**64:
        raise Refused("its operand is not understood")
    return value, named


def whole(text):
    """Return the C text for a 64-bit register that is a part of an address."""
    name = text.strip()
    if name[:1] != "%" or name[1:] not in WHOLE:
        raise Refused("its operand is not understood")
    return "(long)$" + name[1:]


def address(text, file):
    """Return the address of an operand in memory, as C text."""
    found = MEMORY.fullmatch(text)
    if found is None:
        raise Refused("its operand is not understood")
    inner = [part.strip() for part in found.group(2).split(",")] if found.group(2) is not None else []
    if inner == [""] or len(inner) > 3 or not inner and not found.group(1):
        raise Refused("its operand is not understood")
    value, named = total(found.group(1), file)
    if inner == ["%rip"]:
        if not named or not 0 <= value < file.end:
            raise Refused("its operand is not understood")
        return "%#x" % (file.base + value)
    if named and not file.fixed:
        raise Refused("its operand names an address, and the file has none of its own")
    terms = [whole(inner[0])] if inner and inner[0] else []
    if len(inner) > 1:
        scale = inner[2] if len(inner) == 3 else "1"
        if scale not in ("1", "2", "4", "8"):
            raise Refused("its operand is not understood")
        terms.append(whole(inner[1]) + (" * " + scale if scale != "1" else ""))
    if not terms:
        return "%#x" % (value % 2**64)
    if value:
        return "(%s %s %#x)" % (" + ".join(terms), "-" if value < 0 else "+", abs(value))
    return "(%s)" % " + ".join(terms)


def value_of(text, kind, size, file):
    """Return the value of an operand, as C text."""
    if text.startswith("%") and ":" in text:
        raise Refused("it is a variable of the thread, whose address a hit does not have")
    real = kind in FLOATS.values()
    if text.startswith("%"):
        if real:
            raise Refused("it is a floating-point number in a register")
        if text[1:] not in REGISTERS:
            raise Refused("a hit does not have this register")
        name, bit = REGISTERS[text[1:]]
        # The marker's note gives the size of the operand. The register's name may imply a smaller or larger size, which
        # is ignored.
        return "((%s)%s)" % (kind, "((long)$%s >> %d)" % (name, bit) if bit else "(long)$" + name)
    if text.startswith("$"):
        value, named = total(text[1:], file)
        if real or len(text) == 1 or named and not file.fixed:
            raise Refused("its operand is not understood")
        return "((%s)%#x)" % (kind, value % 2 ** (8 * size))
    return "(*(%s *)%s)" % (kind, address(text, file))


def argument(text, file):
    """Return the Argument of an operand.

    FILE has these members. base: the distance from link-time addresses to GDB's. end: the end of link-time addresses.
    fixed: true if processes have the file at its link-time addresses. symbol(): the link-time address of a symbol; it
    may raise Refused.
    """
    kind = None
    try:
        found = OPERAND.fullmatch(text)
        if found is None:
            raise Refused("its operand is not understood")
        kind, size = kind_of(*found.groups()[:3])
        return Argument(kind, value_of(found.group(4), kind, size, file), None)
    except Refused as refused:
        return Argument(kind, None, "%s: %s" % (refused, harmless.line(text)))


def arguments(operands, file):
    """Return the Arguments of a note. If there are too many, none of them has a value."""
    texts = operands.split(None, MOST_ARGUMENTS)
    if len(texts) > MOST_ARGUMENTS:
        return [Argument(None, None, "the note has more than %d arguments" % MOST_ARGUMENTS)]
    return [argument(text, file) for text in texts]


def common(kinds):
    """Return one type for an argument that has these types at its marker's places, or None if no type fits all."""
    kinds = [kind for kind in kinds if kind]
    if len(set(kinds)) < 2:
        return kinds[0] if kinds else None
    if set(kinds) & set(FLOATS.values()):
        return None
    return "long" if any(not kind.startswith("unsigned") for kind in kinds) else "unsigned long"
