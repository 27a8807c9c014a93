# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
# Tests aggregations: counts by number and by string must be exact on all CPUs, also if they are read and cleared during
# hits.
import collections
import sys

from lib import *
from others import looped, mechanism, without
from tap import seeded

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.run import aggregations
from gtp.text import plot

ROUNDS = 5000
NAMES = ["obj-%d" % i for i in range(4)]


def define(*names):
    for name in names:
        cmd("tvariable $" + name)


def only(clear=False):
    """Return the run's only aggregation, and the number of nested hits."""
    reading = aggregations.read(clear)
    equal(len(reading.all), 1, "aggregations")
    return reading.all[0], reading.nested


def counts(one):
    """Return {keys: count} of an aggregation that had room for all of them."""
    equal(one.noroom, [], "what found no room")
    return {tuple(entry.keys): entry.count for entry in one.entries}


def no_frames():
    check("Collected 0 trace frames" in cmd("tstatus"), cmd("tstatus"))


def every_call(num, one, made):
    """Check that each call was counted, nested, or missed, and that the sum over the keys is GDB's count."""
    total = sum(entry.count for entry in one.entries + one.noroom)
    equal(total, hits(num), "the sum over all keys and GDB's count of hits")
    equal(total + nested() + missed(), made, "counted + nested + missed")


def by_last_digit():
    """Count leaf's calls by n % 10 on all CPUs, and check that every key has its share."""
    num = trace("gtp_target_leaf", "teval $key_digit = n % 10", "teval $count_leaf = 1")
    cmd("tstart")
    how = mechanism(num)
    made = looped("leaf", ROUNDS)["leaf"]
    one, _ = only()
    every_call(num, one, made)
    found = counts(one)
    equal(sorted(found), [(i,) for i in range(10)], "keys")
    lost = nested() + missed()
    for key, count in found.items():
        check(made // 10 - lost <= count <= made // 10, "key %s: %d of %d" % (key, count, made // 10))
    cmd("tstop")
    equal(counts(only()[0]), found, "the counts after tstop")
    no_frames()
    cmd("delete %d" % num)
    return how


@test("a count by key is exact on all CPUs, and leaves no frame")
def exact():
    define("key_digit", "count_leaf")
    note("by", by_last_digit())


@test("the same on a kprobe, interpreted, and both")
def other_ways():
    define("key_digit", "count_leaf")
    for off in (("jit",), ("jumps",), ("jumps", "jit")):
        with without(*off):
            note("without", *off, "by", by_last_digit())


@test("without keys, with a condition: the count is GDB's count of hits")
def no_keys():
    define("count_leaf")
    num = trace("gtp_target_leaf if n % 7 == 3", "teval $count_leaf = 1")
    cmd("tstart")
    looped("leaf", ROUNDS)
    entry, = only()[0].entries
    equal(entry.count, hits(num))
    check(entry.count <= (ROUNDS + 3) // 7 * CPUS, "more than calls")
    check(entry.count + nested() + missed() >= ROUNDS // 7 * CPUS, "fewer than calls")
    cmd("tstop")
    no_frames()


@test("sum, min, max, stats and both histograms of known values")
def kinds():
    names = ("count_n", "sum_n", "min_n", "max_n", "stats_n", "hist_n", "lhist_n_10_60_20")
    define(*names)
    trace("gtp_target_leaf", *("teval $%s = (long)(n - 5)" % name for name in names))
    values = [n - 5 for n in (0, 3, 5, 6, 7, 12, 15, 40, 64, 65, 70, 1000)]
    cmd("tstart")
    for value_ in values:
        target("call leaf %d" % (value_ + 5))
    found = {one.name: one.entries[0] for one in aggregations.read().all}
    cmd("tstop")
    equal(sorted(found), sorted(names))
    for name, entry in found.items():
        equal(entry.count, len(values), name)
    summary = [sum(values), min(values), max(values)]
    for name, wanted in (("sum_n", summary[:1]), ("min_n", summary[1:2]), ("max_n", summary[2:]), ("count_n", []),
                         ("stats_n", summary), ("hist_n", summary), ("lhist_n_10_60_20", summary)):
        equal(found[name].summary, wanted, name)
    power = collections.Counter(0 if v < 0 else v.bit_length() + 1 for v in values)
    equal(found["hist_n"].buckets, dict(power), "powers of two")
    step = collections.Counter(0 if v < 10 else 4 if v >= 60 else 1 + (v - 10) // 20 for v in values)
    equal(found["lhist_n_10_60_20"].buckets, dict(step), "steps")


@test("a string as key is copied at the hit: counts by name")
def by_string():
    define("keystr_name", "count_obj")
    num = trace("gtp_target_obj", "teval $keystr_name = (long)&o->name[0]", "teval $count_obj = 1")
    cmd("tstart")
    made = looped("obj", ROUNDS)["obj"]
    one, _ = only()
    every_call(num, one, made)
    found = {(b << 64 | a).to_bytes(16, "little").rstrip(b"\0").decode(): n for (a, b), n in counts(one).items()}
    equal(sorted(found), NAMES)
    lost = nested() + missed()
    for name, count in found.items():
        check(made // 4 - lost <= count <= made // 4, "%s: %d of %d" % (name, count, made // 4))
    cmd("tstop")


@test("each update that is cleared while all CPUs count is in exactly one reading")
def cleared():
    define("key_digit", "hist_leaf")
    num = trace("gtp_target_leaf", "teval $key_digit = n % 10", "teval $hist_leaf = (long)n")
    cmd("tstart")
    before = fixture()["leaf"]
    calling = background("loop leaf %d" % (10 * ROUNDS))
    readings = 0
    total = collections.Counter()
    while calling.poll() is None:
        for keys, count in counts(only(True)[0]).items():
            total[keys] += count
        readings += 1
    for keys, count in counts(only(True)[0]).items():
        total[keys] += count
    equal(counts(only()[0]), {}, "what is left")
    made = fixture()["leaf"] - before
    note("%d calls, %d readings" % (made, readings))
    check(readings > 1, "read only once while it went on")
    equal(sum(total.values()), hits(num))
    equal(sum(total.values()) + nested() + missed(), made)
    cmd("tstop")


@test("reading without clearing only adds up, while all CPUs count")
def shown():
    define("count_leaf")
    num = trace("gtp_target_leaf", "teval $count_leaf = 1")
    cmd("tstart")
    calling = background("loop leaf %d" % (10 * ROUNDS))
    last = 0
    while calling.poll() is None:
        count = sum(entry.count for entry in only()[0].entries)
        check(count >= last, "%d after %d" % (count, last))
        last = count
    equal(sum(entry.count for entry in only()[0].entries), hits(num))
    cmd("tstop")


@test("a full table counts the hits that found no room")
def full():
    define("key_n", "count_leaf")
    cmd("monitor aggregate-keys 16")
    try:
        num = trace("gtp_target_leaf", "teval $key_n = (long)n", "teval $count_leaf = 1")
        cmd("tstart")
        made = looped("leaf", ROUNDS)["leaf"]
        one, _ = only()
        every_call(num, one, made)
        check(len(one.entries) >= 16, "%d keys" % len(one.entries))
        check(one.noroom[0].count > made // 2, "no room for %d of %d" % (one.noroom[0].count, made))
        check("no room for the keys of %d more" % one.noroom[0].count in cmd("gtp show"), "gtp show does not say so")
        cmd("tstop")
    finally:
        cmd("monitor aggregate-keys 2048")


@test("interrupts and threads at once: every call is counted, or counted as nested")
def interrupts():
    define("key_irq", "count_calls")
    nums = [trace("gtp_target_" + name, "teval $key_irq = %d" % (name == "irq"), "teval $count_calls = 1")
            for name in ("leaf", "add", "obj", "irq")]
    cmd("tstart")
    made = collections.Counter()
    while not made["irq"]:
        made.update(looped("mix", ROUNDS // 4))
    found = counts(only()[0])
    lost = nested() + missed()
    # An interrupt during a hit is not counted.
    equal(found.get((1,), 0), hits(nums[3]))
    equal(sum(found.values()), sum(hits(num) for num in nums))
    equal(sum(found.values()) + lost, sum(made.values()))
    cmd("tstop")


@test("NMIs: every event is counted by its key, or counted as nested")
def nmi():
    define("key_n", "sum_n")
    trace("*__traceiter_gtp_target_count", "teval $key_n = (long)$rsi", "teval $sum_n = 1")
    before = fixture()
    cmd("tstart")
    target("nmi 20")
    made = fixture()["nmi"] - before["nmi"]
    found = sum(entry.count for entry in only()[0].entries)
    equal(found + nested() + missed(), made)
    cmd("tstop")


@test("gtp hist by an enum, gtp count by a string: as text")
def commands():
    said = cmd("gtp hist --linear 0,4,1 n by o->kind at gtp_target_obj")
    name = matches(r"\$(lhist_n_0_4_1\S*);", said).group(1)
    cmd("gtp count by o->name, o->on at gtp_target_obj if n > 0")
    cmd("tstart")
    for i in (0, 1, 2, 3, 3, 3):
        target("call obj %d" % i)
    text = cmd("gtp show")
    cmd("tstop")
    note(*text.splitlines())
    equal(cmd("gtp show"), text, "after tstop")
    alone = cmd("gtp show " + name)
    check(text.startswith(alone.rstrip("\n")), alone)
    # The expected values: fixture object i has kind FANCY and is on if i is odd; n is i.
    check("o->kind GTP_TARGET_PLAIN" in alone and "o->kind GTP_TARGET_FANCY" in alone, alone)
    check(re.search(r"^\[3\] +3 \|%s\|$" % ("@" * plot.WIDTH), alone, re.M), alone)
    check("n 2, avg 1, min 0, max 2" in alone, alone)
    counted = text[len(alone):]
    for line in (r"obj-1 +true +1", r"obj-2 +false +1", r"obj-3 +true +3"):
        check(re.search("^%s$" % line, counted, re.M), counted)
    check("obj-0" not in counted, counted)


@test("an array of bytes that are not text is a key of all its bytes, zeros included; from the run and from its file")
def bytes_as_key():
    cmd("gtp count by *(unsigned char (*)[6])o->values at gtp_target_obj")
    cmd("gtp count by *(unsigned char (*)[12])o->values at gtp_target_obj")
    run_trace("call obj 0", "call obj 1", "call obj 2", "call obj 2")
    found = [gdb.selected_inferior().read_memory(address("(long)gtp_target_objs[%d].values" % i), 12).tobytes() for i in range(3)]
    check(all(b"\0" in one[:4] for one in found), "no zeroes in %s" % found)
    wanted = [[re.escape(one[:6].hex(":")), "%s  +%s" % (one[:8].hex(":"), one[8:].hex(":"))] for one in found]
    live = cmd("gtp show")
    path = scratch() + "/bytes.tf"
    cmd("gtp save " + path)
    disconnect()
    cmd("target tfile " + path)
    in_file = cmd("gtp show")
    connect()
    os.unlink(path)
    for text in live, in_file:
        for (six, twelve), count in zip(wanted, (1, 1, 2)):
            for key in six, twelve:
                check(re.search("^%s +%d$" % (key, count), text, re.M), "%s %d is not in:\n%s" % (key, count, text))


@test("titles and types are those of the file or run that GDB reads; the title includes the condition")
def own_names():
    path = scratch() + "/run.tf"

    def made(line):
        cmd(line)
        cmd("tstart")
        for i in range(4):
            target("call obj %d" % i)
        cmd("tstop")
        return cmd("gtp show")
    first = made("gtp count by o->kind, o->parent at gtp_target_obj if n < 3")
    check("$count_gtp_target_obj: count at gtp_target_obj if n < 3" in first and "GTP_TARGET_FANCY" in first, first)
    cmd("gtp save " + path)
    cmd("delete")
    forget_variables()
    second = made("gtp count by o->kind at gtp_target_obj")
    check(second.startswith("$count_gtp_target_obj: count at gtp_target_obj\n"), second)
    disconnect()
    for _ in range(2):
        cmd("target tfile " + path)
        equal(cmd("gtp show"), first)
        connect()
        equal(cmd("gtp show"), second)
        disconnect()
    connect()
    os.unlink(path)


@test("an aggregation without keys sees the values that the preceding actions set")
def behind_actions():
    cmd("tvariable $n")
    trace("gtp_target_leaf", "teval $n = $n + (long)n")
    for line in ("gtp max $n by n", "gtp stats $n"):
        cmd(line)
    cmd("tstart")
    for i in (5, 6, 7):
        target("call leaf %d" % i)
    cmd("tstop")
    matches("n 3, avg 11, min 5, max 18", cmd("gtp show stats_n"))


@test("gtp show --top, --sort and --clear; gtp clear")
def options():
    cmd("gtp sum n by n at gtp_target_leaf")
    cmd("tstart")
    for i in (5, 5, 5, 5, 7, 7, 18):
        target("call leaf %d" % i)

    def keys(*options_):
        lines = cmd(" ".join(("gtp show",) + options_)).splitlines()
        return [line.split()[0] for line in lines[2:] if line[0].isdigit()]

    equal(keys(), ["5", "18", "7"])
    equal(keys("--sort", "count"), ["5", "7", "18"])
    equal(keys("--sort", "key"), ["5", "7", "18"])
    equal(keys("--top", "1"), ["5"])
    text = refused("gtp count at gtp_target_add")
    check("a run goes on" in text and "gtp_target_add" not in cmd("info tracepoints"), text)
    equal(keys("--clear"), ["5", "18", "7"])
    equal(keys(), [])
    target("call leaf 9")
    equal(keys(), ["9"])
    cmd("gtp clear")
    equal(keys(), [])
    cmd("tstop")
    for wrong, why in (("gtp show nothing", "there is no"), ("gtp show --sort x", "--sort takes one of"),
                       ("gtp show --top x", "--top takes a number"), ("gtp count by", "nothing after `by'"),
                       ("gtp show --clear sum_n", "leave sum_n out"), ("gtp count --linear 0,9,1", "--linear is not"),
                       ("gtp hist", "say gtp hist"),
                       ("gtp count by 1,2,3,4,5 at gtp_target_leaf", "four are the most")):
        check(why in refused(wrong), "%s: %s" % (wrong, refused(wrong)))


@test("each bucket has its range as its name; a percentile is in the bucket that has the exact one")
def plots():
    for bucket, text in ((0, "(..., 0)"), (1, "[0]"), (2, "[1]"), (3, "[2, 4)"), (11, "[512, 1K)"),
                         (22, "[1M, 2M)")):
        equal(plot.label(bucket, None), text)
    for bucket, text in ((0, "(..., 10)"), (1, "[10, 30)"), (3, "[50, 55)"), (4, "[55, ...)")):
        equal(plot.label(bucket, (10, 55, 20)), text)
    random = seeded()
    for _ in range(200):
        some = [random.choice((0, 1, 5, 900, 100000)) for _ in range(random.randrange(1, 99))]
        values = sorted(unit * random.randrange(-1, 50) for unit in some)
        buckets = collections.Counter(0 if v < 0 else v.bit_length() + 1 for v in values)
        for percent in plot.PERCENTS:
            got = plot.percentile(percent, buckets, None, values[0], values[-1])
            true = values[max(0, -(-percent * len(values) // 100) - 1)]
            equal(0 if got < 0 else got.bit_length() + 1, 0 if true < 0 else true.bit_length() + 1,
                  "the bucket of p%d of %s" % (percent, values))


def words_of(text):
    """Return the two words of a string that is a key."""
    data = text.ljust(16, b"\0")
    return [int.from_bytes(data[i:i + 8], "little") for i in (0, 8)]


@test("strings as keys: sorted as strcmp does; no byte of them controls the terminal")
def strings():
    from gtp.commands import show  # import it only now: it defines commands, and their prefix `gtp` must exist first

    names = [b"", b"a", b"aaaaaaaab", b"ab", b"b", b"\xff"]
    entries = [aggregations.Entry(words_of(name) + [n], 1, [], {}) for name in names for n in (2**64 - 1, 3)]
    one = aggregations.Aggregation("count_x", "count", None, ["keystr_x", "key_n"], list(reversed(entries)), [])
    equal(show.ordered(one, "key"), entries)
    for name, text in ((b"kworker/0:1", "kworker/0:1"), (b"a\x1b[2J\nobj 7\r", "a\\033[2J\\nobj 7\\r"),
                       (b"\xc2\x9b2J", "\\302\\2332J")):
        equal(show.key_texts(["keystr_x"], words_of(name)), [text])


@test("a process's name with a newline and an escape sequence stays on its line")
def own_name():
    define("keystr_comm", "count_leaf")
    trace("gtp_target_leaf", "teval $keystr_comm = (long)&((struct task_struct *)$current_task)->comm[0]",
          "teval $count_leaf = 1")
    cmd("tstart")
    # printf is a builtin, so the task that makes the call has the shell's name.
    there.run(["/bin/sh", "-c", r"printf 'a\033[2J\nb 7' >/proc/$$/comm; printf 'call leaf 1' >/proc/gtp_target"],
                   check=True, timeout=SECONDS)
    text = cmd("gtp show")
    cmd("tstop")
    check(re.search(r"^a\\033\[2J\\nb 7 +1$", text, re.M), ascii(text))
    check("\x1b" not in text, ascii(text))


@test("a sum beyond 64 bits has no average; print and info tvariables show no number for an aggregation")
def no_number():
    equal(plot.average(3, -2**63 + 5, 2**62, 2**62 + 9), "? (the sum is beyond 64 bits)")
    equal(plot.average(2, 10, 5, 5), "5")
    # The sum has overflowed 64 bits, but the average of the wrapped sum is still between the bounds.
    values = [2**63 - 1, 2**63 - 1, 100, 200, 0]
    wrapped = (sum(values) + 2**63) % 2**64 - 2**63
    equal(plot.average(5, wrapped, min(values), max(values)), "? (the sum is beyond 64 bits)")
    # The sum has overflowed, but with these bounds only one true sum is possible.
    equal(plot.average(3, 3 * 2**62 + 9 - 2**64, 2**62, 2**62 + 9), str(2**62 + 3))
    define("count_leaf", "key_n", "p_n")
    trace("gtp_target_leaf", "teval $key_n = (long)n", "teval $count_leaf = 1", "teval $p_n = $p_n + 1")
    cmd("tstart")
    target("call leaf 3")
    text = cmd("info tvariables")
    for name, wanted in (("count_leaf", "<unknown>"), ("key_n", "<unknown>"), ("p_n", "1")):
        check(re.search(r"^\$%s +0 +%s\s*$" % (name, wanted), text, re.M), text)
    check(cmd("print $count_leaf").endswith(" = void\n"), cmd("print $count_leaf"))
    cmd("tstop")


@test("if an error does not end the run, nothing is counted under the key of another hit")
def failing_keys():
    define("key_n", "count_leaf", "sum_leaf")
    # n is 0 or a readable address.
    num = trace("gtp_target_leaf", "teval $sum_leaf = 1", "teval $key_n = 100 / n", "teval $count_leaf = 1")
    cmd("monitor stop-on-error off")
    try:
        for off in ((), ("jit",), ("jumps",)):
            with without(*off):
                cmd("tstart")
                for n in (5, 0, 0, 20, 0):
                    target("call leaf %d" % n)
                found = {one.name: one for one in aggregations.read().all}
                cmd("tstop")
            equal(counts(found["count_leaf"]), {(20,): 1, (5,): 1}, off)
            equal(counts(found["sum_leaf"]), {(): 5}, off)
            equal(hits(num), 5, off)
    finally:
        cmd("monitor stop-on-error on")


@test("each refusal says why")
def refusals():
    for bounds in ("10,5,1", "5,5,5", "0,100000,1"):
        equal(refused("gtp hist --linear %s n at gtp_target_leaf" % bounds),
              "--linear %s is not a range with 1 to 1000 steps; say --linear FROM,TO,STEP" % bounds)
    check("No tracepoints" in cmd("info tracepoints"), cmd("info tracepoints"))
    define("key_n", "count_n")
    num = trace("gtp_target_leaf", "collect $count_n")
    text = refused("tstart")
    check("count_n can be set, and no expression can read it" in text, text)
    cmd("delete %d" % num)
    trace("gtp_target_leaf", "teval $count_n = 1", "teval $key_n = (long)n")
    trace("gtp_target_add", "teval $key_n = (long)a", "teval $count_n = 1")
    text = refused("tstart")
    check("is updated with other keys before" in text, text)


@test("each CPU's own $p_n: the sum is exact, and no lock is taken")
def own():
    define("p_n")
    cmd("set circular-trace-buffer on")
    num = trace("gtp_target_leaf", "teval $p_n = $p_n + 1")
    cmd("tstart")
    made = looped("leaf", ROUNDS)["leaf"]
    cmd("tstop")
    equal(number("$p_n"), hits(num))
    equal(number("$p_n") + nested() + missed(), made)


@test("a structure as a key becomes one key per member, in memory and in a register; too many members are refused with advice")
def by_structure():
    cmd("gtp count by o->link at gtp_target_obj")
    run_trace("call obj 0 1", "call obj 2 1", "call obj 2 1")
    links = {(address("(long)gtp_target_objs[%d].link.next" % i), address("(long)gtp_target_objs[%d].link.prev" % i)): n
             for i, n in ((0, 1), (2, 2))}
    one, _ = only()
    equal(one.keys, ["key_o_link_next", "key_o_link_prev"])
    equal({tuple(key % 2**64 for key in keys): count for keys, count in counts(one).items()}, links)
    matches(r"o->link\.next\s+o->link\.prev", cmd("gtp show"))
    fresh()
    cmd("gtp count by pair at gtp_target:gtp_target_many")
    run_trace("call event 3", "call event 4", "call event 4")
    equal(counts(only()[0]), {(3001, 3002): 1, (4001, 4002): 2})
    fresh()
    matches(r"\*o is a structure of \d+ members, and 4 keys are the most: name the members",
            refused("gtp count by *o at gtp_target_obj"))
    equal(cmd("info tracepoints").strip(), "No tracepoints.")


run()
