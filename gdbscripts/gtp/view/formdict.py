# SPDX-License-Identifier: GPL-2.0-only
"""Describes a Form as a dict, for the rows of the shell command `gtp`: spell.carried() shows the values without GDB."""
import gdb

from gtp.cexpr import ctype
from gtp.view import cells, forms, image

PLAIN = ("ip", "port", "dev", "time", "bytes")  # these Forms need nothing but the number
LETTERS = ("x", "d", "u")


def described(form, kind):
    """Return a dict with which spell.carried() shows a value of a gdb.Type in a Form. Return None if the form has no text
    for the type, or needs memory."""
    bare = ctype.plain(kind)
    if ctype.is_octets(kind) and bare.sizeof == 4 and form.name == "ip":
        return {"form": "ip", "size": 4, "pointer": False, "signed": False}
    if bare.code not in cells.SCALARS or bare.sizeof > cells.WORD or form.name not in LETTERS and form.show(kind) is None:
        return None
    pointer = bare.code == gdb.TYPE_CODE_PTR
    found = {"form": form.name, "size": bare.sizeof, "pointer": pointer,
             "signed": not pointer and cells.is_signed(bare)}
    if form.name == "err":
        return {**found, "names": image.errors()}
    if form.name == "flags":
        return {**found, "names": forms.flag_names(kind, form.argument)}
    return found if form.name in LETTERS or form.name in PLAIN and not pointer else None
