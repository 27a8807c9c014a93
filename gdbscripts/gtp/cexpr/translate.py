# SPDX-License-Identifier: GPL-2.0-only
"""Translates one expression for one place. The result is the typed text if GDB evaluates it correctly, else the text
that lower.py makes."""
import gdb

from gtp.cexpr import compiler, ctype, headers, parts, percpu, pieces, registers, strings, syntax, variables
from gtp.cexpr.error import Error
from gtp.cexpr.lower import Lower
from gtp.cexpr.names import Scope
from gtp.cexpr.operand import address
from gtp.cexpr.parse import Parser
from gtp.gdblib import gdbcall, traceframe

# trace state variable -> the word that users write for it, if that is not its own name
WRITTEN = {"current_task": "current"}
IN_REGISTER = "is in a register, and has no address"


class Translation:
    """The text of an expression, its nodes, and the result of lowering them."""

    def __init__(self, text, pc, string=False):
        self.text, self.pc, self.string = text, pc, string
        self.scope = Scope(pc)
        self.lower = Lower(self.scope, text)

    def told(self, function):
        """Return the result of FUNCTION. If FUNCTION raises an Error, add this expression's text to the Error."""
        try:
            return function()
        except Error as error:
            raise error.within(self.text)
        except RecursionError:
            raise Error("it has too many brackets or operators for GDB's Python", 0).within(self.text) from None

    def condition(self):
        return self.told(self.condition_text)

    def number(self):
        return self.told(self.number_text)

    def collected(self):
        return self.told(self.collected_texts)

    def parts(self):
        return self.told(self.part_suffixes)

    def value(self):
        return self.told(self.evaluated)

    def type(self):
        return self.told(lambda: self.lower.operand(self.parsed()).type)

    def bits(self):
        """Return Operand.bits of the expression if it is a bit field, else None."""
        return self.told(lambda: self.lower.operand(self.parsed()).bits)

    def printed(self):
        return self.told(self.printed_text)

    def parsed(self):
        self.lower.root = Parser(self.text, self.scope.is_type).whole()
        return self.lower.root

    def understood(self):
        """Lower the expression. Return true if there was no error."""
        try:
            with headers.unasked():  # do not start a compiler: GDB knows no macros anyway, and the text may be untrusted
                self.lower.operand(self.parsed())
        except (gdb.GdbError, RecursionError):
            return False
        return True

    def is_clear(self):
        understood = self.understood()  # an expression with an error is clear: GDB reports its own error for it
        return not self.lower.unclear and not (understood and self.lower.differs)

    def is_harmless(self):
        return self.understood() and not self.lower.kills

    def condition_text(self):
        node = self.parsed()
        self.lower.may_assign = not isinstance(node, syntax.Assign)  # an assignment alone is a misspelt ==
        operand = self.lower.value(node)
        return self.checked(operand.text, False)

    def number_text(self):
        node = self.parsed()
        operand = self.lower.operand(node)
        percpu.refuse(operand, node)
        if ctype.is_function(operand.type):
            raise Error("%s is a function: its address is the same at every hit" % self.lower.source(node), node.start,
                        "The callers are in $kstack.")
        return self.checked(self.lower.rvalue(operand, node).text, False), operand.type

    def part_suffixes(self):
        node = self.parsed()
        kind = self.lower.operand(node).type
        element = ctype.plain(kind).target() if ctype.is_array(kind) else kind
        if element is not kind and ctype.is_aggregate(element):
            text = self.lower.source(node)
            first = "%s[0]" % (text if parts.SIMPLE.fullmatch(text) else "(%s)" % text)
            raise Error("%s is an array of %s, and a key is a number, a pointer, a string or one structure" % (
                text, ctype.describe(element)), node.start, "Name an element, as %s, or a member of it; &%s is the address." % (
                    first, first))
        if not ctype.is_aggregate(kind) and not (ctype.is_bytes(kind) and ctype.count(kind)):
            return [""]
        try:
            found = parts.suffixes(kind)
        except parts.Unsaid as unsaid:
            raise Error("%s has parts that are not numbers, pointers or strings: %s" % (ctype.describe(kind), unsaid),
                        node.start, "Name the members that you want.")
        if not found:
            raise Error("%s is empty: it has no value that could be a key" % ctype.describe(kind), node.start,
                        "Its address is &%s." % self.lower.source(node))
        return found

    def collected_texts(self):
        node = self.parsed()
        if isinstance(node, syntax.Assign):
            return [self.checked(self.lower.assignment(node), True)]
        operand = self.lower.operand(node)
        percpu.refuse(operand, node)
        if operand.pieces is not None:
            return self.in_registers(node, operand)
        if self.string:
            operand = strings.characters(self.lower, operand) or operand
        if ctype.is_function(operand.type) or operand.bits and not operand.named:
            operand = self.lower.rvalue(operand, node)
        return [self.checked(operand.text, True)]

    def in_registers(self, node, operand):
        """Return the texts to collect for a structure in registers: the typed text if GDB takes it, else each
        register."""
        if self.refusal(self.text, True) is None:
            return [self.text]
        found = pieces.collected(operand)
        if not found:
            raise Error("not all of it is in registers here", node.start, "Trace the function's first instruction.")
        return [variables.Titled(self.checked(text, True), self.text) for text in found]

    def printed_text(self):
        node = self.parsed()
        operand = self.lower.operand(node)
        percpu.refuse(operand, node)
        kind = operand.type
        if ctype.is_array(kind):
            if not ctype.may_be_text(ctype.plain(kind).target()):
                return None, kind
            # In a dprintf's argument GDB takes an array's name for the value of the array's first bytes.
            self.lower.differ("the address of an array is printed")
        elif ctype.is_aggregate(kind):
            return None, kind
        operand = self.lower.rvalue(operand, node)
        return self.checked(operand.text, False), kind

    def checked(self, lowered, collecting):
        """Return the user's text if GDB compiles it correctly, otherwise the lowered text."""
        if self.lower.differs is None and self.refusal(self.text, collecting) is None:
            return self.text
        refusal = self.refusal(lowered, collecting)
        if refusal is None:
            return lowered
        raise self.explained(refusal, lowered)

    def refusal(self, text, collecting):
        """Return the Refused with GDB's reason for not compiling a text, or None if GDB compiles it."""
        try:
            compiler.check(text, self.pc, collecting)
        except compiler.Refused as refused:
            return refused
        return None

    def explained(self, refusal, lowered):
        """Return an Error about the typed text for GDB's refusal of the lowered text."""
        if isinstance(refusal, compiler.TooLong):
            return Error("this takes more than the %d bytes of code that GDB allows an action" % compiler.MOST_BYTES, 0,
                         "Collect its parts one by one.")
        if isinstance(refusal, compiler.Unbalanced):
            return Error("GDB aborts over an action that reads a trace state variable, as current is, behind &&, || or ?",
                         0, "Collect its parts one by one, or make it the condition.")
        for name, node in self.lower.variables:
            if not variables.collectable(name, self.pc):
                return Error("%s has no location at this address" % self.lower.source(node), node.start,
                             variables.elsewhere(name, self.pc))
        if IN_REGISTER in str(refusal):
            return Error("the operand of & is in a register here, and has no address", max(self.text.find("&"), 0),
                         "Write the variable itself.")
        return Error("GDB does not compile this here: %s" % refusal, 0,
                     None if lowered == self.text else "It was given: %s" % lowered)

    def require_variables(self, operand):
        """Refuse a trace state variable that the selected frame does not hold: it has no type in GDB."""
        text = operand.text + (operand.place[0] if operand.place else "")
        for name in registers.missing(text):
            word = WRITTEN.get(name, "$" + name)
            in_frame = traceframe.number() >= 0
            raise Error("%s is not known here: this frame does not hold $%s" % (word, name) if in_frame else
                        "%s is known at a hit only" % word, max(self.text.find(word), 0),
                        "Collect what is to be shown, for the next run: gtp collect %s." % self.text)

    def evaluated(self):
        node = self.parsed()
        operand = self.lower.operand(node)
        percpu.refuse(operand, node)
        self.require_variables(operand)
        if self.lower.differs is None:
            try:
                return gdbcall.value(self.text)
            except gdb.error:
                pass
        try:
            if operand.lvalue and operand.place and not operand.bits and not (operand.named and self.lower.differs is None):
                base = gdbcall.value("(unsigned long)(%s)" % address(operand.place)[0])
                return base.cast(operand.type.pointer()).dereference()
            number = self.lower.rvalue(operand, node)
            return gdbcall.value(number.text).cast(operand.type if ctype.is_integer(operand.type) else number.type)
        except gdb.error as error:
            raise Error(str(error), 0)
