# SPDX-License-Identifier: GPL-2.0-only
"""Chooses the Form that a type has by itself, without a format from the user."""
import gdb

from gtp.cexpr import ctype
from gtp.formats import space
from gtp.formats.tracefile import Unavailable
from gtp.view import cells, forms

# A typedef's name says what the number means; the underlying type does not.
OF_TYPE = {"__be16": "port", "ktime_t": "time", "dev_t": "dev", "kuid_t": "id", "kgid_t": "id", "gfp_t": "flags",
           "vm_flags_t": "flags", "struct in_addr": "ip", "struct in6_addr": "ip",
           **{"struct " + name: "ip" for name in forms.SOCKADDR}}


# The variables whose value is a function's return value.
RETURNED = ("$ret", "$kret")


def form(kind):
    """Return the Form that a gdb.Type has by itself, or None."""
    for name in forms.typedefs(kind):
        if name in OF_TYPE:
            return forms.Form(OF_TYPE[name])
    bare = ctype.plain(kind)
    if bare.code == gdb.TYPE_CODE_PTR and list(forms.typedefs(bare.target())) == ["struct pid"]:
        return forms.Form("pid")
    return None


def of_return(kind, pc):
    """Return the Form of the return value of the function at a place: its type's Form, else "err" if it may be an error,
    else None.

    An unsigned number of up to 32 bits is not taken for an error, since it may be a hash, a sum or a size. Nor is a
    number that a program's function returns: -1 is not EPERM there, because the error is in errno.
    """
    own, bare = form(kind), ctype.plain(kind)
    if own is not None or space.has(pc):
        return own
    if bare.code == gdb.TYPE_CODE_PTR or forms.number_type(kind, 8) or forms.number_type(kind, 2, 4) and cells.is_signed(bare):
        return forms.Form("err")
    return None


class Returned:
    """Is used like a Form that the user gives. Its show() shows a return value in the Form of the value's type."""

    @staticmethod
    def show(kind):
        found = of_return(kind, gdb.selected_frame().pc())
        return found and found.show(kind)


def show(kind):
    """Return the function that shows a value of a type in the type's own Form, or None if the type has no Form."""
    found = form(kind)
    return found and found.show(kind)


def or_else(show, raw):
    """Return a function that shows a value with SHOW, or with RAW if SHOW has no text for it."""
    if show is None:
        return raw

    def text(frame, x):
        try:
            found = show(frame, x)
        except Unavailable:
            found = None
        return raw(frame, x) if found is None else found
    return text


class Shown(cells.Formats):
    """Formats for people: a value is shown in the Form that its type has by itself."""

    def scalar(self, kind):
        return or_else(show(kind), super().scalar(kind))

    def aggregate(self, kind, inside=False):
        return or_else(show(kind), super().aggregate(kind, inside))

    def views(self, kind):
        return show(kind) is not None

    def returned(self):
        return Asked(self, Returned)


class Asked:
    """Formats that show a value in the Form ASKED. If ASKED has no text for the value, use OTHERS, which are Formats,
    too."""

    def __init__(self, others, asked):
        self.others, self.asked = others, asked

    def scalar(self, kind):
        return or_else(self.asked.show(kind), self.others.scalar(kind))

    def aggregate(self, kind, inside=False):
        return or_else(self.asked.show(kind), self.others.aggregate(kind, inside))

    def views(self, kind):
        return self.asked.show(kind) is not None or self.others.views(kind)

    def returned(self):
        return self
