# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp watch`: a hardware watchpoint on all CPUs as a tracepoint. It shows what accesses a variable.
#
# The tracepoint's address is the variable's address, except for the highest byte. This byte says how many bytes are
# watched, and for which accesses (base/watch.h).
import collections
import re

import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.commands import collect, modules
from gtp.gdblib import define, gdbcall, hooks, remote, screen, words
from gtp.gdblib.command import Command
from gtp.places import places, points
from gtp.run import usertext

USAGE = "gtp watch EXPRESSION [w|rw] [if CONDITION] [collect EXPRESSION, ...]"
TAG, MASK, SHIFT = 0x61, 0xe1, 56
SIGNED, READS, SIZE_SHIFT = 2, 4, 3
SIZES = {1: 0, 2: 1, 4: 2, 8: 3}
CANNOT = """%s has %d bytes, and the processor watches 1, 2, 4 or 8: name a member, or a part of it, as in
  gtp watch *(long *)&(%s)"""
NOTE = """note: a kernel does not stop for watch, rwatch, awatch or hbreak. These are tracepoints:
  gtp watch EXPRESSION    who writes a variable; %s
  trace LOCATION          in place of hbreak""" % "gtp watch EXPRESSION rw: who reads it, too"

Said = collections.namedtuple("Said", "expression reads condition collect")


def has(address):
    """Return whether an address is that of a watchpoint (base/watch.h)."""
    return address >> SHIFT & MASK == TAG


def said(text):
    """Parse the arguments. Return a Said."""
    text, taken = last(text, "collect")
    front, condition = words.halves(text)
    found = re.match(r"(.*\S)\s+(rw|w)$", front, re.S)
    expression, how = found.groups() if found else (front, "w")
    for what, part in (("collect", taken), ("if", condition)):
        if part == "":
            raise gdb.GdbError("nothing after `%s'; say %s" % (what, USAGE))
        words.refuse_clauses(part, USAGE)
    if not expression:
        raise gdb.GdbError("no variable is named; say %s" % USAGE)
    return Said(expression, how == "rw", condition, taken)


def last(text, word):
    """Return the text before the first WORD outside of quotes, and the text after it, which is None if there is no WORD."""
    found = re.search(r"(?:^|\s)%s(?:\s|$)" % word, words.blanked(text))
    return (text, None) if found is None else (text[:found.start()], text[found.end():].strip())


def evaluated(text):
    """Return the expression's gdb.Value in the live kernel."""
    try:
        return gdbcall.value(text)
    except gdb.error:
        return cexpr.value(text)


def is_bit_field(text):
    """Return whether the expression denotes a bit field. For a bit field, GDB gives the address of the word that
    contains it.

    If only GDB understands the expression, judge by the member at its end.
    """
    try:
        return cexpr.is_bit_field(text)
    except cexpr.Error:
        pass
    found = re.match(r"(.*?)(?:\.|->)\s*(\w+)\s*$", text, re.S)
    if not found:
        return False
    kind = ctype.plain(evaluated(found.group(1)).type)
    if kind.code == gdb.TYPE_CODE_PTR:
        kind = ctype.plain(kind.target())
    try:
        return bool(kind[found.group(2)].bitsize)
    except (KeyError, TypeError):
        return False  # the field is a member of an unnamed struct


def variable(text):
    """Return (address, gdb.Type) of the variable that an expression names."""
    value = evaluated(text)
    if value.address is None:
        raise gdb.GdbError("%s is not a variable in memory" % text)
    if is_bit_field(text):
        raise gdb.GdbError("%s is a bit field: watch the bytes that it is in, by their address" % text)
    return int(value.address) % 2**64, ctype.plain(value.type)


def address(text, reads):
    """Return the tracepoint's address for a variable."""
    where, kind = variable(text)
    if where >> SHIFT != 0xff:
        raise gdb.GdbError("%s is at %#x, which is not an address of the kernel" % (text, where))
    if kind.code == gdb.TYPE_CODE_FUNC:
        raise gdb.GdbError("%s is code, not a variable: use gtp trace" % text)
    if kind.sizeof not in SIZES:
        raise gdb.GdbError(CANNOT % (text, kind.sizeof, text))
    number = ctype.kind_of(kind)
    tag = TAG | SIZES[kind.sizeof] << SIZE_SHIFT | (READS if reads else 0) | (SIGNED if number and not number[1] else 0)
    return tag << SHIFT | where % 2**SHIFT


def put_actions(number, asked, bare):
    """Give the tracepoint its actions: collect the old and the new value, unless BARE, and what the user asks for."""
    if not bare:
        texts = {"$watch_prev_val": "old " + asked.expression, "$watch_val": "new " + asked.expression}
        points.set_actions(number, ["collect " + text for text in texts])
        usertext.remember(number, texts)
    return collect.add(number, asked.collect) if asked.collect else []


def set_one(definitions, asked, bare=False):
    """Set the tracepoint. Return a text that describes it, and lines about what is collected."""
    at = address(asked.expression, asked.reads)
    condition = asked.condition and cexpr.condition(asked.condition, at)
    number = definitions.add(places.address(at), condition)
    lines = put_actions(number, asked, bare)
    where, kind = at % 2**SHIFT | 0xff << SHIFT, "reads and writes" if asked.reads else "writes"
    size = 1 << (at >> SHIFT + SIZE_SHIFT & 3)
    return "Tracepoint %d: %s of %s, %d byte%s at %#x\n" % (
        number, kind, asked.expression, size, "s" if size > 1 else "", where), lines


class GtpWatch(Command):
    """Trace what writes a variable: a hardware watchpoint on all CPUs.

gtp watch EXPRESSION [w|rw] [if CONDITION] [collect EXPRESSION, ...]
EXPRESSION is a variable of 1, 2, 4 or 8 bytes whose address is known now: its
pointers are followed only once, by this command. Each instruction that writes
the variable is a hit, even if the value stays the same. With rw, each
instruction that reads it is a hit, too. A frame has
  $watch_val       the value after the access
  $watch_prev_val  the value after the previous access, by any CPU
and, if $regs is collected, the registers and the pc after the instruction.
CONDITION and the collected expressions are as for gtp trace, but without local
variables, because the instruction may be anywhere. There can be four
watchpoints at a time. A watchpoint can also be the place of a command like
  gtp count by $kstack at watch EXPRESSION [w|rw]
docs/watch.md shows how to set one without gdbtp's commands."""

    def __init__(self):
        super().__init__("gtp watch", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        text, bare = re.subn(r"^\s*--bare\s+", "", arg)
        asked = said(text.strip())
        if not remote.is_gtp():
            raise gdb.GdbError(remote.NOT_CONNECTED)
        modules.follow()
        with words.in_c(), define.Definitions() as definitions:
            told, lines = set_one(definitions, asked, bool(bare))
        screen.put(told)
        for line in lines:
            screen.say(line)
        if not bare:
            points.tell_in_run()


def tell():
    """Print a note for a user of GDB's own command: GDB cannot insert its watchpoint or breakpoint at the next
    `continue`."""
    if remote.is_gtp():
        screen.put(NOTE + "\n")


def hook():
    """Hook GDB's commands. Do not replace the user's own hooks."""
    for command in ("watch", "rwatch", "awatch", "hbreak", "thbreak"):
        if not hooks.is_defined("hookpost-" + command):
            hooks.define("hookpost-" + command, "gtp.commands.watch", "tell")


GtpWatch()
hook()
