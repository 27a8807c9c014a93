# SPDX-License-Identifier: GPL-2.0-only
"""Runs in the guest for SECONDS: makes runs of about 1,000 jumps, each run at other places, while other threads change the
kernel's code.

Usage: tests/lib/env python3 soak.py SEED PICKS SECONDS     GTP_MODULES: where the kernel's modules are
"""
import collections
import contextlib
import glob
import os
import random
import re
import sys
import time

import disturb
import fixture
import gated
import guest
import kernel
import programs
import samples
import tap
from rsp import Client
from tap import note as say, until
from watch import Watch

RETURNS = 100  # how many tracepoints are at functions' returns
BETWEEN = 8  # the most hits that only one of two twins (see has_twin) may have: hits may come while a run begins or ends
PLACES = {"hot": 400, "uniform": 500, "second": 150, "inner": 80, "entry": 40, "weak": 5}  # about 1,000 become jumps
QUIET_EVERY = 4  # the number of rounds between two pauses of the disturbing threads
CALLED = ("obj", "add")  # functions whose calls the fixture counts
RETURNED, WAITS = "irq", "wait"  # functions of the fixture that are traced at their returns; tasks sleep in the second
COMES_AND_GOES = "gtp_target2"
FOLLOWS, LATENCY = "jump, follows the call", "X00000004,2c000627"  # $latency, which has the number 6
# The actions $key_cpu = $cpu_id and $hist_time = $latency (variable 6). At places other than returns, $clock (variable 2)
# replaces $latency.
VARIABLES = {0x60: "key_cpu", 0x61: "hist_time", 0x62: "key_stack", 0x63: "count_stack"}
KEY, TIME = "X00000007,2c00012d006027", "X00000007,2c%04x2d006127"
# The actions $key_stack = $kstack and $count_stack = 1
STACK = ("X00000007,2c00152d006227", "X00000006,22012d006327")
PAIRED = {"starts": guest.STARTS, "ends": guest.ENDS}
WATCHED = ("do_exit", "__SCT__tp_func_sched_process_exit")
GATE = re.compile(r"gtp_gates_(framed|bare)\b")
INSIDE = re.compile(r"(\d+) calls are followed")
NEVER, ALWAYS = guest.NEVER, guest.ALWAYS


BEHIND_ENTRY = ("+0x5", "+0x9")  # the offsets after the function tracer's site: without and with an endbr64


def is_early(place):
    return int(place.name.rsplit("+", 1)[1], 16) < 20


def entry(place):
    """Return the first instruction of the function that has PLACE as its second instruction."""
    function, offset = place.name.rsplit("+", 1)
    return guest.Place(place.addr - int(offset, 16), "return", "", function + "+0x0")


def is_jump(probe):
    return probe.how in ("jump", FOLLOWS)


def on_stacks():
    """Return the number of calls followed by gdbtp that the kernel's own unwinder finds on the stacks of all tasks."""
    found = 0
    for path in glob.glob("/proc/[0-9]*/task/*/stack"):
        try:
            with open(path, encoding="ascii") as file:
                found += len(GATE.findall(file.read()))
        except (FileNotFoundError, ProcessLookupError):  # the task has ended meanwhile
            pass
    return found


def harmless(places):
    """Return the places where the kernel may safely optimize a kprobe: no code jumps into the middle of its jump."""
    return [place for place in places if place.verdict in ("jump", "relocate")]


class Soak:
    def __init__(self, seed, picks):
        self.rng = random.Random("soak %s" % seed)
        self.sets = guest.read_places(picks)
        self.moving = [line.split()[4] for line in open(picks, encoding="ascii") if " %s " % COMES_AND_GOES in line]
        self.refused = {}
        self.totals = collections.Counter()
        self.kprobes = disturb.Kprobes()
        self.crowd = disturb.Crowd(seed)
        self.watch = Watch(self.crowd)
        self.programs = programs.Programs()
        self.text = self.before = None
        self.places = []
        self.since = 0
        self.client = None

    # Places

    def draw(self):
        """Return random places for this round, without those in the module that may be unloaded: see in_module()."""
        found = []
        for kind, count in PLACES.items():
            found += self.rng.sample(self.sets[kind], min(count, len(self.sets[kind])))
        starts = self.returns()
        functions = {place.name.rsplit("+", 1)[0] for place in starts}
        # A jump at an entry, to follow the call, leaves no room for another jump near it.
        found = [place for place in found if not (is_early(place) and place.name.rsplit("+", 1)[0] in functions)]
        found = [place for place in guest.unique(found + starts) if place.addr not in self.refused]
        self.rng.shuffle(found)
        return found

    def returns(self):
        """Return the entries of functions whose calls this round follows until they return. The load runs most of these
        functions."""
        starts = []
        for kind, part in (("hot", 0.8), ("second", 0.2)):
            behind = [place for place in self.sets[kind] if place.name.endswith(BEHIND_ENTRY)]
            starts += [entry(place) for place in self.rng.sample(behind, min(int(part * RETURNS), len(behind)))]
        # Leave out __traceiter_ functions: a tracepoint at such an entry is armed as the kernel tracepoint's event.
        return [place for place in starts if not place.name.startswith("__traceiter_")]

    def in_module(self):
        """Return a few places in the module that is loaded and unloaded, if it is loaded now."""
        at = guest.Names().functions
        found = []
        for name in self.rng.sample(self.moving, min(5, len(self.moving))):
            function, offset = name.rsplit("+", 1)
            if (COMES_AND_GOES, function) in at:
                found.append(guest.Place(at[COMES_AND_GOES, function] + int(offset, 16), "module", "", name))
        return guest.unique(found)

    def fixture(self):
        """Return the second instructions of those functions whose calls the fixture counts."""
        return [p for p in self.sets["fixture"] if p.name.rsplit("+", 1)[0].replace("gtp_target_", "") in CALLED]

    def fixtures_returns(self):
        at = guest.Names().functions
        return [guest.Place(at["gtp_target", "gtp_target_" + name], "return", "", "gtp_target_%s+0x0" % name)
                for name in (RETURNED, WAITS)]

    def mixed(self, i):
        """Return the condition and the actions of the i-th tracepoint. It records at the return if its place's verdict is
        "return"."""
        if i <= len(CALLED) + 2:
            return "", self.recorded(i, guest.mixed(i)[1])
        condition, actions = guest.mixed(i)
        return gated.mixed(i, condition, self.recorded(i, actions))

    def recorded(self, i, actions):
        """Return these actions of the i-th tracepoint, and before them those that update an aggregation or a pair."""
        returns = self.returns_at(i)
        updated = self.updated_by(i)
        if updated in PAIRED:
            return (*PAIRED[updated], *actions)
        if updated == "count_stack":
            return (*STACK, *actions)
        if updated:
            return (KEY, TIME % (6 if returns else 2), *actions)
        return (LATENCY, *actions) if returns else actions

    def returns_at(self, i):
        return self.places[i - 1].verdict == "return"

    def updated_by(self, i):
        """Return the aggregation that the i-th tracepoint updates, the part that it has in a pair, or None. No stack is taken
        at a return."""
        if i % 7 == 3 and not self.returns_at(i):
            return "count_stack"
        if i % 7 == 5 and not self.returns_at(i):
            return "starts" if i % 2 else "ends"
        return "hist_time" if i % 7 == 0 else None

    def has_twin(self, i):
        """Return whether the i-th place has a twin: a second tracepoint with the same condition. At some of these places the
        pad handles the hit by itself, at others it calls C code."""
        return i % 5 == 2 and not self.returns_at(i)

    def twins(self, client, places, hits):
        for i, (place, n) in enumerate(zip(places, hits), 1):
            if not self.has_twin(i):
                continue
            twin = client.hits(guest.TWIN + i, place.addr)
            assert abs(twin - n) <= BETWEEN, "%s: %d hits, and of a second tracepoint %d" % (place.name, n, twin)
            self.totals["twins' hits"] += twin

    def start(self, client, places):
        """Send QTStart. A place may be refused only the first time it is chosen, or if its module is unloaded."""
        while True:
            self.places = places
            guest.define(client, places, self.mixed, self.has_twin)
            self.programs.define(client)
            samples.define(client)
            gated.define(client)
            client.variables(VARIABLES)
            began = time.monotonic()
            reply = client.ask("QTStart")
            if reply == "OK":
                return places, time.monotonic() - began
            found = re.search(r"tracepoint (\d+) at 0x([0-9a-f]+): (.*)", reply)
            assert found, reply
            bad = places[int(found.group(1)) % guest.TWIN - 1]
            assert bad.addr not in self.refused, reply
            if bad.verdict != "module":
                self.refused[bad.addr] = found.group(3)
            say("refused: %s 0x%x, in the file %s: %s" % (bad.name, bad.addr, bad.verdict, found.group(3)))
            assert len(self.refused) < 100, "too many are refused"
            places = [place for place in places if place is not bad]

    # Rounds

    def begin(self, client):
        places = self.fixture() + self.fixtures_returns() + self.draw()
        if self.rng.random() < 0.5:
            moving = self.rng.random() < 0.7
            if moving:  # hold the lock, so that the module stays loaded until its probes are armed
                with disturb.modules_lock:
                    return self.start(client, places + self.in_module())
            return self.start(client, places + self.in_module())
        return self.start(client, places)

    def counted(self, client, places, how):
        """Let the fixture make calls. Check that every call, or its return, was a hit."""
        counted = places[:len(CALLED) + 1]
        names = [p.name.rsplit("+", 1)[0].replace("gtp_target_", "") for p in counted]
        calls = [-fixture.counted(name) for name in names]
        hits = [-client.hits(i, p.addr) for i, p in enumerate(counted, 1)]
        nested = -nested_hits(client)
        fixture.target("loop mix %d" % self.rng.randint(100, 1500))
        calls = [n + fixture.counted(name) for n, name in zip(calls, names)]
        hits = [h + client.hits(i, p.addr) for i, (h, p) in enumerate(zip(hits, counted), 1)]
        assert min(calls[:len(CALLED)]) > 0, calls
        jumps = [is_jump(how[p.addr]) for p in counted]
        nested += nested_hits(client)
        # The last of these functions is called from interrupts, which may come during the hit of a kprobe and are missed.
        allowed = [0] * len(CALLED) + [nested]
        assert all(c - n <= h <= c for h, c, n, jump in zip(hits, calls, allowed, jumps) if jump), (
            "hits %s, calls %s, %d nested" % (hits, calls, nested))
        self.totals["counted calls"] += sum(c for c, jump in zip(calls, jumps) if jump)

    def crowd_returns(self, client, places, how):
        """Wake the tasks that fell asleep in a traced call in the previous round. In this run their calls are unknown, and
        their returns must not be hits. Then let other tasks fall asleep, and sometimes wake them in this run."""
        place, number = places[len(CALLED) + 1], len(CALLED) + 2
        assert not client.hits(number, place.addr)
        fixture.target("release")
        hits = client.hits(number, place.addr)
        count = self.rng.randint(1, 200)
        fixture.target("crowd %d" % count)
        if self.rng.random() < 0.5:
            fixture.target("release")
            hits = client.hits(number, place.addr) - hits
            assert hits == count or how[place.addr].how != FOLLOWS, "%d returns, %d tasks" % (hits, count)
            self.totals["counted returns"] += count
            fixture.target("crowd %d" % count)

    def never(self, places, hits):
        bad = [place for i, (place, n) in enumerate(zip(places, hits), 1) if n and self.mixed(i)[0] == NEVER]
        assert not bad, "a condition that never holds did at %s" % bad

    def updates(self, hits):
        """Return {aggregation: the number of values that it must have after these hits}."""
        found = collections.Counter()
        for i, n in enumerate(hits, 1):
            found[self.updated_by(i)] += n
        del found[None]
        return +found

    def round(self, client, number):
        self.watch.round("round %d" % number)
        # Hits on a CPU that is offline at the start are not counted in the run, so some rounds begin with all CPUs online.
        all_cpus = self.rng.random() < 0.6
        with disturb.cpus_lock if all_cpus else contextlib.nullcontext():
            places, began = self.begin(client)
        how = guest.mechanisms(client)
        jumps = [place for place in places if place.addr in how and is_jump(how[place.addr])]
        follow = sum(how[place.addr].how == FOLLOWS for place in jumps)
        self.kprobes.places = harmless(self.rng.sample(jumps, min(len(jumps), 60)))
        if all_cpus:
            self.counted(client, places, how)
            self.crowd_returns(client, places, how)
            self.totals["calls in programs"] += self.programs.counted(client, self.rng)
        if self.rng.random() < 0.7:
            time.sleep(self.rng.uniform(0, 4))
        values = collections.Counter()
        for _ in range(self.rng.randint(0, 5)):
            values += aggregated(guest.aggregates(client, "clear"))
        hits = guest.all_hits(client, places)
        self.never(places, hits)
        at = time.monotonic()
        client.ok("QTStop")
        ended = time.monotonic() - at
        hits = guest.all_hits(client, places)
        self.never(places, hits)
        self.twins(client, places, hits)
        self.totals["hits inside"] += gated.check(client, hits)
        text = guest.aggregates(client, "show")
        values += aggregated(text)
        sampled = samples.hits(client)
        updates = self.updates(hits) + collections.Counter(count_sample=sum(sampled))
        if updates["starts"] or updates["ends"]:
            pair = guest.Pair(text)
            assert (pair.starts, pair.ends) == (updates.pop("starts", 0), updates.pop("ends", 0)), text
            assert pair.ended == values.pop("hist_since", 0), text
            self.totals["pairs"] += pair.ended
        assert values == updates, "values in the aggregations: %s, hits that update them: %s" % (values, updates)
        self.crowd.check()
        ran = [p for p, n in list(zip(places, hits))[len(CALLED) + 2:] if n and p.verdict not in ("module", "return")]
        self.sets["hot"] = guest.unique(self.sets["hot"] + ran)
        self.totals.update({"rounds": 1, "jumps": len(jumps), "follow": follow, "places": len(places), "hits": sum(hits),
                            "updates": updates["hist_time"], "stacks": updates["count_stack"],
                            "clock's samples": sampled[0], "samples in NMIs": sum(sampled[1:])})
        say("round %d: %d places, %d jumps, %d follow, %d hit, %d hits, start %.1f s, stop %.1f s, at %d s" % (
            number, len(places), len(jumps), follow, sum(map(bool, hits)), sum(hits), began, ended,
            time.monotonic() - self.since))

    def quiet(self):
        """Pause all threads that disturb. Compare the text with that of the beginning."""
        self.watch.round("a pause")
        self.crowd.pause()
        self.programs.unchanged()
        busy = not idle(10)
        def same():
            bad = self.text.changed(self.before)
            # While followed calls have not returned, gdbtp traces the ends of tasks, which changes code in WATCHED.
            return not bad or busy and len(bad) < 100 and all(symbol(addr).split("+")[0] in WATCHED for addr in bad)
        try:
            until(same, "the text")
        except AssertionError:
            bad = self.text.changed(self.before)
            after = self.text.now()
            for addr in bad[:60]:
                at = addr - self.text.start
                say("changed: 0x%x %s: %02x, now %02x" % (addr, symbol(addr), self.before[at], after[at]))
            raise AssertionError("%d bytes of the kernel are not what they were" % len(bad)) from None
        self.totals["comparisons"] += 1

    def reload(self):
        """Unload gdbtp and load it again, with its tables, unless tasks still sleep in calls that gdbtp follows."""
        if not idle(10):
            self.totals["calls inside, no reload"] += 1
            return
        self.both_ways()
        fixture.unload()
        load_module()
        self.totals["reloads"] += 1

    def both_ways(self):
        """Add gdbtp's counts of kernel stacks since it was loaded: of those it walked itself, of those that the kernel's
        unwinder walked, and of those for which the two differed. None may differ."""
        for what in ("walked", "handed", "differed"):
            self.totals["stacks " + what] += int(fixture.parameter("stack_" + what))
        assert not self.totals["stacks differed"], "stacks that are not what the kernel's unwinder says"

    def inside(self, client):
        """Check that gdbtp counts as many followed calls as the kernel finds on the stacks of tasks, so that none is lost."""
        def both():
            return int(INSIDE.search(client.monitor("jumps")).group(1)), on_stacks()
        until(lambda: len(set(both())) == 1, "calls that are followed and those on stacks: %s" % (both(),))
        self.totals["calls inside"] += on_stacks()

    def calm(self, client):
        """Between two rounds, pause the disturbing threads and check the text and the followed calls. Reload gdbtp sometimes.
        Return a client for the next round."""
        if self.rng.random() < 0.5:
            fixture.target("release")
        self.quiet()
        self.inside(client)
        if self.rng.random() < 0.4:
            client.close()
            self.reload()
            client = self.connect()
        self.crowd.resume()
        return client

    def connect(self):
        self.client = Client()
        self.client.ok("QTBuffer:circular:1")
        return self.client

    def go(self, seconds):
        self.since = time.monotonic()
        client = self.connect()
        number = 0
        while time.monotonic() < self.since + seconds:
            number += 1
            self.round(client, number)
            if number % QUIET_EVERY == 0:
                client = self.calm(client)
        self.crowd.stop()
        fixture.target("release")
        self.inside(client)
        client.close()
        self.both_ways()
        assert self.totals["hits inside"], "no hits of tasks that have a value"
        assert self.totals["clock's samples"] and self.totals["samples in NMIs"], "no hits of samples"
        if idle(60):  # gdbtp retries every second to free pads that other users' kprobes kept in use
            fixture.unload()
        else:
            say("gdbtp stays: %d calls are on the stacks of tasks that sleep" % on_stacks())
            assert on_stacks(), "it stays for nothing"
        self.quiet()
        self.watch.cancel()

    def find_hot(self):
        """Find functions that run under the load, by jumps at the second instructions of many functions. Later rounds add
        further ones."""
        with Client() as client:
            client.ok("QTBuffer:circular:1")
            places = guest.start(client, guest.unique(self.sets["second"])[:3000])
            guest.work(1)
            hits = guest.all_hits(client, places)
            client.ok("QTStop")
        self.sets["hot"] = [place for place, n in zip(places, hits) if n]
        say("%d of %d functions run under the load" % (len(self.sets["hot"]), len(places)))

    def prepare(self):
        """Run each kind of disturbance at least once, because its first use may change the kernel's text for good. Then take
        the copy of the text with which later pauses compare."""
        say("prepares")
        self.watch.round("the preparation")
        self.find_hot()
        self.kprobes.places = harmless(self.sets["second"])[:20]
        kinds = [disturb.features, disturb.keys, disturb.events, disturb.tracer, disturb.cpus, disturb.modules,
                 self.kprobes, disturb.load, disturb.reader, programs.processes]
        self.crowd.start(kinds)
        self.watch.round("the preparation")
        while not self.crowd.failure and not all(self.crowd.done[m.name] for m in self.crowd.members):
            time.sleep(0.1)
        self.crowd.pause()
        disturb.every_preemption()
        self.text = guest.Text()
        time.sleep(2)
        self.before = self.text.now()
        self.crowd.done.clear()
        self.crowd.resume()


def idle(seconds):
    """Wait at most SECONDS until nothing uses gdbtp. Return whether that is so."""
    try:
        until(lambda: not fixture.loaded() or fixture.users() == 0, "gdbtp is not in use", seconds)
    except AssertionError:
        return False
    return True


def symbol(addr):
    """Return an address in the kernel as NAME+OFFSET."""
    at, name = max((at, name) for at, name, _ in kernel.kallsyms() if at <= addr)
    return "%s+0x%x" % (name, addr - at)


def aggregated(text):
    """Return {aggregation: number of values so far}, over all CPUs, including values whose keys found no room."""
    found, name = collections.Counter(), None
    for word, what in re.findall(r"^(aggregation|entry|noroom) (\S+)", text, re.M):
        if word == "aggregation":
            name = what
        else:
            found[name] += int(what)
    return +found


def nested_hits(client):
    return kernel.not_seen(client.monitor("status"))[0]


def load_module():
    fixture.load("self_trace=1", "allow_notrace=0", "stack_walk=2")
    fixture.load_tables()


def prepare(seed, picks):
    kernel.put(kernel.TRACING + "buffer_size_kb", "256")
    load_module()
    fixture.load_fixture()
    fixture.load_tables()
    samples.load()
    return Soak(seed, picks)


def main(seed, picks, seconds):
    soak = prepare(seed, picks)

    def run():
        soak.prepare()
        soak.go(int(seconds))

    good = tap.run([("runs of 1,000 jumps while others change code, for %s s" % seconds, run)])
    if not good and soak.client and soak.client.fd >= 0:  # end the run, so that later errors do not hide this one
        say("QTStop:", soak.client.ask("QTStop"))
    say(dict(soak.totals))
    say("by others:", dict(soak.crowd.done), "kprobes refused by the kernel:", dict(soak.kprobes.refused))
    os._exit(not good)


if __name__ == "__main__":
    main(*sys.argv[1:])
