# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Every recipe of docs/recipes.md, typed as it stands there: all in one run, beside what provoke.py does and knows.
import csv
import json
import sys
import time

import documented
import sheet
import tap
from lib import *
from provoke import SLOW, provocations

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp import aggregations

PROVOKE = os.path.join(TOP, "tests/gdb/provoke.py")
SCRATCH = scratch() + "/recipe.csv"
FOLDED = scratch() + "/recipe.folded"
LEADING = ("frame", "time", "cpu", "pid")
# A line of a recipe that names one of its own tracepoints.
NUMBERED = re.compile(r"^(gtp (?:collect|if|table))(/s)? (\d+)\b")
SOFTIRQS = "/proc/softirqs"

recipes = {}   # question -> Recipe
expected = {}  # question -> the function that judges its rows
softirqs_run = []  # before the run, and after it


# The document ------------------------------------------------------------------------------------

BEGINNING, QUESTIONS = documented.recipes()


class Recipe:
    """One recipe, typed; its tracepoints' numbers, and what it saw."""

    def __init__(self, question):
        self.question, self.first, self.numbers = question, 0, []
        self.error = self.fact = None
        lines = QUESTIONS[question]
        self.tables = [line for line in lines if line.startswith("gtp table")]
        self.stacks = [line for line in lines if line.startswith("gtp stacks")]
        self.lines = [line for line in lines if line not in self.tables + self.stacks]
        self.names = []  # of its aggregations

    def define(self):
        """Type its lines."""
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
        """Return the line with the numbers that the recipe's first and second tracepoint have here."""
        return NUMBERED.sub(lambda found: "%s%s %d" % (found.group(1), found.group(2) or "",
                                                       (self.numbers or self.own())[int(found.group(3)) - 1]), line)

    def rows(self, index=0):
        """Return the rows of a tracepoint's table: (the leading cells by title, the other cells)."""
        line = self.tables[0] if self.tables else "gtp table"
        line = self.numbered(line) if NUMBERED.match(line) else "gtp table %d%s" % (self.numbers[index], line[9:])
        text = cmd("%s --csv %s" % (line, SCRATCH))
        if re.search(r": 0 of", text):
            return []
        with open(SCRATCH, encoding="utf-8") as file:
            titles, *rows = [[sheet.value(text) for text in row] for row in csv.reader(file)]
        front = [title for title in titles if title in LEADING]
        return [(dict(zip(front, row)), row[len(front):]) for row in rows]

    def aggregations(self):
        """Return the recipe's aggregations, in the order of its lines."""
        found = {one.name: one for one in aggregations.read().all}
        return [found[name] for name in self.names]

    def folded(self):
        """Return [(functions, the outermost first, weight)] of all stacks, by the recipe's own line with the test's own
        file."""
        line, = self.stacks
        cmd(re.sub(r"( --folded \S+)?$", " --folded " + FOLDED, line, count=1))
        with open(FOLDED, encoding="utf-8") as file:
            pairs = [row.rsplit(" ", 1) for row in file.read().splitlines()]
        return [(names.split(";"), int(weight)) for names, weight in pairs]


def newest():
    """Return the number of the tracepoint that was made last, or 0 if there is none yet."""
    number = gdb.convenience_variable("tpnum")
    return 0 if number is None else int(number)


# The run -----------------------------------------------------------------------------------------

def wanted():
    """Return the chosen recipes that have a provocation, by their questions, in the document's order."""
    names = [name for name, _ in tap.chosen()]
    return [question for question in QUESTIONS if question in names and question in provocations]


def begin():
    """Type the document's lines for the beginning of a session; the path of the commands differs here."""
    first, *others = BEGINNING
    matches(r"^source \S+/gdbscripts/gtp.py$", first)
    for line in others:
        cmd(line)


def provoke(questions):
    """Make the events happen. Return question -> (pid, fact, error)."""
    all_names = list(provocations)
    words = " ".join(str(all_names.index(question)) for question in questions)
    text = shell()("%s/tests/lib/env python3 %s %s" % (TOP, PROVOKE, words))
    found = {}
    for line in text.splitlines():
        if not line.startswith("["):
            note(line)
            continue
        number, pid, fact, error = json.loads(line)
        found[all_names[number]] = pid, fact, error
    return found


def the_run():
    """Type all recipes, and run them together."""
    fresh()
    begin()
    questions = wanted()
    for question in questions:
        recipes[question] = Recipe(question)
        recipes[question].define()
    # Keep the messages of an OOM kill off the console, where they would look like an oops.
    shell()("dmesg -n 1")
    try:
        cmd("tstart")
        softirqs_run.append(softirqs())
        facts = provoke(questions)
        cmd("tstop")
        softirqs_run.append(softirqs())
    finally:
        shell()("dmesg -n 7")
    for question, fact in facts.items():
        recipes[question].fact = fact
    note(cmd("tstatus"))


def softirqs():
    """Return how many softirqs of each kind the CPUs have run: [{name: count}]."""
    with there.open(SOFTIRQS, encoding="ascii") as file:
        head, *rows = file.read().splitlines()
    table = {row.split(":")[0].strip(): [int(n) for n in row.split(":")[1].split()] for row in rows}
    return [{name: counts[cpu] for name, counts in table.items()} for cpu in range(len(head.split()))]


def before():
    """Make the run once: it serves all tests."""
    connect()
    if not recipes:
        the_run()
    cmd("tfind none")


# Verdicts ----------------------------------------------------------------------------------------

def same(cell, want):
    """Return whether a cell is as expected: a text, a number, or a text that contains a word."""
    return want["in"] in cell if isinstance(want, dict) else cell == str(want)


def equal_row(cells, want):
    return len(cells) == len(want) and all(map(same, cells, want))


def has(rows, want):
    check(any(equal_row(cells, want) for _, cells in rows), "no row %s in:\n%s" % (want, shown(rows)))


def shown(rows):
    return "\n".join("%s %s" % row for row in rows[-50:])


def of(rows, pid):
    return [cells for front, cells in rows if int(front["pid"]) == pid]


def exactly(rows, pid, fact):
    """Check that the process's rows are these, and in this order."""
    got = of(rows, pid)
    check(len(got) == len(fact) and all(map(equal_row, got, fact)), "pid %d: wanted %s, got %s of:\n%s" % (
        pid, fact, got, shown(rows)))


def entry_of(one, name):
    """Return the entry of an aggregation whose only key is that string."""
    words = [int.from_bytes(name.encode().ljust(16, b"\0")[at:at + 8], "little") for at in (0, 8)]
    found, = [entry for entry in one.entries if entry.keys == words]
    return found


def judge(question):
    """Register the function that judges a recipe's rows. Its arguments are the recipe, the provoking process, and its
    result."""
    def mark(function):
        expected[question] = function
        return function
    return mark


def own_rows(recipe, pid, fact):
    """Check that the rows are the provoking process's actions, one by one. This is the usual verdict."""
    exactly(recipe.rows(), pid, fact)


def rows_of_others(recipe, pid, fact):
    """Check that the rows are those of other processes. Each row begins with its pid."""
    rows = recipe.rows()
    for other in {row[0] for row in fact}:
        exactly(rows, other, [row[1:] for row in fact if row[0] == other])


def some_row(recipe, pid, fact):
    """Any one of the rows: interrupts and kernel threads do this, too."""
    has(recipe.rows(), fact)


for name in ("Which programs are run, with which argument?", "Which processes fail?", "Who loads modules?",
             "Which programs crash, and at which address?", "Whom does the OOM killer kill?"):
    judge(name)(rows_of_others)
for name in ("How large are the requests to the disks?", "Which TCP segments are retransmitted?",
             "Which packets are dropped, where and why?"):
    judge(name)(some_row)


@judge("Which fsyncs are slow?")
def slow_fsyncs(recipe, pid, measured):
    rows = of(recipe.rows(), pid)
    limits = {str(fd): nanoseconds for _, fd, nanoseconds in measured}
    for _, fd, nanoseconds in rows:
        check(10**7 < int(nanoseconds) <= limits[fd], "%s: %s of %d" % (fd, nanoseconds, limits[fd]))
    name, slow, _ = measured[0]
    mine = [row for row in rows if row[1] == str(slow)]
    equal([row[0] for row in mine], [name])
    check(int(mine[0][2]) >= SLOW, str(mine))


@judge("Which file is slow?")
def slow_files(recipe, pid, fact):
    name, *facts = fact
    for one, (times, least, most) in zip(recipe.aggregations(), facts):
        entry = entry_of(one, name)
        total, shortest, longest = entry.summary
        note("%s: %d times, %d ns in all, between %d and %d" % (one.name, entry.count, total, least, most))
        equal(entry.count, times, one.name)
        check(least <= total <= most and shortest <= total // times <= longest, str(entry))
        matches(r"(?m)^%s +n %d, " % (name, times), cmd("gtp show " + one.name))


@judge("Which capabilities does a program ask for?")
def capabilities(recipe, pid, fact):
    rows = recipe.rows()
    equal({cells[0] for _, cells in rows}, {fact[0][0]})
    for want in fact:
        check(any(equal_row(cells, want) for cells in of(rows, pid)), "no %s in:\n%s" % (want, shown(rows)))


@judge("Who allocates, how much, and from where?")
def allocations(recipe, pid, fact):
    name, caller, slots, given = fact
    has(recipe.rows(), [name, caller, slots * number("sizeof(struct pipe_buffer)"), given])


@judge("From where is most memory allocated?")
def allocated_by_stack(recipe, pid, fact):
    # The allocator's own allocations are deeper: below its function that has kmem:kmalloc.
    mine = [(names, weight) for names, weight in recipe.folded() if fact["in"] in names[-3:]]
    note(*("%d %s" % (weight, ";".join(names)) for names, weight in mine))
    equal(sum(weight for _, weight in mine), fact["bytes"])
    shown_ = [int(weight) for weight in re.findall(r"^(\d+)$", cmd(recipe.stacks[0]), re.M)]
    check(shown_ and shown_ == sorted(shown_, reverse=True), str(shown_))


@judge("Which files are paged in, and by whom?")
def paged_in(recipe, pid, fact):
    mine = [cells for cells in of(recipe.rows(), pid) if cells[2] == fact[0][2]]
    equal({tuple(row) for row in mine}, {tuple(map(str, row)) for row in fact})


@judge("Which tasks have to make room in their memory cgroup?")
def makes_room(recipe, pid, fact):
    other, name = fact
    mine = of(recipe.rows(), other)
    check(mine, "no row of pid %d" % other)
    equal({row[0] for row in mine}, {name})


@judge("Who waits long for a CPU?")
def waits(recipe, pid, fact):
    name, other, waited, times = fact
    mine = [cells for _, cells in recipe.rows() if cells[1] == str(other)]
    equal({row[0] for row in mine}, {name})
    delays = [int(row[2]) for row in mine]
    note("%d rows of %d, %d of %d ns" % (len(delays), times, sum(delays), waited))
    check(min(delays) > 10**6 and len(delays) <= times and sum(delays) <= waited, str(delays))
    check(waited <= sum(delays) + (times - len(delays)) * 10**6, "%d ns are missing" % (waited - sum(delays)))


@judge("How long do tasks wait for a CPU?")
def waits_by_name(recipe, pid, fact):
    name, waited, times = fact
    one, = recipe.aggregations()
    entry = entry_of(one, name)
    equal((entry.count, entry.summary[0]), (times, waited), "waits, and their nanoseconds")
    equal(sum(entry.buckets.values()), times)


@judge("Where do tasks go to sleep?")
def sleeps_by_stack(recipe, pid, fact):
    name, times, inside = fact
    mine = [(names, weight) for names, weight in recipe.folded() if names[0] == name and "do_exit" not in names]
    note(*("%d %s" % (weight, ";".join(names)) for names, weight in mine))
    equal(sum(weight for _, weight in mine), times, "voluntary switches")
    equal([weight for names, weight in mine if any(inside in one for one in names[1:])], [1], inside)


@judge("Where do tasks spend their time asleep?")
def asleep_by_stack(recipe, pid, fact):
    name, most, otherwise, inside = fact
    mine = [(names, weight) for names, weight in recipe.folded() if names[0] == name]
    note(*("%d %s" % (weight, ";".join(names)) for names, weight in mine))
    asleep = sum(weight for names, weight in mine if any(inside in one for one in names[1:]))
    check(most - otherwise <= asleep <= most, "%d ns, and %d to %d passed" % (asleep, most - otherwise, most))


@judge("Who is moved to another CPU?")
def moved(recipe, pid, fact):
    name, other, *cpus = fact
    # Before that it may have been moved by the scheduler, under its first name.
    mine = [cells for _, cells in recipe.rows() if cells[1] == str(other)][-len(cpus):]
    equal([[row[0], int(row[2])] for row in mine], [[name, cpu] for cpu in cpus])


@judge("Who waits for a lock?")
def locks(recipe, pid, fact):
    other, name, mutex = fact
    mine = of(recipe.rows(), other)
    check([name, str(mutex)] in [[row[0], row[2]] for row in mine], str(mine))


@judge("Which softirqs run?")
def softirqs_seen(recipe, pid, fact):
    rows = recipe.rows()
    check(rows, "no row")
    equal({cells[0] for _, cells in rows}, {"3"})
    for cpu, (was, now) in enumerate(zip(*softirqs_run)):
        seen = sum(int(front["cpu"]) == cpu for front, _ in rows)
        check(seen <= now["NET_RX"] - was["NET_RX"], "CPU %d: %d rows, from %s to %s" % (cpu, seen, was, now))


@judge("What do work queues run, and how long?")
def work(recipe, pid, fact):
    times, what = fact
    started, ended = ([front for front, cells in recipe.rows(i) if same(cells[0], what)] for i in (0, 1))
    for cpu in range(CPUS):
        pairs = [[row for row in rows if int(row["cpu"]) == cpu] for rows in (started, ended)]
        equal([len(rows) for rows in pairs], [times, times], "CPU %d" % cpu)
        for start, end in zip(*pairs):
            equal(start["pid"], end["pid"])
            check(start["time"] < end["time"], "%s %s" % (start, end))


@judge("How long do reads take, by process?")
def read_latency(recipe, pid, fact):
    name, least, most = fact
    one, = recipe.aggregations()
    longest = entry_of(one, name).summary[2]
    note("%d ns, between %d and %d" % (longest, least, most))
    check(least <= longest <= most, "%d ns, not between %d and %d" % (longest, least, most))
    matches("current->comm +%s$" % name, cmd("gtp show " + one.name))


# Tests -------------------------------------------------------------------------------------------

@test("each recipe has a provocation, and each provocation a recipe; there are thirty or more")
def both():
    equal(sorted(QUESTIONS), sorted(provocations))
    check(len(QUESTIONS) >= 30, "%d recipes" % len(QUESTIONS))
    equal(sorted(set(expected) - set(QUESTIONS)), [])


@test("the run was not ended by an error or a full buffer")
def not_ended():
    matches("the trace was stopped by tstop", cmd("monitor run"))
    note(cmd("monitor status"))


def answers(question):
    def body():
        recipe = recipes[question]
        check(recipe.error is None, recipe.error)
        check(recipe.fact is not None, "the provocation said nothing")
        pid, fact, error = recipe.fact
        check(error is None, error)
        expected.get(question, own_rows)(recipe, pid, fact)
    return body


for one in QUESTIONS:
    test(one)(answers(one))
run(before=before)
