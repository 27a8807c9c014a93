# SPDX-License-Identifier: GPL-2.0-only
"""Translates the nodes of an expression into text for GDB's agent compiler, with C's types.

GDB combines integers by C's rules, with exceptions. GDB gives a bit field its declared type; sizeof is an int; the type
of a shift depends on both operands, and the type of ?: on only one; the difference of pointers is unsigned; a cast to
bool does nothing. `seen` is the kind that GDB gives to the text. The translated text always has C's value. If GDB could
compute another value from the text as typed, `differs` says why. If `kills` is true, GDB's compiler would end GDB itself
over that text.
"""
import difflib

import gdb

from gtp.cexpr import arithmetic, calls, casts, ctype, macros, names, notes, percpu, pieces, registers, ret, syntax
from gtp.cexpr import threadlocal, types, variables, wide
from gtp.cexpr.arithmetic import choice, moved
from gtp.cexpr.ctype import INT, LONG, ULONG, describe
from gtp.cexpr.error import Error
from gtp.cexpr.operand import CHOICE, ORDER, PRIMARY, UNARY, Operand, address, at, cast, in_memory, number

WORDS = {"NULL": 0, "true": 1, "false": 0}
ASSIGNS = "only a trace state variable can be assigned to, in an action or a condition"
COMPARE = "Write == to compare, or gtp collect $n = ... with a variable that tvariable $n made."
CALL = "a function cannot be called at a hit"


class Lower:
    """Translates one expression for one address."""

    def __init__(self, scope, text):
        self.scope, self.text = scope, text
        self.differs = None
        self.kills = False
        self.unclear = False
        self.may_assign = False
        self.chosen = {}  # tag -> the type that the user has chosen by naming its file
        self.variables = []
        self.depth = 0
        self.root = None

    def differ(self, why):
        self.differs = self.differs or why

    def operand(self, node):
        """Return the Operand of a node."""
        found = getattr(self, "lower_" + type(node).__name__.lower())(node)
        self.kills = self.kills or wide.is_wide(found.type)  # GDB aborts when it loads 16 bytes
        return found

    # Types

    def type(self, node):
        """Return the gdb.Type that a TypeName names."""
        if isinstance(node.base, str):
            kind = self.scope.type(node.base)
            if kind is None:
                tags = [word + node.base for word in ("struct ", "union ", "enum ")]
                tag = next((text for text in tags if self.scope.type(text)), None)
                raise Error("there is no type %s" % node.base, node.start, tag and "Write %s." % tag)
            self.choose(node.base)
            if "::" in node.base:
                self.chosen[types.words_of(kind)] = kind
        elif isinstance(node.base, syntax.TypeName):
            kind = self.type(node.base)
        else:
            kind = self.operand(node.base).type
        for step in node.derived:
            kind = self.derived(kind, step, node)
        return kind

    def derived(self, kind, step, node):
        if step == "*":
            return kind.pointer()
        if step == "()":
            return kind.function() if hasattr(kind, "function") else gdb.lookup_type("void")
        length = self.constant(step) if step is not None else 0
        if length < 1:
            raise Error("an array has at least one element", node.start)
        return kind.array(length - 1)

    def constant(self, node):
        """Return the value of a node that must be a constant expression."""
        value = self.value(node).constant
        if value is None:
            raise Error("this must be a constant", node.start)
        return value

    def complete(self, pointer):
        """Return (the target type of a pointer, True if GDB is certain to use this type)."""
        target = ctype.plain(pointer).target()
        words = types.words_of(target)
        if words is None or not types.is_unclear(words, self.scope.named):
            return target, True
        return self.chosen.get(words) or self.choose(words), False

    def choose(self, words):
        """Return the type that the words name. If several types have this name, add a note for the user that says which
        one was chosen."""
        found = self.scope.named(words)
        if not found.sure:
            self.unclear = True
            self.differ("GDB may take another type of that name")
        if found.note:
            notes.tell(found.note)
        return found.type

    # Values

    def value(self, node):
        """Return the node as an integer that GDB's compiler computes with, or as a pointer."""
        return self.rvalue(self.operand(node), node)

    def rvalue(self, operand, node):
        kind = operand.type
        if ctype.is_array(kind):
            return self.decayed(operand)
        self.unplaced(operand, node)
        if ctype.is_function(kind):
            return operand.but(type=kind.pointer(), lvalue=False)
        if ctype.is_pointer(kind):
            return operand.but(lvalue=False)
        if not ctype.is_integer(kind):
            raise Error("%s is neither a number nor a pointer" % describe(kind), node.start, ctype.way_to_number(kind))
        if operand.kind is None:
            raise Error("%s has %d bytes, which is more than a hit computes with" % (describe(kind), kind.sizeof),
                        node.start, wide.WAY_OUT)
        if operand.bits:
            return self.bit_field(operand)
        if operand.seen is None or ctype.is_bool(kind) or ctype.is_enum(kind):
            if operand.constant is None and operand.named:
                operand = operand.but(text=cast(operand.kind, operand), level=UNARY, seen=operand.kind)
            if ctype.is_bool(kind):
                operand = operand.but(limits=(0, 1))
            operand = operand.but(type=ctype.integer(operand.kind))
        return operand.but(lvalue=False, named=False)

    def decayed(self, operand):
        """Return an array as the pointer to its first element."""
        element = ctype.plain(operand.type).target()
        kind = element.pointer()
        if operand.named:
            return Operand(kind, "&%s[0]" % operand.within(PRIMARY), UNARY, named=True, percpu=operand.percpu)
        return self.pointer_to(operand.place, element, operand)

    def pointer_to(self, place, target, operand):
        """Return the Operand of a pointer to an object of type TARGET at a place in memory."""
        spelled = ctype.spell_pointer(target, self.scope)
        text, level = address(place)
        if spelled is None:
            return Operand(target.pointer(), text, level, percpu=operand.percpu)
        if place[1] or spelled != "char *":
            text = "(%s)%s" % (spelled, text if level >= UNARY else "(%s)" % text)
        return Operand(target.pointer(), text, UNARY, named=True, percpu=operand.percpu)

    def bit_field(self, operand):
        """Return a bit field's value, of the type that C promotes it to."""
        bit, width = operand.bits
        size, unsigned = operand.kind
        kind = INT if width < 32 or (width == 32 and not unsigned) else (size, unsigned)
        limits = (0, (1 << width) - 1) if unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        if operand.named and not ctype.is_bool(operand.type) and not ctype.is_enum(operand.type):
            return Operand(ctype.integer(kind), operand.text, operand.level, (size, unsigned), limits=limits)
        if operand.named:
            text = cast((max(size, 4), unsigned), operand)
            return Operand(ctype.integer(kind), text, UNARY, (max(size, 4), unsigned), limits=limits)
        return field_of(operand.place, bit, width, kind, size, unsigned).but(limits=limits)

    def straight(self, operand):
        """Return the operand as text to which GDB gives the same type as C. Convert it if GDB would promote it to
        another type."""
        kind = operand.kind
        if ctype.promoted(operand.seen) == ctype.promoted(kind):
            return operand
        return self.as_kind(operand, kind)

    def as_kind(self, operand, kind):
        """Return the operand converted to a kind, in C and in GDB."""
        if operand.constant is not None:
            return number(operand.constant, kind)
        if operand.seen == kind and operand.kind == kind:
            return operand
        return Operand(ctype.integer(kind), cast(kind, operand), UNARY, kind)

    def distance(self, node, other=None, operand=None):
        """Return the Operand of the integer that an expression adds to a pointer."""
        operand = operand or self.operand(node)
        if casts.is_odd(operand) and (other is None or other.kind is None):
            self.differ("GDB 13 aborts when an enum, a bool or $eflags is added to a pointer")
            self.kills = True
        return self.rvalue(operand, node)

    def unplaced(self, operand, node):
        """Refuse a per-CPU variable if the expression does not choose a CPU's copy, as this_cpu() does."""
        percpu.refuse(operand, node)

    def source(self, node):
        """Return the text of a node, as it was typed."""
        return self.text[node.start:node.end]

    def nested(self, node, text):
        """Return the Operand of a macro's expansion: NODE is the expression that was parsed from TEXT."""
        self.differ("GDB knows no macros")
        outer, self.text = self.text, text
        self.depth += 1
        try:
            return self.operand(node)
        finally:
            self.depth -= 1
            self.text = outer

    # Leaves

    def lower_number(self, node):
        return number(node.value, node.kind, node.text)

    def lower_char(self, node):
        unsigned = ctype.kind_of(self.scope.type("char"))[1]  # kernels since 6.2 are compiled with -funsigned-char
        return number(node.value % 256 if unsigned else node.value, INT)

    def lower_string(self, node):
        raise Error("a string can only be compared", node.start, 'Write x == "..." or $_strprefix(x, "...").')

    def lower_dollar(self, node):
        if node.name == "_ret":
            return self.return_address(node)
        operand = registers.operand(node)
        if node.name in ret.NAMES and registers.is_trace_variable(node.name):
            return ret.operand(self, node, operand)
        return operand

    def return_address(self, node):
        """Return the return address, $_ret. GDB would look for it with a frame pointer in rbp, which most kernels do not
        have."""
        start, function = variables.entry(self.scope.pc)
        if start is None or start != self.scope.pc:
            raise Error("the place of the return address is known only at a function's first instruction", node.start,
                        "Trace *%s." % function if function else None)
        self.differ("GDB looks for the return address behind rbp")
        return in_memory(ctype.integer(ULONG), ("$rsp", 0), self.scope)

    def lower_name(self, node):
        if node.scope is not None:
            symbol = self.scope.named_in(node.scope, node.name, node.start)
            return self.symbol(symbol, node, "'%s'::%s" % (node.scope, node.name))
        symbol, function = self.scope.around(node.name)
        if symbol is None or node.name == "current" and not self.scope.is_own("current"):
            return self.word(node)
        text = node.name
        if function is not None:
            self.differ("GDB does not look outside an inlined function")
            # GDB's name for a C++ function includes the parameters.
            text = "%s::%s" % (function if function.isidentifier() else "'%s'" % function, node.name)
        elif self.scope.is_foreign(symbol):
            symbol = names.one(self.scope, symbol, node.start)
            if symbol.addr_class == gdb.SYMBOL_LOC_STATIC:
                text = names.qualified(symbol)
        return self.symbol(symbol, node, text)

    def word(self, node):
        """Translate a name that is not a symbol: one that gdbtp defines, or a macro."""
        if node.name in WORDS:
            operand = number(WORDS[node.name], INT)
            return operand.but(type=gdb.lookup_type("void").pointer(), seen=None) if node.name == "NULL" else operand
        if node.name == "current":
            self.differ("GDB may know another variable of this name")
            return registers.current(node)
        found = macros.number(node.name)
        if found is not None:
            return number(found[0], found[1])
        found = threadlocal.without_type(self, node) or macros.expanded(self, node)
        if found is not None:
            return found
        why = macros.missing()
        what = "variable, constant or macro" if why is None else "variable or constant"
        raise Error("there is no %s %s here" % (what, node.name), node.start,
                    proposal(node.name, self.scope.visible()) or why and "Is it a macro? To know it: %s." % why)

    def symbol(self, symbol, node, text):
        """Return the Operand of a symbol that GDB has found."""
        if symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF:
            raise Error("%s is a type" % node.name, node.start)
        if symbol.addr_class == gdb.SYMBOL_LOC_CONST and not ctype.is_enum(symbol.type):
            return self.known(symbol)
        if symbol.addr_class == gdb.SYMBOL_LOC_CONST:
            value = int(symbol.value())
            kind = next(k for k in (INT, (4, True), LONG, ULONG) if ctype.wrapped(value, k) == value)
            return number(value, kind).but(enumerator=True)
        if symbol.addr_class == gdb.SYMBOL_LOC_BLOCK:
            return Operand(symbol.type, text, named=True)
        self.variables.append((text, node))
        if threadlocal.is_one(symbol):
            return threadlocal.operand(self, symbol, node)
        target = ctype.referred(symbol.type)
        if target is not None and ctype.is_aggregate(target):  # GDB follows a C++ reference to a member by itself
            return Operand(target, text, PRIMARY, named=True, lvalue=True)
        if ctype.is_aggregate(symbol.type):
            parts = pieces.of_variable(symbol, text, self.scope.pc)
            if parts is not None:
                return Operand(symbol.type, text, pieces=parts)
        fixed = symbol.addr_class in (gdb.SYMBOL_LOC_STATIC, gdb.SYMBOL_LOC_UNRESOLVED)
        return Operand(symbol.type, text, PRIMARY, seen_as(symbol.type), ("&" + text, 0), named=True, lvalue=True,
                       percpu=text if fixed and percpu.is_static(symbol) else "")

    def known(self, symbol):
        """Return the value of a variable that is a constant in the copy of the function at this place. GDB cannot
        collect it, because it has no location."""
        self.differ("%s is a constant here" % symbol.name)
        value = int(symbol.value())
        if ctype.is_pointer(symbol.type):
            return casts.to_pointer(self, symbol.type, number(value, ULONG))
        return number(value, ctype.kind_of(symbol.type)).but(type=symbol.type)

    # Operators

    def lower_unary(self, node):
        if node.op == "&":
            return self.address_of(node)
        if node.op == "*":
            return self.pointed(self.value(node.operand), node)
        operand = self.operand(node.operand)
        if wide.is_wide(operand.type):
            return wide.unary(self, node, operand)
        if node.op == "+" and casts.is_odd(operand):
            self.differ("GDB leaves an enum and a bool after + as they are")
        operand = self.rvalue(operand, node.operand)
        if node.op == "!":
            return Operand(ctype.integer(INT), "!" + operand.within(UNARY), UNARY, INT,
                           constant=None if operand.constant is None else int(not operand.constant))
        if operand.kind is None:
            raise Error("%s of a pointer" % node.op, node.start, "Cast it to unsigned long.")
        return self.signed(node, operand)

    def signed(self, node, operand):
        """Translate -x, ~x and +x."""
        kind, seen = ctype.promoted(operand.kind), ctype.promoted(operand.seen)
        low, high = operand.range
        low, high = {"-": (-high, -low), "~": (~high, ~low), "+": (low, high)}[node.op]
        if kind != seen and not (ctype.holds(kind, low, high) and ctype.holds(seen, low, high)):
            self.differ("GDB takes %s for another type than C does" % operand.text)
            operand, seen = self.straight(operand), kind
        if operand.constant is not None:
            return number(low, kind).but(text=ctype.literal(ctype.wrapped(low, seen), seen), seen=seen, level=UNARY)
        if node.op == "+":
            return operand.but(type=ctype.integer(kind), lvalue=False)
        inner = operand.within(UNARY)
        return Operand(ctype.integer(kind), node.op + (" " if inner[0] == node.op else "") + inner, UNARY, seen)

    def address_of(self, node):
        operand = self.operand(node.operand)
        if ctype.is_function(operand.type):
            self.differ("GDB takes &%s for 0" % operand.text)
            text = "(unsigned long)%s" % operand.text
            return operand.but(type=operand.type.pointer(), named=False, text=text, level=UNARY)
        if operand.bits:
            raise Error("a bit field has no address", node.start)
        if operand.place is None or not operand.lvalue:
            raise Error("this has no address", node.start, "Only what lies in memory has one.")
        if operand.named:
            text = "&" + operand.within(UNARY)
            return Operand(operand.type.pointer(), text, UNARY, named=True, percpu=operand.percpu)
        return self.pointer_to(operand.place, operand.type, operand)

    def pointed(self, pointer, node):
        """Translate *pointer."""
        if not ctype.is_pointer(pointer.type):
            raise Error("%s is not a pointer" % describe(pointer.type), node.operand.start)
        target = ctype.plain(pointer.type).target()
        if ctype.code(target) == gdb.TYPE_CODE_VOID:
            raise Error("a void pointer does not say what it points to", node.start, "Cast it: *(int *)p.")
        if ctype.is_function(target):
            return pointer.but(type=target)
        place = (pointer.within(UNARY), 0)
        target, same = self.complete(pointer.type)
        if pointer.named and same:
            return Operand(target, "*" + pointer.within(UNARY), UNARY, seen_as(target), place, named=True, lvalue=True)
        return in_memory(target, place, self.scope)

    def lower_index(self, node):
        base, index = self.operand(node.base), self.distance(node.index)
        if base.kind is not None and index.kind is None:
            base, index = index, self.rvalue(base, node.base)
        array = base if ctype.is_array(base.type) else None
        pointer = self.rvalue(base, node.base)
        if not ctype.is_pointer(pointer.type):
            raise Error("%s is neither an array nor a pointer" % describe(base.type), node.base.start)
        if index.kind is None:
            raise Error("an index is a number", node.index.start)
        element, same = self.complete(pointer.type)
        if element.sizeof == 0 or ctype.code(element) == gdb.TYPE_CODE_VOID:
            raise Error("%s has no size" % describe(element), node.start)
        place = moved(array.place if array else (pointer.within(UNARY), 0), index, element.sizeof)
        if pointer.named and same:
            text = (array or pointer).within(PRIMARY)
            return Operand(element, "%s[%s]" % (text, index.text), PRIMARY, seen_as(element), place,
                           named=True, percpu=base.percpu, lvalue=True)
        return in_memory(element, place, self.scope, base.percpu)

    def lower_member(self, node):
        base = self.operand(node.base)
        if node.arrow:
            if ctype.is_aggregate(base.type):
                raise Error("%s is not a pointer" % describe(base.type), node.at - 2, "Write .%s." % node.name)
            pointer = self.rvalue(base, node.base)
            base = self.pointed_structure(pointer, node)
            inside = pointer.but(named=base.named)
        else:
            inside = base
            if ctype.is_pointer(base.type):
                raise Error("%s is a pointer" % describe(base.type), node.at - 1, "Write ->%s." % node.name)
        if not ctype.is_aggregate(base.type):
            raise Error("%s has no members" % describe(base.type), node.base.start)
        return self.found_member(base, inside, node, self.member(base.type, node.name, node.at))

    def member(self, kind, name, at):
        """Return the Operand of a member. The name may be a macro that stands for a member, such as sk_state."""
        found = ctype.member(kind, name)
        if found is not None:
            return found
        path = macros.member(name) if self.depth < macros.DEEPEST else None
        if path is None or path == [name] or ctype.member(kind, path[0]) is None:
            raise Error("%s has no member %s" % (describe(kind), name), at, proposal(name, ctype.member_names(kind)))
        bit = 0
        for word in path:
            found = self.member(kind, word, at)
            kind, bit = found.type, bit + found.bit
        return found._replace(bit=bit, named=False)

    def pointed_structure(self, pointer, node):
        if not ctype.is_pointer(pointer.type):
            raise Error("%s is not a pointer" % describe(pointer.type), node.at - 2,
                        "Cast it: ((struct name *)x)->%s." % node.name)
        target, same = self.complete(pointer.type)
        return Operand(target, "", place=(pointer.within(UNARY), 0), named=pointer.named and same, lvalue=True)

    def found_member(self, base, inside, node, found):
        """Return the member of a structure in memory, or of one in registers that GDB can name."""
        if base.pieces is not None:
            return pieces.member(self, base, found, node)
        place = bits = None
        if base.place is not None:
            place = (base.place[0], base.place[1] + (found.bit // 8 if not found.bits else 0))
            bits = (found.bit, found.bits) if found.bits else None
        if found.named and inside.named:
            text = inside.within(PRIMARY) + ("->" if node.arrow else ".") + node.name
            return Operand(found.type, text, PRIMARY, seen_as(found.type), place, bits, named=True, lvalue=True,
                           percpu=base.percpu)
        if place is None:
            raise Error("the structure is not in memory here", node.base.start,
                        "Trace the function's first instruction.")
        if bits:
            return Operand(found.type, "", UNARY, None, place, bits, lvalue=True, percpu=base.percpu)
        return in_memory(found.type, place, self.scope, base.percpu)

    def lower_cast(self, node):
        kind = self.type(node.type)
        if ctype.code(kind) == gdb.TYPE_CODE_VOID:
            raise Error("a void expression has no value", node.start)
        operand = self.cast_operand(node.operand)
        if wide.is_wide(kind):
            return wide.converted(self, kind, operand, node.operand)
        if wide.is_wide(operand.type) and ctype.is_bool(kind):
            return wide.tested(self, operand, node.operand).but(type=kind)
        if wide.is_wide(operand.type):
            operand = wide.narrowed(self, operand, node.operand)
        if ctype.is_pointer(kind):
            return casts.to_pointer(self, kind, operand)
        if not ctype.is_integer(kind) or ctype.kind_of(kind) is None:
            raise Error("nothing can be cast to %s" % describe(kind), node.start)
        if ctype.is_bool(kind):
            self.differ("a cast to bool does nothing in GDB")
            return Operand(kind, "(%s != 0)" % operand.within(ORDER), PRIMARY, INT)
        return casts.to_integer(self, ctype.kind_of(kind), kind, operand)

    def cast_operand(self, node):
        """Return the Operand of what a cast converts. Here $ret of a function that returns a structure means the number
        in rax."""
        if isinstance(node, syntax.Dollar) and node.name in ret.NAMES and ret.is_structure(self.scope.pc):
            return registers.operand(node)
        operand = self.operand(node)
        return operand if wide.is_wide(operand.type) else self.rvalue(operand, node)

    def lower_sizeof(self, node):
        kind = self.type(node.operand) if isinstance(node.operand, syntax.TypeName) else self.unevaluated(node.operand)
        if ctype.is_function(kind) or ctype.code(kind) == gdb.TYPE_CODE_VOID:
            raise Error("%s has no size" % describe(kind), node.start)
        value = (kind.alignof if node.align else kind.sizeof)
        return number(value, ULONG, str(value)).but(seen=INT)

    def unevaluated(self, node):
        """Return the type of an operand of sizeof."""
        if isinstance(node, syntax.String):
            return gdb.lookup_type("char").array(len(node.data))
        operand = self.operand(node)
        if operand.bits:
            raise Error("a bit field has no size in bytes", node.start)
        if operand.kind and not operand.lvalue:
            return ctype.integer(operand.kind)
        return operand.type

    def lower_conditional(self, node):
        test = self.value(node.test)
        yes, no = self.value(node.yes), self.value(node.no)
        if node.yes is node.test:
            self.differ("GDB knows no ?: without a middle")
        if yes.kind and no.kind:
            kind, seen = ctype.usual(yes.kind, no.kind), yes.seen
            fitting = (kind,) if node is self.root else (kind, seen)
            if seen != kind and not all(ctype.holds(k, *o.range) for k in fitting for o in (yes, no)):
                self.differ("GDB does not convert the value after ?")
                yes, no, seen = self.as_kind(yes, kind), self.as_kind(no, kind), kind
            elif not ctype.holds(kind, *no.range):
                self.differ("GDB does not convert the value after :")
                no = self.as_kind(no, kind)
            elif node is not self.root and ctype.promoted(no.seen) != kind:
                self.differ("GDB's evaluator takes the type of the side that it chooses")
                no = self.as_kind(no, kind)
            return Operand(ctype.integer(kind), choice(test, yes, no), CHOICE, seen)
        return self.pointer_choice(test, yes, no)

    def pointer_choice(self, test, yes, no):
        """Translate ?: with a pointer as its result. GDB gives ?: the type of the second operand, so cast the second
        operand if it is a 0 or a void pointer."""
        other = yes.kind or ctype.code(ctype.plain(yes.type).target()) == gdb.TYPE_CODE_VOID
        kind, named = (no.type, no.named) if other and not no.kind else (yes.type, yes.named)
        if other and named and ctype.is_pointer(kind):
            yes = casts.to_pointer(self, kind, yes)
        return Operand(kind, choice(test, yes, no), CHOICE, named=named)

    def lower_binary(self, node):
        return arithmetic.binary(self, node)

    def assignment(self, node):
        """Return the text `$n = value` for an assignment in an action. GDB's compiler knows neither += nor ++."""
        if not isinstance(node.target, syntax.Dollar) or not registers.is_trace_variable(node.target.name):
            raise Error(ASSIGNS, node.start, COMPARE)
        target = registers.variable(node.target.name)
        if node.op != "=":
            whole = syntax.Binary(node.start, node.end, node.op[:-1], node.target, node.value, node.start)
            self.differ("GDB's compiler knows no %s" % node.op)
        else:
            whole = node.value
        operand = self.value(whole)
        text = operand.text
        if operand.level == PRIMARY and operand.text.isidentifier():
            self.differ("GDB forgets to load a register that is assigned as it is")
            text += " + 0"
        return "%s = %s" % (target.text, text)

    def lower_assign(self, node):
        """Translate a part of a condition that sets a trace state variable, such as ($n = $n + 1) % 100 == 0."""
        if not self.may_assign:
            raise Error(ASSIGNS, node.start, COMPARE)
        return Operand(ctype.integer(LONG), "(%s)" % self.assignment(node), PRIMARY, LONG)

    def lower_call(self, node):
        self.differ("GDB knows no %s" % node.name)
        function = calls.KNOWN.get(node.name)
        if function is not None:
            return function(self, node)
        expanded = macros.expanded(self, node)
        if expanded is not None:
            return expanded
        raise Error(CALL, node.start, calls.advice(node.name))

    def lower_typename(self, node):
        raise Error("a value is expected, and this is a type", node.start)


# Helpers -----------------------------------------------------------------------------------------

def seen_as(kind):
    """Return the kind that GDB gives to text for an object of this type."""
    return None if ctype.is_enum(kind) or ctype.is_bool(kind) else ctype.kind_of(kind)


def proposal(name, known):
    close = difflib.get_close_matches(name, [k for k in known if k], 1)
    return "Did you mean %s?" % close[0] if close else None


def field_of(place, bit, width, kind, size, unsigned):
    """Return a bit field as shifts of a load that holds all of it."""
    unit = next(s for s in (1, 2, 4, 8) if s >= size or
                (bit // 8 // s == (bit + width - 1) // 8 // s and s >= 1 and s >= (width + 7) // 8))
    start = bit // 8 // unit * unit
    shift = bit - 8 * start
    load = at((place[0], place[1] + start), ctype.NAMES[unit, True] + " *")
    if not unsigned:
        wide = max(unit, 4)
        text = "((%s)(%s << %d) >> %d)" % (ctype.NAMES[wide, False], load, 8 * wide - shift - width, 8 * wide - width)
        return Operand(ctype.integer(kind), text, PRIMARY, (wide, False))
    moved_down = "%s >> %d" % (load, shift) if shift else load
    text = "(%s & %d)" % (moved_down if not shift else "(%s)" % moved_down, (1 << width) - 1)
    seen = ctype.promoted((unit, True))
    operand = Operand(ctype.integer(kind), text, PRIMARY, seen)
    return operand if seen == kind else operand.but(text=cast(kind, operand), level=UNARY, seen=kind)
