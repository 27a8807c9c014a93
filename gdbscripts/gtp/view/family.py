# SPDX-License-Identifier: GPL-2.0-only
"""Flags that are macros, such as O_CREAT. One macro identifies its family: the macros in its header with the same
beginning.

vmlinux has no macros; gdbtp asks the compiler once for each family. A bit has a name only if the headers leave no
doubt:
 - a macro that is defined as the name of another one is an alias, and left out;
 - a bit with two names stays a number (SB_NODEV and SB_I_NODEV belong to two variables);
 - a macro of several bits is a set if its definition has a |, such as O_SYNC. Otherwise its bits are a field, such as
   O_ACCMODE: the field's value has a name as a whole or not at all.
"""
import functools
import re

import gdb

from gtp.cexpr import headers
from gtp.gdblib import gdbcall

BEGINNING = re.compile(r"[A-Za-z0-9]+_")
DEFINED = re.compile(r"^#define (\w+) +(.*)$", re.M)
VALUE = re.compile(r"^gtp_value (\w+) (.+)$", re.M)
# By the kernel's conventions, macros with these names are not flags, but amounts, positions or sizes.
NO_FLAG = re.compile(r"_(?:SHIFT|BITS|SIZE|MAX|MIN|NR|LEVELS)(?:_|$)")
CALL = re.compile(r"\w\s*\(")
BITS = 64


def number(text):
    """Return the value of a macro's expanded text, or None if the text is not a constant. A macro that calls something
    is refused, because there may be no target to call it in."""
    bare = re.sub(r"\(\s*\w+\s*\)", "", text)  # without casts
    if CALL.search(bare) or re.search(r"[\"{};=]|\+\+|--", text):
        return None
    try:
        value = int(gdbcall.value(text))
    except (gdb.error, ValueError, RuntimeError):
        return None
    return value if 0 <= value < 2**BITS else None


@functools.lru_cache(None)
def macros(folder, word):
    """Return {name: (value, definition)} of a macro's family, or {} if there is no such macro."""
    beginning = BEGINNING.match(word)
    for header in headers.defining(folder, word, "")[:headers.MOST_TRIES] if beginning else ():
        include = "#include <%s>\n" % header
        defined = {name: text for name, text in DEFINED.findall(headers.compiler(folder, include, "-E", "-dM") or "")
                   if name.startswith(beginning.group(0))}
        if word not in defined:
            continue
        # Add a prefix to the first of the two names in a line, so that the compiler expands only the second one.
        lines = "".join("gtp_value gtp_%s %s\n" % (name, name) for name in defined)
        expanded = headers.compiler(folder, include + lines, "-E", "-P") or ""
        values = {name[4:]: number(text) for name, text in VALUE.findall(expanded)}
        return {name: (value, defined[name]) for name, value in values.items() if value is not None}
    return {}


def fields(multiple):
    """Return the masks of the fields to which macros of several bits belong. Macros that overlap share one mask."""
    found = []
    for value in multiple:
        apart = [mask for mask in found if not mask & value]
        found = apart + [functools.reduce(int.__or__, (mask for mask in found if mask & value), value)]
    return found


def shifted(known):
    """Return the macros of a family. Each mask for which there is a shift, such as MAP_HUGE_MASK with MAP_HUGE_SHIFT,
    is shifted to its bits."""
    found = dict(known)
    for name, (value, text) in known.items():
        shift = known.get(re.sub("_MASK$", "_SHIFT", name))
        if name.endswith("_MASK") and shift and value & 1 and shift[0] < BITS:
            found[name] = value << shift[0], text
    return found


def ordered(known):
    """Return [(mask, value, name)] for spell.flags(), from {name: (value, definition)}: sets first, then fields, then
    bits."""
    own = {name: (value, text) for name, (value, text) in shifted(known).items()
           if text.strip("() ") not in known and not NO_FLAG.search(name)}
    several = {name: value for name, (value, _) in own.items() if value & value - 1}
    sets = {name: value for name, value in several.items() if "|" in own[name][1]}
    masks = fields(value for name, value in several.items() if name not in sets)
    found = [(value, value, name) for name, value in sorted(sets.items(), key=lambda one: -bin(one[1]).count("1"))]
    for name, (value, _) in sorted(own.items()):
        if name not in sets:
            mask = next((mask for mask in masks if mask & value), value)
            found.append((mask, value, name))
    taken = [entry[:2] for entry in found]
    return [entry for entry in found if taken.count(entry[:2]) == 1]


def table(word):
    """Return the table for spell.flags() of a macro's family, or [] if there is no such macro, or no header."""
    try:
        return ordered(macros(headers.folder(), word))
    except headers.Missing:
        return []
