# SPDX-License-Identifier: GPL-2.0-only
"""The formats that a user can name, as in `gtp table /ip addr`. For a type, a format gives a function that takes a
frame and a value and returns the text.

The value is a number for scalars, else the address of an object in the frame's memory. The function returns None if the
format has no text for the value; the value is then shown as usual. A format gives None instead of a function for a type
that it does not fit.
"""
import functools
import re
import socket
from typing import NamedTuple, Optional

import gdb

from gtp.cexpr import ctype, macros
from gtp.text import spell
from gtp.view import cells, family, image, walks

# An argument with other characters is in brackets, as in /mem:(2 * n) p.
ARGUMENT = r"[\w:.]+|\((?:[^()]|\([^()]*\))*\)"
ASKED = re.compile(r"/([a-z]+)(?::(%s))?(?=\s|\(|$)\s*" % ARGUMENT)
LETTERS = "xduotcazf"  # GDB's own formats
BYTE_ORDER = "little"
SOCKADDR = ("sockaddr", "sockaddr_in", "sockaddr_in6", "sockaddr_storage", "__kernel_sockaddr_storage")
LENGTHS = {socket.AF_INET: 8, socket.AF_INET6: 28}  # how many bytes endpoint() reads
# The type of flags -> the kernel's table of their names.
TABLES = {"gfp_t": "gfpflag_names", "vm_flags_t": "vmaflag_names"}
FAMILIES = {"gfp": "gfpflag_names", "vm": "vmaflag_names", "page": "pageflag_names", "open": "O_CREAT", "mmap": "MAP_PRIVATE",
            "prot": "PROT_READ", "clone": "CLONE_VM", "tcp": "TCPHDR_SYN"}


class Form(NamedTuple):
    """A format that the user or a type asks for: its name, and the argument after the colon."""
    name: str
    argument: Optional[str] = None

    def show(self, kind):
        """Return a function(frame, value) that shows values of a type in this format, or None if the format is not for
        it."""
        if self.name in LETTERS:
            return by_gdb(kind, self.name)
        function = FORMS[self.name]
        return function(kind, self.argument) if self.name in TAKES else function(kind)


def parsed(text):
    """Return (Form, the expression) of `/FORMAT EXPRESSION`; the Form is None if the text begins otherwise."""
    found = ASKED.match(text)
    if found is None and text.startswith("/"):
        raise gdb.GdbError("%s: a format and an expression, as /ip addr" % text)
    if found is None:
        return None, text
    name, argument = found.groups()
    if argument and argument.startswith("("):
        argument = argument[1:-1].strip()
    if name not in FORMS and name not in LETTERS:
        raise gdb.GdbError("there is no format /%s; there are %s, and GDB's %s" % (
            name, ", ".join("/" + form for form in sorted(FORMS)), ", ".join("/" + letter for letter in sorted(LETTERS))))
    if argument and name not in TAKES:
        raise gdb.GdbError("/%s takes nothing after a colon" % name)
    rest = text[found.end():].strip()
    if not rest:
        raise gdb.GdbError("%s: an expression follows the format, as in /%s EXPRESSION" % (text, name))
    return Form(name, argument), rest


def number_type(kind, *sizes):
    """Return whether a type is an integer with one of these SIZES in bytes."""
    bare = ctype.plain(kind)
    return bare.code == gdb.TYPE_CODE_INT and bare.sizeof in (sizes or (1, 2, 4, 8))


def by_gdb(kind, letter):
    """Return the function that shows a scalar in one of GDB's own formats, such as x, or None for other types."""
    bare = kind.strip_typedefs()
    if bare.code not in cells.SCALARS or bare.sizeof > cells.WORD:
        return None

    def text(frame, x):
        data = spell.cut(x, bare.sizeof).to_bytes(bare.sizeof, BYTE_ORDER)
        return gdb.Value(data, bare).format_string(format=letter, raw=True)
    return text


def is_bytes(kind, *sizes):
    """Return whether a type is a structure or array with one of these SIZES in bytes."""
    return ctype.plain(kind).code in cells.AGGREGATES and ctype.plain(kind).sizeof in sizes


def through(kind, inner):
    """Return the function that shows a pointer as the text of its target. INNER shows the target, given its address."""
    return lambda frame, x: inner(frame, x) if x else None


# The formats ------------------------------------------------------------------------------------


def ip(kind):
    bare = ctype.plain(kind)
    if bare.code == gdb.TYPE_CODE_PTR:
        inner = in_memory(bare.target())
        return inner and through(kind, inner)
    if number_type(kind, 4):
        return lambda frame, x: spell.ip(spell.cut(x, 4).to_bytes(4, BYTE_ORDER))
    return in_memory(kind) if bare.code in cells.AGGREGATES else None


def in_memory(kind):
    """Return the function that shows an IP address, or a struct sockaddr, at a memory address. Return None for other
    types."""
    bare = ctype.plain(kind)
    if bare.code == gdb.TYPE_CODE_STRUCT and bare.tag in SOCKADDR:
        return endpoint
    if is_bytes(kind, 4, 16) or number_type(kind, 4):
        return lambda frame, at: spell.ip(frame.read(at, bare.sizeof))
    return None


def endpoint(frame, at):
    length = LENGTHS.get(frame.word(at, 2))
    return length and spell.endpoint(frame.read(at, length))


def port(kind):
    return (lambda frame, x: spell.port(x)) if number_type(kind, 2) else None


def mac(kind):
    bare = ctype.plain(kind)
    if bare.code == gdb.TYPE_CODE_PTR:
        target = ctype.plain(bare.target())
        fits = target.code == gdb.TYPE_CODE_VOID or target.sizeof == 1 or is_bytes(target, spell.MAC)
        return through(kind, octets) if fits else None
    return octets if is_bytes(kind, spell.MAC) else None


def octets(frame, at):
    return spell.mac(frame.read(at, spell.MAC))


def err(kind):
    names, bare = image.errors(), ctype.plain(kind)
    if bare.code == gdb.TYPE_CODE_PTR:
        return lambda frame, x: spell.error_pointer(x, names)
    if number_type(kind, 2, 4, 8):
        return lambda frame, x: spell.error(spell.signed(x, bare.sizeof), names)
    return None


def flags(kind, argument):
    names, size = flag_names(kind, argument), ctype.plain(kind).sizeof
    return names and (lambda frame, x: spell.named(spell.cut(x, size), names))


def flag_names(kind, argument):
    """Return the names of a type's flags, as spell.named() takes them: a table of masks, or {value: name}. Return None
    for a type that cannot have flags."""
    bare = ctype.plain(kind)
    if not number_type(kind) and bare.code != gdb.TYPE_CODE_ENUM:
        return None
    if argument is None:
        return own_flags(kind, bare)
    word = FAMILIES.get(argument, argument)
    found = image.table(word) or image.enumerated(word) or family.table(word)
    if not found:
        why = macros.missing()
        raise gdb.GdbError("/flags:%s: vmlinux has no enum, no constant of one and no table of that name%s" % (
            argument, "; if it is a macro: " + why if why else ", and the kernel's headers have no macro"))
    return found


def own_flags(kind, bare):
    """Return the names of flags that a type has without a format: from the kernel's table, or an enum's constants."""
    table = next((TABLES[name] for name in typedefs(kind) if name in TABLES), None)
    if table:
        return image.table(table) or None
    if bare.code != gdb.TYPE_CODE_ENUM:
        raise gdb.GdbError("/flags: the type %s does not say which flags these are; write /flags:gfp, /flags:vm, /flags:page, "
                           "or the name of an enum or of one of its constants" % kind)
    return image.names_of(bare)


def typedefs(kind):
    """Yield the names of a type and of the types by which it is defined, from the outermost on."""
    kind = kind.unqualified()
    while kind.code == gdb.TYPE_CODE_TYPEDEF:
        yield kind.name
        kind = kind.target().unqualified()
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ENUM) and kind.tag:
        yield "%s %s" % ({gdb.TYPE_CODE_STRUCT: "struct", gdb.TYPE_CODE_UNION: "union"}.get(kind.code, "enum"), kind.tag)


def amount(kind, text):
    """Return the function that shows an integer as TEXT(number), or None if the type is not an integer."""
    if not number_type(kind):
        return None
    bare = ctype.plain(kind)
    is_signed = cells.is_signed(bare)
    return lambda frame, x: text(spell.integer(x, bare.sizeof, is_signed))


def time(kind):
    return amount(kind, spell.time)


def size(kind):
    return amount(kind, spell.size)


def dev(kind):
    return (lambda frame, x: spell.device(spell.cut(x, 4))) if number_type(kind, 4) else None


def sym(kind):
    bare = ctype.plain(kind)
    if bare.code == gdb.TYPE_CODE_PTR or number_type(kind, 8):
        look = functools.lru_cache(65536)(image.symbol_of)
        return lambda frame, x: look(x) if x else None
    return None


def only(kind):
    """Return the function that shows a structure with a single number in it, such as kuid_t, as that number. Return None
    for another type."""
    bare = ctype.plain(kind)
    fields = bare.fields() if bare.code == gdb.TYPE_CODE_STRUCT else []
    if len(fields) != 1 or fields[0].bitsize or not number_type(fields[0].type):
        return None
    inner, show = ctype.plain(fields[0].type), amount(fields[0].type, str)
    return lambda frame, at: show(frame, frame.word(at, inner.sizeof))


def pid(kind):
    """Return the function that shows a struct pid * with its number in the first namespace. Return None for another
    type."""
    bare = ctype.plain(kind)
    target = ctype.plain(bare.target()) if bare.code == gdb.TYPE_CODE_PTR else None
    numbers = ctype.member(target, "numbers") if target is not None and ctype.is_aggregate(target) else None
    if numbers is None or not ctype.is_array(numbers.type):
        return None
    number = ctype.member(ctype.plain(numbers.type).target(), "nr")
    at = (numbers.bit + number.bit) // 8
    return lambda frame, x: "%#x (%d)" % (x, frame.word(x + at, 4)) if x else None


FORMS = {"ip": ip, "port": port, "mac": mac, "err": err, "flags": flags, "time": time, "bytes": size, "dev": dev, "sym": sym,
         "pid": pid, "id": only, "path": walks.path, "argv": walks.argv, "mem": walks.mem, "list": walks.entries}
TAKES = ("flags", "path", "argv", "mem", "list")
