# SPDX-License-Identifier: GPL-2.0-only
"""Inside GDB: compares the cells of `gtp table` with tfind and GDB's own output for the same frames."""
import random
import re
import tempfile

import gdb

import sheet

SETTINGS = dict(max_elements=200, max_depth=1, pretty_structs=False, pretty_arrays=False, array_indexes=False)
VALUES = {"time": "$clock", "cpu": "$cpu_id", "pid": "$current_task_pid"}


def is_small_number(kind):
    kind = kind.strip_typedefs()
    return kind.code == gdb.TYPE_CODE_INT and kind.sizeof == 1 and kind.name in ("unsigned char", "signed char")


def small_fields(kind):
    """Return the names of those fields of a struct that are 8-bit numbers."""
    kind = kind.strip_typedefs()
    if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return []
    return [field.name for field in kind.fields() if field.name and is_small_number(field.type)]


def printed(value):
    """Return GDB's text as docs/using.md promises it: 8-bit numbers without a character, strings without an address."""
    if is_small_number(value.type):
        return str(int(value))
    text = value.format_string(**SETTINGS)
    for name in small_fields(value.type):
        text = re.sub(r"(\b%s = -?\d+) '(?:\\.[^']*|[^'])'" % name, r"\1", text)
    text = re.sub(r'0x[0-9a-f]+ (?:<[^>]*> )?(?=")', "", text)
    text = re.sub(r" <error: [^>]*>", "", text)
    text = re.sub(r"\b0x0 <[^>]*>", "0x0", text)
    return re.sub(r"{<unavailable>(?: <repeats \d+ times>|, <unavailable>)*}", "<unavailable>", text)


def plain(text):
    """Return a cell's text as in a CSV file: without quotes around a string."""
    return text[1:-1].replace('\\"', '"') if re.match(r'"(\\.|[^"\\])*"$', text) else text


def truth(column):
    """Return the value that a column's cell should show for the selected frame."""
    try:
        value = gdb.parse_and_eval(VALUES.get(column, column))
        if column == "time":
            return "%d.%09d" % divmod(int(value), 10**9)
        return plain(printed(value))
    except gdb.error as error:
        if "not available" in str(error) or "annot access" in str(error):
            return "<unavailable>"
        if "Division by zero" in str(error):
            return "<division by zero>"
        raise


def rows(request):
    """Return the rows of `gtp table REQUEST` as dictionaries by the columns' titles."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/rows.csv"
        gdb.execute("gtp table %s --csv %s" % (request, path), to_string=True)
        with open(path, newline="", encoding="utf-8") as file:
            return sheet.rows(file)


def compare(number, columns, seed, most):
    """Compare the cells of at most MOST rows, chosen at random. Return a line for every cell that differs, and the number of
    rows."""
    # By default GDB prints a string beyond its NUL.
    gdb.execute("set print null-stop on")
    table = rows("%d %s" % (number, columns))
    differences = []
    for row in random.Random(seed).sample(table, min(most, len(table))):
        gdb.execute("tfind " + row["frame"], to_string=True)
        if int(gdb.parse_and_eval("$tracepoint")) != number:
            differences.append("frame %s is of another tracepoint" % row["frame"])
        for column in list(row)[1:]:
            want = truth(column)
            if row[column] != want:
                differences.append("frame %s, %s: %s, GDB prints %s" % (row["frame"], column, row[column], want))
    gdb.execute("tfind none", to_string=True)
    gdb.execute("set print null-stop off")
    return differences, len(table)
