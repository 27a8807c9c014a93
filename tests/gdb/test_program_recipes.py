# SPDX-License-Identifier: GPL-2.0-only
# Types every recipe of docs/program-recipes.md as it stands there, all in one run. Compares the results with what
# provoke_program.py has done.
from cookbook import Book, entry_of, exactly, of, rows_of_others
from lib import *
from programs import BUILT, running_program
from provoke_program import SAID
from provoking import provocations

BOOK = Book("program-recipes.md", "provoke_program.py", provocations,
            {"/usr/bin/myserver": BUILT + "/myserver", "/usr/lib/myserver/plugin.so": BUILT + "/plugin.so"})
judge = BOOK.judge


# Verdicts ----------------------------------------------------------------------------------------

def between(number, least, most):
    check(least <= int(number) <= most, "%s, and it took %d to %d" % (number, least, most))


def entries(one):
    """Return {key: (count, sum, smallest, largest)} for an aggregation with one number as its key."""
    return {entry.keys[0]: (entry.count, *entry.summary) for entry in one.entries}


for question in ("Which calls does a function get, with which arguments?", "Which calls of a library's function fail, and why?",
                 "Which values do local variables have at a line?", "Which value does a thread's own variable have?",
                 "Which functions of a plug-in are called?", "What does a program do in one container only?",
                 "Which methods are called, with which strings?", "Which class does a base pointer point to?",
                 "Which exceptions are thrown?", "Who starts threads?", "Which commands are typed into shells?"):
    judge(question)(rows_of_others)


@judge("What does a function return, and how long does it take?")
def returned(recipe, pid, fact):
    server, calls = fact
    rows = of(recipe.rows(), server)
    equal([row[:2] for row in rows], [[str(number), str(result)] for number, result, _ in calls])
    for (_, _, latency), (_, _, most) in zip(rows, calls):
        between(latency, 1, most)


@judge("How long do calls take, by an argument?")
def durations(recipe, pid, facts):
    one, = recipe.aggregations()
    found = entries(one)
    for milliseconds, least, most, times in facts:
        equal(found[milliseconds][0], times)
        between(found[milliseconds][1], least, most)


@judge("How long do the calls of a library's function take?")
def library_durations(recipe, pid, fact):
    name, times, least, most = fact
    entry = entry_of(*recipe.aggregations(), name)
    equal(entry.count, times)
    between(entry.summary[0], least, most)
    equal(sum(entry.buckets.values()), times)


@judge("Where is an inlined function run?")
def inlined(recipe, pid, fact):
    server, *wanted = fact
    found = [of(recipe.rows(i), server) for i in range(len(recipe.numbers))]
    equal(sorted(found), sorted([[str(cell) for cell in row] for row in rows] for rows in wanted))


@judge("How many calls does each thread make?")
def calls_of_threads(recipe, pid, facts):
    found = entries(*recipe.aggregations())
    equal({thread: found[thread][0] for thread, _ in facts}, dict(facts))


@judge("Where does a request go, over threads?")
def request(recipe, pid, fact):
    first, second, number = fact
    rows = sorted((front["time"], int(front["pid"]), *cells) for i in range(2) for front, cells in recipe.rows(i))
    equal([row[1:] for row in rows], [(first, str(number)), (second, str(number))])


@judge("What happens in the kernel during a call?")
def below(recipe, pid, fact):
    server, path = fact
    call, enters, leaves, inside = (recipe.rows(i) for i in range(4))
    began, = (front["time"] for front, _ in call if int(front["pid"]) == server)
    after = [[front["time"] for front, _ in rows if int(front["pid"]) == server and front["time"] > began]
             for rows in (enters, inside, leaves)]
    equal([len(times) for times in after], [1, 1, 1])
    check(after[0] < after[1] < after[2], str(after))
    names = [cells for front, cells in inside if int(front["pid"]) == server and front["time"] > began]
    equal(names, [[path]])


@judge("What do a vector and a map contain?")
def containers(recipe, pid, fact):
    server, orders = fact
    cmd("gtp lib /usr/lib/x86_64-linux-gnu/libstdc++.so.6")  # makes GDB load the pretty-printers, as the page says
    seen = []
    for _ in orders + ["apple, in another recipe"]:
        cmd("tfind tracepoint %d" % recipe.numbers[0])
        if number("$trace_frame") >= 0 and number("$current_task_pid") == server:
            seen.append([cmd("output " + text) for text in ("order.name", "order.items", "order.prices._M_t._M_impl._M_node_count")])
    equal(seen, [['"%s"' % name, "std::vector of length %d, capacity %d = {%s}" % (
        len(items), 4 if len(items) < 5 else 8, ", ".join(map(str, items))), str(prices)] for name, items, prices in orders])


@judge("Which instantiations of a template are called?")
def instantiations(recipe, pid, fact):
    server, number, kinds = fact
    equal([of(recipe.rows(i), server) for i in range(len(recipe.numbers))], [[[str(number)]]] * len(kinds))
    text = cmd("info tracepoints")
    equal(sorted(re.findall(r" in twice<(\w+)>\(", text)), kinds)


@judge("Who allocates much memory at once?")
def allocates(recipe, pid, fact):
    name, least = fact
    entry = entry_of(*recipe.aggregations(), name)
    between(entry.summary[0], least, least + 100000)


@judge("From where does a program allocate memory?")
def allocates_from(recipe, pid, fact):
    wanted, functions = fact
    stacks = [(names, weight) for names, weight in recipe.folded() if any(name.startswith("fill") for name in names)]
    note(*("%d %s" % (weight, ";".join(names)) for names, weight in stacks))
    (names, weight), = stacks
    equal(weight, wanted)
    equal([re.sub(r"\(.*", "", name) for name in names[-3:]], functions + ["malloc@plt"])


@judge("Who holds a mutex that others want?")
def holds(recipe, pid, fact):
    thread, name, mutex, holder = fact
    equal(of(recipe.rows(), thread), [[name, str(mutex), str(holder)]])


@judge("How long do threads wait for a mutex?")
def waits_for(recipe, pid, fact):
    thread, name, mutex, least, most = fact
    (*who, latency), = of(recipe.rows(), thread)
    equal(who, [name, str(mutex)])
    between(latency, least, most)


@judge("Which names are looked up, and how long does it take?")
def looks_up(recipe, pid, fact):
    name, hosts, most = fact
    rows = of(recipe.rows(), pid)
    equal([(row[0], row[2]) for row in rows], [(name, host) for host in hosts])
    between(sum(int(row[1]) for row in rows), 1, most)


def of_all(recipe, pid):
    """Return the rows that belong to the process, from all tracepoints of a recipe."""
    return [row for i, one in enumerate(recipe.numbers) if hits(one) for row in of(recipe.rows(i), pid)]


def begins(cell, text):
    """Return whether a cell shows a text. If the text does not end with a NUL, the cell may go on with other memory."""
    return cell.startswith(text.split("\0")[0]) and ("\0" not in text or cell == text[:-1])


@judge("What is written, before it is encrypted?")
def writes(recipe, pid, fact):
    rows = of_all(recipe, pid)
    equal([row[:2] for row in rows], [[name, str(length)] for name, length, _ in fact])
    check(all(begins(row[2], text) for row, (_, _, text) in zip(rows, fact)), str(rows))


@judge("What is read, after it is decrypted?")
def reads(recipe, pid, fact):
    name, texts, most = fact
    rows = of_all(recipe, pid)
    equal([row[0] for row in rows], [name] * len(texts))
    check(all(begins(row[2], text) for row, text in zip(rows, texts)), str(rows))
    between(sum(int(row[1]) for row in rows), 1, most)


@judge("How long do TLS reads and writes take?")
def talks(recipe, pid, fact):
    name, most = fact
    entry = entry_of(*recipe.aggregations(), name)
    equal(entry.count, 2 * len(SAID))
    between(entry.summary[0], 1, most)


@judge("Who begins TLS connections, and how often?")
def handshakes(recipe, pid, fact):
    name, times = fact
    equal(entry_of(*recipe.aggregations(), name).count, times)


@judge("Which SQL is run by SQLite?")
def queries(recipe, pid, fact):
    # SQLite also reads its own schema.
    exactly([row for row in recipe.rows() if "sqlite_master" not in row[1][1]], pid, fact)


@judge("What do Python programs do?")
def audits(recipe, pid, fact):
    process, event = fact
    names = [row[0] for row in of(recipe.rows(), process)]
    equal(names.count(event), 1)
    check("compile" in names and "exec" in names, str(names))


BOOK.tests(least=30)



# Names and variables of C++ -----------------------------------------------------------------------

SERVER = BUILT + "/myserver"


@test("a pattern matches names of C++, and gtp collect and gtp count apply to all places; a std::string is its text")
def cpp():
    fresh()
    cmd("set default-collect")
    first = matches(r"^Tracepoints (\d+)-\d+: 2 of 2 functions that match 'Shop::\*'", cmd("gtp trace -x %s 'Shop::*'" % SERVER)).group(1)
    matches("collected at tracepoints", cmd("gtp collect $current_task_pid, this->sold"))
    cmd("gtp count")
    nums = [int(re.search(r"Tracepoint (\d+)", cmd("gtp trace -x %s Shop::refund if %s" % (SERVER, text))).group(1)) for text in
            ('name == "tangerine"', '"fig" != name', '$_strprefix(name, "tan")', 'name == "tangerin"', "name._M_string_length == 3")]
    matches("no function of .* matches Shop::x", refused("gtp trace -x %s 'Shop::x*'" % SERVER))
    with running_program(SERVER) as one:
        cmd("tstart")
        one("order apple 3 2")
        for name in ("tangerine", "fig", "tangerinetangerine"):
            one("refund " + name)
        cmd("tstop")
    equal([hits(num) for num in nums], [1, 2, 2, 0, 1])
    both = cmd("gtp table %s" % first) + cmd("gtp table %d" % (int(first) + 1))
    equal(sorted(map(int, re.findall(r"^ +\d+ +%d +(-?\d+)$" % one.pid, both, re.M))), [6 - 9 - 3, 6 - 9, 0, 6])
    matches(r"\b4\b", cmd("gtp show"))


@test("thread-local variables in conditions, in each thread its own; elsewhere than in their file they are refused")
def thread_local():
    fresh()
    nums = [int(re.search(r"Tracepoint (\d+)", cmd("gtp trace -x %s handle_request if %s" % (SERVER, text))).group(1)) for text in
            ("served == 2", "served % 2 == 0 && size == 2", "&served == 0")]
    matches("served is a thread-local variable of another file", refused("gtp trace vfs_read if served > 1"))
    libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
    matches("served is a thread-local variable of another file", refused("gtp trace -x %s usleep if served > 1" % libc))
    with running_program(SERVER) as one:
        cmd("tstart")
        for calls in (5, 2, 3):
            one("clerk %d" % calls)
        cmd("tstop")
    equal([hits(num) for num in nums], [2, 2, 0])


run(before=BOOK.before)
