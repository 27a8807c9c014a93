# SPDX-License-Identifier: GPL-2.0-only
"""Translates expressions that look like calls but are not: macros of the kernel that compute a value, and comparisons
of strings."""
from gtp.cexpr import ctype, percpu, registers, strings, syntax
from gtp.cexpr.ctype import INT, LONG, ULONG
from gtp.cexpr.error import Error
from gtp.cexpr.operand import EQUAL, ORDER, PRIMARY, UNARY, Operand, address, cast, number

MAX_ERRNO = 4095


def take(node, *kinds):
    """Return the arguments of a call. Raise Error if their number differs from that of KINDS, or if a type stands where
    a value belongs."""
    if len(node.arguments) != len(kinds):
        raise Error("%s takes %d argument%s" % (node.name, len(kinds), "s" if len(kinds) != 1 else ""), node.start)
    for argument, kind in zip(node.arguments, kinds):
        is_type = isinstance(argument, syntax.TypeName)
        if is_type != (kind == "type") and kind != "any":
            raise Error("%s takes a %s here" % (node.name, kind), argument.start)
    return node.arguments


# Types and members -------------------------------------------------------------------------------

def offset(lower, kind, path):
    """Return the number of bytes from the beginning of a structure to a member such as a.b[2].c."""
    if isinstance(path, syntax.Name):
        return step_into(lower, kind, path.name, path.start)
    if isinstance(path, syntax.Member) and not path.arrow:
        outer, bit = offset(lower, kind, path.base)
        inner, more = step_into(lower, outer, path.name, path.at)
        return inner, bit + more
    if isinstance(path, syntax.Index):
        outer, bit = offset(lower, kind, path.base)
        if not ctype.is_array(outer):
            raise Error("this is not an array", path.base.start)
        element = ctype.plain(outer).target()
        return element, bit + element.sizeof * lower.constant(path.index)
    raise Error("a member is expected", path.start)


def step_into(lower, kind, name, at):
    if not ctype.is_aggregate(kind):
        raise Error("this has no members", at)
    found = lower.member(kind, name, at)
    if found.bits:
        raise Error("a bit field has no offset in bytes", at)
    return found.type, found.bit // 8


def offsetof(lower, node):
    kind, path = take(node, "type", "member")
    return number(offset(lower, lower.type(kind), path)[1], ULONG)


def container_of(lower, node):
    """Translate container_of(p, type, member)."""
    pointer, kind, path = take(node, "pointer", "type", "member")
    outer = lower.type(kind)
    operand = lower.value(pointer)
    if not ctype.is_pointer(operand.type):
        raise Error("container_of takes a pointer", pointer.start)
    _, distance = offset(lower, outer, path)
    text, level = address((operand.within(UNARY), -distance))
    spelled = ctype.spell_pointer(outer, lower.scope)
    if spelled is None:
        return Operand(outer.pointer(), text, level)
    inner = text if level >= UNARY else "(%s)" % text
    return Operand(outer.pointer(), "((%s)%s)" % (spelled, inner), PRIMARY, named=True)


def entry_of(lower, node, *members):
    """Translate container_of(POINTER->first, type, member), where POINTER points to the head or to a node of a list."""
    pointer, kind, path = take(node, "pointer", "type", "member")
    for name in members:
        pointer = syntax.Member(pointer.start, pointer.end, pointer, name, True, pointer.start)
    return container_of(lower, syntax.Call(node.start, node.end, node.name, [pointer, kind, path]))


def first_entry(lower, node):
    return entry_of(lower, node, "next")


def last_entry(lower, node):
    return entry_of(lower, node, "prev")


def neighbour(member):
    """Translate list_next_entry(p, member) and list_prev_entry()."""
    def entry(lower, node):
        pointer, path = take(node, "pointer", "member")
        kind = syntax.TypeName(pointer.start, pointer.end, syntax.Unary(pointer.start, pointer.end, "*", pointer))
        node_in = beside(pointer, path)
        next_one = syntax.Member(pointer.start, pointer.end, node_in, member, False, pointer.start)
        return container_of(lower, syntax.Call(node.start, node.end, node.name, [next_one, kind, path]))

    return entry


def beside(pointer, path):
    """Return the node for POINTER->PATH."""
    if isinstance(path, syntax.Name):
        return syntax.Member(path.start, path.end, pointer, path.name, True, path.start)
    if isinstance(path, syntax.Member) and not path.arrow:
        return syntax.Member(path.start, path.end, beside(pointer, path.base), path.name, False, path.at)
    raise Error("a member is expected", path.start)


def or_null(entry, *members):
    """Return the list entry, or NULL if the list is empty: its head points to itself, or is NULL."""
    def entry_or_null(lower, node):
        head = lower.value(take(node, "pointer", "type", "member")[0])
        found = entry(lower, node)
        link = node.arguments[0]
        for name in members:
            link = syntax.Member(link.start, link.end, link, name, True, link.start)
        test = "%s != %s" % (cast(ULONG, lower.value(link)), cast(ULONG, head))
        text = "(%s ? %s : 0)" % (test, cast(ULONG, found))
        spelled = ctype.spell(found.type, lower.scope)
        if spelled is None:
            return found.but(text=text, level=PRIMARY, named=False)
        return found.but(text="((%s)%s)" % (spelled, text))

    return entry_or_null


def hlist_entry_safe(lower, node):
    """Return the structure that contains a list node, or NULL if the pointer to the node is NULL."""
    pointer = lower.value(take(node, "pointer", "type", "member")[0])
    found = container_of(lower, node)
    text = "(%s != 0 ? %s : 0)" % (cast(ULONG, pointer), cast(ULONG, found))
    spelled = ctype.spell(found.type, lower.scope)
    if spelled is None:
        return found.but(text=text, level=PRIMARY, named=False)
    return found.but(text="((%s)%s)" % (spelled, text))


def list_empty(lower, node):
    """Translate list_empty(head): true if the list head points to itself."""
    argument, = take(node, "pointer")
    head = lower.value(argument)
    link = lower.value(syntax.Member(argument.start, argument.end, argument, "next", True, argument.start))
    return Operand(ctype.integer(INT), "%s == %s" % (cast(ULONG, link), cast(ULONG, head)), EQUAL, INT)


def array_size(lower, node):
    array, = take(node, "value")
    kind = lower.operand(array).type
    if not ctype.is_array(kind):
        raise Error("this is not an array", array.start)
    return number(ctype.count(kind), ULONG)


def itself(lower, node):
    """Translate READ_ONCE(x) and the like to x, because a hit reads each value only once."""
    argument, = take(node, "value")
    return lower.operand(argument)


# CPUs --------------------------------------------------------------------------------------------

def this_cpu(lower, node):
    variable, = take(node, "value")
    return percpu.copy(lower, lower.operand(variable), registers.cpu(node), variable)


def per_cpu(lower, node):
    variable, number_node = take(node, "value", "value")
    return percpu.copy(lower, lower.operand(variable), lower.value(number_node), variable)


def this_cpu_ptr(lower, node):
    pointer, = take(node, "value")
    return percpu.pointer(lower, lower.value(pointer), registers.cpu(node), pointer)


def per_cpu_ptr(lower, node):
    pointer, number_node = take(node, "value", "value")
    return percpu.pointer(lower, lower.value(pointer), lower.value(number_node), pointer)


def processor(lower, node):
    take(node)
    return registers.cpu(node).but(text="(int)$cpu_id", level=UNARY, type=ctype.integer(INT), seen=INT)


# Numbers -----------------------------------------------------------------------------------------

def swapped(size):
    """Return a translator for calls that reverse the bytes of a number of SIZE bytes."""
    kind = (size, True)

    def swap(lower, node):
        argument, = take(node, "value")
        operand = lower.value(argument)
        if operand.kind is None:
            raise Error("%s takes a number" % node.name, argument.start)
        if operand.constant is not None:
            data = (operand.constant % (1 << 8 * size)).to_bytes(size, "little")
            return number(int.from_bytes(data, "big"), kind)
        text = cast(kind, operand)
        wide = ctype.promoted(kind)
        pieces = ["((%s & %s) << %d)" % (text, ctype.literal(0xff << 8 * i, wide), 8 * (size - 1 - 2 * i))
                  if 2 * i < size - 1 else
                  "((%s >> %d) & %s)" % (text, 8 * (2 * i - size + 1), ctype.literal(0xff << 8 * (size - 1 - i), wide))
                  for i in range(size)]
        return Operand(ctype.integer(kind), "(%s)" % " | ".join(pieces), PRIMARY, wide).but(
            text="(%s)(%s)" % (ctype.NAMES[kind], " | ".join(pieces)), level=UNARY, seen=kind)

    return swap


def unchanged(size):
    """Translate le32_to_cpu() and the like, which change nothing on this little-endian machine."""
    def same(lower, node):
        argument, = take(node, "value")
        operand = lower.value(argument)
        if operand.kind is None:
            raise Error("%s takes a number" % node.name, argument.start)
        return Operand(ctype.integer((size, True)), cast((size, True), operand), UNARY, (size, True))

    return same


def bit(lower, node):
    argument, = take(node, "value")
    return number(1 << lower.constant(argument), ULONG)


def is_err(lower, node):
    """Translate IS_ERR(pointer): true if the pointer is one of the last 4,095 addresses, which stand for errors."""
    argument, = take(node, "pointer")
    operand = lower.value(argument)
    return Operand(ctype.integer(INT), "%s >= %dul" % (cast(ULONG, operand), 2**64 - MAX_ERRNO), ORDER, INT)


def is_err_or_null(lower, node):
    operand = lower.value(take(node, "pointer")[0])
    text = cast(ULONG, operand)
    return Operand(ctype.integer(INT), "(%s == 0 || %s >= %dul)" % (text, text, 2**64 - MAX_ERRNO), PRIMARY, INT)


def ptr_err(lower, node):
    operand = lower.value(take(node, "pointer")[0])
    return Operand(ctype.integer(LONG), cast(LONG, operand), UNARY, LONG)


KNOWN = {
    "offsetof": offsetof, "__builtin_offsetof": offsetof, "container_of": container_of, "list_entry": container_of,
    "list_first_entry": first_entry, "list_last_entry": last_entry, "list_next_entry": neighbour("next"),
    "list_prev_entry": neighbour("prev"), "list_first_entry_or_null": or_null(first_entry, "next"),
    "list_entry_rcu": container_of, "list_first_or_null_rcu": or_null(first_entry, "next"),
    "hlist_entry_safe": hlist_entry_safe, "list_empty": list_empty, "rb_entry_safe": hlist_entry_safe,
    "container_of_const": container_of, "hlist_entry": container_of, "rb_entry": container_of, "ARRAY_SIZE": array_size,
    "READ_ONCE": itself, "likely": itself, "unlikely": itself, "rcu_dereference": itself, "this_cpu": this_cpu,
    "this_cpu_read": this_cpu, "raw_cpu_read": this_cpu, "__this_cpu_read": this_cpu, "per_cpu": per_cpu,
    "this_cpu_ptr": this_cpu_ptr, "raw_cpu_ptr": this_cpu_ptr, "per_cpu_ptr": per_cpu_ptr,
    "smp_processor_id": processor, "raw_smp_processor_id": processor, "BIT": bit, "IS_ERR": is_err,
    "IS_ERR_VALUE": is_err, "IS_ERR_OR_NULL": is_err_or_null, "PTR_ERR": ptr_err, "$_streq": strings.streq,
    "$_strprefix": strings.prefix, "strstarts": strings.prefix, "strcmp": strings.strcmp, "strncmp": strings.strncmp,
}
for bytes_, letter in ((2, "s"), (4, "l")):
    KNOWN["hton" + letter] = KNOWN["ntoh" + letter] = swapped(bytes_)
for bytes_ in (2, 4, 8):
    for name in ("be%d_to_cpu", "cpu_to_be%d", "swab%d"):
        KNOWN[name % (8 * bytes_)] = swapped(bytes_)
    for name in ("le%d_to_cpu", "cpu_to_le%d"):
        KNOWN[name % (8 * bytes_)] = unchanged(bytes_)


def advice(name):
    """Return a sentence that tells the user what to write in place of a call of NAME."""
    if name.startswith("$_"):
        return "$_streq and $_strprefix are there."
    return "Write what it computes: a cast, a member, container_of(p, type, member)."
