# SPDX-License-Identifier: GPL-2.0-only
# The data that `gtp save` writes after the frames of a trace file, where GDB does not read: aggregations, and all stacks.
import collections
import os
import re
import struct

import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.formats.error import reading
from gtp.gdblib import gdbcall, words
from gtp.run import aggtypes, source
from gtp.text import harmless

HEAD = "gdbtp: aggregations and stacks, 1"
END = b"gdbtp: %016d bytes\n"  # the last line of a saved file; it gives the size of the kept data before it
END_BYTES = len(END % 0)
# The types that a key or a value may have. The key for an array is its address, or its bytes as a number.
KEYS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY)
AT_END = re.compile(rb"gdbtp: (\d{16}) bytes\n\Z")

# text: the aggregations, as the module writes them. stacks: {number: addresses}. keys: the names of keys that are stacks.
# names: {variable: known.Variable}.
Kept = collections.namedtuple("Kept", "text stacks keys names")


def image():
    """Return the kernel's address range according to GDB's symbols. It is different after each boot. Return None if no
    kernel is loaded."""
    try:
        return tuple(int(gdbcall.value("(unsigned long) &" + name)) for name in ("_text", "_end"))
    except gdb.error:
        return None


# Writing


def all_stacks():
    """Return {number: addresses} for all stacks of the stopped run, as the module sends them."""
    data = b"".join(source.transferred(b"gtpstacks:read:all"))
    words = struct.unpack("<%dQ" % (len(data) // 8), data)
    found, at = {}, 1
    while at < len(words) and words[at]:
        found[at] = list(words[at + 1:at + 1 + words[at]])
        at += 1 + words[at]
    return found


def type_text(kind):
    """Return a type as text that type_of() can parse. An array becomes a pointer, except an array of up to eight bytes,
    whose number is the key."""
    if kind is None:
        return ""
    bare = kind.strip_typedefs()
    with words.in_c():
        return str(bare.target().pointer() if bare.code == gdb.TYPE_CODE_ARRAY and not ctype.is_octets(bare) else kind)


def name_lines(text):
    """Yield lines with the types and titles of the variables in a text, for the variables that `gtp count` and the like have
    made."""
    for name in sorted(set(re.findall(r"\b[a-z]+_\w+", text)) & set(aggtypes.variables)):
        what = aggtypes.variables[name]
        fields = (name, type_text(what.type), what.text or "",
                  what.place[0] if what.place else "")
        yield "name " + "\t".join(harmless.line(re.sub(r"\s+", " ", field)) for field in fields)


def tail(text, stacks, stack_keys):
    """Return the data that follows a trace file's frames. It has the number of missed hits even if nothing was aggregated.

    TEXT and STACKS are as the module sends them; STACK_KEYS are the names of keys that are set to $kstack.
    """
    lines = [HEAD, *name_lines(text), *("key " + name for name in sorted(stack_keys))]
    where = image()
    if where:
        lines.append("image %x %x" % where)
    lines += ["stack %x %s" % (number, " ".join("%x" % address for address in addresses))
              for number, addresses in stacks.items()]
    data = ("\n".join(lines) + "\n" + text).encode()
    return data + END % len(data)


# Reading


def type_of(text):
    """Return the gdb.Type of a text. Return None if GDB has no such type, or if no key can have it; then the key is shown as
    a number."""
    kind = cexpr.type_named(text) if text else None
    return kind if kind is not None and ctype.plain(kind).code in KEYS else None


def moved(stacks, was, now):
    """Return the stacks with the addresses of the kernel's image moved to where GDB has its symbols. WAS and NOW are
    image()."""
    if not was or not now:
        return stacks
    return {number: [(address + now[0] - was[0]) % 2**64 if was[0] <= address < was[1] else address for address in addresses]
            for number, addresses in stacks.items()}


def addresses_of(digits):
    """Return the addresses in a list of numbers in hex, which may be a single number."""
    found = [int(word, 16) for word in digits.split()]
    if not all(0 <= word < 2**64 for word in found):
        raise ValueError
    return found


def parsed(data):
    """Return the Kept of the data after a trace file's frames."""
    with reading("what follows the trace file's frames"):
        return Kept(*parts(data))


def parts(data):
    """Parse the data after a trace file's frames. Return the fields of its Kept."""
    rest, stacks, keys, names, was = [], {}, set(), {}, None
    for line in data.decode(errors="replace").split("\n")[1:]:
        word, _, what = line.partition(" ")
        if word == "stack":
            number, *addresses = addresses_of(what)
            stacks[number] = addresses
        elif word == "image":
            start, end = addresses_of(what)
            was = start, end
        elif word == "key":
            keys.add(what)
        elif word == "name":
            name, kind, text, place = what.split("\t")
            names[name] = aggtypes.Variable(text or None, type_of(kind), (place, ()) if place else None)
        else:
            rest.append(line)
    return "\n".join(rest), moved(stacks, was, image()), keys, names


def read(path):
    """Return the Kept of a trace file. Return None if neither gtp save nor gtp-run wrote the file."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - END_BYTES))
            found = AT_END.search(file.read())
            if not found:
                return None
            file.seek(max(0, size - END_BYTES - int(found.group(1))))
            data = file.read(int(found.group(1)))
    except OSError as error:
        raise gdb.GdbError("%s: %s" % (path, error.strerror)) from None
    if not data.startswith(HEAD.encode()):
        raise gdb.GdbError("%s: the data after its frames is not understood: another version wrote it" % path)
    return parsed(data)


last = None, None  # the trace file that was read last, as (path, time, size, image()), and its Kept


def opened():
    """Return the Kept of the trace file that GDB has open. From now on aggtypes.names() returns the names in that file."""
    global last
    path = source.opened()
    try:
        found = os.stat(path)
    except OSError as error:
        raise gdb.GdbError("%s: %s" % (path, error.strerror)) from None
    which = path, found.st_mtime_ns, found.st_size, image()
    if which != last[0]:
        last = which, read(path)
    aggtypes.in_file = last[1].names if last[1] else {}
    return last[1]
