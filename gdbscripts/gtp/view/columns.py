# SPDX-License-Identifier: GPL-2.0-only
# Finds the columns of a table, and makes for each place of a tracepoint the functions that take a frame and return a
# cell's text.
import contextlib
import re

import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.commands import sdata
from gtp.formats.tracefile import Unavailable
from gtp.gdblib import gdbcall, traceframe
from gtp.places import points
from gtp.run import bytecode, source
from gtp.view import bytype, cells, kinds, unroll

LONG = 400  # a trace file has all lines of actions that are shorter, in characters; in hex they are twice as long
OPTIMIZED_OUT = "<optimized out>"
NO_SYMBOL = "<not in scope>"
REGISTERS = ("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags cs ss ds es fs gs").split()
# The module's trace state variables that describe the hit itself, and the titles of their columns, which come before
# all others.
LEADING = (("clock", "time"), ("cpu_id", "cpu"), ("current_task_pid", "pid"))


def split(text, separator=","):
    """Split the text at the separators that are outside of brackets and strings. Return the parts without the empty
    ones."""
    return [part for part in pieces(text, separator) if part]


def pieces(text, separator=","):
    """Split the text at the separators that are outside of brackets and strings. Return all parts, including empty
    ones."""
    parts, depth, quote, start, i = [], 0, None, 0, 0
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = None
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        i += 1
    parts.append(text[start:])
    return [part.strip() for part in parts]


def collected(commands):
    """Return the expressions of a tracepoint's collect actions, each once, except those that are collected while
    stepping."""
    found, steps = {}, False  # a dict keeps the order, and a file may have very many expressions
    for line in commands:
        word, _, rest = line.strip().partition(" ")
        if word.startswith(("while-stepping", "stepping", "ws")):
            steps = True
        elif word == "end":
            steps = False
        elif word.split("/")[0] == "collect" and not steps:
            rest = re.sub(r"^\s*/s\d*", "", rest)
            found.update(dict.fromkeys(filter(None, map(unroll.column, split(rest)))))
    return list(found)


def same(line):
    """Return an action line in the form in which files have it: without /s, and with single blanks."""
    return " ".join(re.sub(r"^\s*collect/s\d*\b", "collect", line).split())


def with_long(lines, own):
    """Return OWN if it is LINES and further lines that are too long for a file, else LINES."""
    left = list(map(same, lines))
    for line in own:
        if left and same(line) == left[0]:
            left.pop(0)
        elif len(line) < LONG:
            return lines
    return lines if left else own


def commands_of(location, own):
    """Return the lines of a tracepoint's actions, as they were in the run. OWN is GDB's number of the tracepoint.

    A trace file leaves out lines that are too long for GDB's reader. GDB still has them if it has set the tracepoint
    itself. But GDB also takes a tracepoint at the same address for that of the file if it has other actions, for instance
    those of the file that was open before.
    """
    try:
        return with_long(location.commands, points.actions(own))
    except (gdb.error, gdb.GdbError):
        return location.commands


class Column:
    """One column: its title, and GDB's expression for its value. is_leading: it is one of the first columns.

    foreign: the expression comes from the trace file or the target, not from the user. form: the view.forms.Form that was
    asked for.
    """

    def __init__(self, title, expression=None, is_leading=False):
        self.title, self.expression, self.is_leading = title, expression or title, is_leading
        self.foreign, self.form = False, None


def variables_here(arguments):
    """Return the names of the function's arguments, or of its other variables, that are visible at the selected
    frame."""
    names, block = [], gdb.selected_frame().block()
    while block is not None:
        for symbol in block:
            right = symbol.is_argument if arguments else symbol.is_variable and not symbol.is_argument
            if right and symbol.name not in names:
                names.append(symbol.name)
        if block.function is not None:
            break
        block = block.superblock
    return names


def of_item(item, location):
    """Return the columns of one collected item, at the selected frame."""
    if item in ("$args", "$locals", "$arg", "$loc"):
        return [Column(name) for name in variables_here(item.startswith("$arg"))]
    if item in ("$regs", "$reg"):
        return [Column(name, "$" + name) for i, name in enumerate(REGISTERS) if location.known >> i & 1]
    if item == "$_sdata":
        return [Column(name, "$_sdata." + name) for name, _, _ in sdata.decode()[1]]
    return [Column(item)]


def of_items(items, location, title=lambda expression: expression, taken=(), parsed=lambda item: (None, item)):
    """Return the columns of all items, each expression once. A title that is in TAKEN, or that another column has, is
    replaced by the expression. PARSED(item) returns (the form that is asked for, the item without it)."""
    found, titles, known = [], set(taken), set()
    for typed in items:
        form, item = parsed(typed)
        try:
            new = of_item(item, location)
        except (gdb.error, gdb.GdbError, RuntimeError):
            new = [Column(item)]
        for column in new:
            if column.title == column.expression:
                column.title = title(column.expression)
            if column.title in titles:
                column.title = column.expression if form is None else typed
            column.form = form
            if (column.expression, form) not in known:
                known.add((column.expression, form))
                titles.add(column.title)
                found.append(column)
    return found


def leading(frame, variables, items):
    """Yield the leading columns that this tracepoint's frames have, except those that the user asks for by name."""
    for name, title in LEADING:
        number = variables.get(name)
        if number in frame.variables and "$" + name not in items:
            yield Column(title, "$" + name, True)


# Cells ------------------------------------------------------------------------------

def seconds(number):
    def text(frame):
        return "%d.%09d" % divmod(frame.var(number), 10**9)
    return kinds.Cell(kinds.OF_CLOCK, text, lambda frame: frame.var(number))


def variable(number, formats):
    """Return the Cell of a trace state variable. If the selected frame has no value of the variable, GDB has no type
    for it."""
    return kinds.cell(kinds.OF_VARIABLE, lambda frame: frame.var(number), formats.scalar(ctype.integer(ctype.LONG)))


def returned(name, formats, foreign):
    """Return the Cell of $ret in the type that the function at the selected frame returns. Return None if $ret is a
    number."""
    if name not in bytype.RETURNED:
        return None
    try:
        return by_bytecode(name, formats.returned(), foreign)
    except (gdb.error, gdb.GdbError, RuntimeError, bytecode.Unknown):
        return None


def static(name):
    """Return the Cell of a field of a kernel tracepoint's record. The selected frame determines its kind."""
    known = {}

    def found(frame):
        record, text = sdata.of_frame(frame.read)
        if text not in known:
            fields = [sdata.Field(line) for line in text.decode().splitlines()[1:]]
            known[text] = next((field for field in fields if field.name == name), None)
        if known[text] is None:
            raise Unavailable
        return known[text], record

    def text(frame):
        field, record = found(frame)
        return field.text(record)

    kind = kind_of_field(next((field for field in sdata.fields() if field.name == name), None))

    def value(frame):
        field, record = found(frame)
        if kind_of_field(field) != kind:  # exports have one kind for a column
            raise Unavailable
        number = field.number(record)
        return cells.plain(field.text(record)) if number is None else number
    return kinds.Cell(kind, text, value)


def kind_of_field(field):
    """Return the Kind of the values of an sdata.Field, or of a field that is None because the record lacks it."""
    if field is None or field.element() is not None and not field.is_string():
        return kinds.OF_TEXT
    if field.is_string():
        return kinds.OF_STRING
    if field.size not in sdata.NUMBERS:
        return kinds.OF_TEXT
    pointer = "*" in field.type
    return kinds.Kind(kinds.POINTER if pointer else kinds.INT, 8 * field.size, field.signed and not pointer)


def sentence(error):
    """Return an error's message without the expression and the caret below it."""
    return error.what if isinstance(error, cexpr.Error) else str(error)


def is_of_value(error):
    """Return whether an evaluation error is due to the values in the selected frame, not to the expression."""
    words = "(?<!operation is )not available|[Uu]navailable|does not hold|Cannot access memory|[Dd]ivision by zero|not fit into 64 bits"
    return re.search(words, sentence(error)) is not None


clear, floating = {}, {}
FLOATING = re.compile(r"\$(?:xmm|st)\d")  # how GDB names a floating-point register


def is_clear(expression):
    """Return whether GDB evaluates an expression with the right types at the selected frame. It does not for $ret, nor
    for names that several types share."""
    try:
        pc = gdb.selected_frame().pc()
    except gdb.error:
        pc = None
    if (expression, pc) not in clear:
        clear[expression, pc] = cexpr.is_clear(expression, pc)
    return clear[expression, pc]


def unread(expression):
    """Return whether an expression names a variable that is in a floating-point register at the selected frame."""
    pc = gdb.selected_frame().pc()
    if (expression, pc) not in floating:
        names = set(re.findall(r"(?<![\w$.>])[A-Za-z_]\w*", expression, re.A))
        floating[expression, pc] = any(is_floating(name, pc) for name in names)
    return floating[expression, pc]


def is_floating(name, pc):
    symbol = gdb.lookup_symbol(name)[0]
    if symbol is None or symbol.type is None or symbol.type.strip_typedefs().code != gdb.TYPE_CODE_FLT:
        return False
    at = gdbcall.execute("info address " + gdbcall.word(name))
    ranges = re.findall(r"Range (0x[0-9a-f]+)-(0x[0-9a-f]+): (.*)", at)
    here = [text for first, end, text in ranges if int(first, 16) <= pc < int(end, 16)] if ranges else [at]
    return any(map(FLOATING.search, here))


def evaluated(expression, foreign=False):
    """Return the value at the selected frame. If GDB refuses the expression, evaluate its translation from C. If that
    fails too, raise GDB's error for the expression as typed."""
    if source.is_trace_file() and unread(expression):  # GDB would show an arbitrary number
        raise gdb.error("the frame does not hold floating-point registers")
    if not is_clear(expression):
        with cexpr.unasked() if foreign else contextlib.nullcontext():
            return cexpr.value(expression)
    try:
        return gdbcall.value(expression)
    except gdb.error as error:
        if is_of_value(error):
            raise
        reason = error
    try:
        with cexpr.unasked() if foreign else contextlib.nullcontext():
            return cexpr.value(expression)
    except cexpr.Error as error:
        if is_of_value(error):
            raise
    raise reason


def type_of(expression, foreign):
    """Return the type of an expression at the selected frame, whether or not its value was collected."""
    try:
        return evaluated(expression, foreign).type
    except (gdb.error, cexpr.Error) as error:
        if not is_of_value(error):
            raise
    try:
        with cexpr.unasked() if foreign else contextlib.nullcontext():
            return cexpr.type_of(expression)
    except cexpr.Error as error:
        raise bytecode.Unknown(str(error)) from None


def spellings(expression, foreign):
    """Yield the texts that GDB may compile for the expression: as typed, then as translated from C for `collect`.

    GDB's bytecode takes the type of a shift from both sides, unlike C and unlike GDB's print: -8 >> 1ul would be positive.
    GDB's compiler may end GDB itself, for instance if an enum is the index of an array.
    """
    if is_clear(expression) and not re.search("<<|>>", expression) and cexpr.is_harmless(expression, gdb.selected_frame().pc()):
        yield re.sub(r"\$pc\b", "$rip", expression)
    if set(re.findall(r"\$(\w+)", expression)) - {*REGISTERS, *(name[1:] for name in bytype.RETURNED)}:
        return  # the translator would replace $trace_frame, say, by its value in this frame
    try:
        with cexpr.unasked() if foreign else contextlib.nullcontext():
            written, _ = cexpr.collected(expression, gdb.selected_frame().pc())
    except (gdb.error, gdb.GdbError):
        return
    if len(written) == 1 and written[0] != expression:
        yield written[0]


def computed(expression, foreign):
    """Return a function that takes a frame and returns the expression's value as a number."""
    reason = bytecode.Unknown(expression)
    for text in spellings(expression, foreign):
        try:
            return bytecode.compiled(text)
        except bytecode.Unknown as error:
            reason = error
    raise reason


def by_bytecode(expression, formats, foreign):
    """Return the Cell of an expression that bytecode.py can compute without GDB. The bytecode gives the number or the
    address, and the type determines the text."""
    if "?" in expression:
        raise bytecode.Unknown("its type depends on its value")
    kind = type_of(expression, foreign)
    code = kind.strip_typedefs().code
    if code in cells.AGGREGATES or code == gdb.TYPE_CODE_FLT:
        where, text = computed("&(%s)" % expression, foreign), formats.aggregate(kind)
    elif code in cells.SCALARS and kind.sizeof <= cells.WORD:
        where, text = computed(expression, foreign), formats.scalar(kind)
    else:
        raise bytecode.Unknown("type %s" % kind)
    return kinds.cell(kinds.of_type(kind)._replace(viewed=formats.views(kind)), where, text)


def text_of(value, frame, formats):
    """Return the text of a gdb.Value, as a Cell of by_bytecode() would show it."""
    if value.is_optimized_out:
        return OPTIMIZED_OUT
    kind = value.type
    code = kind.strip_typedefs().code
    if code in cells.AGGREGATES and value.address is not None:
        return formats.aggregate(kind)(frame, int(value.address) % 2**64)
    if code in cells.SCALARS and kind.sizeof <= cells.WORD:
        return formats.scalar(kind)(frame, int(value) % 2**64)
    return value.format_string(**cells.STYLE)


def by_gdb(expression, formats, foreign):
    """Return the Cell of an expression that only GDB can evaluate, by selecting the frame. Its values are texts,
    because their kind may differ from frame to frame."""
    def text(frame):
        traceframe.select(frame.index)
        try:
            return text_of(evaluated(expression, foreign), frame, formats)
        except (gdb.error, gdb.GdbError) as error:
            return words_of(error)

    def value(frame):
        traceframe.select(frame.index)
        try:
            found = evaluated(expression, foreign)
            return None if found.is_optimized_out else cells.plain(text_of(found, frame, formats))
        except (gdb.error, gdb.GdbError):
            return None
    return kinds.Cell(kinds.OF_TEXT, text, value)


def words_of(error):
    text = sentence(error)
    if "optimized out" in text:
        return OPTIMIZED_OUT
    if text.lower() == "division by zero":
        return "<division by zero>"
    if text == cexpr.UNFIT:
        return "<%s>" % text
    if is_of_value(error):
        return cells.UNAVAILABLE
    return NO_SYMBOL if text.startswith("No symbol") else "<%s>" % text.strip()


def cell_of(column, variables, formats):
    """Return the Cell for frames of the selected frame's place. Raise gdb.error if there can be none. If the user gave
    the column a format, its values are texts in exports, too."""
    if column.form is None:
        return cell_in(column, variables, formats.returned() if column.title in bytype.RETURNED else formats)
    found = cell_in(column, variables, bytype.Asked(formats, column.form))
    if found.kind == kinds.OF_NOTHING:
        return found
    return kinds.Cell(kinds.OF_TEXT, found.text, kinds.of_plain(found.text))


def cell_in(column, variables, formats):
    """Return the Cell of a column for frames of the selected frame's place, with its texts made by FORMATS."""
    name = column.expression
    if name == "$clock" and column.title == "time":
        return seconds(variables["clock"])
    if name[:1] == "$" and name[1:] in variables:
        return returned(name, formats, column.foreign) or variable(variables[name[1:]], formats)
    if name.startswith("$_sdata."):
        return static(name.partition(".")[2])
    refused = cexpr.refusal(name, gdb.selected_frame().pc()) if column.foreign else None
    if refused:
        return kinds.words("<not shown: %s>" % refused)
    try:
        return by_bytecode(name, formats, column.foreign)
    except bytecode.Unknown:
        return by_gdb(name, formats, column.foreign)
    except (gdb.error, cexpr.Error) as error:
        words = words_of(error)
        if words != OPTIMIZED_OUT and not is_of_value(error):
            raise
        return kinds.words(words)


def condition_of(expression):
    """Return a function that takes a frame and returns whether a condition holds. The function is valid for frames of
    the same place as the selected frame."""
    try:
        return bytecode.compiled(cexpr.condition(expression, gdb.selected_frame().pc()))
    except (bytecode.Unknown, cexpr.Error):
        pass
    try:
        evaluated(expression)
    except (gdb.error, cexpr.Error) as error:
        if not is_of_value(error):
            raise gdb.GdbError("if %s: %s" % (cexpr.typed(expression), error))

    def holds(frame):
        traceframe.select(frame.index)
        try:
            return bool(evaluated(expression))
        except (gdb.error, gdb.GdbError):
            raise Unavailable from None
    return holds
