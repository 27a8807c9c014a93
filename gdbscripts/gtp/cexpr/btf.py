# SPDX-License-Identifier: GPL-2.0-only
"""Counts the different types of one name in a kernel. The BTF in vmlinux stores equal types only once.

DWARF repeats a type in each compile unit that uses it, and GDB would have to read all these units.
"""
import collections
import functools
import struct

from gtp.cexpr import vmlinux

MAGIC = 0xeb9f
HEAD = struct.Struct("<HBBIIIII")
TYPE = struct.Struct("<III")
WORDS = {4: "struct ", 5: "union ", 6: "enum ", 8: "", 19: "enum "}
# The kind of a BTF type -> how many bytes follow the type's head if it has n members.
TAILS = {1: lambda n: 4, 3: lambda n: 12, 4: lambda n: 12 * n, 5: lambda n: 12 * n, 6: lambda n: 8 * n,
         13: lambda n: 8 * n, 14: lambda n: 4, 15: lambda n: 12 * n, 17: lambda n: 4, 19: lambda n: 12 * n}


def types(data):
    """Yield (kind, name) of each type in a BTF section that has a name."""
    magic, _, _, head, types_at, types_size, strings_at, strings_size = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise ValueError("no BTF")
    strings = data[head + strings_at:head + strings_at + strings_size]
    at, end = head + types_at, head + types_at + types_size
    while at < end:
        name, info, _ = TYPE.unpack_from(data, at)
        kind = info >> 24 & 31
        at += TYPE.size + TAILS.get(kind, lambda n: 0)(info & 0xffff)
        if name and kind in WORDS:
            yield kind, vmlinux.string(strings, name)


@functools.lru_cache(2)
def counts_of(path, mtime):
    """Return {name: number of types with it}, with names such as `struct sock' and `u32'. Return {} if the file has no
    BTF.

    MTIME is only a part of the cache's key, so that a changed file is read again.
    """
    with open(path, "rb") as file:
        named = vmlinux.headers(file)[0]
        if ".BTF" not in named:
            return {}
        _, offset, size, _ = named[".BTF"]
        return collections.Counter(WORDS[kind] + name for kind, name in types(vmlinux.content(file, offset, size)))


def counts():
    """Return counts_of() for the main symbol file, or {} if the file cannot be read."""
    return vmlinux.asked(counts_of)
