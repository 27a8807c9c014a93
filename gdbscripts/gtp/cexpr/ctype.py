# SPDX-License-Identifier: GPL-2.0-only
"""C's types: promotions and conversions of integers, members at any depth, and how GDB spells a type.

The kind of an integer is (bytes, unsigned).
"""
from typing import NamedTuple

import gdb

INT, UINT, LONG, ULONG, UCHAR = (4, False), (4, True), (8, False), (8, True), (1, True)
NAMES = {(1, False): "signed char", (1, True): "unsigned char", (2, False): "short", (2, True): "unsigned short",
         (4, False): "int", (4, True): "unsigned int", (8, False): "long", (8, True): "unsigned long"}
SUFFIX = {INT: "", UINT: "u", LONG: "l", ULONG: "ul"}
AGGREGATES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
INTEGERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_FLAGS)


def integer(kind):
    """Return the gdb.Type of an integer kind, (bytes, unsigned)."""
    return gdb.lookup_type(NAMES[kind])


def plain(kind):
    """Return a type without its qualifiers and typedefs."""
    while True:
        stripped = kind.unqualified().strip_typedefs().unqualified()
        if stripped.code != gdb.TYPE_CODE_TYPEDEF:
            return stripped
        kind = stripped


def code(kind):
    return plain(kind).code


def referred(kind):
    """Return the type to which a C++ reference refers, or None for any other type."""
    stripped = plain(kind)
    return stripped.target() if stripped.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF) else None


def is_pointer(kind):
    return code(kind) == gdb.TYPE_CODE_PTR


def is_array(kind):
    return code(kind) == gdb.TYPE_CODE_ARRAY


def is_address(kind):
    """Return whether a value of the type is the address of others: a pointer or an array."""
    return is_pointer(kind) or is_array(kind)


def is_function(kind):
    return code(kind) == gdb.TYPE_CODE_FUNC


def is_aggregate(kind):
    return code(kind) in AGGREGATES


def is_text(kind):
    """Return whether an array of the type is a string. In the kernel only the type named char is text, whether char is
    signed or not."""
    bare = plain(kind)
    return bare.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and bare.name == "char"


def may_be_text(kind):
    """Return whether an array of the type may be a string: char, or unsigned char as in struct dentry, but not u8."""
    bare = kind.unqualified()
    return is_text(kind) or bare.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and bare.name == "unsigned char"


def is_bytes(kind):
    """Return whether a type is an array of bytes that are not text, such as a hardware address. A zero does not end
    it."""
    if not is_array(kind):
        return False
    target = plain(plain(kind).target())
    return target.sizeof == 1 and target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and not is_text(target)


def is_octets(kind):
    """Return whether a type is an array of one to eight bytes that are not text. Its value is then a number."""
    return is_bytes(kind) and 0 < count(kind) <= 8


def is_integer(kind):
    return code(kind) in INTEGERS


def way_to_number(kind):
    """Return what to write instead of a value of a type that is neither a number nor a pointer."""
    if code(kind) == gdb.TYPE_CODE_FLT:
        return "There is no floating point at a hit; cast its address to read its bytes: *(unsigned long *)&x."
    return "Name a member of it."


def is_bool(kind):
    return code(kind) == gdb.TYPE_CODE_BOOL


def is_enum(kind):
    return code(kind) == gdb.TYPE_CODE_ENUM


def kind_of(kind):
    """Return (bytes, unsigned) of an integer type. Return None for any other type, and for an integer that does not fit
    into a register."""
    stripped = plain(kind)
    if stripped.code not in INTEGERS or stripped.sizeof not in (1, 2, 4, 8):
        return None
    if stripped.code in (gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_FLAGS):
        return stripped.sizeof, True
    return stripped.sizeof, not stripped.is_signed


def promoted(kind):
    """Return the kind to which C promotes an integer."""
    return INT if kind[0] < 4 else kind


def usual(left, right):
    """Apply C's usual arithmetic conversions. Return the kind in which two integers are combined."""
    left, right = promoted(left), promoted(right)
    if left[0] != right[0]:
        return max(left, right)
    return left[0], left[1] or right[1]


def wrapped(value, kind):
    """Return a number reduced to the range of an integer kind, as a conversion in C does."""
    size, unsigned = kind
    value &= (1 << 8 * size) - 1
    return value if unsigned or value < 1 << (8 * size - 1) else value - (1 << 8 * size)


def limits(kind):
    """Return the smallest and the largest number of a kind."""
    bits = 8 * kind[0]
    return (0, (1 << bits) - 1) if kind[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def holds(kind, least, greatest):
    """Return whether a kind can represent all numbers between two bounds."""
    low, high = limits(kind)
    return low <= least and greatest <= high


def literal(value, kind):
    """Return a number as text. Both C and GDB give this text the integer kind KIND, promoted to int if it is
    smaller."""
    suffix = SUFFIX[promoted(kind)]
    if value >= 0:
        return "%d%s" % (value, suffix)
    if value == -(1 << (8 * kind[0] - 1)) and kind[0] >= 4:
        return "(-%d%s - 1)" % (-value - 1, suffix)
    return "-%d%s" % (-value, suffix)


def count(kind):
    """Return the number of elements of an array type, or 0 if the type does not give one."""
    try:
        low, high = plain(kind).range()
    except (gdb.error, RuntimeError):
        return 0
    return max(high - low + 1, 0)


# Members -----------------------------------------------------------------------------------------

class Found(NamedTuple):
    """A structure's member: its bit offset from the outermost structure, the width of a bit field or 0, and whether GDB
    finds it by name."""
    type: gdb.Type
    bit: int
    bits: int
    named: bool


def place(field):
    """Return the bit at which a field begins, or None for a static member or the part of a virtual base class."""
    return getattr(field, "bitpos", None)


def member(kind, name):
    """Return the Found of a structure's member by its name, or None. It may be inside unnamed members at any depth, or in
    the part of a base class."""
    for field in plain(kind).fields():
        if place(field) is None:
            continue
        if field.is_base_class:
            inner = member(field.type, name)
            if inner is not None:
                return inner._replace(bit=inner.bit + field.bitpos)
            continue
        if field.name == name:
            return Found(field.type, field.bitpos, field.bitsize, True)
        if not field.name and is_aggregate(field.type):
            inner = member(field.type, name)
            if inner is not None:
                return inner._replace(bit=inner.bit + field.bitpos, named=False)
    return None


def member_names(kind):
    """Yield the names of all members that C accepts after the dot of a structure."""
    for field in plain(kind).fields():
        if field.name and not field.is_base_class:
            yield field.name
        elif is_aggregate(field.type):
            yield from member_names(field.type)


# Spelling ----------------------------------------------------------------------------------------

def same(left, right):
    """Return whether two types with the same name are the same type. Different structures and enums of one name differ
    in their members."""
    left, right = plain(left), plain(right)
    if left.code != right.code or left.sizeof != right.sizeof:
        return False
    if left.code == gdb.TYPE_CODE_ENUM:
        return [(f.name, f.enumval) for f in left.fields()] == [(f.name, f.enumval) for f in right.fields()]
    if left.code not in AGGREGATES:
        return True
    return layout(left) == layout(right)


def layout(kind):
    """Return the members of a structure in a form that can be compared with those of another structure of the same
    name."""
    return [(f.name, place(f), f.bitsize, f.type.code, str(f.type.name), f.type.sizeof) for f in kind.fields()]


def describe(kind):
    """Return the name of a type for an error message."""
    stripped = kind.unqualified()
    if stripped.code != gdb.TYPE_CODE_TYPEDEF and is_aggregate(stripped) and not stripped.tag:
        return "an unnamed structure"
    return str(stripped).split("{")[0].strip()


def spell(kind, scope):
    """Return text for which GDB finds the type KIND in the scope, or None if there is no such text."""
    stripped = plain(kind)
    if stripped.code == gdb.TYPE_CODE_PTR:
        return spell_pointer(stripped.target(), scope)
    if stripped.code == gdb.TYPE_CODE_VOID:
        return "void"
    if stripped.code in AGGREGATES or stripped.code == gdb.TYPE_CODE_ENUM:
        return spell_tagged(kind, stripped, scope)
    if stripped.name == "char":
        return "char"
    if kind_of(stripped):
        return NAMES[kind_of(stripped)]
    return None


def spell_tagged(kind, stripped, scope):
    words = {gdb.TYPE_CODE_STRUCT: "struct ", gdb.TYPE_CODE_UNION: "union ", gdb.TYPE_CODE_ENUM: "enum "}
    tag = stripped.tag or stripped.name
    unqualified = kind.unqualified()
    for text in ((words[stripped.code] + tag) if tag else None,
                 unqualified.name if unqualified.code == gdb.TYPE_CODE_TYPEDEF else None):
        found = scope.spelled(text) if text else None
        if found is not None and same(found, stripped):
            return text
    return None


def spell_pointer(target, scope):
    """Return text for which GDB finds the type "pointer to TARGET" in the scope, or None if there is no such text."""
    if is_array(target):
        dimensions = ""
        while is_array(target):
            dimensions += "[%d]" % count(target)
            target = plain(target).target()
        element = spell(target, scope)
        return element and "%s (*)%s" % (element, dimensions)
    if is_function(target):
        return "void *"
    text = spell(target, scope)
    return text and text + (" *" if not text.endswith("*") else "*")
