# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# A distribution's kernel: the recipes trace disks, memory cgroups, counts of the scheduler.
# Types every recipe of docs/recipes.md as it stands there, all in one run. Compares the results with what provoke.py has
# done.
import contextlib

from cookbook import Book, entry_of, equal_row, has_row, of, rows_of_others, same, shown, softirqs, some_row
from lib import *
from provoke import SLOW
from provoking import provocations

softirqs_run = []  # softirqs() before the run, and after it


@contextlib.contextmanager
def counted():
    """Context manager: count the softirqs during the run."""
    softirqs_run.append(softirqs())
    yield
    softirqs_run.append(softirqs())


BOOK = Book("recipes.md", "provoke.py", provocations, around=counted)
judge = BOOK.judge


# Verdicts ----------------------------------------------------------------------------------------

for name in ("Which programs are run, with which argument?", "Which programs are run, with all their arguments?",
             "Which processes fail?", "Who loads modules?", "Which programs crash, and at which address?",
             "Whom does the OOM killer kill?"):
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
    has_row(recipe.rows(), [name, caller, slots * number("sizeof(struct pipe_buffer)"), given])


@judge("From where is most memory allocated?")
def allocated_by_stack(recipe, pid, fact):
    # Leave out the allocator's own allocations: their stacks are deeper, so that the provoking function is not among the
    # last three.
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
    # The scheduler may have moved the process earlier, before it was renamed.
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


BOOK.tests(least=30)
run(before=BOOK.before)
