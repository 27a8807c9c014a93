# SPDX-License-Identifier: GPL-2.0-only
# Finds the places of `gtp trace -x FILE`: the addresses of a location in the program's file space.
#
# GDB chooses the address for a function's name. In optimised code this is the first instruction, where the debug
# information tells where the arguments are. In other code it is the end of the prologue, where the arguments are on the
# stack.
import os
import re

import gdb

from gtp.formats import space
from gtp.gdblib import define, gdbcall, screen, words
from gtp.places import functions, markers, places

OPTION = re.compile(r"\s*(-[xp])(?:\s+|$)")
LIMIT = re.compile(r"\s*--limit[ =]+\S+(?=\s)")
WORD = re.compile(r"""((?:[^\s\\'"]|\\.|'[^']*'|"[^"]*")+)\s*""")
LINKED = re.compile(r"\*\s*(0x[0-9a-fA-F]+|\d+)$")

HERE = "current->tgid == %d"
NO_PROCESS = ("no process %s with a program is on this machine; of a process on another machine, name the program too: "
              "gtp trace -p PID -x FILE LOCATION")


def options(arg):
    """Return the file of -x or of -p's process, or None; the process of -p, or None; and the rest of the text. The rest
    includes a --limit that precedes these options."""
    found, front = {}, ""
    while True:
        limit = LIMIT.match(arg)
        if limit:
            front += limit.group(0)
            arg = arg[limit.end():]
        option = OPTION.match(arg)
        if option is None:
            break
        word = WORD.match(arg, option.end())
        if word is None:
            raise gdb.GdbError("nothing after %s" % option.group(1))
        found[option.group(1)] = gdb.string_to_argv(word.group(1))[0]
        arg = arg[word.end():]
    pid = found.get("-p")
    if pid is not None and not pid.isdecimal():
        raise gdb.GdbError("-p takes the number of a process, not %s" % pid)
    path = found.get("-x") or pid and "/proc/%s/exe" % pid
    if "-x" not in found and pid and not os.path.exists(path):
        raise gdb.GdbError(NO_PROCESS % pid)
    return path, pid and int(pid), "%s %s" % (front, arg) if front else arg


def of_process(pid, condition):
    """Return the condition, extended by a test for the process. Other processes, such as its children, may run the same
    code."""
    here = HERE % pid
    return "%s && (%s)" % (here, condition) if condition else here


def check_begins(pc, location):
    """Raise an error unless an instruction begins at the address: elsewhere a breakpoint would break the program.

    Disassemble from the beginning of the function. Without a symbol, that beginning is not known, which is an error, too.
    """
    symbol = places.symbol_at(pc)
    if symbol is None:
        raise gdb.GdbError("no function is known at %s: nothing says where its instructions begin" % location)
    disassemble = gdb.selected_inferior().architecture().disassemble
    begins = [line["addr"] for line in disassemble(pc - symbol[1], pc)]
    if pc not in begins:
        raise gdb.GdbError("%s is inside of the instruction at *%#x" % (location, space.linked(begins[-1])))


def target(one, location):
    """Return the Target of a location in a program. The location is not the name of a marker, nor a pattern of
    markers."""
    linked = LINKED.match(location)
    if linked:
        found = [one.base + int(linked.group(1), 0)]
        check_begins(found[0], location)
    else:
        found = [pc for pc in define.found(location) if one.has(pc)]
    if not found:
        raise gdb.GdbError("%s is nowhere in %s" % (location, one.there))
    named = [places.Place(pc, None, None) for pc in found]
    return places.Target(location, "*%#x" % found[0], named, [])


NOT_ENABLED = """note: only the separate debug file of {file} has the markers' notes, so no semaphore is set:
  where the program tests it, the marker is not run"""


def at_markers(one, name, limit):
    """Return the Targets of the markers that a name or a pattern matches."""
    there = markers.of(one)
    found = markers.find(one, name)
    count = sum(len(marker.places) for marker in found)
    if count > limit:
        raise places.too_many(name, count, "places", limit)
    if there.apart and any(marker.has_semaphore() for marker in found):
        screen.say(NOT_ENABLED.format(file=one.path))
    targets = []
    for marker in found:
        named = [places.Place(address, None, None) for address, _ in marker.places]
        targets.append(places.Target(marker.id, "*%#x" % named[0].pc, named, []))
    return targets


def demangled(name):
    """Return the C++ name for a mangled name, or None if the name is not mangled."""
    try:
        return gdbcall.execute("demangle -l c++ -- " + name).strip() if name.startswith("_Z") and name.isidentifier() else None
    except gdb.error:
        return None


def of_cpp(wanted, pattern):
    """Return the symbols of the functions whose C++ names, with parameters, match a pattern."""
    found = {demangled(name): name for name in wanted}
    return [found[name] for name in functions.filtered(found.keys() - {None}, pattern)]


def targets(one, location, limit, definitions):
    """Return the Targets of a location in a program, with no more places than the limit."""
    name = words.unquoted(location)
    if markers.is_one(one, name):
        return at_markers(one, name, limit)
    if words.is_glob(name) and not name.startswith("*"):
        # A stripped file has at most the names that the dynamic linker needs; its debug file has the other names.
        wanted = {text for path in [one.path] + markers.debug_files(one) for text in functions.table(path).functions}
        matching = functions.filtered(wanted, name) or of_cpp(wanted, name)
        if not matching:
            raise gdb.GdbError("no function of %s matches %s" % (one.there, name))
    else:
        matching = [location]
    if len(matching) > limit:
        raise places.too_many(name, len(matching), "functions match", limit)
    found = []
    for name in matching:
        try:
            found.append(target(one, name))
        except gdb.error as error:
            definitions.refuse(name, error)
    count = sum(len(t.places) for t in found)
    if count > limit:
        raise places.too_many(location, count, "places", limit)
    return found
