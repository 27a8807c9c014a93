# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own tracepoints as the module lists them, and what their fields are in terms of their arguments.
#
# An expression can use a field if the code that fills the record copies the field from an argument, or from a member of
# the object to which an argument points; gtp.places.recordcode finds that out from the code. The field's name does not matter,
# except for strings.
import difflib
import fnmatch
import re

import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.gdblib import gdbcall, remote
from gtp.places import names, places, recordcode

# Types with a fixed byte order, or whose bits have a meaning of their own. Each of them is equal only to itself.
BITWISE = re.compile(r"__(be|le)\d+$|__w?sum\w*$|fmode_t$|blk_opf_t$|vm_fault_t$")

# Names of the four fields with which every record begins. ftrace fills them in.
COMMON = ("common_type", "common_flags", "common_preempt_count", "common_pid")

# id -> Event, as last reported by the module on the current connection.
known = {}
asked = None

# (id, address, fields) -> Names. Finding out from the code how a record is filled takes a long time, so keep the result
# until GDB reads other symbols.
found_names = {}


class Event:
    """A kernel tracepoint.

    id: system:event
    address: that of the event's marker, which is the first instruction of its function __traceiter_NAME
    fields: [(type, name)] of its record, in order
    """

    def __init__(self, name, address, extra):
        self.id, self.address = name, address
        self.fields = [tuple(field.rsplit(" ", 1)) for field in extra.rstrip(";").split("; ") if " " in field]

    def arguments(self):
        """Return [(name, gdb.Type)] for the event's arguments, or None if there is no debug information."""
        block = gdb.block_for_pc(self.address)
        if block is None or block.function is None:
            return None
        return [(s.name, s.type) for s in block if s.is_argument and s.name != "__data"]

    def names(self):
        """Return the gtp.places.names.Names of the event's tracepoint. They are kept, because every command makes new Events."""
        key = self.id, self.address, tuple(self.fields)
        if key in found_names:
            return found_names[key]
        arguments = self.arguments()
        if arguments is None:
            why = "GDB does not know the event's arguments; if it is a module's, gtp modules loads its symbols"
            return names.Names(self.id, {}, {name: why for _, name in self.fields})
        copies = self.copies(arguments)
        found = self.find_names(arguments, copies or {})
        if copies is not None:
            found_names[key] = found
        return found

    def find_names(self, arguments, copies):
        own = [name for name, _ in arguments]
        stands_for, unsaid, notes = {}, {}, {}
        elements = {name: texts for name, texts in copies.items() if isinstance(texts, list)}
        for kind, name in self.fields:
            if name in own:
                if not same(kind, dict(arguments)[name]):
                    notes[name] = "%s is the argument (%s), not the record's field (%s)" % (
                        name, dict(arguments)[name], kind)
            elif name not in copies:
                unsaid[name] = "the kernel computes this field; collect $_sdata and see gtp sdata, or use an argument"
            elif name not in elements:
                stands_for[name] = copies[name]
        for name in COMMON:
            unsaid[name] = "ftrace writes this field; $current_task_pid and $cpu_id are what there is here"
        return names.Names(self.id, stands_for, unsaid, notes, own, elements)

    def copies(self, arguments):
        """Return a C expression for each field that copies an argument, or memory to which an argument points. For an
        array of a system call's arguments, return a list with one for each.

        Return None if the code cannot be read, as in a frame without the kernel's data.
        """
        try:
            fields = gdbcall.value("event_%s.class" % gdbcall.word(self.id.split(":")[1]))
            filler = int(fields["probe"]) % 2**64
            places_in_record = list(layout(fields["fields_array"], len(self.fields)))
        except (gdb.error, RuntimeError):
            return None
        symbol = places.symbol_at(filler)
        if symbol is None:
            return None
        code = recordcode.code(filler, symbol[0])
        found = {}
        for (kind, name), (offset, size) in zip(self.fields, places_in_record):
            if kind.startswith("__"):
                text = string_for(kind, name, arguments, code)
            else:
                text = copied(kind, name, offset, size, registers(arguments), code) or \
                    of_call(kind, offset, registers(arguments), code)
            if text is not None:
                found[name] = text
        return found


def layout(fields, count):
    """Yield (offset, size) of an event's own fields, computed in the same way as the kernel does."""
    offset = gdb.lookup_type("struct trace_entry").sizeof
    for i in range(count):
        size, align = int(fields[i]["size"]), int(fields[i]["align"])
        offset = (offset + align - 1) // align * align
        yield offset, size
        offset += size


# Fields and arguments ----------------------------------------------------------------------------

def bitwise(kind):
    """Return those names of the type's typedefs that match BITWISE."""
    found = []
    while kind.code == gdb.TYPE_CODE_TYPEDEF:
        if BITWISE.match(kind.name or ""):
            found.append(kind.name)
        kind = kind.target()
    return found


def alike(left, right):
    """Return whether two types represent the same values in the same way."""
    if bitwise(left) != bitwise(right):
        return False
    left, right = left.strip_typedefs().unqualified(), right.strip_typedefs().unqualified()
    if left.code != right.code or left.sizeof != right.sizeof:
        return False
    if left.code == gdb.TYPE_CODE_PTR:
        return True
    if left.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ENUM):
        return left.tag == right.tag
    if left.code == gdb.TYPE_CODE_ARRAY:
        return left.range() == right.range() and alike(left.target(), right.target())
    return signed(left) == signed(right)


def signed(kind):
    """Return whether an integer type is signed. Return None for other types and for char, which is signed in GDB, but not
    in kernels since 6.2."""
    if kind.code == gdb.TYPE_CODE_INT and kind.name != "char":
        return int(gdb.Value(-1).cast(kind)) < 0
    return None


def is_string(kind):
    kind = kind.strip_typedefs()
    if not ctype.is_address(kind):
        return False
    element = kind.target().strip_typedefs().unqualified()
    return element.sizeof == 1 and element.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and element.name == "char"


def same(field, kind):
    """Return whether a field, whose type FIELD is written as in tracefs, can hold a value of the gdb.Type KIND."""
    if field.startswith("__"):
        located = re.match(r"__(?:rel|data)_loc (\w[\w ]*)\[\]$", field)
        if located:
            return located.group(1) == "char" and is_string(kind)
    array = re.match(r"(.*?)\[(\d+)\]$", field)
    if array:
        element = cexpr.type_named(array.group(1))
        return element is not None and alike(element.array(int(array.group(2)) - 1), kind)
    found = cexpr.type_named(field)
    return found is not None and alike(found, kind)


def members(kind):
    """Return {name: (type, offset)} for the members of the structure to which a pointer type points."""
    pointed = struct_of(kind)
    return {f.name: (f.type, f.bitpos // 8) for f in pointed.fields() if f.name} if pointed else {}


def struct_of(kind):
    """Return the struct or union that a pointer points to, or None if it does not point to one."""
    kind = kind.strip_typedefs()
    pointed = kind.target().strip_typedefs() if kind.code == gdb.TYPE_CODE_PTR else kind
    is_one = kind.code == gdb.TYPE_CODE_PTR and pointed.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
    return pointed if is_one else None


def registers(arguments):
    """Return the arguments in the order of the argument registers, starting at the second register. An argument in two
    registers has two entries, both None."""
    found = []
    for argument in arguments:
        size = argument[1].strip_typedefs().sizeof
        if size <= 8:
            found.append(argument)
        elif size <= 16:
            found += [None, None]
    return found[:5]


def copied(field, name, offset, size, arguments, code):
    """Return C for a field that copies an argument or a member of the object it points to. Return None for other
    fields."""
    values = {value for at, _, value in code.stores if at == offset}
    values |= {source for at, source in code.copies if at == offset}
    value = values.pop() if len(values) == 1 else None
    if value is None or value[1] >= len(arguments) or arguments[value[1]] is None:
        return None
    argument, kind = arguments[value[1]]
    if value == ("arg", value[1], 0) and code.is_stored(offset, size, value):
        return as_field(argument, field, kind)
    if struct_of(kind) is None:
        return None
    if value[0] == "signed" and code.is_stored(offset, size, value):
        return extended(argument, field, value, struct_of(kind))
    if not code.is_copy(offset, size, ("arg", value[1], value[2])):
        return None
    found = sorted(members_at(struct_of(kind), value[2], size), key=lambda m: (not same(field, m[1]), m[0] not in name))
    if found:
        return as_field("%s->%s" % (argument, found[0][0]), field, found[0][1])
    return "(*(%s *)((char *)%s + %d))" % (field, argument, value[2]) if is_scalar(field) else None


def of_call(field, offset, arguments, code):
    """Return C for each element of a field that has the arguments of a system call. Return None for other fields.

    If the code copies one register to an element, as in kernels without 32-bit calls, that register is the element. If
    the code copies one of two registers, these must be the registers of 64-bit and of 32-bit calls for this argument.
    """
    if field != "unsigned long[%d]" % len(recordcode.CALL):
        return None
    found = []
    for i, both in enumerate(zip(recordcode.CALL, recordcode.COMPAT_CALL)):
        sources = code.sources(offset + 8 * i, 8)
        which = {number for _, number, _, _ in sources}
        argument = arguments[min(which)] if len(which) == 1 and min(which) < len(arguments) else None
        pointed = struct_of(argument[1]) if argument is not None else None
        if pointed is None or pointed.tag != "pt_regs":
            return None
        named = {member for _, _, at, size in sources for member, _ in members_at(pointed, at, size)}
        if len(named) == 1:
            found.append("%s->%s" % (argument[0], *named))
        elif named == set(both):
            found.append("(%s ? %s->%s : %s->%s)" % (recordcode.NOT_COMPAT, argument[0], both[0], argument[0], both[1]))
        else:
            return None
    return found


def extended(argument, field, value, pointed):
    """Return C for a field of 8 bytes that contains 4 bytes of a member, sign-extended. For example, the number of a
    system call is read from half of a member."""
    found = [m for size in (4, 8) for m in members_at(pointed, value[2], size)]
    member = next((name for name, kind in found if ctype.is_integer(kind)), None)
    if member is None or not is_scalar(field):
        return None
    return "((%s)(int)%s->%s)" % (field, argument, member)


def as_field(text, field, kind):
    """Return the expression, cast to the field's type if its own differs, or None if it cannot be cast."""
    if same(field, kind):
        return text
    return "((%s)%s)" % (field, text) if is_scalar(field) else None


def is_scalar(field):
    found = cexpr.type_named(field) if "[" not in field else None
    return found is not None and found.strip_typedefs().code in (
        gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR)


def members_at(kind, offset, size, path=""):
    """Yield (path, type) of a struct's members that have this offset and size and that GDB finds by name."""
    for field in kind.fields():
        start = getattr(field, "bitpos", 0) // 8
        if not field.name or field.bitsize or not start <= offset < start + field.type.sizeof:
            continue
        inner = field.type.strip_typedefs()
        if inner.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            yield from members_at(inner, offset - start, size, path + field.name + ".")
        elif start == offset and inner.sizeof == size:
            yield path + field.name, field.type


def string_for(field, name, arguments, code):
    """Return C for a field that is a string from an argument. The field is named ARGUMENT_MEMBER, or MEMBER if only one
    argument has that member.

    A called function copies strings, so no store in this code shows where they come from. Choose the member by its
    name and type, and only if the code loads it or computes its address.
    """
    for i, argument in enumerate(registers(arguments)):
        if argument is None:
            continue
        text, kind = argument
        others = [a for a in arguments if a[0] != text and name in members(a[1])]
        for member, (found, offset) in members(kind).items():
            if name != text + "_" + member and (name != member or others) or not same(field, found):
                continue
            if {("mem", i, offset, 8), ("arg", i, offset)} & code.seen:
                return "%s->%s" % (text, member)
    return None


# The module's list -------------------------------------------------------------------------------

def ask(packet):
    """Return the reply to a packet of GDB's protocol."""
    connection = gdb.selected_inferior().connection
    if not remote.is_remote(connection):
        raise gdb.GdbError(remote.NOT_CONNECTED)
    return (connection.send_packet(packet) or b"").decode()


def markers(reply):
    """Yield the Events in an answer to qTfSTM, qTsSTM or qTSTMat."""
    for item in reply[1:].split(",") if reply.startswith("m") else ():
        address, name, extra = item.split(":")
        yield Event(bytes.fromhex(name).decode(), int(address, 16), bytes.fromhex(extra).decode())


def everything():
    """Return {id: Event} for all events. The module is asked each time, because kernel modules are loaded and
    unloaded."""
    global asked
    found = {}
    reply = ask("qTfSTM")
    while reply.startswith("m"):
        found.update((event.id, event) for event in markers(reply))
        reply = ask("qTsSTM")
    known.clear()
    known.update(found)
    asked = gdb.selected_inferior().connection
    return known


def last_known():
    """Return all Events as last reported, for completion."""
    return known if known and asked == gdb.selected_inferior().connection else everything()


def at_iterator(name):
    """Return the Event with the id NAME, found by the name of its function __traceiter_EVENT. Return None if there is
    no such function, or if it belongs to an event with another id."""
    try:
        address = gdbcall.address("__traceiter_" + name.split(":")[1])
    except gdb.error:
        return None
    return next((event for event in markers(ask("qTSTMat:%x" % address)) if event.id == name), None)


def find(name):
    """Return the Event of an id. Raise an error that suggests similar ids if there is none."""
    if ":" not in name:
        raise gdb.GdbError("an event is SYSTEM:EVENT%s" % meant(name))
    if re.match(r"syscalls:sys_(enter|exit)_\w+$", name):
        raise gdb.GdbError("%s is not a tracepoint of its own; say gtp syscall %s" % (name, name.split("_", 2)[2]))
    event = at_iterator(name) or everything().get(name)
    if event is None:
        raise gdb.GdbError("the running kernel has no event %s%s" % (name, meant(name)))
    return event


def names_at(pc):
    """Return the Names of the event whose iterator begins at an address. Return None without a connection to the
    module, as with a trace file."""
    if not (places.symbol_at(pc) or ("", 0))[0].startswith("__traceiter_") or \
            not remote.is_connected():
        return None
    return next((event.names() for event in markers(ask("qTSTMat:%x" % pc))), None)


def meant(name):
    """Return a suggestion of events with similar ids."""
    ids = last_known()
    event = name.split(":")[-1]
    near = sorted(i for i in ids if i.split(":")[1] == event) or difflib.get_close_matches(name, ids, 3, 0.75)
    return "; is it %s?" % " or ".join(near[:3]) if near else "; gtp events lists them"


def matching(pattern):
    """Return the Events whose id, system or name a pattern matches, by id."""
    wanted = re.compile(fnmatch.translate(pattern))
    found = [e for e in everything().values()
             if wanted.match(e.id) or ":" not in pattern and any(map(wanted.match, e.id.split(":")))]
    return sorted(found, key=lambda event: event.id)


names.providers.append(names_at)
gdb.events.new_objfile.connect(lambda _: found_names.clear())
gdb.events.clear_objfiles.connect(lambda _: found_names.clear())
