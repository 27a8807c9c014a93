# SPDX-License-Identifier: GPL-2.0-only
# Types the recipes of a page as they stand there, all in one run. Compares their results with what a script has done to
# provoke them.
import contextlib
import csv
import json
import os
import sys
import time

import documented
import sheet
import tap
from lib import *

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.run import aggregations

SCRATCH = scratch() + "/recipe.csv"
FOLDED = scratch() + "/recipe.folded"
LEADING = ("frame", "time", "cpu", "pid")
# Matches a line that contains the number of one of the recipe's own tracepoints.
NUMBERED = re.compile(r"^(gtp (?:collect|if|table))(/s)? (\d+)\b")


class Recipe:
    """One recipe: its lines, the numbers of its tracepoints, and its results."""

    def __init__(self, question, lines):
        self.question, self.first, self.numbers = question, 0, []
        self.error = self.fact = None
        self.tables = [line for line in lines if line.startswith("gtp table")]
        self.stacks = [line for line in lines if line.startswith("gtp stacks")]
        self.lines = [line for line in lines if line not in self.tables + self.stacks]
        self.names = []  # the names of its aggregations
        self.kept = {}   # the tables of the previous run, kept before another run

    def define(self):
        """Type those lines of the recipe that define tracepoints and actions."""
        self.first, began = newest(), time.monotonic()
        for line in self.lines:
            try:
                self.names += re.findall(r"^\$(\w+); gtp show", cmd(self.numbered(line)), re.M)
            except gdb.error as error:
                self.error = "%s: %s" % (line, error)
                break
        self.numbers = self.own()
        note("%.1f s: %s" % (time.monotonic() - began, self.question))

    def own(self):
        """Return the numbers of the recipe's tracepoints so far."""
        return [int(n) for n in re.findall(r"^(\d+)\s", cmd("info tracepoints"), re.M) if int(n) > self.first]

    def numbered(self, line):
        """Return a line with the present numbers of the recipe's tracepoints. In the page they are 1 and 2."""
        return NUMBERED.sub(lambda found: "%s%s %d" % (found.group(1), found.group(2) or "",
                                                       (self.numbers or self.own())[int(found.group(3)) - 1]), line)

    def rows(self, index=0):
        """Return the rows of a tracepoint's table: (the leading cells by title, the other cells)."""
        if index in self.kept:
            return self.kept[index]
        line = self.tables[0] if self.tables else "gtp table"
        line = self.numbered(line) if NUMBERED.match(line) else "gtp table %d%s" % (self.numbers[index], line[9:])
        try:
            text = cmd("%s --csv %s" % (line, SCRATCH))
        except gdb.error as error:
            if "the run has no frames" not in str(error):
                raise
            return []
        if re.search(r": 0 of", text):
            return []
        with open(SCRATCH, encoding="utf-8") as file:
            titles, *rows = [[sheet.value(text) for text in row] for row in csv.reader(file)]
        front = [title for title in titles if title in LEADING]
        return [(dict(zip(front, row)), row[len(front):]) for row in rows]

    def keep(self):
        """Keep the tables of this run, before another run replaces its frames."""
        self.kept = {index: self.rows(index) for index in range(len(self.numbers))}

    def aggregations(self):
        """Return the recipe's aggregations, in the order of its lines."""
        found = {one.name: one for one in aggregations.read().all}
        return [found[name] for name in self.names]

    def folded(self):
        """Run the recipe's line for stacks, with a file of this test as its output. Return [(functions, the outermost first,
        weight)] for all stacks."""
        line, = self.stacks
        cmd(re.sub(r"( --folded \S+)?$", " --folded " + FOLDED, line, count=1))
        with open(FOLDED, encoding="utf-8") as file:
            pairs = [row.rsplit(" ", 1) for row in file.read().splitlines()]
        return [(names.split(";"), int(weight)) for names, weight in pairs]


def newest():
    """Return the number of the newest tracepoint, or 0 if there is none yet."""
    number = gdb.convenience_variable("tpnum")
    return 0 if number is None else int(number)


# The page ----------------------------------------------------------------------------------------

class Book:
    """A page of docs/, its recipes, and the functions that judge their rows.

    SCRIPT makes the events happen; tests/gdb/provoking.py is its main part. PLACES is {word of the page: the word to type
    instead}, such as for paths of programs. AROUND is a context manager for the run.
    """

    def __init__(self, page, script, provocations, places=None, around=contextlib.nullcontext):
        self.beginning, self.questions = documented.recipes(page)
        self.script, self.provocations = os.path.join(TOP, "tests/gdb", script), provocations
        self.places, self.around = places or {}, around
        self.recipes, self.expected = {}, {}

    def judge(self, question):
        """Register the function that judges a recipe's rows. Its arguments are the recipe, the pid of the provoking process,
        and the result of the provocation."""
        def mark(function):
            self.expected[question] = function
            return function
        return mark

    def here(self, line):
        """Return a line of the page with its words replaced for the test's machine."""
        for word, other in self.places.items():
            line = line.replace(word, other)
        return line

    def wanted(self):
        """Return the questions of the chosen recipes that have a provocation, in the page's order."""
        names = [name for name, _ in tap.chosen()]
        return [question for question in self.questions if question in names and question in self.provocations]

    def begin(self):
        """Type the page's lines for the beginning of a session, except the first one, which loads the commands."""
        first, *others = self.beginning
        matches(r"^source \S+/gdbscripts/gtp.py$", first)
        for line in others:
            cmd(self.here(line))

    def provoke(self, questions):
        """Run the script of provocations for these questions. Return {question: (pid, fact, error)}."""
        all_names = list(self.provocations)
        words = " ".join(str(all_names.index(question)) for question in questions)
        text = shell()("%s/tests/lib/env python3 %s %s" % (TOP, self.script, words))
        found = {}
        for line in text.splitlines():
            if not line.startswith("["):
                note(line)
                continue
            number, pid, fact, error = json.loads(line)
            found[all_names[number]] = pid, fact, error
        return found

    def run(self):
        """Type all recipes, and run them together."""
        fresh()
        self.begin()
        self.run_some(self.wanted())

    def run_some(self, questions):
        """Type these recipes, and run them together."""
        for question in questions:
            self.recipes[question] = Recipe(question, [self.here(line) for line in self.questions[question]])
            self.recipes[question].define()
        # Keep the messages of an OOM kill off the console, where they would look like an oops.
        shell()("dmesg -n 1")
        try:
            with self.around():
                cmd("tstart")
                facts = self.provoke(questions)
                cmd("tstop")
        finally:
            shell()("dmesg -n 7")
        for question, fact in facts.items():
            self.recipes[question].fact = fact
        note(cmd("tstatus"))

    def before(self):
        """Make one run for all tests, before the first of them."""
        connect()
        if not self.recipes:
            self.run()
        cmd("tfind none")

    def verdict(self, question):
        """Return the function that judges a recipe's rows."""
        return self.expected.get(question, own_rows)

    def answers(self, question):
        """Return the test function for a recipe."""
        def body():
            recipe = self.recipes[question]
            check(recipe.error is None, recipe.error)
            check(recipe.fact is not None, "the provocation said nothing")
            pid, fact, error = recipe.fact
            check(error is None, error)
            self.verdict(question)(recipe, pid, fact)
        return body

    def tests(self, least):
        """Register the page's tests. One of them fails if the page has fewer than LEAST recipes."""
        @test("each recipe has a provocation, and each provocation a recipe; there are %d or more" % least)
        def both():
            equal(sorted(self.questions), sorted(self.provocations))
            check(len(self.questions) >= least, "%d recipes" % len(self.questions))
            equal(sorted(set(self.expected) - set(self.questions)), [])

        @test("the run was not ended by an error or a full buffer")
        def not_ended():
            matches("the trace was stopped by tstop", cmd("monitor run"))
            note(cmd("monitor status"))

        for one in self.questions:
            test(one)(self.answers(one))


def softirqs():
    """Return {name: number of softirqs that have run} for each CPU."""
    with there.open("/proc/softirqs", encoding="ascii") as file:
        head, *rows = file.read().splitlines()
    table = {row.split(":")[0].strip(): [int(n) for n in row.split(":")[1].split()] for row in rows}
    return [{name: counts[cpu] for name, counts in table.items()} for cpu in range(len(head.split()))]


# Verdicts ----------------------------------------------------------------------------------------

def within(number, want):
    """Return whether a number is as expected: equal to WANT, or between the two limits if WANT is a list. None in place of a
    limit means that there is no limit on this side."""
    if not isinstance(want, list):
        return number == want
    least, most = want
    return (least is None or least <= number) and (most is None or number <= most)


def same(cell, want):
    """Return whether a cell is as expected: a text, a number, a text that contains a word, or a number between two."""
    if isinstance(want, list):
        return within(int(cell), want)
    return want["in"] in cell if isinstance(want, dict) else cell == str(want)


def equal_row(cells, want):
    return len(cells) == len(want) and all(map(same, cells, want))


def has_row(rows, want):
    check(any(equal_row(cells, want) for _, cells in rows), "no row %s in:\n%s" % (want, shown(rows)))


def shown(rows):
    return "\n".join("%s %s" % row for row in rows[-50:])


def of(rows, pid):
    return [cells for front, cells in rows if int(front["pid"]) == pid]


def exactly(rows, pid, fact):
    """Check that the rows of the provoking process are equal to the facts, in the same order."""
    got = of(rows, pid)
    check(len(got) == len(fact) and all(map(equal_row, got, fact)), "pid %d: wanted %s, got %s of:\n%s" % (
        pid, fact, got, shown(rows)))


def string_words(text):
    """Return the words that stand for a string in a key of an aggregation."""
    return [int.from_bytes(text.encode().ljust(16, b"\0")[at:at + 8], "little") for at in (0, 8)]


def entry_of(one, name):
    """Return the entry of an aggregation that has the string NAME as its only key."""
    found, = [entry for entry in one.entries if entry.keys == string_words(name)]
    return found


def own_rows(recipe, pid, fact):
    """Check that the rows are the provoking process's actions, one by one. This is the usual verdict."""
    exactly(recipe.rows(), pid, fact)


def rows_of_others(recipe, pid, fact):
    """Check the rows of processes other than the provoking one. Each row of FACT begins with the pid of its process."""
    rows = recipe.rows()
    for other in {row[0] for row in fact}:
        exactly(rows, other, [row[1:] for row in fact if row[0] == other])


def some_row(recipe, pid, fact):
    """Check that one of the rows is as expected. Other rows come from interrupts and kernel threads."""
    has_row(recipe.rows(), fact)
