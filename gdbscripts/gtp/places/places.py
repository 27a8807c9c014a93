# SPDX-License-Identifier: GPL-2.0-only
# Turn the LOCATION of a tracepoint, as it is typed, into addresses in the kernel.
#
# A function's entries are its first instruction, where all arguments are where the debug information says, and the
# beginnings of its inlined copies in other functions. GDB's own choice for a function may be after the prologue.
import collections
import contextlib
import fnmatch
import re

import gdb

from gtp.formats import space
from gtp.gdblib import blocks, gdbcall, progress, words
from gtp.places import functions, names
from gtp.text import infosymbol

# Place. pc: the address. function: the name of the function that begins there, else None. inside: the function into
# which it is inlined, or None for a function's own code.
Place = collections.namedtuple("Place", "pc function inside")

# Target: a tracepoint to be set. name: for messages. location: for GDB. places: None if GDB chooses them. pieces: the
# places where a split function continues, which are not entries of it.
Target = collections.namedtuple("Target", "name location places pieces")

NAME = re.compile(r"[A-Za-z_][\w.]*", re.A)
PIECE = re.compile(r"\.(part|cold)\b")
LINE = re.compile(r"(.*:)?[-+]?\d+$")

SEVERAL = """{file} is {count} files; write more of the path:
  {files}"""


def too_many(what, count, things, limit):
    """Return the error for more places than a command sets without --limit."""
    return gdb.GdbError("%s: %d %s, and the limit is %d; narrow it down, or say --limit %d" %
                        (what, count, things, limit, count))


def symbol_at(pc):
    """Return (name, offset) of the symbol at an address, or None when there is none."""
    found = infosymbol.parse(gdbcall.execute("info symbol %#x" % pc))
    return (found.name, found.offset) if found else None


@contextlib.contextmanager
def named(pc, several):
    """Context manager: if there are SEVERAL places, the message of an error in the block names the place at PC."""
    try:
        yield
    except (gdb.error, gdb.GdbError) as error:
        if not several:
            raise
        name, offset = symbol_at(pc) or ("%#x" % pc, 0)
        raise gdb.GdbError("at %s: %s" % ("%s+%d" % (name, offset) if offset else name, error)) from None


def evaluates_to(expression, pc):
    try:
        return int(gdbcall.value("(unsigned long)(%s)" % expression)) == pc
    except gdb.error:
        return False


def address(pc):
    """Return the text for GDB's *ADDRESS. If the symbol is unique, the text uses it, because it is still right after a
    reboot."""
    symbol = symbol_at(pc)
    if symbol is not None:
        name, offset = symbol
        if not NAME.fullmatch(name):  # a file may give a symbol any name
            return "*%#x" % pc
        name = "'%s'" % name if "." in name else name
        text = "(&%s)" % name if not offset else "((char *)&%s+%d)" % (name, offset)
        plain = name if not offset and "'" not in name else text
        if evaluates_to(text, pc):
            return "*" + plain
    return "*%#x" % pc


def place(pc, name):
    """Return the Place of a function's beginning, or None if no function of that name begins there."""
    around = list(blocks.functions(pc))
    own = [block for block in around if block.function.name == name]
    if own:
        inside = around[-1].function.name if own[-1] != around[-1] else None
        return Place(pc, name, inside)
    # The name belongs to assembly, or is an alias of a function in the debug information.
    return Place(pc, name, None) if symbol_at(pc) == (name, 0) else None


def is_piece(found):
    """Return whether a Place is only the continuation of a function that begins elsewhere.

    The compiler splits a function into a quick test, which it inlines, and the rest. The rest is a function of its own,
    with a symbol that says so, or it is inlined again: then the debug information has the function nested in itself.
    """
    own = [block for block in blocks.functions(found.pc) if block.function.name == found.function]
    if len(own) > 1:
        return own[-1].start != found.pc
    symbol = symbol_at(found.pc) if found.inside is None else None
    return symbol is not None and PIECE.search(symbol[0]) is not None


def decoded(location, name):
    """Return the addresses that GDB knows for a location."""
    try:
        found = gdbcall.decoded(location)[1] or ()
    except gdb.error as error:
        text = str(error).rstrip(".")
        raise gdb.GdbError(text + hint(name) if "not defined" in text else text)
    kernel = {sal.pc for sal in found if sal.pc and not space.has(sal.pc)}
    if not kernel and any(sal.pc for sal in found):
        raise gdb.GdbError("%s is in a program, not in the kernel: gtp trace -x FILE %s" % (location, location))
    return sorted(kernel)


def hint(name):
    """Return suggestions for the name of a function that does not exist."""
    near = functions.similar(name)
    if near:
        return "; is it %s?" % " or ".join(near)
    return "; if it is a module's, gtp modules loads its symbols"


def function(location, name):
    """Return the Target of a function. GDB chooses the places if the location is not a function, such as
    FUNCTION:LABEL."""
    found = [place(pc, name) for pc in decoded(location, name)]
    if not any(found):
        return Target(location, location, None, [])
    found = [p for p in found if p]
    pieces = [p for p in found if is_piece(p)]
    found = [p for p in found if p not in pieces]
    if not found:
        raise gdb.GdbError("the compiler has left a part of it, %s, and no place where it begins"
                           % symbol_at(pieces[0].pc)[0])
    # The function's own code comes first, because readers look for it.
    found.sort(key=lambda p: (p.inside is not None, p.pc))
    return Target(name, location, found, pieces)


def symtabs(file):
    """Return the source files that a name means, each once for every compile unit that contains it."""
    if file.endswith(".h"):
        raise gdb.GdbError("%s is a header: its functions stand in the files that include it; name them one by one"
                           % file)
    try:
        # This finds the first line that has code. A location FILE:1 would, too, but GDB refuses it since version 16.
        text = gdbcall.execute("info line %s:1" % file)
    except gdb.error as error:
        raise gdb.GdbError("%s; if it is a module's, gtp modules loads its symbols" % str(error).rstrip("."))
    found = [gdb.find_pc_line(int(at, 16)).symtab for at in re.findall(r" address (0x[0-9a-f]+)", text)]
    found = [symtab for symtab in found if symtab is not None and symtab.filename.endswith(file)]
    files = paths(file) if functions.sources(file) > 1 else sorted({symtab.filename for symtab in found})
    if len(files) > 1:
        raise gdb.GdbError(SEVERAL.format(file=file, count=len(files), files="\n  ".join(files)))
    return found


def paths(file):
    """Return the paths of all source files with this name. The first call takes seconds, because GDB reads every unit's
    list of files."""
    try:
        text = gdbcall.execute("info sources -basename ^%s$" % re.escape(file))
    except gdb.error:
        return [file]
    return sorted({path.strip() for line in text.splitlines() if not line.endswith(":") and line[:1] != "("
                   for path in line.split(", ") if path.strip().endswith(file)})


def functions_of(file, pattern):
    """Return the names of a source file's functions that have code of their own, except freed ones."""
    wanted = re.compile(fnmatch.translate(pattern))
    found = set()
    for symtab in symtabs(file):
        for block in (symtab.global_block(), symtab.static_block()):
            for symbol in block:
                if symbol.is_function and symbol.symtab.filename == symtab.filename and wanted.match(symbol.name):
                    found.add(symbol.name)
    return sorted(found & (functions.names() or found))


def glob(file, pattern, limit, refuse):
    """Return the Targets of all functions that a pattern matches, in a source file or in all files."""
    what = "%s:%s" % (file, pattern) if file else pattern
    matching = functions_of(file, pattern) if file else functions.matching(pattern)
    if not matching:
        raise gdb.GdbError("no function matches %s" % what)
    if len(matching) > limit:
        raise too_many(what, len(matching), "functions match", limit)
    found = []
    for name in progress.over(matching, "looking for the places of functions"):
        try:
            found.append(function("%s:%s" % (file, name) if file else name, name))
        except gdb.GdbError as error:
            refuse(name, error)
    return found


def targets(location, limit, refuse):
    """Return the Targets of a location as it was typed, with no more places than the limit.

    If there are several functions, refuse(name, error) is called for each that cannot be traced.
    """
    if not gdb.objfiles():
        raise gdb.GdbError("no vmlinux is loaded; say file vmlinux, then target remote /proc/gtp")
    if location.startswith("*") and not words.is_glob(location[1:]):
        return [Target(location, location, None, [])]
    file, _, name = (words.unquoted(part) for part in words.unquoted(location).rpartition(":"))
    if not name and not location.startswith("*"):
        raise gdb.GdbError("%s names a file and no function or line of it: FILE:FUNCTION, FILE:LINE, 'FILE:*'" % location)
    if words.is_glob(name) and not location.startswith("*"):
        found = glob(file, name, limit, refuse)
    elif location.startswith(("*", "-")) or LINE.match(location):
        found = [Target(location, location, None, [])]
    else:
        found = [function(location, name)]
    count = sum(len(t.places or [None]) for t in found)
    if count > limit:
        raise too_many(location, count, "places", limit)
    return found


def variables(pc):
    """Return the names of the arguments and local variables that an expression can use at an address.

    These are the names of the innermost function at the address, as for GDB. If an inlined function begins there with a
    call of another inlined function, the innermost function is the called one.
    """
    found = set()
    for block in blocks.around(pc):
        found |= {symbol.name for symbol in block if symbol.is_argument or symbol.is_variable}
        if block.function is not None:
            break
    return found


def source(pc):
    """Return the source file of the code at an address, or None if it is not known."""
    symtab = gdb.find_pc_line(pc).symtab
    return symtab.filename if symtab is not None else None


def strangers(text, pc, own=()):
    """Return a line for each name in an expression that GDB would silently take for a static variable or function of
    another file."""
    block = gdb.block_for_pc(pc)
    found = []
    for name in sorted(names.identifiers(text or "") - variables(pc) - set(own) - {"current"}) if block else ():
        symbol = gdb.lookup_symbol(name, block)[0] if not name.startswith("$") else None
        if symbol is None or symbol.symtab is None or not (symbol.is_variable or symbol.is_function):
            continue
        if gdb.lookup_global_symbol(name) is None and symbol.symtab.filename != source(pc):
            kind = "function" if symbol.is_function else "variable"
            found.append("%s is not a variable here; it is a static %s of %s" % (name, kind, symbol.symtab.filename))
    return found
