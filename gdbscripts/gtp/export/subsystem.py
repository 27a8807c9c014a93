# SPDX-License-Identifier: GPL-2.0-only
# Finds the part of the kernel that a function belongs to: the folder of its source file, or its module.
import os

import gdb

from gtp.gdblib import gdbcall
from gtp.text import infosymbol

# The maximum number of functions that get a group, because GDB takes about ten milliseconds for each source file.
FUNCTIONS = 300
MAIN = "init/main.c"
TWO = ("arch", "drivers")  # for a source in one of these folders, the part's name includes the next folder


def folder(path):
    """Return the part of the kernel for a source's path: fs for fs/read_write.c, and arch/x86 for
    arch/x86/kernel/apic/apic.c. For a file without a folder, return the file."""
    names = [name for name in path.split("/") if name not in ("", ".", "..")]
    return "/".join(names[:min(2 if names[0] in TWO else 1, max(1, len(names) - 1))])


def source(address):
    """Return the symbol table of the source of the function at an address, or None.

    Use the function's own symbol, because the line of an address may be in a header whose function was inlined there.
    Code in assembly has no function's symbol, so use its line.
    """
    block, function = gdb.block_for_pc(address), None
    while block:
        function, block = block.function or function, block.superblock
    return function.symtab if function else gdb.find_pc_line(address).symtab


def module(address):
    """Return the name of the module that contains an address, or None. If GDB has several symbol files, `info symbol'
    names the file."""
    found = infosymbol.parse(gdbcall.execute("info symbol %d" % address))
    if found is None or found.file in (None, gdb.current_progspace().filename):
        return None
    return os.path.basename(found.file).partition(".")[0]


def tops():
    """Return [front, home]: what precedes the kernel-relative path in the names of source files, as given to the
    compiler and as absolute paths. Each is "" if nothing precedes it or it is not known."""
    try:
        found = gdb.lookup_global_symbol("start_kernel")
    except gdb.error:
        found = None
    paths = (found.symtab.filename, found.symtab.fullname()) if found else ("", "")
    return [path[:-len(MAIN)] if path.endswith(MAIN) else "" for path in paths]


def path_of(table, front, home):
    """Return the path of a source relative to the kernel's folder. Return an absolute path or "" if the source is not
    the kernel's."""
    path = table.filename if table else ""
    if front and path.startswith(front):
        return path[len(front):]
    # Modules that are built outside the kernel's tree have paths from their own folder.
    return path if path.startswith("/") or table and table.fullname().startswith(home) else ""


def of(addresses):
    """Return {name: part of the kernel} for the first FUNCTIONS entries of ADDRESSES, which is {name: an address in
    it}."""
    (front, home), found, elsewhere = tops(), {}, {}
    for name, address in list(addresses.items())[:FUNCTIONS]:
        path = path_of(source(address), front, home)
        if path.startswith("/") or not path:
            elsewhere[name] = module(address), path
        else:
            found[name] = folder(path)
    folders = {part.partition("/")[0] for part in found.values()}
    for name, (loaded, path) in elsewhere.items():
        part = loaded or below(path, folders)
        if part:
            found[name] = part
    return found


def below(path, folders):
    """Return the part of the kernel for an absolute path, which assembly files have. The part starts at the first name
    that is one of the kernel's FOLDERS. Return None if there is no such name."""
    names = path.split("/")
    return next((folder("/".join(names[i:])) for i, name in enumerate(names) if name in folders), None)
