# SPDX-License-Identifier: GPL-2.0-only
"""C expressions with the kernel's types, translated to text that GDB can compile for the module.

In these functions TEXT is the expression as the user has typed it. Names are looked up at the address PC. An expression
that cannot be translated raises Error.
"""
import gdb

from gtp.cexpr import ctype, expansion, octets, parse, parts as parts_of, variables
from gtp.cexpr.division import UNFIT
from gtp.cexpr.error import Error
from gtp.cexpr.expansion import typed
from gtp.cexpr.foreign import refusal, type_named
from gtp.cexpr.headers import unasked
from gtp.cexpr.translate import Translation

__all__ = ["Error", "UNFIT", "condition", "number", "collected", "is_bit_field", "is_clear", "is_harmless", "key", "parts", "pieces", "printed", "refusal",
           "split", "type_at", "type_named", "type_of", "typed", "unasked", "value"]


def condition(text, pc):
    """Return the expression for GDB's `condition`, which is the same text if GDB compiles it by itself."""
    return Translation(text, pc).condition()


def number(text, pc):
    """Return (expression for GDB's `teval`, its gdb.Type). The value is a number or an address; for an array, its
    address."""
    return Translation(text, pc).number()


def key(text, pc):
    """Return (expression for GDB's `teval`, its gdb.Type) for a key of an aggregation.

    An array of up to eight bytes becomes one number, with the array's type. The text ARRAY[N]@8, which parts() returns,
    means eight bytes of the array, starting at byte N.
    """
    return of_bytes(text, pc, Translation.number)


def of_bytes(text, pc, translate):
    """Call TRANSLATE on the Translation of a text. If the text is an array of up to eight bytes, translate the number
    that these bytes form. Return (expression, type)."""
    array, first, size = octets.piece(text) or (text, 0, None)
    kind = Translation(array, pc).type()
    count = ctype.count(kind) if ctype.is_bytes(kind) else 0
    size = count if size is None else size
    if not 0 < size <= octets.WORD or first + size > count:
        return translate(Translation(text, pc))
    made = ctype.plain(kind).target().array(size - 1)
    try:
        return translate(Translation(octets.wide(array, first, size), pc))[0], made
    except Error:
        return translate(Translation(octets.bytewise(array, first, size), pc))[0], made


def parts(text, meant, pc):
    """Return the expressions for the numbers, pointers and strings of a structure. For a value that is not a structure,
    return the text itself.

    MEANT is TEXT in which C has replaced the names of an event's fields. The returned expressions begin with TEXT, not
    with MEANT.
    """
    return parts_of.texts(text, Translation(meant, pc).parts())


def collected(text, pc):
    """Translate a list of expressions as in `collect`. Return the text for GDB's `collect`, and a line for each
    expression that GDB cannot collect.

    $args and $locals are replaced by the variables; the lines name those variables that have no location at PC.
    """
    found = pieces(text, pc)
    return [take for takes, _ in found for take in takes], [line for _, lines in found for line in lines]


def pieces(text, pc, string=False):
    """Return [(texts to collect, lines about variables without a location)], one pair for each expression of the list.
    With STRING, the texts collect the strings to which the expressions point."""
    found = []
    for offset, piece in split(text):
        try:
            found.append(one(piece, pc, string))
        except Error as error:
            raise error.within(text, offset) if error.text is None else error
    return found


def split(text):
    """Return [(offset, text)] for the expressions of a comma-separated list."""
    try:
        return [(at, expansion.part(text, at, piece)) for at, piece in parse.split(text)]
    except Error as error:
        raise error.within(text)


SPECIAL = ("$regs", "$_sdata")


def one(text, pc, string=False):
    if text in ("$args", "$locals"):
        return variables.expand(pc, text == "$args")
    if text in SPECIAL:
        return [text], []
    return Translation(text, pc, string).collected(), []


def value(text):
    """Return the gdb.Value of an expression in the selected frame, a traceframe's or the live kernel's."""
    try:
        pc = gdb.selected_frame().pc()
    except gdb.error:
        pc = None
    return Translation(text, pc).value()


def type_of(text):
    """Return the gdb.Type of an expression in the selected frame, even if the frame lacks its value."""
    return type_at(text, gdb.selected_frame().pc())


def type_at(text, pc):
    """Return the gdb.Type of an expression at an address."""
    return Translation(text, pc).type()


def is_bit_field(text):
    """Return whether an expression denotes a bit field. For a bit field, GDB gives the address and the size of the
    integer that contains the bits."""
    return Translation(text, None).bits() is not None


def is_clear(text, pc):
    """Return whether GDB's own evaluator uses the right types for an expression. It does not for $ret, nor for names
    that several types share."""
    return Translation(text, pc).is_clear()


def is_harmless(text, pc):
    """Return whether GDB's compiler is certain to survive an expression as it is typed. GDB 13 aborts if the index of
    an array is an enum or a bool. Every GDB aborts if an integer has 16 bytes."""
    return Translation(text, pc).is_harmless()


def printed(text, pc):
    """Return the argument for GDB and the gdb.Type of an expression whose value a dprintf prints.

    For a char array the argument is its address, for %s. An array of up to eight other bytes becomes one number, as in
    key(). For a longer array of such bytes, or a structure, the argument is None.
    """
    return of_bytes(text, pc, Translation.printed)
