# SPDX-License-Identifier: GPL-2.0-only
"""Ask GDB whether it compiles an expression at an address.

The command `maint agent` takes a place only by name or line. For an address that has neither, gdbtp sets a tracepoint,
examines it, and deletes it.
"""
import functools
import re

import gdb

from gtp.gdblib import blocks, gdbcall

MOST_BYTES = 184  # the maximum bytecode of an action, in bytes; GDB refuses a longer one
EMPTY = "0"


class Refused(Exception):
    """GDB does not compile the expression; the text is GDB's message."""


class TooLong(Refused):
    """GDB compiles the expression, but to more bytecode than an action may have."""


class Unbalanced(Refused):
    """GDB compiles the expression, but would abort if it were an action.

    GDB believes that the bytecode tracev, which records a trace state variable, leaves a value on the stack. If only
    one of two paths through an expression contains tracev, GDB finds different stack heights where the paths join,
    which is an internal error.
    """


# Text in which the only names are $names, such as $pc and $current_task_pid, means the same at all places. Other text
# may mean something else at each place.
NAMELESS = re.compile(r"(?:\$\w+(?!\w)|\d\w*(?!\w)|[^\w$])+")  # a word matches in one way only, which bounds the time
OF_GDB = {"pc", "sp", "fp"}  # variables that always exist
everywhere = {}  # (text, collecting) -> Refused or None: a cache, because GDB takes a long time to look up a place


def check(text, pc, collecting):
    """Raise Refused if GDB does not compile the text at pc. Remember the result if it is the same at all places."""
    known = everywhere.get((text, collecting), False)
    if known is None:
        return
    if known:
        raise known
    try:
        check_at(text, pc, collecting)
        refused = None
    except Refused as error:
        refused = error
    # Do not remember the refusal of a variable that does not exist: it may be created later.
    if NAMELESS.fullmatch(text) and (refused is None or set(re.findall(r"\$(\w+)", text)) <= OF_GDB):
        everywhere[text, collecting] = refused
    if refused:
        raise refused


def check_at(text, pc, collecting):
    """Make GDB compile the text at pc. Raise Refused if GDB does not accept it."""
    where = location(pc)
    if where is None:
        ask = by_condition if would_abort(text) and not collecting else by_tracepoint
        ask(text, pc)
        return
    command = "maint agent%s -at %s, %s" % ("" if collecting else "-eval", where, text)
    try:
        out = gdbcall.execute(command)
    except gdb.error as error:
        raise Refused(str(error)) from None
    if collecting:
        judge(listing(out, pc))


def judge(code):
    """Raise Refused if GDB would not accept this listing of bytecode as an action."""
    if length(code) > MOST_BYTES:
        raise TooLong("it is too long for one action")
    if not balanced(code):
        raise Unbalanced("GDB would abort")


def balanced(code):
    """Return whether, for every instruction, all paths to it contain the same number of tracev instructions."""
    passed, now = {}, 0
    for offset, name, target in re.findall(r"^\s*(\d+)\s+(\w+)(?: (-?\d+))?", code, re.M):
        if now is None:
            now = passed.get(int(offset))
        elif passed.setdefault(int(offset), now) != now:
            return False
        if now is None:
            continue
        if name in ("goto", "if_goto") and passed.setdefault(int(target), now) != now:
            return False
        now = None if name == "goto" else now + (name == "tracev")
    return True


def listing(out, pc):
    """Return the part of the output of `maint agent` that lists the code for pc."""
    for text in out.split("Scope:")[1:]:
        if int(text.split(None, 1)[0], 16) == pc:
            return text
    return ""


def length(code):
    return max([int(n) for n in re.findall(r"^\s*(\d+)\s+end", code, re.M)] or [0]) + 1


@functools.lru_cache(1024)
def location_of(pc, function, file, line):
    found = []
    for where in candidates(function, file, line):
        if where[0] == file and where[1] == function and pc in found and one_file(found, function, file):
            continue  # If the text has the file's name, too, GDB finds the same places but takes a hundred times as long.
        where = ":".join(part for part in where if part)
        try:
            out = gdbcall.execute("maint agent-eval -at %s, %s" % (where, EMPTY))
        except gdb.error:
            continue
        found = [int(s, 16) for s in re.findall(r"^Scope: (0x[0-9a-f]+)", out, re.M)]
        if found == [pc]:
            return where
    return None


def candidates(function, file, line):
    """Yield (file or "", function or line) for each name by which GDB may find an address. GDB is fastest with the
    first of them."""
    if function:
        yield "", function
        yield file, function
    if file and line:
        yield file, str(line)


def one_file(places, function, file):
    """Return whether each of the places is in a function named FUNCTION that FILE itself defines."""
    return all(any(block.function.name == function and block.function.symtab.filename == file for block in blocks.functions(pc))
               for pc in places)


def location(pc):
    """Return a name that GDB resolves to this address and to no other, or None if there is no such name."""
    block = gdb.block_for_pc(pc)
    while block is not None and block.superblock is not None and not block.superblock.is_static:
        block = block.superblock
    function = block.function if block is not None else None
    line = gdb.find_pc_line(pc)
    file = line.symtab.filename if line.symtab is not None and line.pc == pc else None
    if function is None:
        return location_of(pc, None, file, line.line)
    return location_of(pc, function.name, function.symtab.filename, line.line if file else 0)


BRANCHES = re.compile(r"&&|\|\||\?")


def would_abort(text):
    """Return whether GDB may abort if the text is an action, because a variable is used on only one of two paths."""
    return "$" in text and BRANCHES.search(text)


def by_condition(text, pc):
    """Raise Refused if GDB does not take the text as the condition of a tracepoint at an address without a name.

    When GDB sets a condition, it does not compile the condition to bytecode yet. So by_condition() finds fewer errors
    than by_tracepoint().
    """
    with gdbcall.unsent():
        try:
            out = gdbcall.execute("trace *%#x if %s" % (pc, text))
        except gdb.error as error:
            raise Refused(str(error)) from None
        gdbcall.execute("delete %d" % int(gdbcall.value("$tpnum")))
        if "failed to validate condition" in out:
            raise Refused(out.strip())


def by_tracepoint(text, pc):
    """Raise Refused if GDB does not take the text as an action at an address without a name.

    The action belongs to a tracepoint that is deleted before it can run. There is no listing of bytecode that shows
    whether GDB would abort, so refuse any text for which would_abort() is true, without asking GDB.
    """
    if would_abort(text):
        raise Unbalanced("GDB would abort")
    with gdbcall.unsent():
        gdbcall.execute("trace *%#x" % pc)
        number = int(gdbcall.value("$tpnum"))
        try:
            gdbcall.block("commands %d" % number, "collect " + text, "end")
        except gdb.error as error:
            if "too complicated" in str(error):
                raise TooLong("it is too long for one action") from None
            raise Refused(str(error)) from None
        finally:
            gdbcall.execute("delete %d" % number)
