# SPDX-License-Identifier: GPL-2.0-only
"""Runs in the guest: sets tracepoints at the places that pick.py chose, and checks the kernel's text.

Usage: tests/lib/env python3 guest.py SEED PICKS [TOPIC...]
"""
import collections
import functools
import os
import random
import re
import subprocess
import sys
import time

import fixture
import tap
from kernel import TRACING, Kcore, kallsyms, not_seen, optimized, probes, put, symbols
from rsp import Client
from tap import note as say, skip, test, until

HERE = os.path.dirname(os.path.abspath(__file__))

LINKED = 0xffffffff81000000
JUMP, HLT = 0xe9, 0xf4
SPAN = 20  # the most bytes that a jump may change: its five, and the rest of the last instruction it displaces
PADDING, PADDING_NAME = 16, "__pfx_"
TRAMPOLINE = "__SCT__"  # the prefix of a static call's trampoline: the kernel does not decode the bytes after its jump
AT_ONCE = 3500  # the maximum number of tracepoints in a run: there is no room for more compiled code
RARE = 5  # if a reason applies to at most this many places, their names are printed
SHARE = 0.85  # the minimum share of jumps among the places that take a probe

# The parts of a condition that compares the word at the stack pointer with a number that is on no stack.
STACK_WORD, IS_MAGIC, NOT, END = "2600071a", "25a5c3f00dbadc0de113", "0e", "27"
CONST64, STRING = "25%016x", "2300c82f"
NEVER, ALWAYS = STACK_WORD + IS_MAGIC + END, STACK_WORD + IS_MAGIC + NOT + END

Place = collections.namedtuple("Place", "addr verdict kernel name")


# Places ------------------------------------------------------------------------------------------

class Names:
    """The kernel's addresses of symbols."""

    def __init__(self):
        found = collections.defaultdict(list)
        self.padding = set()
        for at, name, module in kallsyms():
            if name.startswith(PADDING_NAME):
                self.padding.add(at)
            if module:
                found[module, name].append(at)
        self.functions = {key: at[0] for key, at in found.items() if len(at) == 1}

    def address(self, where, name, slide):
        """Return the address in this boot. WHERE is an address in vmlinux, or a module with the place NAME. Return None if
        the module has no, or several, functions of that name."""
        if where.startswith("0x"):
            return int(where, 16) + slide
        function, offset = name.rsplit("+", 1)
        start = self.functions.get((where, function))
        return start and start + int(offset, 16)

    def is_padding(self, addr):
        """Return whether a place is in the padding before a function, which the kernel may patch. No probe can be set there,
        but not every vmlinux marks the padding."""
        return addr & -PADDING in self.padding


def read_places(path):
    """Return the sets of places that pick.py has written to the file, at the addresses of this boot."""
    slide = symbols("_text")["_text"] - LINKED
    names = Names()
    sets = collections.defaultdict(list)
    with open(path, encoding="ascii") as file:
        for line in file:
            kind, where, verdict, kernel, name = line.split()
            addr = names.address(where, name, slide)
            if addr and not names.is_padding(addr) and not name.startswith(TRAMPOLINE):
                sets[kind].append(Place(addr, verdict, kernel, name))
    return sets


def unique(places):
    return list({place.addr: place for place in places}.values())


# Load --------------------------------------------------------------------------------------------

def work(rounds):
    """Run load.py in a separate process, because gdbtp may not trace the tasks of its client."""
    done = subprocess.run([sys.executable, "-B", HERE + "/load.py", str(rounds), fixture.KMOD + "/gtp_target2.ko"],
                          capture_output=True, text=True, timeout=tap.SECONDS, check=False)
    assert not done.returncode, done.stdout + done.stderr


# The text ----------------------------------------------------------------------------------------

class Text:
    """Compares the kernel's text, and the bytes around places in modules, with those of an earlier time."""

    def __init__(self):
        at = symbols("_stext", "_etext")
        self.start, self.end = at["_stext"], at["_etext"]

    def now(self):
        with Kcore() as core:
            return core.read(self.start, self.end - self.start)

    def changed(self, before):
        """Return the addresses whose bytes differ."""
        after = self.now()
        return [self.start + i for at in range(0, len(after), 4096) if before[at:at + 4096] != after[at:at + 4096]
                for i in range(at, min(at + 4096, len(after))) if before[i] != after[i]]


def around(places):
    """Return {address: bytes} for the code at each place, read from /proc/kcore."""
    with Kcore() as core:
        return {place.addr: core.read(place.addr, SPAN) for place in places}


def restored(text, before, places, near):
    """Check that all bytes are restored. Wait for this, because the kernel may restore its optimised kprobes later."""
    def same():
        return not text.changed(before) and around(places) == near
    try:
        until(same, "the text")
    except AssertionError:
        ours = {place.addr + i: place for place in places for i in range(SPAN)}
        bad = text.changed(before) + [addr for addr, code in around(places).items() if code != near[addr]]
        for addr in bad[:40]:
            say("changed: 0x%x" % addr, ours.get(addr, "not among ours"))
        raise AssertionError("%d bytes are not what they were" % len(bad)) from None


# Runs --------------------------------------------------------------------------------------------

TWIN = 20000  # the number of a place's second tracepoint is that of its first plus this


# The variables of a pair, and the actions that start something and end it: $pair_start_p = $current_task; $pair_end_p =
# $current_task, and $hist_since = $pair_since_p.
PAIR = {0x64: "pair_start_p", 0x65: "pair_end_p", 0x66: "pair_since_p", 0x67: "hist_since"}
STARTS, ENDS = ("X00000007,2c00032d006427",), ("X00000007,2c00032d006527", "X00000007,2c00662d006727")


class Pair:
    """The counters of the run's only pair. starts, ends: the numbers of hits that they account for. ended: the number of ends
    with a start."""

    def __init__(self, text):
        started, self.ended, restarted, no_room, gave_up, no_start, end_gave_up = map(int, re.search(
            r"^paired (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", text, re.M).groups())
        left = len(re.findall("^unfinished ", text, re.M))
        assert "\nunread 0\n" in text, text
        assert started == self.ended + restarted + no_room + gave_up + left, text
        self.starts, self.ends = started, self.ended + no_start + end_gave_up


def aggregates(client, how):
    """Return the text of the run's aggregations and pairs."""
    text, last = "", False
    while not last:
        reply = client.ask("qXfer:gtpaggregates:read:%s:%x,3fff" % (how, len(text)))
        assert reply[0] in "ml", reply
        text, last = text + reply[1:], reply[0] == "l"
    return text


def define(client, places, condition=lambda i: ("", ()), has_twin=lambda i: False):
    """Define tracepoints at the places. Set `monitor strict on`, so that QTStart fails if a tracepoint is refused. A twin is
    a second tracepoint at a place, with the same condition."""
    client.monitor("strict on")
    client.ok("QTinit")
    client.variables(PAIR)
    for i, place in enumerate(places, 1):
        text, actions = condition(i)
        client.tracepoint(i, place.addr, *actions, condition=text)
        if has_twin(i):
            client.tracepoint(TWIN + i, place.addr, condition=text)


def start(client, places, condition=lambda i: ("", ()), has_twin=lambda i: False, others=lambda client: None):
    """Send QTStart repeatedly, each time without the places that the module has refused, until the module accepts the rest.
    OTHERS defines further tracepoints, none of which may be refused. Return the accepted places."""
    given, refused = places, collections.Counter()
    while True:
        define(client, places, condition, has_twin)
        others(client)
        reply = client.ask("QTStart")
        if reply == "OK":
            return places
        found = re.search(r"tracepoint (\d+) at 0x([0-9a-f]+): (.*)", reply)
        assert found, reply
        bad = places[int(found.group(1)) % TWIN - 1]
        assert bad.addr == int(found.group(2), 16), reply
        refused[found.group(3)] += 1
        say("refused: %s, in the file %s: %s" % (bad.name, bad.verdict, found.group(3)))
        assert sum(refused.values()) <= len(given) / 50 + 2, "too many are refused"
        places = [place for place in places if place is not bad]


def mechanisms(client):
    """Return {address: Probe} from `monitor probes`."""
    return probes(client.monitor("probes"))


def tell(places, how):
    counts = collections.Counter(how[place.addr].how for place in places)
    say(", ".join("%d %s" % (n, what) for what, n in counts.most_common()))
    reasons = collections.defaultdict(list)
    for place in places:
        if how[place.addr].no_jump:
            reasons[how[place.addr].no_jump].append(place.name)
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        say("  %5d no jump: %s%s" % (len(names), why, " at " + ", ".join(names) if len(names) <= RARE else ""))
    return counts


def all_hits(client, places):
    return [client.hits(i, place.addr) for i, place in enumerate(places, 1)]


def losses(client):
    return re.findall(r"not seen:.*|.*[1-9]\d* nested hits", client.monitor("status"))


def unseen_hits(client):
    """Return the number of hits that the module reports as missed, because the CPU was already in a hit or in the handler of
    another kprobe."""
    return sum(not_seen(client.monitor("status")))


@functools.cache
def string():
    """Return an action that collects the string "Linux" from the kernel's memory. A pad can write this frame without C."""
    at = symbols("init_uts_ns")["init_uts_ns"]
    with Kcore() as memory:
        assert memory.read(at, 6) == b"Linux\0"
    code = CONST64 % at + STRING + END
    return "X%08x,%s" % (len(code) // 2, code)


def mixed(i):
    """Return the condition and the actions of the i-th tracepoint. One third of the tracepoints have no condition, one third
    a condition that always holds, one third a condition that never holds. Some tracepoints collect data."""
    cond = ("", NEVER, ALWAYS)[i % 3]
    return cond, ("RFFFFFF",) if i % 5 == 0 else (string(),) if i % 5 == 2 else ()


class Here:
    """The state that all tests share."""

    def __init__(self, seed, picks):
        self.rng = random.Random(seed)
        self.text = Text()
        self.sets = read_places(picks)
        self.hot = []  # second instructions of functions that ran under the load


here = None


def begin(client):
    client.ok("QTBuffer:circular:1")
    return here.text.now()


def under_load(client, places, condition, rounds=2):
    """Make a run with tracepoints at all places, and run the load. Check that there are jumps, and that the kernel's text is
    restored afterwards. Return the accepted places, the mechanisms and the hits."""
    before, near = begin(client), around(places)
    places = start(client, places, condition)
    how = mechanisms(client)
    jumps = [place for place in places if how[place.addr].how == "jump"]
    there = around(jumps)
    bad = [place for place in jumps if there[place.addr][0] != JUMP]
    assert not bad, "no jump is at %s" % bad[:10]
    began = time.monotonic()
    work(rounds)
    seconds = time.monotonic() - began
    hits = all_hits(client, places)
    for line in losses(client):
        say(line)
    client.ok("QTStop")
    restored(here.text, before, places, {place.addr: near[place.addr] for place in places})
    say("%d places, %d of them hit, %d hits in %.1f s" % (len(places), sum(map(bool, hits)), sum(hits), seconds))
    return places, how, hits


# Topics ------------------------------------------------------------------------------------------

@test("together: random places, all together under load: jumps are there, nothing breaks, the text is restored")
def together():
    with Client() as client:
        places = unique(here.sets["uniform"] + here.sets["module"] + here.sets["entry"])
        places, how, _ = under_load(client, places, mixed)
        never = [i for i, hits in enumerate(all_hits(client, places), 1) if hits and mixed(i)[0] == NEVER]
        assert not never, "a condition that never holds did at %s" % [places[i - 1] for i in never]
        say("modules:")
        tell([p for p in here.sets["module"] if p.addr in how], how)
        say("entries:")
        tell([p for p in here.sets["entry"] if p.addr in how], how)
        say("instructions chosen of all of the kernel's that take a probe:")
        uniform = [p for p in unique(here.sets["uniform"]) if p.addr in how]
        share = tell(uniform, how)["jump"] / len(uniform)
        error = (share * (1 - share) / len(uniform)) ** 0.5
        say("share of jumps: %.1f %% (+- %.1f)" % (100 * share, 100 * error))
        assert share + 3 * error >= SHARE, "%.1f %% are jumps" % (100 * share)


def second_instructions():
    """Return the second instructions of functions: at most as many as one run can have tracepoints, and at most four times
    the number of places in the set `uniform`."""
    return unique(here.sets["second"])[:min(AT_ONCE, 4 * len(here.sets["uniform"]))]


def find_hot(client):
    """Return the second instructions of functions that run under the load."""
    if here.hot:
        return here.hot
    places, _, hits = under_load(client, second_instructions(), lambda i: ("", ()))
    here.hot = [place for place, n in zip(places, hits) if n]
    return here.hot


@test("inner: many places of the same functions, with several waves of load, conditions and overlaps")
def inner():
    with Client() as client:
        places = unique(here.sets["inner"])
        here.rng.shuffle(places)
        for at in range(0, len(places), AT_ONCE):
            part, how, _ = under_load(client, places[at:at + AT_ONCE], mixed, 3)
            tell(part, how)


@test("single: one by one, each under load: hits or none, and the text is restored")
def single():
    with Client() as client:
        anywhere, hot = unique(here.sets["uniform"]), find_hot(client)
        few = min(len(anywhere) // 25, 60)
        places = here.rng.sample(anywhere, few) + here.rng.sample(hot, min(len(hot), few // 2))
        before = begin(client)
        counts = collections.Counter()
        load = subprocess.Popen([sys.executable, "-B", HERE + "/load.py", "1000"], start_new_session=True)
        try:
            for place in places:
                near = around([place])
                if not start(client, [place]):
                    continue
                counts[mechanisms(client)[place.addr].how] += 1
                client.hits(1, place.addr)
                client.ok("QTStop")
                until(lambda p=place, n=near: around([p]) == n, "the text")
        finally:
            os.killpg(load.pid, 9)
            load.wait()
        restored(here.text, before, places, around(places))
        say(dict(counts))


class Events:
    """Counts calls independently of gdbtp, with kprobe events of ftrace at functions' entries."""

    def __init__(self, places):
        self.names = {}
        for i, place in enumerate(places):
            entry = place.addr - int(place.name.rsplit("+", 1)[1], 16)
            put(TRACING + "kprobe_events", "p:jump/e%d 0x%x" % (i, entry), os.O_APPEND)
            self.names["e%d" % i] = place
        put(TRACING + "events/jump/enable", "1")

    def counts(self):
        """Return {address: number of calls}, including those inside another kprobe's handler."""
        with open(TRACING + "kprobe_profile", encoding="ascii") as file:
            rows = [line.split() for line in file]
        return {self.names[name].addr: int(hits) + int(missed) for name, hits, missed in rows if name in self.names}

    def remove(self):
        put(TRACING + "events/jump/enable", "0")
        put(TRACING + "kprobe_events", "", os.O_TRUNC)


def settled(client, events, places):
    """Return {address: (gdbtp's count, ftrace's count)} for the places that were not called while both were read."""
    first = events.counts()
    ours = dict(zip([place.addr for place in places], all_hits(client, places)))
    second = events.counts()
    return {addr: (ours[addr], first[addr]) for addr in first if first[addr] == second[addr]}


def compare(places, how, old, new, unseen):
    """Compare calls and hits between the counts OLD and NEW. Fail if more hits are missing than the UNSEEN ones that the
    module reports as missed."""
    never = {place.addr for i, place in enumerate(places, 1) if mixed(i)[0] == NEVER}
    calls = {addr: new[addr][1] - old[addr][1] for addr in old if addr in new and new[addr][1] > old[addr][1]}
    hits = {addr: new[addr][0] - old[addr][0] for addr in calls}
    missing = {addr: (0 if addr in never else n) - hits[addr] for addr, n in calls.items()}
    for place in places:
        if missing.get(place.addr):
            say("%s: %d hits, %d calls, %s, condition %s" % (
                place.name, hits[place.addr], calls[place.addr], how[place.addr].how,
                "never holds" if place.addr in never else "holds"))
    say("%d functions are called by the load alone, %d times; at %d the condition never holds; %d hits not seen" % (
        len(calls), sum(calls.values()), len(never & set(calls)), unseen))
    assert len(calls) >= 10, "too few to say anything"
    assert all(n >= 0 for n in missing.values()), "more hits than calls"
    assert sum(missing.values()) <= unseen, "hits are missing that the module does not tell of"


def count_calls(*settings):
    """Compare the hits with the calls while these monitor settings are in effect."""
    with Client() as client:
        hot = find_hot(client)
        before = begin(client)
        for setting in settings:
            client.monitor(setting)
        places = start(client, here.rng.sample(hot, min(150, len(hot))), lambda i: (mixed(i)[0], ()))
        how = mechanisms(client)
        events = Events(places)
        try:
            work(1)
            unseen = unseen_hits(client)
            old = settled(client, events, places)
            work(2)
            new = settled(client, events, places)
            unseen = unseen_hits(client) - unseen
        finally:
            client.ok("QTStop")
            events.remove()
        compare(places, how, old, new, unseen)
        until(lambda: not here.text.changed(before), "the text")


@test("counts: hits of functions' second instructions are their calls, as kprobe events count them; "
      "none if a condition never holds")
def counts():
    count_calls()


@test("kprobes: the same without jumps; during the run the module reports the missed hits")
def kprobes():
    try:
        count_calls("jumps off")
    finally:
        with Client() as client:
            client.monitor("jumps on")


def settled_jumps():
    """Return the places where the kernel has optimised kprobes, once it no longer optimises more."""
    seen, same = None, 0
    while same < 10:
        now = optimized()
        same = same + 1 if now == seen else 0
        seen = now
        time.sleep(0.3)
    return seen


@test("kernel: how many of the same places the kernel's own optimiser makes jumps, and how many gdbtp")
def kernel():
    with Client() as client:
        before = begin(client)
        places = start(client, unique(here.sets["uniform"])[:1000])
        ours = mechanisms(client)
        client.ok("QTStop")
        client.monitor("jumps off")
        places = start(client, places)
        theirs = settled_jumps()
        client.ok("QTStop")
        client.monitor("jumps on")
        table = collections.Counter()
        for place in places:
            mine = ours[place.addr]
            table[mine.how, place.addr in theirs, place.verdict, place.kernel, mine.no_jump or ""] += 1
        tell(places, ours)
        say("number, gdbtp's, the kernel's, the verdict from the file, the kernel's rule there, why gdbtp makes no jump")
        for (how, kernels, verdict, rule, why), n in sorted(table.items(), key=lambda row: -row[1]):
            say("%5d %-7s %-11s %-9s %-8s %s" % (n, how, "[OPTIMIZED]" if kernels else "breakpoint", verdict, rule, why))
        say("jumps of gdbtp's %d, of the kernel's %d, of %d" % (
            sum(n for row, n in table.items() if row[0] == "jump"), sum(n for row, n in table.items() if row[1]),
            len(places)))
        until(lambda: not here.text.changed(before), "the text")


@test("halt: no probe where a CPU waits for an interrupt: its single step has interrupts off, and would never end")
def halt():
    found = symbols("native_safe_halt", "native_halt")
    with Client() as client, Kcore() as core:
        for name, addr in found.items():
            at = core.read(addr, 16).index(HLT)
            client.define((1, addr + at))
            reply = client.ask("QTStart")
            say("%s+0x%x: %s" % (name, at, reply))
            assert reply.startswith("E."), reply


@test("weak: the function tracer's sites in code without a symbol: it never calls from there, and gdbtp does not ask it to")
def weak():
    if not here.sets["weak"]:
        skip("the function tracer has no record of any: the build of this kernel has left them out")
    with Client() as client:
        before = begin(client)
        places = start(client, here.sets["weak"])
        how = mechanisms(client)
        client.ok("QTStop")
        assert len(places) >= 5, "too few to say anything"
        bad = [place.name for place in places if how[place.addr].how == "ftrace call"]
        assert not bad, bad
        until(lambda: not here.text.changed(before), "the text")


WAITS = {"cpus": "on_each_cpu_cond_mask function=%si:symbol", "tasks": "call_rcu_tasks"}
# Calls by which vmalloc() flushes the TLBs of all CPUs, when it reclaims freed areas. This may happen at any time.
FLUSH = r"function=(do_kernel_range_flush|do_flush_tlb_all)\+"


class Waits:
    """Counts how often this process waits for all CPUs or for all tasks, except for TLB flushes."""

    def __enter__(self):
        for name, function in WAITS.items():
            put(TRACING + "kprobe_events", "p:waits/%s %s" % (name, function), os.O_APPEND)
        put(TRACING + "events/waits/filter", "common_pid == %d" % os.getpid())
        put(TRACING + "events/waits/enable", "1")
        return self

    def __exit__(self, *_):
        put(TRACING + "events/waits/enable", "0")
        put(TRACING + "kprobe_events", "", os.O_TRUNC)

    def during(self, call):
        """Call a function. Return how often it waited, for each kind of wait."""
        put(TRACING + "trace", "", os.O_TRUNC)
        call()
        with open(TRACING + "trace", encoding="ascii") as file:
            lines = [line for line in file if not re.search(FLUSH, line)]
        return tuple(sum(" %s: (" % name in line for line in lines) for name in WAITS)


def waits_row(client, waiting, places):
    """Return the waits of QTStart and the waits of QTStop in a run with jumps at all places."""
    define(client, places)
    on = waiting.during(lambda: client.ok("QTStart"))
    assert all(probe.how == "jump" for probe in mechanisms(client).values()), "not all are jumps"
    return on, waiting.during(lambda: client.ok("QTStop"))


@test("waits: as many waits for all CPUs and all tasks for thousands of jumps as for one, arming and removing")
def waits():
    with Client() as client, Waits() as waiting:
        before = begin(client)
        places = start(client, second_instructions())
        how = mechanisms(client)
        client.ok("QTStop")
        jumps = [place for place in places if how[place.addr].how == "jump"]
        numbers = [n for n in (1, 10, 100, 1000) if n < len(jumps)] + [len(jumps)]
        rows = {n: waits_row(client, waiting, jumps[:n]) for n in numbers}
        for n, (on, off) in rows.items():
            say("%d jumps: QTStart waits %d times for all CPUs, %d for all tasks; QTStop %d and %d" % (n, *on, *off))
        assert all(min(on + off) > 0 for on, off in rows.values()), "waits are not seen"
        assert len(set(rows.values())) == 1, "the waits are not as many for more places"
        until(lambda: not here.text.changed(before), "the text")


# Topics that run only if they are named, because they take long.
LONG = ("inner",)


def topics(names):
    """Return the tests with these names. Without names, return the tests that GTP_ONLY chooses, or all except long ones."""
    known = {function.__name__: (name, function) for name, function in tap.tests}
    unknown = set(names) - set(known)
    if unknown:
        sys.exit("no topic %s; there are %s" % (", ".join(unknown), ", ".join(known)))
    return [known[name] for name in names] or [t for t in tap.chosen() if t[1].__name__ not in LONG]


def prepare(seed, picks):
    global here
    fixture.load("self_trace=1", "allow_notrace=0")  # self_trace: this process, a client, is traced as well
    fixture.load_fixture()
    fixture.load_tables()
    work(1)  # the first run of the load makes the kernel patch its text, which must be over before text is compared
    here = Here(int(seed), picks)


def main(seed, picks, *names):
    some = topics(names)
    prepare(seed, picks)
    good = tap.run(some)
    fixture.unload()
    sys.exit(not good)


if __name__ == "__main__":
    main(*sys.argv[1:])
