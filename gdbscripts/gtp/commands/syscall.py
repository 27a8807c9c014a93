# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp syscall`: the entry and the exit of a system call, with its arguments by name.
#
# The entry is the first instruction of __x64_sys_NAME(regs), through which every 64-bit call of the system call
# passes. No instruction is common to all returns, so the exit is the event raw_syscalls:sys_exit for calls with that
# number.
import difflib
import fnmatch
import re
import struct

import gdb

from gtp import cexpr
from gtp.gdblib import define, gdbcall, remote, screen, traceframe, words
from gtp.gdblib.command import Command
from gtp.places import events, functions, names, places, points
from gtp.places.recordcode import CALL, NOT_COMPAT

USAGE = "gtp syscall NAME [if EXPRESSION]"
PREFIX = "__x64_sys_"
EXIT = "raw_syscalls:sys_exit"


def table():
    """Return the addresses in the kernel's table of 64-bit system calls, by number. Trace frames do not contain the
    table."""
    size, at = functions.kernel().sizes.get("sys_call_table", 0), address("sys_call_table") % 2**64
    with traceframe.Kept():
        if traceframe.number() >= 0:
            traceframe.select(-1)
        try:
            data = gdb.selected_inferior().read_memory(at, size).tobytes()
        except gdb.MemoryError:
            raise gdb.GdbError(remote.NOT_CONNECTED) from None
    return [value for value, in struct.iter_unpack("<Q", data)]


def known():
    """Return the sorted names of the system calls that the kernel's table contains."""
    linked = functions.kernel().functions
    if PREFIX + "read" not in linked:
        raise gdb.GdbError("vmlinux is not loaded, or has no system calls of x86-64")
    moved = address(PREFIX + "read") - linked[PREFIX + "read"]
    there = set(table())
    return sorted(name[len(PREFIX):] for name, at in linked.items()
                  if name.startswith(PREFIX) and at + moved in there and name != PREFIX + "ni_syscall")


def address(name):
    return gdbcall.address(name)


def meant(name):
    """Return a suggestion of system calls with similar names: the kernel's name for stat is newstat."""
    there = known()
    near = sorted((n for n in there if name in n), key=lambda n: (not n.endswith(name), len(n)))
    near = near or difflib.get_close_matches(name, there, 3)
    return "; is it %s?" % " or ".join(near[:3]) if near else ""


class Syscall:
    """A system call.

    arguments: [(type, name)] in their order
    entry, numbers: its function's address, and the numbers by which it is called
    """

    def __init__(self, name):
        self.name = name
        self.entry, self.numbers = None, []
        try:
            self.entry = address(PREFIX + name)
            self.numbers = [number for number, at in enumerate(table()) if at == self.entry]
        except gdb.error:
            pass
        if self.entry is not None and not self.numbers and not remote.is_connected():
            # GDB reads the table from vmlinux, and its symbols may be where another kernel had them.
            raise gdb.GdbError(remote.NOT_CONNECTED)
        if not self.numbers:
            raise gdb.GdbError("the running kernel has no 64-bit system call %s%s" % (name, meant(name)))
        self.arguments = arguments(name)

    def names(self, at_exit):
        """Return the gtp.places.names.Names at the entry, or at the exit."""
        stands_for = {name: "((%s)regs->%s)" % (kind, register)
                      for (kind, name), register in zip(self.arguments or (), CALL)}
        unsaid = {}
        if at_exit:
            stands_for["$ret"] = "ret"
        else:
            unsaid["$ret"] = "it is known at the exit only"
        is_this = " || ".join("regs->orig_ax == %d" % n for n in self.numbers)
        # The numbers of 32-bit calls differ, so the guard excludes 32-bit calls.
        guard = "(%s) && %s" % (is_this, NOT_COMPAT) if at_exit else ""
        return names.Names("system call " + self.name, stands_for, unsaid, guard=guard)

    def declared(self):
        if self.arguments is None:
            return "%s(...): this kernel does not tell its arguments; regs->di and so on are what there is" % self.name
        return "%s(%s)" % (self.name, ", ".join(
            "%s%s%s" % (kind, "" if kind.endswith("*") else " ", name) for kind, name in self.arguments))


def arguments(name):
    """Return [(type, name)] from the kernel's own events, or None if the kernel was built without those.

    The debug information is not used, because it lists the arguments of an inlined function in any order.
    """
    try:
        meta = gdbcall.value("__syscall_meta__" + gdbcall.word(name))
        count = int(meta["nb_args"])
        return [(meta["types"][i].string(), meta["args"][i].string()) for i in range(count)]
    except gdb.error:
        return None


def names_at(pc):
    """Return the Names of the system call whose entry is at an address. The address of an exit does not identify the
    call. Return None where the kernel's table cannot be read, such as with a trace file, and for functions that only
    32-bit calls run, such as __x64_sys_ia32_sync_file_range."""
    symbol, offset = places.symbol_at(pc) or ("", 0)
    if not symbol.startswith(PREFIX) or offset or not remote.is_connected() or address(symbol) % 2**64 not in table():
        return None
    return Syscall(symbol[len(PREFIX):]).names(False)


def set_entry(definitions, call, text):
    own = call.names(False)
    condition = cexpr.condition(own.expand(text), call.entry) if text else None
    number = definitions.add(places.address(call.entry), condition)
    names.remember(number, own)
    return "Tracepoint %d at %#x: entry of %s\n" % (number, call.entry, call.declared())


def set_exit(definitions, call, text):
    event = events.find(EXIT)
    own = call.names(True)
    condition = cexpr.condition(own.expand(text), event.address) if text else None
    number = definitions.add(places.address(event.address), own.guarded(condition))
    names.remember(number, own)
    return "Tracepoint %d at %#x: exit of %s, $ret is what it returns\n" % (number, event.address, call.name)


def set_both(definitions, call, text, shared):
    """Define the tracepoints of a call. Return messages about them. A condition on $ret can hold only at the exit."""
    own = call.names(True)
    own.require(text or "", shared)
    at_exit = text and "$ret" in names.identifiers(text)
    try:
        return ("" if at_exit else set_entry(definitions, call, text)) + set_exit(definitions, call, text)
    except (gdb.GdbError, gdb.error) as error:
        raise gdb.GdbError(define.reason(error) if shared else own.advised(error))


def chosen(said):
    """Return the names of the system calls that the command's NAME or pattern matches."""
    name = words.unquoted(said.place)
    if not words.is_glob(name):
        return [re.sub(r"^(__x64_)?sys_(enter_|exit_)?", "", name)]
    found = fnmatch.filter(known(), name)
    if not found:
        raise gdb.GdbError("no system call matches %s" % name)
    if len(found) > said.limit:
        raise places.too_many(name, len(found), "system calls match", said.limit)
    return found


class GtpSyscall(Command):
    """Set tracepoints at the entry and at the exit of a system call.

gtp syscall [--limit N] NAME [if EXPRESSION]
gtp syscall [--limit N] 'open*' [if EXPRESSION]
EXPRESSION and collected expressions can name the call's arguments, such as fd,
buf and count of read, and $ret, its return value. If EXPRESSION names $ret,
only the exit is traced. Only calls of 64-bit programs are traced. NAME is the
kernel's, which calls stat newstat. A call that does not return, such as exit,
and rt_sigreturn, which returns elsewhere, have no exit."""

    def __init__(self):
        super().__init__("gtp syscall", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, arg, from_tty):
        said = words.split(arg, USAGE)
        calls = [Syscall(name) for name in chosen(said)]
        shared = {name for call in calls for name in call.names(True).all()} if len(calls) > 1 else set()
        told = []
        with define.Definitions() as definitions:
            for call in calls:
                before = list(definitions.numbers)
                try:
                    told.append(set_both(definitions, call, said.condition, shared))
                except gdb.GdbError as error:
                    # If the exit was refused, delete the tracepoint at the entry, too.
                    definitions.drop(*[n for n in definitions.numbers if n not in before])
                    definitions.refuse(call.name, error)
            definitions.settle()
        for line in places.strangers(said.condition, calls[0].entry, shared | set(calls[0].names(True).all())):
            screen.put("note: %s\n" % line)
        screen.put("".join(told))
        if len(definitions.numbers) > 1:
            points.groups[definitions.numbers[-1]] = list(definitions.numbers)

    def complete(self, text, word):
        place, condition = words.halves(text)
        if condition is None:
            return words.completed(known(), text.lstrip(), word)
        try:
            own = Syscall(words.unquoted(place)).names(True)
        except gdb.GdbError:
            return gdb.COMPLETE_EXPRESSION
        behind_dollar = word is not None and text.endswith("$" + word)
        return words.completed(sorted(own.all()), "$" + word if behind_dollar else word, word)


names.providers.append(names_at)
GtpSyscall()
