# SPDX-License-Identifier: GPL-2.0-only
# Finds the sources of the fields of an event's record, by reading the machine code that fills the record.
#
# A field of the record may differ from the structure member of the same name and type: vm_end of mmap:vma_store is one
# less than the member. The machine code shows which fields are copies: it stores to them the value that it has loaded.
# So follow the code from its beginning, over all branches, and note the value of each register and stack slot:
#   ("arg", N, OFFSET)         argument N plus the number OFFSET
#   ("mem", N, OFFSET, SIZE)   SIZE bytes loaded from that address
#   ("signed", N, OFFSET, SIZE)   the same, extended to 8 bytes by its sign
#   ("rec", OFFSET)            an address in the record
#   ("either", VALUE, VALUE)   one of two values of "mem", depending on the path
# Wherever paths join with values that "either" cannot describe, the value is unknown.
import re

import gdb

from gtp.gdblib import blocks, gdbcall

NAMES = {"a": "rax", "b": "rbx", "c": "rcx", "d": "rdx"}
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
# The members of struct pt_regs that hold the arguments of a system call, in the order of the arguments. CALL is for
# 64-bit calls, COMPAT_CALL for 32-bit calls.
CALL = ("di", "si", "dx", "r10", "r8", "r9")
COMPAT_CALL = ("bx", "cx", "dx", "si", "di", "bp")

# C text that is true unless the task is in a 32-bit system call. The 2 is TS_COMPAT, a macro of asm/thread_info.h.
NOT_COMPAT = "!(((struct task_struct *)$current_task)->thread_info.status & 2)"

# The functions that a compiler calls before a load or store, with the address that will be accessed. They do not write
# to that address, unlike __asan_memcpy() and the like.
CHECK = re.compile(r"<__(asan|tsan)_\w*(load|store|read|write)\w*>")
LOST_BY_CALLS = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11") + tuple("xmm%d" % i for i in range(16))
NO_WRITE = re.compile(r"(cmp|test|bt$|btl|btq|j|nop|ud2|prefetch|ret|leave|endbr|lfence|u?comis|pause)")
MOVES = re.compile(r"mov([zs][bw][lqw]|slq|[bwlq]|abs|ups|aps|dqu|dqa|upd|apd|d)?$")
MEMORY = re.compile(r"(-?0x[0-9a-f]+)?\((%\w+)\)$")
LOADED = {"movzb": 1, "movsb": 1, "movzw": 2, "movsw": 2, "movsl": 4, "movslq": 4}
REGISTER = re.compile(r"%(r[0-9]+|xmm[0-9]+|[re]?[a-d]x|[re]?[sd]i|[re]?[sb]p|[a-d][lh]|[sd]il|[sb]pl)([dwb]?)$")
VALUES = ("mem", "signed", "either")  # values that are not known to be addresses
RESERVE = "<trace_event_buffer_reserve>"
BODY = re.compile(r"0x([0-9a-f]+) <(do_trace_event_raw_event_\w+)>")


def register(text):
    """Return (name of the whole register, number of its bytes that are used), or None if the text is not a register."""
    found = REGISTER.match(text)
    if not found:
        return None
    name, part = found.groups()
    if name.startswith("xmm"):
        return name, 16
    if name[1].isdigit():
        return name, {"": 8, "d": 4, "w": 2, "b": 1}[part]
    if name[-1] in "lh" and len(name) == 2:
        return NAMES[name[0]], 1 if name[1] == "l" else 0
    if name.endswith("l"):
        return "r" + name[:2], 1
    width = {"r": 8, "e": 4}.get(name[0], 2) if len(name) == 3 else 2
    return "r" + name[-2:], width


def number(text):
    return int(text, 16) if text else 0


def extended(value):
    """Return the lower 4 bytes of a value, sign-extended to 8, or None unless they were loaded from memory as 4 bytes."""
    value = narrowed(value, 4)
    return ("signed",) + value[1:] if value is not None and value[0] == "mem" and value[3] == 4 else None


def operands(text):
    """Return the operands of an instruction; an address in memory is one operand."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)] if text else []


def narrowed(value, width):
    """Return what is known about the lower WIDTH bytes of a value, or None."""
    if value is None or width == 0:
        return None
    if value[0] == "mem":
        return value[:3] + (width,) if width < value[3] else value
    if value[0] == "signed" and width <= value[3]:
        return ("mem",) + value[1:3] + (width,)
    return value if width == 8 else None


def joined(one, other):
    """Return the value at a place where two paths join: ONE is the value on one path, OTHER on the other path. Return
    None if the value is unknown."""
    if one == other:
        return one
    both = {value for each in (one, other) if each for value in (each[1:] if each[0] == "either" else (each,))}
    if one is None or other is None or len(both) > 2 or any(value[0] != "mem" for value in both):
        return None
    return ("either", *sorted(both))


class Code:
    """The machine code that fills an event's record. The constructor follows the code once.

    stores: {(offset, width, value)}, the stores into the record
    copies: {(offset in the record, address)}, pairs that are passed to one function together, as to memcpy(); the address
        is None if it is unknown
    seen: every value that was ever in a register
    """

    def __init__(self, instructions):
        self.instructions = instructions
        self.stores, self.copies, self.seen = set(), set(), set()
        self.body = None
        self.states = {}
        start = instructions.first
        self.work = [start]
        self.states[start] = dict({name: ("arg", n - 1, 0) for n, name in enumerate(ARGUMENTS) if n}, rsp=("sp", 0))
        while self.work:
            self.follow(self.work.pop())
        self.collecting = True
        for at in list(self.states):
            self.step(at, dict(self.states[at]))

    collecting = False

    def follow(self, at):
        state = dict(self.states[at])
        for after in self.step(at, state):
            known = self.states.get(after)
            merged = state
            if known is not None:
                both = {name: joined(value, state.get(name)) for name, value in known.items()}
                merged = {name: value for name, value in both.items() if value is not None}
            if merged != known:
                self.states[after] = dict(merged)
                self.work.append(after)

    def step(self, at, state):
        """Apply the instruction at an address to the state. Return the addresses that may run next."""
        words = self.instructions[at]["asm"].split("#")[0].split(None, 1)
        name, rest = words[0], words[1].strip() if len(words) > 1 else ""
        after = at + self.instructions[at]["length"]
        if name.startswith("j"):
            target = self.instructions.target(rest)
            places = [] if target is None else [target]
            self.find_body(rest)
            return places if name.startswith("jmp") else places + [after]
        if name.startswith(("ret", "ud2", "int3")):
            return []
        if name.startswith("call"):
            self.call(rest, state)
            return [after] if self.instructions.inside(after) else []
        elif name in ("rep", "repz", "lock") or not NO_WRITE.match(name):
            self.write(name, rest, operands(rest), state)
        return [after]

    def find_body(self, target):
        found = BODY.search(target)
        if found:
            self.body = int(found.group(1), 16), found.group(2)

    def call(self, target, state):
        self.find_body(target)
        to, source = state.get("rdi"), state.get("rsi")
        if self.collecting and to and to[0] == "rec" and not CHECK.search(target):
            self.copies.add((to[1], source))
        for name in LOST_BY_CALLS:
            state.pop(name, None)
        if RESERVE in target:
            state["rax"] = ("rec", 0)

    def put(self, name, value, state):
        if value is None:
            state.pop(name, None)
            return
        state[name] = value
        if self.collecting:
            self.seen.add(value)

    def address(self, text, state):
        """Return the address of an operand in memory as a value, such as ("rec", OFFSET), or None if it is unknown."""
        found = MEMORY.match(text)
        base = state.get(register(found.group(2))[0]) if found and register(found.group(2)) else None
        if base is None or base[0] in VALUES:
            return None
        return base[:-1] + (base[-1] + number(found.group(1)),)

    def load(self, text, width, state):
        at = self.address(text, state)
        if at is None or at[0] == "rec":
            return None
        return narrowed(state.get(at), width) if at[0] == "sp" else ("mem", at[1], at[2], width)

    def store(self, text, width, value, state):
        at = self.address(text, state)
        if at is None:
            return
        if at[0] == "sp":
            self.put(at, value, state)
        elif at[0] == "rec" and self.collecting:
            value = narrowed(value, width)
            # The value has fewer bytes than the store: it has been sign-extended or zero-extended.
            extended = value is not None and value[0] == "mem" and value[3] != width
            self.stores.add((at[1], width, None if extended else value))

    def write(self, name, rest, parts, state):
        """Note a write to a register or to memory."""
        stack = state.get("rsp")
        if name == "push" and stack:
            state["rsp"] = ("sp", stack[1] - 8)
            self.put(state["rsp"], state.get((register(rest) or (None,))[0]), state)
        elif name == "pop" and stack and register(rest):
            value = state.get(stack)
            state["rsp"] = ("sp", stack[1] + 8)
            self.put(register(rest)[0], value, state)
        elif name == "movslq" and len(parts) == 2:
            self.extend(*parts, state)
        elif name == "cltq":
            self.extend("%eax", "%rax", state)
        elif MOVES.match(name) and len(parts) == 2:
            self.move(name, parts, state)
        elif name.startswith("lea") and register(parts[1]):
            self.put(register(parts[1])[0], self.address(parts[0], state), state)
        elif name[:3] in ("add", "sub") and parts[0].startswith("$0x") and register(parts[-1]):
            self.add(int(parts[0][1:], 16) * (1 if name[:3] == "add" else -1), parts[-1], state)
        else:
            self.lose(name, parts, state)

    def extend(self, source, to, state):
        """Apply movslq, which sign-extends 4 bytes to 8."""
        value = state.get(register(source)[0]) if register(source) else self.load(source, 4, state)
        self.put(register(to)[0], extended(value), state)

    def move(self, name, parts, state):
        source, to = register(parts[0]), register(parts[1])
        if to and source:
            self.put(to[0], narrowed(state.get(source[0]), min(to[1], source[1])), state)
        elif to:
            width = LOADED.get(name[:5], LOADED.get(name, to[1]))
            self.put(to[0], self.load(parts[0], width, state), state)
        elif source:
            # movd and movq move a part of a wide register.
            width = min(source[1], {"movd": 4, "movq": 8}.get(name, 16))
            self.store(parts[1], width, state.get(source[0]), state)
        else:
            self.store(parts[1], {"b": 1, "w": 2, "l": 4}.get(name[-1], 8), None, state)

    def add(self, count, text, state):
        name, width = register(text)
        value = state.get(name)
        fits = value is not None and value[0] not in VALUES and width == 8
        self.put(name, value[:-1] + (value[-1] + count,) if fits else None, state)

    def lose(self, name, parts, state):
        """Forget the values of the registers and stack slots that an instruction with any other effect may change."""
        if name in ("rep", "repz") or not parts:
            for lost in ("rax", "rcx", "rdx", "rsi", "rdi"):
                state.pop(lost, None)
            return
        for part in parts if name.startswith(("xchg", "cmpxchg", "xadd")) else parts[-1:]:
            if register(part):
                state.pop(register(part)[0], None)
            else:
                self.store(part, 8, None, state)
        if name.startswith(("mul", "imul", "div", "idiv")) and len(parts) == 1:
            state.pop("rax", None)
            state.pop("rdx", None)

    def is_copy(self, offset, size, source):
        """Return whether every store to a field copies the bytes at ("arg", N, OFFSET)."""
        covered = set()
        for at, width, value in self.stores:
            if at + width <= offset or offset + size <= at:
                continue
            if not value or value[0] != "mem" or value[1] != source[1] or value[2] - at != source[2] - offset:
                return False
            covered.update(range(at, at + width))
        return covered >= set(range(offset, offset + size)) or not covered and (offset, source) in self.copies

    def sources(self, offset, size):
        """Return the "mem" values that are stored to a field. Return an empty set if there is any other store to the
        field, or a store of another size, or if a called function gets the field's address."""
        found = {value for at, width, value in self.stores if at == offset and width == size}
        if None in found or any(offset <= at < offset + size for at, _ in self.copies) or any(
                at != offset or width != size for at, width, _ in self.stores if at < offset + size and offset < at + width):
            return set()
        found = {each for value in found for each in (value[1:] if value[0] == "either" else (value,))}
        return found if all(value[0] == "mem" and value[3] == size for value in found) else set()

    def is_stored(self, offset, size, value):
        """Return whether every store to a field stores this value."""
        found = {(at, width, v) for at, width, v in self.stores if at < offset + size and offset < at + width}
        return found == {(offset, size, value)}


class Instructions(dict):
    """The instructions of a function by address, disassembled on demand."""

    def __init__(self, pc, name):
        super().__init__()
        self.first, self.name, self.own = pc, name, re.compile(r"<%s(\.cold)?(\+\d+)?>$" % re.escape(name))

    def __missing__(self, at):
        architecture = gdb.selected_inferior().architecture()
        try:
            many = architecture.disassemble(at, count=48)
        except gdb.MemoryError:
            many = architecture.disassemble(at)  # 48 instructions would reach beyond the end of the code
        for found in many:
            self.setdefault(found["addr"], found)
        return self[at]

    def inside(self, at):
        """Return whether the address after a call is still in the function. The call may be the function's last
        instruction, if the called function does not return."""
        around = list(blocks.functions(at))
        return bool(around) and around[-1].function.name == self.name

    def target(self, text):
        """Return the target of a jump, or None if it is in another function."""
        found = re.match(r"0x([0-9a-f]+) ", text)
        return int(found.group(1), 16) if found and self.own.search(text) else None


def code(pc, name):
    """Return the Code of the function of this name that fills a record."""
    flavor = gdb.parameter("disassembly-flavor")
    gdbcall.execute("set disassembly-flavor att")
    try:
        found = Code(Instructions(pc, name))
        if found.body:
            # The event's own function only checks whether it may sleep, and then calls the function that fills the
            # record.
            found = Code(Instructions(*found.body))
        return found
    finally:
        gdbcall.execute("set disassembly-flavor " + flavor)
