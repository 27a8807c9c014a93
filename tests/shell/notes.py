# SPDX-License-Identifier: GPL-2.0-only
"""Tests the markers of programs: gdbtp must find the notes that readelf finds, and turn operands into C expressions. A
damaged note must give an error message. From a hostile operand, only registers, numbers, operators and C types may reach
GDB."""
import os
import random
import re
import struct
import subprocess
import tempfile

from gtp.formats import stapsdt
from gtp.formats.stapsdt import Argument, Note
from gtp.text import infosymbol
from tap import check, equal, matches, rounds, test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = 0x4700100000000000


class File:
    """Stands in for a program's file with two symbols, to which operands of markers can refer."""

    base, end, fixed = BASE, 1 << 36, False

    def symbol(self, name):
        if name not in ("counter", "table"):
            raise stapsdt.Refused("the file has no symbol of that name")
        return {"counter": 0x4000, "table": 0x4010}[name]


class Fixed(File):
    fixed = True


def raw(desc, owner=b"stapsdt\0", kind=3, owner_bytes=None, desc_bytes=None):
    """Return the bytes of a note. Its length fields may be wrong on purpose."""
    head = struct.pack("<III", len(owner) if owner_bytes is None else owner_bytes,
                       len(desc) if desc_bytes is None else desc_bytes, kind)
    return head + owner + b"\0" * (-len(owner) % 4) + desc + b"\0" * (-len(desc) % 4)


def marker(place=0x1000, base=0x2000, semaphore=0, text=b"prov\0name\0-4@%eax\0"):
    return struct.pack("<QQQ", place, base, semaphore) + text


def text_of(operand, file=None):
    return stapsdt.argument(operand, file or File()).text


def why(operand, file=None):
    found = stapsdt.argument(operand, file or File())
    equal(found.text, None, operand)
    return found.why


@test("notes: names, places and semaphores; relocated by .stapsdt.base; notes of other kinds are skipped")
def whole():
    one = raw(marker(semaphore=0x3000))
    wanted = Note("prov", "name", 0x1000, 0x3000, "-4@%eax")
    equal(stapsdt.notes(one, 0x2000), ([wanted], None))
    equal(stapsdt.notes(one, None), ([wanted], None))
    moved = wanted._replace(place=0x1700, semaphore=0x3700)
    equal(stapsdt.notes(one, 0x2700), ([moved], None))
    equal(stapsdt.notes(raw(marker()), 0x1f00)[0][0]._replace(operands="")[2:], (0xf00, None, ""))
    others = raw(b"\1" * 20, b"GNU\0") + raw(b"x", b"stapsdt\0", 4) + raw(b"", b"")
    equal(stapsdt.notes(others + one + others + one, 0x2000), ([wanted, wanted], None))
    equal(stapsdt.notes(b"", 0), ([], None))


@test("the notes of a program are those that readelf finds")
def beside_readelf():
    with tempfile.TemporaryDirectory() as folder:
        path, section = os.path.join(folder, "markers"), os.path.join(folder, "notes")
        subprocess.run(["gcc", "-O2", "-o", path, os.path.join(TOP, "tests/program/markers.c")], check=True)
        subprocess.run(["objcopy", "--dump-section", ".note.stapsdt=" + section, path], check=True)
        shown = subprocess.run(["readelf", "-n", path], capture_output=True, check=True).stdout.decode(errors="replace")
        with open(section, "rb") as file:
            found, complaint = stapsdt.notes(file.read(), None)
    equal(complaint, None)
    wanted = [tuple(int(word, 16) for word in row)
              for row in re.findall(r"Location: (0x\w+), Base: 0x\w+, Semaphore: (0x\w+)", shown)]
    equal([(note.place, note.semaphore or 0) for note in found], wanted)
    check(len(found) > 10, "these are few")
    equal([note.operands for note in found], [line.strip() for line in re.findall("Arguments: (.*)", shown)])


@test("damaged notes: earlier notes are read, and a sentence says what is wrong")
def damaged():
    one = raw(marker())
    first = stapsdt.notes(one, None)[0]
    for tail, words in ((one[:11], "its end is not a note"), (one[:-3], "longer than the section"),
                        (raw(marker(), desc_bytes=0xffffffff), "note at byte 64 is longer"),
                        (raw(marker(), owner_bytes=0xffffffff), "longer than the section"),
                        (raw(marker()[:23]), "1 of its notes are damaged"), (raw(marker(text=b"prov\0name")), "damaged"),
                        (raw(marker(text=b"\0name\0\0")), "damaged"), (raw(marker(text=b"")), "damaged")):
        found, complaint = stapsdt.notes(one + tail, None)
        equal(found, first)
        matches(words, complaint)
    found, complaint = stapsdt.notes(raw(marker()) * (stapsdt.MOST + 1), None)
    equal(len(found), stapsdt.MOST)
    matches("more than 65536 notes", complaint)


@test("operands: registers of all widths; the note's size decides, and its sign is the value's")
def registers():
    for operand, kind, text in (
            ("8@%rdi", "unsigned long", "(long)$rdi"), ("-8@%r15", "long", "(long)$r15"),
            ("-4@%edi", "int", "(long)$rdi"), ("4@%r9d", "unsigned int", "(long)$r9"),
            ("-2@%bp", "short", "(long)$rbp"), ("2@%r10w", "unsigned short", "(long)$r10"),
            ("-1@%sil", "signed char", "(long)$rsi"), ("1@%r12b", "unsigned char", "(long)$r12"),
            ("-1@%bh", "signed char", "((long)$rbx >> 8)"), ("8@%eax", "unsigned long", "(long)$rax"),
            ("%rdx", "unsigned long", "(long)$rdx")):
        equal(stapsdt.argument(operand, File()), Argument(kind, "((%s)%s)" % (kind, text), None))


@test("operands: memory with base, index, scale, displacement; variables of the file; constants")
def memory():
    for operand, text in (
            ("-4@-20(%rbp)", "(*(int *)((long)$rbp - 0x14))"), ("8@(%rax)", "(*(unsigned long *)((long)$rax))"),
            ("2@8(%rbx,%rcx,4)", "(*(unsigned short *)((long)$rbx + (long)$rcx * 4 + 0x8))"),
            ("-8@(%rbx,%rcx)", "(*(long *)((long)$rbx + (long)$rcx))"), ("1@0x10-8(,%r9,8)", "(*(unsigned char *)((long)$r9 * 8 + 0x8))"),
            ("4@counter(%rip)", "(*(unsigned int *)%#x)" % (BASE + 0x4000)),
            ("4@table+8(%rip)", "(*(unsigned int *)%#x)" % (BASE + 0x4018)),
            ("4@-8+table(%rip)", "(*(unsigned int *)%#x)" % (BASE + 0x4008)),
            ("8f@-8(%rbp)", "(*(double *)((long)$rbp - 0x8))"), ("-4f@(%rsp)", "(*(float *)((long)$rsp))"),
            ("-4@$5", "((int)0x5)"), ("-4@$-5", "((int)0xfffffffb)"), ("4@$-5", "((unsigned int)0xfffffffb)"),
            ("8@$0x7fffffffffffffff", "((unsigned long)0x7fffffffffffffff)"), ("1@$200", "((unsigned char)0xc8)")):
        equal(text_of(operand), text, operand)
    equal(text_of("8@table(,%rax,4)", Fixed()), "(*(unsigned long *)((long)$rax * 4 + 0x4010))")
    equal(text_of("8@counter", Fixed()), "(*(unsigned long *)0x4000)")
    equal(text_of("8@$table", Fixed()), "((unsigned long)0x4010)")


@test("operands without a value at a hit are refused with a sentence")
def refused():
    for operand, words in (
            ("8f@%xmm0", "floating-point number in a register"), ("8@%xmm1", "does not have this register"), ("16@%xmm0", "it has 16 bytes"),
            ("10f@%st", "number of 10 bytes"), ("8@%fs:0x28", "of the thread"), ("8@none(%rip)", "no symbol of that name"),
            ("8@counter", "has none of its own"), ("8@$table", "not understood"), ("3@%rax", "it has 3 bytes"),
            ("8@", "not understood"), ("", "not understood"), ("8@$", "not understood"), ("8@(%rip)", "not understood"),
            ("8@(%eax)", "not understood"), ("8@(%rax,%rbx,3)", "not understood"), ("8@(%rax,%rbx,8,1)", "not understood"),
            ("8@-table(%rip)", "not understood"), ("8@table+table(%rip)", "not understood"), ("8@()", "not understood"), ("8@8()", "not understood"), ("8@8(,)", "not understood"),
            ("8@99999999999999999999(%rax)", "not understood"), ("8@table+0xfffffffff(%rip)", "not understood"),
            ("8@QWORD PTR [rax]", "not understood"), ("8@*%rax", "not understood"), ("1f@(%rax)", "number of 1 bytes")):
        matches(words, why(operand))
        check(operand in why(operand), "the operand is not named")


@test("a note with too many arguments: one sentence, at once")
def many():
    found = stapsdt.arguments("-4@%eax " * 700000, File())
    equal([(argument.text, argument.why) for argument in found], [(None, "the note has more than 64 arguments")])
    equal(len(stapsdt.arguments("-4@%eax " * stapsdt.MOST_ARGUMENTS, File())), stapsdt.MOST_ARGUMENTS)


@test("the answer to info symbol: C++ names, which may contain blanks and a plus")
def symbols():
    for text, wanted in (
            ("vfs_read in section .text\n", ("vfs_read", 0, ".text", None)),
            ("vfs_read + 5 in section .text of /boot/vm linux\n", ("vfs_read", 5, ".text", "/boot/vm linux")),
            ("a<(1 + 2)>::b(int, char) + 17 in section .text\n", ("a<(1 + 2)>::b(int, char)", 17, ".text", None)),
            ("operator + (x const&, int) in section .text", ("operator + (x const&, int)", 0, ".text", None)),
            ("No symbol matches 5.\n", None), ("", None)):
        equal(infosymbol.parse(text), wanted and infosymbol.Found(*wanted), text)


@test("several places: an argument has one type at all of them")
def common():
    equal(stapsdt.common(["int", "int"]), "int")
    equal(stapsdt.common(["int", "unsigned long"]), "long")
    equal(stapsdt.common(["unsigned int", None, "unsigned char"]), "unsigned long")
    equal(stapsdt.common(["double", "long"]), None)
    equal(stapsdt.common([None]), None)


@test("any bytes are notes, or an error; whatever operands say, GDB gets only registers, numbers and C types")
def hostile():
    dice = random.Random(int(os.environ.get("GTP_SEED", "1")))
    allowed = re.compile(r"(?:\(|\)|\*| |\+|-|>>|\$r[a-z0-9]{1,2}\b|0x[0-9a-f]+|\b[1248]\b|\b(?:un)?signed\b|"
                         r"\b(?:char|short|int|long|float|double)\b)*")
    pieces = ["-", "4", "8", "@", "%rax", "%al", "(", ")", ",", "$", "counter", "+", "0x10", "%rip", "f", "\n", "shell ls", ";", "`",
              "$_shell(\"ls\")", "[", "\"", "%fs:", "system", "\udcff", "1_0", "\u0664", "99", "table", " "]
    values = 0
    for _ in range(rounds(100000, 20000)):
        text = "".join(dice.choices(pieces, k=dice.randrange(1, 9)))
        for operand in [text, "8@" + text]:
            found = stapsdt.argument(operand, dice.choice((File, Fixed))())
            check((found.text is None) != (found.why is None), repr(found))
            if found.text is not None:
                values += 1
                check(allowed.fullmatch(found.text), "%r became %r" % (operand, found.text))
    check(values > 100, "only %d of them have a value: this shows little" % values)
    good = raw(marker()) * 3
    for _ in range(rounds(20000, 5000)):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 0xff, dice.randrange(256)))
        found, complaint = stapsdt.notes(bytes(data[:dice.randrange(len(data) + 1)]), dice.choice((None, 0x2000)))
        check(len(found) <= 3 and (complaint is None or len(complaint) < 100), "%r %r" % (found, complaint))
