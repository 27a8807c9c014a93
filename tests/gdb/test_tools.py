# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Types the lines of docs/tools-*.md as they stand there, and compares their results with what provoke_tools.py has done.
# Makes one run for the lines that leave frames, and one run for the lines that aggregate.
import contextlib

import documented
import kernel
import tap
from cookbook import Book, equal_row, has_row, of, own_rows, rows_of_others, shown, softirqs, some_row, string_words, within
from lib import *
from process import SLOW
from provoke_tools import provocations

from gtp.run import aggregations, kstack

TOOLS = {names.split(", ")[0]: lines for names, lines in documented.tools().items()}
WITHOUT_RUN = {"loads", "tplist"}
# Events for these tools were provoked, but the tools' lines saw none of them, for an unknown reason. docs/tools.md says
# so.
NOT_COMPARED = {"swapin", "ucalls", "uflow"}
AGGREGATES = re.compile(r"gtp (count|sum|min|max|stats|hist|sample \S+ by)\b")

readings = []  # the kernel's own counters, read around the run that aggregates


def aggregates(name):
    """Return whether a tool's result are its aggregations, and not the frames of a pair's ends."""
    return any(map(AGGREGATES.match, TOOLS[name])) and not re.match(r"gtp collect (?!\$\w+ = )", TOOLS[name][-1])


# The kernel's own counters -----------------------------------------------------------------------

def interrupts():
    """Return {name of an interrupt, cut to the length of a key: number of these interrupts}."""
    found = {}
    with there.open("/proc/interrupts", encoding="ascii") as file:
        head, *rows = file.read().splitlines()
    many = len(head.split())
    for row in rows:
        words = row.split()
        if words[0].rstrip(":").isdigit():
            name = words[-1][:16]
            found[name] = found.get(name, 0) + sum(map(int, words[1:1 + many]))
    return found


def disk_requests():
    """Return {disk: (number of completed reads and writes, the milliseconds that they took, number of flushes, number of
    sectors)}."""
    found = {}
    with there.open("/proc/diskstats", encoding="ascii") as file:
        for row in file.read().splitlines():
            name, *words = row.split()[2:]
            numbers = list(map(int, words))
            found[name] = numbers[0] + numbers[4], numbers[3] + numbers[7], numbers[15], numbers[2] + numbers[6]
    return found


def forks():
    with there.open("/proc/stat", encoding="ascii") as file:
        return int(re.search(r"^processes (\d+)$", file.read(), re.M).group(1))


def read_counters():
    readings.append({"interrupts": interrupts(), "disk": disk_requests(), "forks": forks(), "softirqs": softirqs()})


def bounds(*way):
    """Return the least and the most by which a counter of the kernel can have grown during the run."""
    values = []
    for reading in readings:
        for step in way:
            reading = reading.get(step, 0) if isinstance(reading, dict) else reading[step]
        values.append(reading)
    before, first, last, after = values
    return [last - first, after - before]


# The runs ----------------------------------------------------------------------------------------

@contextlib.contextmanager
def counted():
    readings.clear()
    read_counters()
    yield
    read_counters()


class Tools(Book):
    """The pages docs/tools-*.md as one Book. Its session begins with the same lines as the session of recipes.md."""

    def __init__(self):
        super().__init__("recipes.md", "provoke_tools.py", provocations, around=counted)
        self.questions = TOOLS

    def provoke(self, questions):
        read_counters()
        facts = super().provoke(questions)
        read_counters()
        return facts

    def run(self):
        """Run the lines that leave frames, keep their tables, and then run the lines that aggregate."""
        fresh()
        self.begin()
        self.run_well([name for name in self.wanted() if not aggregates(name)])
        for recipe in self.recipes.values():
            recipe.keep()
        fresh()
        cmd("set default-collect")
        self.run_well([name for name in self.wanted() if aggregates(name)])

    def run_well(self, names):
        if names:
            self.run_some(names)
            matches("the trace was stopped by tstop", cmd("monitor run"))

    def verdict(self, question):
        return self.expected.get(question, updates if aggregates(question) else own_rows)


BOOK = Tools()


# Verdicts ----------------------------------------------------------------------------------------

def judge(*names):
    """Register the function that judges what these tools' lines saw."""
    def mark(function):
        BOOK.expected.update(dict.fromkeys(names, function))
        return function
    return mark


def key_words(keys):
    """Return the 64-bit words of which these keys consist in an aggregation. None stands for any word."""
    words = []
    for key in keys:
        if isinstance(key, str):
            words += string_words(key)
        else:
            words.append(kallsyms()[key["symbol"]] if isinstance(key, dict) else key)
    return words


def entries(one, keys):
    """Return those entries of an aggregation that have these keys."""
    words = key_words(keys)
    return [entry for entry in one.entries if len(entry.keys) == len(words) and
            all(want is None or want == word for want, word in zip(words, entry.keys))]


def all_of(one):
    return "\n".join(map(str, one.entries[-50:]))


FIGURES = {
    "count": lambda found: sum(entry.count for entry in found),
    "sum": lambda found: sum(entry.summary[0] for entry in found),
    "min": lambda found: min(entry.summary[1] for entry in found),
    "max": lambda found: max(entry.summary[2] for entry in found),
}


def updates(recipe, pid, fact):
    """Check the figures of the aggregation entries whose keys were provoked."""
    ones = recipe.aggregations()
    for index, keys, figures in fact:
        found = entries(ones[index], keys)
        check(found, "%s has no key %s:\n%s" % (ones[index].name, keys, all_of(ones[index])))
        for what, want in figures.items():
            if what == "bucket":
                for number, times in want.items():
                    equal_within(sum(entry.buckets.get(int(number), 0) for entry in found), times, "bucket " + number)
            else:
                equal_within(FIGURES[what](found), want, "%s of %s" % (what, keys))


def equal_within(number, want, what):
    note("%s: %s, wanted %s" % (what, number, want))
    check(within(number, want), "%s: %s, wanted %s" % (what, number, want))


judge("exitsnoop", "bashreadline")(rows_of_others)
judge("tcpconnlat")(some_row)


@judge("biosnoop")
def ended_request(recipe, pid, fact):
    has_row(recipe.rows(len(recipe.numbers) - 1), fact)


@judge("tcpstates", "tcptracer", "tcplife", "tcpcong")
def rows_by_port(recipe, pid, fact):
    port, want = fact
    got = [cells[1:] for _, cells in recipe.rows(len(recipe.numbers) - 1) if cells[0] == str(port)]
    check(len(got) == len(want) and all(map(equal_row, got, want)), "wanted %s, got %s of:\n%s" % (want, got, shown(recipe.rows())))


@judge("fileslower", "ext4slower")
def slow_rows(recipe, pid, fact):
    """Check the rows of slow reads. On a busy machine other reads may be slow as well."""
    want, = fact
    mine = [cells for cells in of(recipe.rows(), pid) if cells[-1] == want[-1]]
    check(mine and equal_row(mine[0], want), "wanted %s, got %s of:\n%s" % (want, mine, shown(recipe.rows())))
    check(all(int(cells[2]) > 10**7 for _, cells in recipe.rows()), shown(recipe.rows()))


@judge("statsnoop")
def rows_by_name(recipe, pid, fact):
    got = [cells for cells in of(recipe.rows(), pid) if cells[0] == fact[0][0]]
    check(len(got) == len(fact) and all(map(equal_row, got, fact)), "wanted %s, got %s" % (fact, got))


@judge("drsnoop")
def reclaimed(recipe, pid, fact):
    other, name, most = fact
    mine = of(recipe.rows(), other)
    check(mine, "no row of pid %d" % other)
    equal({row[0] for row in mine}, {name})
    check(sum(int(row[1]) for row in mine) > 0, str(mine))
    check(0 < sum(int(row[2]) for row in mine) <= most, str(mine))


@judge("writeback")
def written(recipe, pid, fact):
    pages, most = fact
    mine = [cells for _, cells in recipe.rows() if cells[0] == "WB_REASON_SYNC" and int(cells[1]) >= pages]
    check(len(mine) == 1 and 0 < int(mine[0][2]) <= most, shown(recipe.rows()))


@judge("killsnoop")
def signals(recipe, pid, fact):
    for index, want in enumerate(([row[:3] for row in fact], fact)):
        got = [cells for cells in of(recipe.rows(index), pid) if cells[0] == fact[0][0]]
        check(len(got) == len(want) and all(map(equal_row, got, want)), "wanted %s, got %s" % (want, got))


@judge("shmsnoop")
def shared(recipe, pid, fact):
    exits = [cells for index in range(len(recipe.numbers)) for cells in of(recipe.rows(index), pid) if len(cells) == 2]
    equal(sorted(exits), sorted([name, str(value)] for name, value in fact))


def about(number, limits, slack, what):
    """Check a number against bounds that were read before and after the run, and so may be a little off."""
    note("%s: %d, between %d and %d" % (what, number, *limits))
    check(limits[0] - slack <= number <= limits[1] + slack, "%s: %d, wanted %s" % (what, number, limits))


@judge("biolatency")
def disk_latency(recipe, pid, fact):
    disk, _ = fact
    one, = recipe.aggregations()
    found, = entries(one, [disk])
    least, most = bounds("disk", disk, 0)
    about(found.count, [least, most + bounds("disk", disk, 2)[1]], 0, "requests")
    check(found.summary[2] >= SLOW, str(found))
    # The kernel's sum is in milliseconds, of which each request may lose one.
    about(found.summary[0] // 10**6, bounds("disk", disk, 1), found.count, "milliseconds")


@judge("biopattern")
def pattern(recipe, pid, fact):
    updates(recipe, pid, fact)
    one, = recipe.aggregations()
    least, most = bounds("disk", "sda", 0)
    about(sum(entry.count for entry in one.entries), [least, most + bounds("disk", "sda", 2)[1]], 0, "requests")


@judge("bitesize")
def disk_sizes(recipe, pid, fact):
    updates(recipe, pid, fact)
    one, = recipe.aggregations()
    disk = fact[0][1][0]
    found, = entries(one, [disk])
    about(found.summary[0] // 512, bounds("disk", disk, 3), 0, "sectors")


@judge("biostacks")
def disk_stacks(recipe, pid, fact):
    name, total, inside, times, took = fact
    mine = [(names, weight) for names, weight in recipe.folded() if names[0] == name]
    equal(sum(weight for _, weight in mine), total)
    check(all(any(one.startswith(inside) for one in names) for names, _ in mine), str(mine))
    stacks = kstack.Stacks()
    found = [entry for entry in recipe.aggregations()[1].entries
             if any(one.startswith(inside) for one in stacks.names(entry.keys[0]))]
    check(sum(entry.count for entry in found) >= times, "%d requests by this stack, and %d were made" % (len(found), times))
    check(any(entry.summary[1] <= took for entry in found), "longer than all requests took: %s" % found)


@judge("klockstat")
def waits_and_holds(recipe, pid, fact):
    time_by_stack(recipe, pid, fact)
    name, want, _ = fact
    updates(recipe, pid, [[1, [name], {"count": [16, None], "sum": want}]])


@judge("offwaketime")
def time_by_both_stacks(recipe, pid, fact):
    name, want, sleeper, waker = fact
    mine = [(names, weight) for names, weight in recipe.folded() if names[0] == name]
    note(*("%d %s" % (weight, ";".join(names)) for names, weight in mine))
    equal_within(sum(weight for names, weight in mine if sleeper in names and waker in names), want, "microseconds")


@judge("memleak")
def not_freed(recipe, pid, fact):
    left, inside = fact
    one, = [pair for pair in aggregations.read().pairs.all if "kmalloc" in pair.name]
    stacks = kstack.Stacks()
    found = [start for start in one.unfinished if inside in stacks.names(start.kept[0])]
    note("%d of %d: %s" % (len(found), len(one.unfinished), one.counts))
    equal(len(found), left, "messages that are still queued")
    equal(one.counts["no_room"], 0)


@judge("wakeuptime")
def time_by_stack(recipe, pid, fact):
    name, want, inside = fact
    mine = [(names, weight) for names, weight in recipe.folded() if names[0] == name]
    note(*("%d %s" % (weight, ";".join(names)) for names, weight in mine))
    total = sum(weight for names, weight in mine if inside in names)
    equal_within(total, want, "nanoseconds")


@judge("pidpersec")
def new_tasks(recipe, pid, fact):
    one, = recipe.aggregations()
    about(sum(entry.count for entry in one.entries), bounds("forks"), 0, "forks")
    check(bounds("forks")[0] >= fact, str(readings))
    now = there.run(["date", "+%s"], capture_output=True, text=True).stdout
    check(all(0 <= int(now) - entry.keys[0] < tap.SECONDS for entry in one.entries), "%s: %s" % (now, one.entries))


@judge("hardirqs")
def interrupt_times(recipe, pid, fact):
    one, = recipe.aggregations()
    check(one.entries, "no interrupt")
    for name in readings[-1]["interrupts"]:
        found = entries(one, [name])
        about(sum(entry.count for entry in found), bounds("interrupts", name), CPUS, name)
    check(all(0 <= entry.summary[1] and entry.summary[2] < 10**9 for entry in one.entries), all_of(one))


@judge("softirqs")
def softirq_times(recipe, pid, fact):
    one, = recipe.aggregations()
    for number, name in enumerate(readings[-1]["softirqs"][0]):
        limits = [sum(bounds("softirqs", cpu, name)[i] for cpu in range(CPUS)) for i in (0, 1)]
        # Interrupts that come while a task of GDB runs are not traced.
        about(sum(entry.count for entry in entries(one, [number])), limits, CPUS + limits[0] // 20, name)
    check(all(0 <= entry.summary[1] and entry.summary[2] < 10**10 for entry in one.entries), all_of(one))


@judge("softirqslower")
def softirq_waits(recipe, pid, fact):
    one, = recipe.aggregations()
    for cpu in range(CPUS):
        limits = bounds("softirqs", cpu, "NET_RX")
        about(sum(entry.count for entry in entries(one, [cpu])), limits, CPUS + limits[0] // 20, "CPU %d" % cpu)
    check(sum(entry.count for entry in one.entries) >= fact and all(entry.summary[1] >= 0 for entry in one.entries), all_of(one))


# Tests -------------------------------------------------------------------------------------------

@test("each tool with lines has a provocation, and each provocation lines")
def both():
    equal(sorted(set(TOOLS) - WITHOUT_RUN - NOT_COMPARED), sorted(provocations))
    equal(sorted(set(BOOK.expected) - set(TOOLS)), [])


@test("loads")
def load_averages():
    line, = TOOLS["loads"]

    def read():
        with there.open("/proc/loadavg", encoding="ascii") as file:
            return float(file.read().split()[0])

    was, got = read(), float(matches(r"^\$\d+ = (\S+)$", cmd(line)).group(1))
    now = read()
    check(min(was, now) - 0.011 <= got <= max(was, now) + 0.011, "%f, and %s before, %s after" % (got, was, now))


@test("tplist")
def events():
    kernel.mount_tracing()
    line, = TOOLS["tplist"]
    with there.open(TRACING + "available_events", encoding="ascii") as file:
        known = {name for name in file.read().split() if name.startswith("sched:")}
    equal(set(re.findall(r"^(sched:\w+)", cmd(line), re.M)), known)


for one in TOOLS:
    if one not in WITHOUT_RUN | NOT_COMPARED:
        test(one)(BOOK.answers(one))
run(before=BOOK.before)
