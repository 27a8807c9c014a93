# SPDX-License-Identifier: GPL-2.0-only
# Tests pairs: what one place begins and another ends, by a key, on any CPU. The fixture counts the calls of both places, and
# measures the times between them by its own clock; the scheduler counts how often a task has run and has waited.
import collections
import contextlib
import os
import subprocess
import sys

from lib import *
from others import without

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.run import aggregations, kstack

SCRATCH = scratch()
ROUNDS = 3000
MS = 10**6
FROM_TO = "from gtp_target_begin on t keep n = number to gtp_target_finish on t"


def define(line):
    """Give a command of gtp's. Return the numbers of the tracepoints that it has made, in their order."""
    before = set(tracepoints())
    cmd("gtp " + line)
    return sorted(set(tracepoints()) - before)


def tracepoints():
    return [int(n) for n in re.findall(r"^(\d+)\s", cmd("info tracepoints"), re.M)]


class Calls:
    """The calls of the fixture from now on. at_first: the number of things that were begun before."""

    def __init__(self):
        self.before = fixture()
        self.at_first = self.before["begin"] - self.before["finish"]

    def __getitem__(self, name):
        return fixture()[name] - self.before[name]


def reading():
    """Return the only pair and the aggregations by name."""
    found = aggregations.read()
    equal(len(found.pairs.all), 1, "pairs")
    return found.pairs.all[0], found.named


def accounted(pair):
    """Check that each start and each end is in exactly one counter."""
    counts = pair.counts
    equal(pair.unread, [0])
    equal(counts["started"], counts["ended"] + counts["restarted"] + counts["no_room"] + counts["start_gave_up"] +
          len(pair.unfinished), "where the starts are")
    return counts["ended"] + counts["no_start"] + counts["end_gave_up"]


def all_seen(pair, calls):
    """Check that each call was a start or an end of the pair, or was nested or missed. Return the number of the last two."""
    lost = nested() + missed()
    ends = accounted(pair)
    equal(pair.counts["started"] + ends + lost, calls["begin"] + calls["finish"], "starts, ends, nested and missed")
    note("calls %d and %d, %s, lost %d" % (calls["begin"], calls["finish"], pair.counts, lost))
    return lost


def looped_pairs(*command):
    """Trace the fixture's loop, which begins and finishes things on all CPUs, by gtp count. Return the pair, the counts by the
    number that the start has kept, less the number that the end sees, and the Calls."""
    define("count by n - number " + FROM_TO)
    for line in command:
        cmd(line)
    calls = Calls()
    cmd("tstart")
    target("loop pair %d" % ROUNDS)
    cmd("tstop")
    pair, named = reading()
    count = next(iter(named.values()))
    equal(count.noroom, [])
    return pair, {entry.keys[0]: entry.count for entry in count.entries}, calls


@test("things that are begun and finished on all CPUs at once: each end has the values of its own start")
def exact():
    pair, found, calls = looped_pairs()
    lost = all_seen(pair, calls)
    if not lost:
        equal(found, {0: pair.counts["ended"]}, "the number at the start less the number at the end")
        equal(pair.counts["no_start"], calls.at_first, "ends of things that were begun before the run")
        equal(pair.counts["restarted"], 0)
        equal(len(pair.unfinished), fixture()["begin"] - fixture()["finish"])
    check(pair.counts["ended"] > calls["finish"] // 2, "few ends")


@test("the same without jumps, without machine code, and without both")
def other_ways():
    for off in (("jit",), ("jumps",), ("jumps", "jit")):
        with without(*off):
            pair, found, calls = looped_pairs()
            if not all_seen(pair, calls):
                equal(found, {0: pair.counts["ended"]}, "without " + " and ".join(off))
        fresh()


@test("a table that is full: all starts and ends are counted, and no end has the values of another start")
def full():
    cmd("monitor pair-entries 1")
    try:
        pair, found, calls = looped_pairs()
    finally:
        cmd("monitor pair-entries 4096")
    all_seen(pair, calls)
    check(pair.counts["no_room"] > 0, "nothing found no room")
    cmd("gtp report -o %s/pairs.html" % SCRATCH)
    with open(SCRATCH + "/pairs.html", encoding="utf-8") as file:
        check("pair %s: %d starts found no room" % (pair.name, pair.counts["no_room"]) in file.read(), "the page does not say so")
    check(len(pair.unfinished) <= 14, "%d starts in two buckets of seven" % len(pair.unfinished))
    if nested() + missed() == 0:
        equal(set(found), {0}, "the number at the start less the number at the end")


@test("the times are those that the fixture has measured")
def times():
    define("sum $since from gtp_target_begin on t to gtp_target_finish on t")
    cmd("tstart")
    for n in range(8):
        target("call begin %d" % n)
    calls = Calls()
    for n in range(8):
        target("call finish %d" % n)
    cmd("tstop")
    pair, named = reading()
    equal((pair.counts["started"], pair.counts["ended"]), (8, 8))
    entry, = named["sum_since"].entries
    inner, outer = calls["value pair_inner"], calls["value pair_outer"]
    slack = outer // 200  # the fixture's clock and gdbtp's do not tick alike
    note("between %d and %d ns: %d" % (inner, outer, entry.summary[0]))
    check(inner - slack <= entry.summary[0] <= outer + slack, "%d ns" % entry.summary[0])


@test("a thing that is begun twice: the last start counts; an end without a start updates nothing")
def restarted():
    define("count by n - number " + FROM_TO)
    cmd("tstart")
    for line in ("begin 1", "begin 1", "begin 2", "finish 1", "finish 1", "finish 3"):
        target("call " + line)
    pair, named = reading()
    equal(accounted(pair), 3)
    counts = {"started": 3, "ended": 1, "restarted": 1, "no_room": 0, "start_gave_up": 0, "no_start": 2, "end_gave_up": 0}
    equal(pair.counts, counts)
    entry, = next(iter(named.values())).entries
    equal((entry.keys, entry.count), ([0], 1))
    start, = pair.unfinished
    text = cmd("gtp show")
    for line in ("pair .*: 3 started, 1 ended, 1 without an end$", "^1 started again before they ended", "^2 ends had no start$",
                 r"^ +1  n %d$" % start.kept[0]):
        check(re.search(line, text, re.M), line + " is not in:\n" + text)
    cmd("tstop")
    equal(reading()[0].counts, counts, "after tstop")
    cmd("tstart")
    pair, _ = reading()
    equal((set(pair.counts.values()), pair.unfinished), ({0}, []), "after the next tstart")
    target("call finish 2")
    equal(reading()[0].counts["no_start"], 1, "a start of the last run is forgotten")


@test("gtp show --clear and gtp clear leave the starts where they are")
def cleared():
    define("count " + FROM_TO)
    cmd("tstart")
    target("call begin 1")
    cmd("gtp show --clear")
    cmd("gtp clear")
    target("call finish 1")
    pair, named = reading()
    equal(pair.counts["ended"], 1)
    equal(next(iter(named.values())).entries[0].count, 1)


@test("a condition at the start, and one at the end that names what was kept")
def conditions():
    define("count by n - number from gtp_target_begin on t if number % 2 == 0 keep n = number to gtp_target_finish on t "
        "if n % 4 == 0 && $since > 0")
    calls = Calls()
    cmd("tstart")
    for _ in range(12):
        target("call begin 1")
        target("call finish 1")
    pair, named = reading()
    equal((calls["begin"], calls["finish"]), (12, 12))
    equal(pair.counts["started"], 6)
    equal(pair.counts["ended"], 6, "an end removes its start even if its condition does not hold")
    equal(pair.counts["no_start"], 6)
    equal([(entry.keys, entry.count) for entry in next(iter(named.values())).entries], [([0], 3)])


@test("a condition at the end that names nothing of the start says which hits are ends")
def other_conditions():
    define("count from gtp_target_begin on t to gtp_target_finish on t if number % 3 == 0")
    cmd("tstart")
    for _ in range(12):
        target("call begin 1")
        target("call finish 1")
    pair, named = reading()
    counts = pair.counts
    equal((counts["started"], counts["ended"], counts["no_start"]), (12, 4, 0))
    equal(counts["restarted"] + len(pair.unfinished), 8)
    equal([entry.count for entry in next(iter(named.values())).entries], [4])


@test("one place can be the start and the end: by other keys, or if a call and its return are meant")
def same_place():
    for line in ("from gtp_target_begin on t if number % 2 == 0 to gtp_target_begin on t if number % 2 == 1",
                 "from gtp_target_begin on number to gtp_target_begin on number - 1"):
        define("count " + line)
        cmd("tstart")
        for _ in range(8):
            target("call begin 1")
        cmd("tstop")
        pair, _ = reading()
        check(pair.counts["ended"] >= 3, "%s: %s" % (line, pair.counts))
        fresh()
    define("count from gtp_target_begin on t to return of gtp_target_begin on t")
    cmd("tstart")
    target("call begin 1")
    cmd("tstop")
    equal(reading()[0].counts["ended"], 1)


@test("an int and an unsigned int are the same key if C's == says so")
def signs():
    define("count from gtp_target_begin on -(int)number to gtp_target_finish on -(unsigned int)number")
    cmd("tstart")
    for line in ("begin 1", "finish 1", "begin 2", "finish 2"):
        target("call " + line)
    cmd("tstop")
    pair, _ = reading()
    equal((pair.counts["started"], pair.counts["ended"]), (2, 2))


@test("an end can also leave frames: of the ends without a start they contain nothing")
def frames_of_ends():
    _, end = define("hist $since " + FROM_TO)
    cmd("gtp collect $since, n")
    cmd("tstart")
    for line in ("begin 1", "finish 1", "finish 1"):
        target("call " + line)
    cmd("tstop")
    pair, _ = reading()
    equal((pair.counts["ended"], pair.counts["no_start"]), (1, 1))
    equal(hits(end), 2)
    table = cmd("gtp table")
    equal(len(list(frames())), 2, table)
    cmd("tfind 0")
    check(number("$pair_since_gtp_target_begin_gtp_target_finish") > 0, table)
    cmd("tfind 1")
    refused("print $pair_since_gtp_target_begin_gtp_target_finish + 0")


# Four uses ---------------------------------------------------------------------------------------

def disk():
    """Return the name of a disk in the traced machine's memory."""
    driver = "/sys/bus/pseudo/drivers/scsi_debug"
    if not shell()("modprobe -n sd_mod 2>/dev/null && modprobe -n scsi_debug 2>/dev/null && echo there || true"):
        skip("this kernel has no module for a disk in memory")
    shell()("[ -d %s ] || { modprobe sd_mod && modprobe scsi_debug dev_size_mb=32 delay=0; }" % driver)
    return until(lambda: shell()("ls %s/adapter0/host*/target*/*/block 2>/dev/null || true" % driver).strip(), "the disk")


def reads_of(name):
    """Return the number of completed reads of a disk, and the milliseconds that they took, as the kernel counts."""
    row = re.search(r" %s (\d+) \d+ \d+ (\d+) " % name, shell()("cat /proc/diskstats"))
    return int(row.group(1)), int(row.group(2))


@test("from the issue of a request to its completion: the number and the time are the disk's own")
def requests():
    name = disk()
    until(lambda: shell()("test -b /dev/%s && echo yes || true" % name), "the device")
    shell()("dd if=/dev/%s of=/dev/null bs=4096 count=1 iflag=direct status=none" % name)  # the partitions are read
    # With $self_trace, completions count even if they interrupt a task of GDB's.
    define("hist $since by rq->q->disk->disk_name from block:block_rq_issue on rq if $self_trace "
           "to block:block_rq_complete on rq if $self_trace")
    before = reads_of(name)
    cmd("tstart")
    shell()("dd if=/dev/%s of=/dev/null bs=4096 count=50 iflag=direct status=none" % name)
    cmd("tstop")
    after = reads_of(name)
    pair, named = reading()
    accounted(pair)
    found = {entry.keys[0].to_bytes(8, "little").rstrip(b"\0").decode(): entry for entry in named["hist_since"].entries}
    note("diskstats %s to %s; traced %s" % (before, after, found))
    equal(found[name].count, after[0] - before[0], "requests")
    check(found[name].count >= 50, "fewer than were made")
    check(found[name].summary[0] // MS <= after[1] - before[1] + found[name].count, "longer than the disk says")


@test("from mutex_lock()'s return to mutex_unlock(), by the mutex: the time for which the fixture held it")
def mutexes():
    need_mutex_lock()
    define("hist $since from return of *mutex_lock on lock if lock == &gtp_target_guard to *mutex_unlock on lock "
        "if lock == &gtp_target_guard")
    cmd("tstart")
    held = []
    for ms in (20, 60):
        target("call guarded %d" % ms)
        held.append(fixture()["value guarded"])
    cmd("tstop")
    pair, named = reading()
    entry, = named["hist_since"].entries
    note("held %s, traced %s" % (held, entry.summary))
    equal((pair.counts["started"], pair.counts["ended"], entry.count), (2, 2, 2))
    for got, wanted in zip(sorted(entry.summary[1:]), sorted(held)):
        check(wanted - wanted // 100 <= got < wanted + 20 * MS, "%d ns, and the fixture held it for %d" % (got, wanted))


SLEEPS = 30
SLEEPER = "import os, time\nprint(os.getpid(), flush=True)\ninput()\nfor _ in range(%d): time.sleep(0.001)\nprint('slept', flush=True)\ninput()" % SLEEPS
ON_ONE = ["taskset", "-c", "0"]


@contextlib.contextmanager
def sleeping():
    """Context manager: a task that waits to be told to sleep again and again, on a CPU that another task keeps busy."""
    task = there.popen([*ON_ONE, "nice", "-n", "10", "python3", "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       text=True)
    pid = int(task.stdout.readline())
    busy = there.popen([*ON_ONE, "sh", "-c", "echo $$; while :; do :; done"], stdout=subprocess.PIPE, text=True)
    spinning = int(busy.stdout.readline())
    try:
        yield task, pid
    finally:
        shell()("kill -KILL %d" % spinning)
        task.communicate("\n\n")
        busy.wait()


class Ftrace:
    """The scheduler's events of a task, as the kernel's own tracer records them in an instance of this name."""

    def __init__(self, name, pid):
        self.at = os.path.join(TRACING, "instances", name)
        self.pid = pid

    def __enter__(self):
        script = "mkdir %s && cd %s" % (self.at, self.at)
        for event, field in (("sched_wakeup", "pid"), ("sched_switch", "next_pid")):
            script += " && echo '%s == %d' >events/sched/%s/filter && echo 1 >events/sched/%s/enable" % (field, self.pid, event, event)
        shell()(script)
        return self

    def __exit__(self, *_):
        shell()("echo 0 >%s/events/enable; rmdir %s" % (self.at, self.at))

    def waits(self):
        """Return the times in ns of each wake-up that a switch follows, and of that switch."""
        shell()("echo 0 >%s/tracing_on" % self.at)
        woken, found = None, []
        for time_, event in re.findall(r" (\d+\.\d+): (sched_\w+):", shell()("cat %s/trace" % self.at)):
            now = int(time_.replace(".", "")) * 1000
            if event == "sched_wakeup":
                woken = now
            elif woken is not None:
                found.append((woken, now))
                woken = None
        return found


@test("from wake-up to switch, by task: the number and the time are those of the kernel's own tracer")
def wake_ups():
    with sleeping() as (task, pid):
        state = "cut -d' ' -f3 /proc/%d/stat" % pid
        until(lambda: shell()(state).strip() == "S", "the sleeper waits")
        define("hist $since from sched:sched_wakeup on p if p->pid == {0} && $self_trace to sched:sched_switch on next "
               "if next->pid == {0} && $self_trace".format(pid))
        # The kernel calls the tracers of an event in the order in which they came. So each time of gdbtp's is between one
        # of the instance before it and one of the instance after it, however long the CPU stands still meanwhile.
        with Ftrace("gtp_before", pid) as before:
            cmd("tstart")
            with Ftrace("gtp_after", pid) as after:
                task.stdin.write("\n")
                task.stdin.flush()
                equal(task.stdout.readline(), "slept\n")
                waits = list(zip(before.waits(), after.waits(), strict=True))
            cmd("tstop")
    pair, named = reading()
    accounted(pair)
    entry, = named["hist_since"].entries
    least = sum(switched - woken for (_, switched), (woken, _) in waits)
    most = sum(switched - woken for (woken, _), (_, switched) in waits)
    note("ftrace: %d, %d to %d ns; traced %d, %s; no start %d" % (
        len(waits), least, most, entry.count, entry.summary, pair.counts["no_start"]))
    # If the other task gets the CPU before the sleeper blocks, the sleeper may be awake again before it sleeps.
    check(len(waits) > SLEEPS // 2, "far fewer wake-ups than sleeps")
    equal(entry.count, len(waits), "wake-ups")
    # The kernel's tracer rounds to microseconds, and the two clocks may differ by 0.05 %.
    inexact = 2000 * len(waits) + most // 2000
    check(least - inexact <= entry.summary[0] <= most + inexact, "the times")


@test("from allocation to free, by pointer: what was not freed, by the stack that allocated it")
def leaks():
    define("sum size from kmem:kmalloc on ptr keep stack = $kstack, size = bytes_req to kmem:kfree on ptr")
    cmd("monitor pair-entries 65536")
    cmd("tstart")
    target("call leak 300")
    target("call unleak 120")
    pair, _ = reading()
    cmd("tstop")
    text = cmd("gtp show --top 1000")
    path = scratch() + "/leaks.tf"
    cmd("gtp save " + path)
    disconnect()
    cmd("target tfile " + path)
    in_file = cmd("gtp show --top 1000")
    merged = cmd("gtp merge " + path)
    connect()
    os.unlink(path)
    equal(in_file, text, "gtp show of the saved file")
    matches(r"^\$sum_size: sum of size from kmem:kmalloc to kmem:kfree\n\d+ \(n \d+\)$", merged)
    check("\nleft out: what the pairs of each run have counted, and what has not ended;" in merged, merged)
    target("call unleak 180")
    cmd("monitor pair-entries 4096")
    mine = [line for line in text.splitlines() if "gtp_target_leak" in line]
    equal(len(mine), 1, text)
    check(re.match(r" +180  stack .*gtp_target_leak.*, size 40$", mine[0]), mine[0])
    stacks = kstack.Stacks()
    sizes = collections.Counter(start.kept[1] for start in pair.unfinished if "gtp_target_leak" in stacks.names(start.kept[0]))
    equal(sizes, {40: 180})


# Refusals ----------------------------------------------------------------------------------------

@test("commands that make no sense are refused, and leave nothing defined")
def refusals():
    for line, why in (
            ("count from gtp_target_begin on t to gtp_target_finish", "say from A on KEY"),
            ("count from gtp_target_begin on t keep n to gtp_target_finish on t", "say keep NAME = EXPRESSION"),
            ("count from gtp_target_begin on t keep n = 1, n = 2 to gtp_target_finish on t", "n twice"),
            ("count from gtp_target_begin on t keep a = 1, b = 2, c = 3, d = 4, e = 5 to gtp_target_finish on t", "4 at most"),
            ("count from gtp_target_begin on t keep t = 1 to gtp_target_finish on t", "t is also a name at gtp_target_finish"),
            ("count from gtp_target_begin on t, number to gtp_target_finish on t", "a single key"),
            ("count from gtp_target_begin on current->comm to gtp_target_finish on t", "is an array"),
            ("count from gtp_target_begin on t to gtp_target_finish on nosuch", "nosuch"),
            ("count from gtp_target_begin on t to nosuch on t", "nosuch"),
            ("hist $since from gtp_target_begin on t to gtp_target_finish on t keep n = 1", "keep belongs to the start"),
            ("hist $since from gtp_target_begin on t to gtp_target_begin on t", "would end what it has just started"),
            ("count at gtp_target_begin from gtp_target_begin on t to gtp_target_finish on t", "either `at' or `from'"),
    ):
        told = refused("gtp " + line)
        check(why in told, "%s: %s" % (line, told))
        equal((tracepoints(), re.findall(r"^\$(pair_\w+)", cmd("info tvariables"), re.M)), ([], []), line)


run()
