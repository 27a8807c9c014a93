# SPDX-License-Identifier: GPL-2.0-only
# Finds the places where functions of programs return, in GDB's disassembly, and sends them to the module before a run.
# The module sets a probe at each of them (probe/user/user_return.c).
#
# The debug information says which instructions belong to a function; for a function without it, .eh_frame does. A jump
# to another function is a tail call: when that function returns, the first one has returned, too. If both are in the
# same file, the returns of the second function are probed as well. Otherwise such calls cannot be followed, and the
# module counts them as missed. In .eh_frame the cold part of a function looks like another function, so a jump to the
# cold part is treated like a tail call.
import collections
import functools
import re

import gdb

from gtp.cexpr import variables
from gtp.formats import space
from gtp.gdblib import blocks, gdbcall, remote, runstate, screen
from gtp.places import fde, functions, points
from gtp.run import source

WORDS = re.compile(r"\$(?:k?ret|latency|entry_clock)\b")
LINE = re.compile(r"(?:=> )?\s*(0x[0-9a-f]+)(?: <[^>]*>)?:\s+(.*)")
PREFIXES = r"(?:(?:rep|repz|repnz|bnd|notrack|data16|cs|ds) )*"
RETURN = re.compile(PREFIXES + r"ret[qw]?\b")
DIRECT = re.compile(PREFIXES + r"(j\w+|loop\w*|xbegin)(?:,p[nt])?\s+(0x[0-9a-f]+)\b")
INDIRECT = re.compile(PREFIXES + r"jmp[q]?\s+\*")
# The instructions with which a function may end. A call is one of them, because the called function may never return.
LEAVES = re.compile(PREFIXES + r"(?:jmpq?|ret[qw]?|call[q]?|hlt|ud\d|int3)\b")
FLOW = re.compile(PREFIXES + r"(?:j|call|ret|loop|xbegin|hlt|ud|syscall|int)")
ADDED = re.compile(r"add\s+%\w+,%(\w+)$")
OFFSET = re.compile(r"mov(?:slq|sxd|slq|l)?\s+\(.*,4\),%\w+$")
LOOKED_BACK = 12  # how many instructions before an indirect jump may compute its target from a table

MOST = 512  # the maximum number of exits that the module accepts for one function
PLACES_MOST = 64  # the maximum number of functions in a chain of tail calls
PLT = "has a conditional jump at *%#x to code of another file or without bounds, so that its returns are not known"

Instruction = collections.namedtuple("Instruction", "at text")


class Refused(Exception):
    """The calls of a function cannot be followed; the message says why."""


def instructions(pc, end=None):
    """Return the Instructions of the function around pc, with its cold parts, or those from pc up to END. Each part is in
    the order of addresses."""
    part = "%#x" % pc if end is None else "%#x,%#x" % (pc, end)
    text = gdbcall.execute("with disassembly-flavor att -- disassemble %s" % part)
    found = [Instruction(int(line.group(1), 16), line.group(2).strip()) for line in map(LINE.match, text.splitlines()) if line]
    if any("(bad)" in one.text for one in found):
        raise Refused("has bytes that this GDB does not know as an instruction")
    return found


def described(one, pc):
    """Return (begin, end) of the range of .eh_frame around an instruction of a program, in its space, or None."""
    known = fde.ranges(one.path, one.time) if one.has(pc) else None
    if known is None or known.section(space.linked(pc)).startswith(".plt"):  # a stub for another file's function
        return None
    found = known.at(space.linked(pc))
    return found and (one.base + found[0], one.base + found[1])


def body(one, pc):
    """Return the Instructions of the function around pc, or of its part around pc. Return None if nothing says where it
    ends."""
    if one.has(pc) and variables.entry(pc)[0] is not None:
        return instructions(pc)
    around = described(one, pc)
    if around is None:
        return None
    code = instructions(*around)
    if not code or not LEAVES.match(code[-1].text):
        raise Refused("goes on where no more is known, at *%#x" % space.linked(around[1]))
    return code


def is_table(code, i):
    """Return whether an indirect jump is certain to stay in the function: it uses a table of offsets, or has a notrack
    prefix."""
    text = code[i].text
    if text.startswith(("notrack ", "bnd notrack ")):
        return True
    register = re.search(r"\*%(\w+)$", text)
    if register is None:
        return False
    before = [one.text for one in code[max(i - LOOKED_BACK, 0):i]]
    added = next((n for n in range(len(before) - 1, -1, -1) if before[n].endswith(",%" + register.group(1))), None)
    return added is not None and ADDED.match(before[added]) is not None and any(map(OFFSET.match, before[:added]))


class Search:
    """Finds the exits of the function that begins at START and is traced at PC. exits: [(kind, address)] for
    QGtpExits."""

    def __init__(self, one, start, pc):
        self.program, self.start, self.pc = one, start, pc
        self.exits, self.seen, self.own = [], set(), None
        self.todo = [pc]
        while self.todo:
            self.function(self.todo.pop())
        if not any(kind != "j" for kind, _ in self.exits):
            raise Refused("does not return by itself: it ends by a jump to other code, at *%#x" %
                          space.linked(self.exits[0][1]) if self.exits else "never returns")
        if len(self.exits) > MOST:
            raise Refused("has %d places at which it returns; %d can be probed" % (len(self.exits), MOST))

    def function(self, pc):
        code = body(self.program, pc)
        inside = {one.at for one in code}
        if pc not in inside:
            raise Refused("is not where GDB disassembles it")
        if code[0].at in self.seen:
            return
        self.seen.add(code[0].at)
        if len(self.seen) > PLACES_MOST:
            raise Refused("jumps to more than %d functions, one from the other" % PLACES_MOST)
        if self.own is None:
            self.own = code
        for i, one in enumerate(code):
            self.instruction(code, inside, i, one)

    def instruction(self, code, inside, i, one):
        if RETURN.match(one.text):
            self.exits.append(("r" if code is self.own else "s", one.at))
            return
        direct = DIRECT.match(one.text)
        if direct:
            self.direct(inside, one, direct.group(1), int(direct.group(2), 16))
        elif INDIRECT.match(one.text) and not is_table(code, i):
            self.exits.append(("j", one.at))

    def is_known(self, pc):
        return self.program.has(pc) and (variables.entry(pc)[0] is not None or described(self.program, pc) is not None)

    def direct(self, inside, one, name, target):
        if self.start <= target <= self.pc:
            raise Refused("jumps back to *%#x, which would count as another call" % space.linked(target))
        if target in inside:
            return
        if self.is_known(target):
            self.todo.append(target)
        elif name in ("jmp", "jmpq"):
            self.exits.append(("j", one.at))
        else:
            raise Refused(PLT % space.linked(one.at))


def pushed(text):
    """Return by how many bytes an instruction moves the stack pointer down, or None if that is not known."""
    if text.startswith("push"):
        return 8 if re.match(r"pushq?\s|pushfq?$", text) else None
    subtracted = re.match(r"sub[q]?\s+\$(0x[0-9a-f]+),%rsp$", text)
    if subtracted:
        return int(subtracted.group(1), 16)
    added = re.match(r"add[q]?\s+\$0x([f][0-9a-f]{15}),%rsp$", text)
    if added:
        return 2**64 - int(added.group(1), 16)
    if re.search(r"%[re]?spl?$", text) and not re.match(r"(?:cmp|test)", text) or re.match(r"(?:pop|leave|enter|xchg.*%rsp)", text):
        return None
    return 0


def above(code, start, pc):
    """Return the number of bytes from the stack pointer at pc up to the function's return address."""
    if pc < start:
        raise Refused("has *%#x in a part that not all calls pass" % space.linked(pc))
    total = 0
    for one in code:
        if one.at < start or one.at >= pc:
            continue
        step = None if FLOW.match(one.text) else pushed(one.text)
        if step is None:
            raise Refused("has an instruction before *%#x after which its return address is not known: %s" %
                          (space.linked(pc), one.text))
        total += step
    return total


@functools.lru_cache(maxsize=16)
def is_go(path, time):
    """Return whether the Go compiler made the file. Go functions move between stacks and threads. TIME is only a part
    of the cache's key."""
    try:
        with functions.opened(path) as elf:
            return any(elf.name(i) in (".gopclntab", ".go.buildinfo") for i in range(len(elf.sections)))
    except functions.UNREADABLE as why:
        raise Refused("is in a file that cannot be read: %s" % why) from None


def begin(one, pc):
    """Return the first instruction of the function around pc. Raise Refused if it is not known, or is inlined."""
    around = list(blocks.functions(pc))
    if not around:
        found = described(one, pc)
        if found is None:
            raise Refused("has neither debug information nor a range in .eh_frame: nothing says where it ends")
        return found[0]
    inner, block = around[0], around[-1]
    start = int(block.function.value().address)
    if (inner.start, inner.end) != (block.start, block.end) and pc != start:
        raise Refused("is inlined there, and has no return of its own")
    return start


def packet(one, pc):
    """Return the packet QGtpExits for a place. Raise Refused if its function's calls cannot be followed."""
    start = begin(one, pc)
    if is_go(one.path, one.time):
        raise Refused("is Go's: its calls change their stack and their thread, so their returns cannot be followed")
    search = Search(one, start, pc)
    exits = ",".join("%s%x" % (kind, space.linked(at)) for kind, at in search.exits)
    return b"QGtpExits:%x:%x:%s" % (pc, above(search.own, start, pc), exits.encode())


def settle(pc):
    """Send the module the exits of the program's function that contains pc. Raise an error if the exits are not
    known."""
    one = space.program(pc)
    if one is None:
        raise gdb.GdbError("no program's symbols are at %#x: gtp lib FILE" % pc)
    try:
        answer = source.ask(packet(one, pc))
    except (Refused, gdb.error) as why:
        name = variables.entry(pc)[1] or "*%#x" % space.linked(pc)
        raise gdb.GdbError("$ret, $latency and $entry_clock: %s %s" % (name, why)) from None
    if answer != b"OK":
        raise gdb.GdbError(answer[2:].decode(errors="replace") or "gdbtp on the traced machine is too old for this")


def asked():
    """Return the places in programs at which a tracepoint uses $ret, $latency or $entry_clock."""
    wanted = filter(WORDS.search, re.split(r"(?m)^(?=\d+\s)", points.table()))
    found = {int(at, 16) for one in wanted for at in re.findall(r"^\d+(?:\.\d+)?\s.*?\b(0x[0-9a-f]+)\b", one, re.M)}
    return sorted(filter(space.has, found))


def known(targets, condition, definitions):
    """Return the targets whose calls can be followed, or all of them if the condition does not need that. Tell the module
    the exits now, because an active run gets the tracepoint at once."""
    if not WORDS.search(condition or ""):
        return targets
    found = []
    for target in targets:
        try:
            for place in target.places:
                settle(place.pc)
            found.append(target)
        except gdb.GdbError as why:
            definitions.refuse(target.name, why)
    return found


def before_run():
    """Send the module the exits of functions that the next run needs. Report the places whose exits are not known; the
    module then refuses these."""
    for pc in asked() if space.programs and remote.is_gtp() else ():
        try:
            settle(pc)
        except gdb.GdbError as why:
            screen.put("%s\n" % why)


runstate.before_run.append(before_run)
