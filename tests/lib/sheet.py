# SPDX-License-Identifier: GPL-2.0-only
"""Reads the values from a CSV file that gtp has written."""
import csv
import re

STARTS = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"  # the last four are the full-width forms of the others


def value(text):
    """Return a cell's value, without the apostrophes that keep a spreadsheet from computing the text after them, at the
    beginning or after a semicolon."""
    text = re.sub(r";'(?=[\s\"]*%s)" % STARTS, ";", text)
    return text[1:] if re.match("' *" + STARTS, text) else text


def rows(file):
    """Return [{title: value}], one dict for each row."""
    return [{value(title): value(text) for title, text in row.items()} for row in csv.DictReader(file)]
