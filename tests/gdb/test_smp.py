# SPDX-License-Identifier: GPL-2.0-only
# GDB inside the guest: these tests need CPUs that run in parallel, and little of GDB.
# Tests that counts are exact on many CPUs: every call must be a hit, a nested hit or a missed hit.
import sys

from lib import *
from others import looped, mechanism

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.run import aggregations

ROUNDS = 20000

def exact(nums, made):
    """Check that each call was a hit, a nested hit or a missed hit, by adding up the counts of all tracepoints."""
    found = {name: hits(num) for name, num in nums.items()}
    lost = nested() + missed()
    note("calls %s, hits %s, nested %d, missed %d" % (made, found, nested(), missed()))
    for name, count in found.items():
        check(count <= made[name], "%s: more hits than calls" % name)
    equal(sum(found.values()) + lost, sum(made[name] for name in nums), "hits + nested + missed")


@test("all CPUs are here")
def cpus():
    note("%d CPUs" % CPUS)
    check(CPUS >= 2, "one CPU proves nothing")


@test("one function, no action: hits + nested + missed is the number of calls")
def plain():
    cmd("set circular-trace-buffer on")
    nums = {"leaf": trace("gtp_target_leaf")}
    cmd("tstart")
    made = looped("leaf", ROUNDS)
    cmd("tstop")
    equal(made["leaf"], ROUNDS * CPUS)
    exact(nums, made)


@test("a condition that holds for every tenth call")
def condition():
    nums = {"leaf": trace("gtp_target_leaf if n % 10 == 0")}
    cmd("set circular-trace-buffer on")
    cmd("tstart")
    made = looped("leaf", ROUNDS)
    cmd("tstop")
    if nested() + missed() == 0:
        equal(hits(nums["leaf"]), made["leaf"] // 10)
    check(hits(nums["leaf"]) <= made["leaf"] // 10, "too many hits")
    check(hits(nums["leaf"]) + nested() + missed() >= made["leaf"] // 10, "too few hits")


@test("$n = $n + 1 loses no update between the CPUs")
def variable():
    cmd("tvariable $n")
    cmd("set circular-trace-buffer on")
    num = trace("gtp_target_leaf", "teval $n = $n + 1")
    cmd("tstart")
    made = looped("leaf", ROUNDS)
    cmd("tstop")
    equal(number("$n"), hits(num))
    exact({"leaf": num}, made)


@test("a condition that adds sees each sum once: exactly every tenth call of all CPUs")
def sum_in_condition():
    cmd("tvariable $n")
    cmd("set circular-trace-buffer on")
    num = trace("gtp_target_leaf if ($n = $n + 1) % 10 == 0")
    cmd("tstart")
    made = looped("leaf", ROUNDS)
    cmd("tstop")
    equal(hits(num), number("$n") // 10)
    equal(number("$n") + nested() + missed(), made["leaf"])


@test("a variable that is also set in another way takes the lock everywhere, and loses no update")
def variable_locked():
    cmd("tvariable $n")
    cmd("tvariable $last")
    cmd("set circular-trace-buffer on")
    nums = [trace("gtp_target_leaf", "teval $n = $n + 1"),
            trace("gtp_target_leaf", "teval $last = ($n = $n + 1)")]
    cmd("tstart")
    made = looped("leaf", ROUNDS)
    cmd("tstop")
    equal(number("$n"), sum(map(hits, nums)))
    equal(hits(nums[0]) + nested() + missed(), made["leaf"])
    check(number("$n") - number("$last") < CPUS, "$n %d, $last %d" % (number("$n"), number("$last")))


@test("a variable that all CPUs write: each write is a hit of its watchpoint, and none is lost")
def watched():
    cmd("set circular-trace-buffer on")
    num = int(matches(r"Tracepoint (\d+)", cmd("gtp watch gtp_target_watched[0]")).group(1))
    cmd("gtp count by $cpu_id")
    cmd("tstart")
    before = calls("watch")
    target("loop watch %d" % (ROUNDS // 10))
    made = calls("watch") - before
    cmd("tstop")
    equal(made, ROUNDS // 10 * CPUS)
    equal((hits(num), nested(), missed()), (made, 0, 0))
    each = [int(n) for n in re.findall(r"^ *\d+ +(\d+)", cmd("gtp show"), re.M)]
    equal(each, [ROUNDS // 10] * CPUS)


@test("three functions and interrupts at once: exact sums, interrupts included")
def mixed():
    cmd("set circular-trace-buffer on")
    nums = {"leaf": trace("gtp_target_leaf", "collect n"),
            "add": trace("gtp_target_add", "collect a, b"),
            "obj": trace("gtp_target_obj", "collect *o"),
            "irq": trace("gtp_target_irq", "collect n")}
    cmd("tstart")
    made = looped("mix", ROUNDS // 4)
    cmd("tstop")
    check(made["irq"] > 0, "no interrupt")
    exact(nums, made)


@test("$n = $n + 1 in interrupts and outside of them loses no update")
def variable_interrupts():
    cmd("tvariable $n")
    cmd("set circular-trace-buffer on")
    nums = {name: trace("gtp_target_" + name, "teval $n = $n + 1")
            for name in ("leaf", "add", "obj", "irq")}
    cmd("tstart")
    made = looped("mix", ROUNDS // 4)
    cmd("tstop")
    equal(number("$n"), sum(hits(num) for num in nums.values()))
    exact(nums, made)


@test("updates by a key, by the stack, and at returns, with interrupts: each hit is one update, on each CPU")
def updates():
    for name in ("key_digit", "count_leaf", "key_stack", "count_obj", "key_cpu", "hist_add"):
        cmd("tvariable $" + name)
    nums = {"leaf": trace("gtp_target_leaf", "teval $key_digit = n % 10", "teval $count_leaf = 1"),
            "obj": trace("gtp_target_obj", "teval $key_stack = $kstack", "teval $count_obj = 1"),
            "add": trace("*gtp_target_add", "teval $key_cpu = $cpu_id", "teval $hist_add = $latency")}
    cmd("tstart")
    equal(mechanism(nums["add"]), "jump, follows the call")
    made = looped("mix", ROUNDS // 4)
    cmd("tstop")
    found = {one.name.rpartition("_")[2]: one for one in aggregations.read().all}
    for name, num in nums.items():
        equal(found[name].noroom, [], name)
        equal(sum(entry.count for entry in found[name].entries), hits(num), name)
    exact(nums, made)
    equal(sorted(entry.keys for entry in found["leaf"].entries), [[i] for i in range(10)])
    equal(sorted(entry.keys for entry in found["add"].entries), [[i] for i in range(CPUS)])
    check(all(sum(entry.buckets.values()) == entry.count for entry in found["add"].entries), "a bucket lacks some")


@test("pairs: each start and end is counted once, and each end has the values of its own start, from any CPU")
def pairs():
    for name in ("pair_kept_n", "pair_start_p", "pair_end_p", "pair_since_p", "key_less", "count_p"):
        cmd("tvariable $" + name)
    trace("gtp_target_begin", "teval $pair_kept_n = (long)number", "teval $pair_start_p = (long)t")
    trace("gtp_target_finish", "teval $pair_end_p = (long)t", "teval $key_less = (long)($pair_kept_n - number)", "teval $count_p = 1")
    before = fixture()
    cmd("tstart")
    target("loop pair %d" % ROUNDS)
    cmd("tstop")
    after = fixture()
    reading = aggregations.read()
    pair, = reading.pairs.all
    counts, lost = pair.counts, nested() + missed()
    note(counts, len(pair.unfinished), "lost", lost)
    made = [after[name] - before[name] for name in ("begin", "finish")]
    equal(made[0], ROUNDS * CPUS)
    equal(counts["started"], counts["ended"] + counts["restarted"] + counts["no_room"] + counts["start_gave_up"] + len(pair.unfinished))
    equal(counts["started"] + counts["ended"] + counts["no_start"] + counts["end_gave_up"] + lost, sum(made))
    count, = reading.all
    equal(sum(entry.count for entry in count.entries + count.noroom), counts["ended"])
    if not lost and not counts["start_gave_up"] and not counts["end_gave_up"]:
        equal([(entry.keys, entry.count) for entry in count.entries], [([0], counts["ended"])])
        equal(counts["no_start"], before["begin"] - before["finish"], "ends of what was begun before")


@test("every kept frame is complete and correct, from all CPUs, in the order of time")
def whole():
    cmd("set trace-buffer-size %d" % (CPUS * 8192))
    cmd("set circular-trace-buffer on")
    trace("gtp_target_obj", "collect *o, n, $clock, $cpu_id")
    cmd("tstart")
    looped("obj", ROUNDS // 4)
    cmd("tstop")
    rows = collected("n", "o->id", "o->values[2]", "$clock", "$cpu_id")
    check(len(rows) > CPUS * 10, "%d frames" % len(rows))
    check(all(row[1] == 100 + row[0] and row[2] == row[0] * 10 + 2 for row in rows), "a frame lies")
    times = [row[3] for row in rows]
    equal(times, sorted(times))
    equal({row[4] for row in rows}, set(range(CPUS)))


@test("a passcount for which all CPUs race is reached exactly")
def passcount():
    num = trace("gtp_target_leaf", passcount=1000)
    cmd("tstart")
    looped("leaf", ROUNDS // 4)
    matches("stopped by tracepoint %d" % num, cmd("tstatus"))
    equal(hits(num), 1000)


@test("a kernel tracepoint, with its record: the hits are the calls")
def event():
    cmd("set circular-trace-buffer on")
    # Use the marker's address, which has the same effect, because strace crashes this GDB.
    every = trace("*__traceiter_gtp_target_count", "collect n, $_sdata")
    tenth = trace("*__traceiter_gtp_target_count if n % 10 == 0", "collect n")
    before = fixture()["event"]
    cmd("tstart")
    target("loop event %d" % ROUNDS)
    cmd("tstop")
    made = fixture()["event"] - before
    equal(made, ROUNDS * CPUS)
    note("%d hits on %d CPUs" % (made, CPUS))
    equal((hits(every), hits(tenth), nested() + missed()), (made, made // 10, 0))
    check("no $_sdata" not in cmd("monitor status"), "a hit without a record")


run()
