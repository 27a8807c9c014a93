# SPDX-License-Identifier: GPL-2.0-only
# Job: compare numbers near the limits of 64 bits in `gtp table` with those in GDB: constants, registers, addresses.
#
# GDB sources this file and table.py, with the program of types.c. `write-words FILE` writes a trace file with a frame for
# each number, in $rdi. `compare-words` compares all columns and conditions of that file with GDB's. If they differ, GDB
# exits with a failure.
import itertools
import struct

import gdb

import cells

DIRECT = 0xffff888000000000  # the beginning of the kernel's direct map, which contains most objects
# In a listing of bytecode GDB prints 64-bit constants as signed numbers.
NUMBERS = ("0", "1", "0x80000000", "0x100000000", "0x7fffffffffffffff", "0x8000000000000000", "0xffffffffffffffff",
           "%#x" % DIRECT, "-1", "-2", "-0x80000000", "-0x80000001", "-0x7fffffffffffffff")
OPERATORS = ("==", "!=", "<", ">", "<=", ">=", "+", "-", "&", "*", "/", "%")
LEFT = ("$rdi", "(unsigned long) $rdi")
CASTS = ("int", "unsigned", "long", "unsigned long")
REGISTERS = 0xa4  # the size of a frame's registers, in bytes
RDI, RIP = 5, 16
TEXT = bytes(range(0xf1, 0xf9))


def binary(operators):
    """Return expressions with two operands. Leave out divisions by -1, because GDB dies of SIGFPE if it divides the smallest
    number by -1."""
    return ["%s %s %s" % parts for parts in itertools.product(LEFT, operators, NUMBERS)
            if parts[1:] not in (("/", "-1"), ("%", "-1"))]


def columns():
    """Yield expressions with a constant on each side, alone, converted, and as an address."""
    yield from binary(OPERATORS)
    for number in NUMBERS:
        yield from ("%s < (unsigned long) $rdi" % number, "%s < $rdi" % number, "%s + 1" % number, "!(%s)" % number,
                    "~(%s)" % number, "$rdi && %s" % number, "$rdi >> (int) (%s & 63)" % number)
        yield from ("(%s) (%s) == (%s) $rdi" % (kind, number, kind) for kind in CASTS)
    yield from ("*(%s *) (%#x + %d)" % (kind, DIRECT, at) for kind, at in (("long", 0), ("unsigned char", 3), ("short", 6)))
    yield "*(long *) 0xffff888000000008"


class Write(gdb.Command):
    """write-words FILE"""

    def __init__(self):
        super().__init__("write-words", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        pc = gdb.decode_line("visit")[1][0].pc
        head = ("\x7fTRACE0\nR %x\nstatus 0;tstop:0;tframes:1;tcreated:1;tfree:100;tsize:1000;circular:0;disconn:0\n"
                "tp T1:%x:E:0:0\ntp A1:%x:R%x\n\n" % (REGISTERS, pc, pc, 1 << RDI | 1 << RIP)).encode()
        with open(arg, "wb") as file:
            file.write(head)
            for number in NUMBERS:
                registers = bytearray(REGISTERS)
                struct.pack_into("<Q", registers, 8 * RDI, int(number, 0) % 2**64)
                struct.pack_into("<Q", registers, 8 * RIP, pc)
                blocks = b"R" + registers + b"M" + struct.pack("<QH", DIRECT, len(TEXT)) + TEXT
                file.write(struct.pack("<HI", 1, len(blocks)) + blocks)
            file.write(b"\0\0")


def conditions():
    """Yield a line for each condition that gtp table finds true in other frames than GDB does."""
    frames = range(len(NUMBERS))
    texts = binary(OPERATORS[:6])
    wanted = {text: set() for text in texts}
    for frame in frames:
        gdb.execute("tfind %d" % frame, to_string=True)
        for text in texts:
            if int(gdb.parse_and_eval(text)):
                wanted[text].add(frame)
    gdb.execute("tfind none", to_string=True)
    for text in texts:
        have = {int(row["frame"]) for row in cells.rows("1 $rdi if " + text)} if wanted[text] else None
        if have is None and "0 of %d frames" % len(frames) in gdb.execute("gtp table 1 $rdi if " + text, to_string=True):
            have = set()
        if have != wanted[text]:
            yield "if %s: frames %s, GDB has %s" % (text, have, wanted[text])


class Compare(gdb.Command):
    """compare-words: compare the columns and conditions of the open trace file."""

    def __init__(self):
        super().__init__("compare-words", gdb.COMMAND_TRACEPOINTS)

    def invoke(self, arg, from_tty):
        bad, count = cells.compare(1, ", ".join(columns()), 1, len(NUMBERS))
        if count != len(NUMBERS):
            bad.append("%d rows of %d" % (count, len(NUMBERS)))
        bad += conditions()
        print("# %d columns, %d differences" % (len(list(columns())), len(bad)))
        for line in bad[:20]:
            print("# " + line)
        gdb.execute("quit %d" % bool(bad))


Write()
Compare()
