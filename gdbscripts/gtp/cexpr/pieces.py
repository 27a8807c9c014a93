# SPDX-License-Identifier: GPL-2.0-only
"""Structures that are in registers: passed by value in one or two registers, or split into pieces by the compiler.

GDB's agent compiler cannot access the members of structures in registers. So ask GDB where the pieces are, and extract
a member from its register.
"""
import re
import shlex
import tempfile
from typing import NamedTuple

import gdb

from gtp.cexpr import compiler, ctype, headers
from gtp.cexpr.error import Error
from gtp.cexpr.operand import PRIMARY, UNARY, Operand
from gtp.gdblib import gdbcall

# GDB numbers the general registers in this order, also in a register mask.
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp") + tuple("r%d" % n for n in range(8, 16))
PIECE = re.compile(r"(?:and )?a variable in \$(\w+)(?: \[(\d+)-byte piece\])?$")
RANGE = re.compile(r"Range (0x[0-9a-f]+)-(0x[0-9a-f]+): (.*)")
WORD = 64


class Piece(NamedTuple):
    """COUNT bits of a structure, starting at bit FIRST. They start at bit 0 of REGISTER. REGISTER is None if no
    register holds them."""
    first: int
    count: int
    register: str


def of_variable(symbol, name, pc):
    """Return the Pieces of a structure that is in registers at pc. Return None if it is in memory, or has no location."""
    where = compiler.location(pc) if pc is not None else None
    if where is None or symbol.addr_class != gdb.SYMBOL_LOC_COMPUTED:
        return None
    try:
        number = only_register(where, name)
    except gdb.error as error:
        return of_several(name, pc) if "pieces" in str(error) else None
    if number is None or 8 * symbol.type.sizeof > WORD or number >= len(REGISTERS):
        return None
    return (Piece(0, 8 * symbol.type.sizeof, REGISTERS[number]),)


def only_register(where, name):
    """Return the number of the register that GDB would collect for a name, or None if that is not exactly one
    register."""
    code = gdbcall.execute("maint agent -at %s, %s" % (where, name))
    mask, rest = re.search(r"^Reg mask: ([0-9a-f]*)\n(.*)", code, re.M | re.S).groups()
    bits = numbers(mask, is_hexadecimal(where))
    return bits[0] if len(bits) == 1 and re.match(r"\s*0\s+end\s*$", rest) else None


def is_hexadecimal(where):
    """Return whether this GDB prints a register mask as hexadecimal bytes, such as 20 for rdi, which is register number
    5. GDB 18 prints one digit for each register."""
    return re.search(r"^Reg mask: (\w+)", gdbcall.execute("maint agent-eval -at %s, $rdi" % where), re.M).group(1) == "20"


def numbers(mask, hexadecimal):
    """Return the numbers of the registers in a register mask as GDB prints it."""
    if not hexadecimal:
        return [i for i, digit in enumerate(mask) if digit == "1"]
    return [8 * i + j for i, byte in enumerate(bytes.fromhex(mask)) for j in range(8) if byte >> j & 1]


def scope(pc):
    """Return the output of `info scope` at an address. If GDB 13 fails at a variable that it cannot describe, return
    the output before the error.

    Getting this output takes a process, which untrusted text must not start. For such text, return an empty output.
    """
    command = "info scope *%#x" % pc
    try:
        return gdbcall.execute(command)
    except gdb.error:
        if not headers.asked:
            return ""
    with tempfile.NamedTemporaryFile("r", prefix="gtp-scope-") as file:
        try:
            gdbcall.execute("pipe %s | cat >%s" % (command, shlex.quote(file.name)))
        except gdb.error:
            pass
        return file.read()


def of_several(name, pc):
    """Return the Pieces of a structure in several registers, read from GDB's text `a variable in $rsi [8-byte piece],
    and a variable in ...'."""
    text = scope(pc)
    found = re.search(r"^Symbol %s is (.*?)(?=^Symbol |\Z)" % re.escape(name), text, re.M | re.S)
    if found is None:
        return None
    said = found.group(1)
    ranges = [words for start, end, words in RANGE.findall(said) if int(start, 16) <= pc < int(end, 16)]
    said = ranges[0] if ranges else re.sub(r", length \d+\.\s*$", "", said)
    pieces, first = [], 0
    for words in said.strip().rstrip(",").split(", "):
        piece = PIECE.match(words)
        size = re.search(r"\[(\d+)-byte piece\]", words)
        if size is None:
            return None
        pieces.append(Piece(first, 8 * int(size.group(1)), piece and piece.group(1)))
        first += pieces[-1].count
    return tuple(pieces)


def whole(symbol, name, pc):
    """Return the registers that hold a structure, or [] if a part has no location, or all of it is in memory."""
    return registers(of_variable(symbol, name, pc) or (), 0, 8 * symbol.type.sizeof)


def registers(pieces, first, count):
    """Return the registers that hold COUNT bits of a structure, starting at bit FIRST, or [] if some of these bits have
    no location."""
    used = [p for p in pieces if p.first < first + count and first < p.first + p.count]
    return [] if any(p.register not in REGISTERS for p in used) else ["$" + p.register for p in used]


def collected(operand):
    """Return the registers that hold an operand, which is a part of a structure. Return [] if some of its bits have no
    location."""
    return registers(operand.pieces, operand.inside, 8 * operand.type.sizeof)


def member(lower, base, found, node):
    """Return the Operand of a member of a structure in registers."""
    first = base.inside + found.bit
    if ctype.is_aggregate(found.type):
        return Operand(found.type, "", pieces=base.pieces, inside=first)
    count = found.bits or 8 * found.type.sizeof
    piece = next((p for p in base.pieces if p.first <= first and first + count <= p.first + p.count), None)
    if piece is None or piece.register not in REGISTERS or count > WORD:
        raise Error("%s is in no register here" % node.name, node.at, "Trace the function's first instruction.")
    shift = first - piece.first
    if ctype.is_pointer(found.type):
        return pointer(lower, found.type, "$" + piece.register)
    kind = ctype.kind_of(found.type)
    if kind is None:
        raise Error("%s is %s, in a register" % (node.name, ctype.describe(found.type)), node.at,
                    "$%s is the register." % piece.register)
    if found.bits:
        return bit_field("$" + piece.register, shift, count, found.type, kind)
    text = "($%s >> %d)" % (piece.register, shift) if shift else "$" + piece.register
    return Operand(found.type, "(%s)%s" % (ctype.NAMES[kind], text), UNARY, kind)


def pointer(lower, kind, register):
    spelled = ctype.spell(kind, lower.scope)
    if spelled is None:
        return Operand(kind, register)
    return Operand(kind, "((%s)%s)" % (spelled, register), PRIMARY, named=True)


def bit_field(register, shift, count, declared, kind):
    """Extract a bit field from a register: shift it up to the highest bit, and down again, arithmetically or
    logically."""
    unsigned = kind[1]
    size = 4 if count < 32 or (count == 32 and not unsigned) else 8
    promoted = (size, size == 8 and unsigned)
    text = "(%s)((%s)(%s << %d) >> %d)" % (ctype.NAMES[promoted], ctype.NAMES[8, unsigned], register,
                                         WORD - shift - count, WORD - count)
    limits = (0, (1 << count) - 1) if unsigned else (-(1 << (count - 1)), (1 << (count - 1)) - 1)
    return Operand(declared if ctype.is_bool(declared) or ctype.is_enum(declared) else ctype.integer(promoted), text,
                   UNARY, promoted, limits=limits)
