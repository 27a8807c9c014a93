# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp table`: shows all frames of a tracepoint, each as a row.
import copy
import csv
import itertools
import re

import gdb

from gtp.formats import marks
from gtp.formats.tracefile import TraceFile, Unavailable
from gtp.gdblib import gdbcall, screen, traceframe
from gtp.gdblib.command import Command
from gtp.places import names
from gtp.run import bytecode, outfile, source, usertext
from gtp.text import harmless
from gtp.view import bytype, cells, columns, forms, kinds, unroll

USAGE = "gtp table [N] [COLUMN, ...] [if EXPRESSION] [--csv FILE] [--limit ROWS]"
WIDEST = 80  # the maximum width of a cell on the screen; a CSV file has the whole cell
LINES = 500  # print() gets this many lines at once
OPTION = re.compile(r"(?:^|\s)--(\w+)(?:[= ]\s*(\"[^\"]*\"|\S+))?")


class NoFrames(gdb.GdbError):
    """The run has no frames, or none of the requested tracepoint."""


class Request:
    """The command's arguments. An error shows USAGE, which may be another command's."""

    def __init__(self, text, usage=USAGE):
        self.usage = usage
        self.csv, self.limit = None, None
        text = OPTION.sub(self._option, text).strip()
        number = re.match(r"(\d+)(?:\s+|$)", text)
        self.number = int(number.group(1)) if number else None
        text = text[number.end():] if number else text
        head, self.condition = self._condition(text)
        pieces = columns.pieces(head) if head else []
        if not all(pieces):
            raise gdb.GdbError("a column is missing before or after a comma; say " + usage)
        self.columns = pieces

    def _option(self, found):
        name, value = found.groups()
        if name not in ("csv", "limit"):
            raise gdb.GdbError("--%s is not understood; say %s" % (name, self.usage))
        if value is None:
            raise gdb.GdbError("nothing after --%s; say %s" % (name, self.usage))
        if name == "limit" and not value.isdecimal():
            raise gdb.GdbError("--limit %s: a number of rows is needed" % value)
        setattr(self, name, int(value) if name == "limit" else value.strip('"'))
        return ""

    def _condition(self, text):
        """Return the text before the word `if', and the expression after it."""
        for found in re.finditer(r"(?:^|[\s)\]])if(?=[\s(])", text):
            end = found.end()
            if len(columns.split(text[:end] + ",x")) > len(columns.split(text[:end])):
                return text[:end - 2].strip(), text[end:].strip() or None
        if re.search(r"(?:^|\s)if$", text):
            raise gdb.GdbError("no expression after `if'; say " + self.usage)
        return text, None


class Table:
    """The rows of one tracepoint. The Cells of a place are made at its first frame."""

    def __init__(self, trace, formats, request, own, number):
        self.trace, self.formats, self.request = trace, formats, request
        self.own, self.number = own, number  # GDB's number of the tracepoint, and the target's
        self.columns = None
        self.places = {}
        self.unknown = 0  # the number of frames that lack a value that the condition needs

    def choose(self, frame):
        """Choose the columns, at the tracepoint's first frame."""
        default = "collect %s" % (gdb.parameter("default-collect") or "")
        commands = columns.commands_of(frame.location, self.own)
        items = self.request.columns or [usertext.variable(self.own, item) for item in columns.collected(commands)] or \
            columns.collected([default])
        front = list(columns.leading(frame, self.trace.variables, self.request.columns))
        shown = [column.expression for column in front]
        own = columns.of_items([item for item in items if item not in shown], frame.location,
                               lambda text: usertext.title(self.own, text), [column.title for column in front], self.parsed)
        for column in own:
            column.foreign = not self.request.columns
        self.columns = front + own

    def parsed(self, item):
        """Return (Form, expression) for an item. If the command names columns, ITEM is a column, which contains the
        Form. Otherwise, the Form comes from the unrolled.Item, or from gtp collect."""
        if self.request.columns:
            return forms.parsed(item)
        if isinstance(item, unroll.Item):
            return forms.Form(item.name, item.argument), item.expression
        return usertext.form(self.own, item), item

    def at(self, frame):
        """Return (condition or None, Cells, their text functions) for a frame's place."""
        here = self.places.get(frame.location.address)
        if here is None:
            traceframe.select(frame.index)
            if self.columns is None:
                self.choose(frame)
            condition = self.request.condition and columns.condition_of(self.meant(self.request.condition, frame))
            found = [self.cell(column, frame) for column in self.columns]
            here = condition, found, [cell.text for cell in found]
            self.places[frame.location.address] = here
        return here

    def meant(self, text, frame):
        """Return an expression that the user typed, with C for the names that have a meaning at the frame's place. A
        marker may have several places, and an argument may be stored elsewhere at each of them."""
        return names.expand(text, self.own, frame.location.address)

    def column(self, column, frame):
        """Return a copy of the Column with its expression translated to C for a frame's place."""
        if column.foreign or column.is_leading:
            return column
        here = copy.copy(column)
        here.expression = self.meant(column.expression, frame)
        return here

    def cell(self, column, frame):
        """Return the Cell of a column at the selected frame. If the column has an error there, the Cell shows it.
        But at the first place, an error in a column that the user typed is raised."""
        try:
            return columns.cell_of(self.column(column, frame), self.trace.variables, self.formats)
        except (gdb.error, gdb.GdbError) as error:
            if self.request.columns and not self.places:
                raise gdb.GdbError("%s: %s" % (column.title, error))
            return kinds.words(columns.words_of(error))

    def holds(self, condition, frame):
        try:
            return condition(frame)
        except (Unavailable, bytecode.Failure):
            self.unknown += 1
            return False

    def rows(self):
        """Yield the rows of the table: for each frame a list of texts, the frame's number first."""
        left = self.request.limit
        for frame in self.trace.frames(self.number):
            condition, _, functions = self.at(frame)
            if condition and not self.holds(condition, frame):
                continue
            if left == 0:
                return
            left = left and left - 1
            try:
                row = [function(frame) for function in functions]
            except (Unavailable, bytecode.Failure):
                row = [text(function, frame) for function in functions]
            yield [str(frame.index)] + row

    def titles(self):
        return ["frame"] + [column.title for column in self.columns or []]


def text(function, frame):
    try:
        return function(frame)
    except Unavailable:
        return cells.UNAVAILABLE
    except bytecode.Failure as failure:
        return "<%s>" % failure


def write_csv(path, table):
    """Write the titles, and a line for each row. Return the number of rows."""
    count, rows = 0, table.rows()
    first = list(itertools.islice(rows, 1))  # reading the first row also determines the titles
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        writer.writerow(list(map(harmless.cell, table.titles())))
        for count, row in enumerate(itertools.chain(first, rows), 1):
            writer.writerow([harmless.cell(cells.plain(cell)) for cell in row])
    return count


def save_csv(path, table):
    with outfile.whole(path) as part:
        return write_csv(part, table)


def short(cell):
    cell = harmless.line(cell)
    return cell if len(cell) <= WIDEST else cell[:WIDEST - 3] + "..."


def write_lines(titles, rows):
    """Print the rows below their titles, in columns as wide as necessary. Numbers are right-aligned."""
    widths = [max(map(len, column)) for column in zip(titles, *rows)]
    right = [all(re.match(r"-?[\d.]+$|<", cell) for cell in column) for column in zip(*rows)]
    form = "  ".join("%%%s%ds" % ("" if to_right else "-", width) for to_right, width in zip(right, widths))
    lines = [titles] + rows
    for i in range(0, len(lines), LINES):
        screen.put("".join((form % tuple(line)).rstrip() + "\n" for line in lines[i:i + LINES]))


def write_screen(table):
    rows = [[short(cell) for cell in row] for row in table.rows()]
    if rows:
        write_lines(list(map(harmless.line, table.titles())), rows)
    return len(rows)


def numbers(trace, wanted):
    """Return (GDB's number, the target's number, the number of frames) for the tracepoints to show. The first two are
    usually the same."""
    found = []
    for number, (count, first) in sorted(trace.counts().items(), key=lambda entry: (entry[0] != wanted, entry[0])):
        traceframe.select(first)
        own = int(gdbcall.value("$tracepoint"))
        if wanted == own:
            return [(own, number, count)]
        if wanted is None:
            found.append((own, number, count))
    return found


def choice(trace, request):
    found = numbers(trace, request.number)
    if not found:
        what = "the run has no frames" if request.number is None else "the run has no frames of tracepoint %d" % request.number
        raise NoFrames("; ".join([what, *marks.sentences(marks.look(trace.data))]))
    if len(found) > 1 and request.csv:
        raise gdb.GdbError("a CSV file has the columns of one tracepoint; say which, there are frames of %s" %
                           ", ".join(str(own) for own, _, _ in found))
    return found


def show(table, request, own, count):
    rows = save_csv(request.csv, table) if request.csv else write_screen(table)
    told = "tracepoint %d: %d of %d frames" % (own, rows, count)
    if request.csv:
        told += " in %s" % request.csv
    if table.unknown:
        told += "; %d lack a value that the condition needs" % table.unknown
    screen.put(told + "\n")


class GtpTable(Command):
    """Show all frames of a tracepoint as a table, read at once.

gtp table [N] [COLUMN, ...] [if EXPRESSION] [--csv FILE] [--limit ROWS]
N is a tracepoint's number; without it every tracepoint has a table. COLUMNs are
expressions as for print; without them, each expression that the tracepoint
collects has a column. The frame's number comes first, then time, cpu and pid if
$clock, $cpu_id and $current_task_pid were collected. Only frames for which
EXPRESSION holds are shown. <unavailable> means that a value was not collected.
--csv FILE writes a file for spreadsheets and scripts, with every cell in full."""

    def __init__(self):
        super().__init__("gtp table", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        request = Request(arg)
        trace = TraceFile(source.whole(), cells.constants())
        formats = cells.Formats() if request.csv else bytype.Shown()
        with traceframe.Kept():
            for own, number, count in choice(trace, request):
                show(Table(trace, formats, request, own, number), request, own, count)
        for sentence in marks.sentences(marks.look(trace.data)):
            screen.put(sentence + "\n")


GtpTable()
