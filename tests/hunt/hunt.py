# SPDX-License-Identifier: GPL-2.0-only
"""Runs in the guest: arms batches of probes at random functions, and turns on one walker (see walkers.py) after the other.
Then arms the probes while some walkers are on.

Usage: tests/lib/env python3 hunt.py SEED PICKS BATCH [WALKER...]

The test looks for crashes of the kernel; the last lines say which walkers were on. Each batch is armed twice, as jumps
and as kprobes.
"""
import collections
import random
import sys
import threading

import fixture
import gated
import guest
import samples
import tap
import walkers
from kernel import kprobes, put, symbols
from rsp import Client
from tap import note as say, until

MECHANISMS = ("jumps", "kprobes")
ARMED_UNDER = 3  # how many of the walkers are on, one after the other, while a batch is armed
# How many kprobes of a batch are armed while a walker is on. For each one the kernel decodes the whole function and waits
# for the optimizer. Under function_graph, which records every step, this takes seconds for each kprobe.
KPROBES_UNDER = 60
# Functions of the fixture that are in each batch, and that the test calls while each walker is on, so that there are always
# hits: of three consecutive places, guest.mixed() gives only one a condition that never holds.
CALLED = ("gtp_target_leaf", "gtp_target_add", "gtp_target_obj")
SURE = CALLED[1:]  # gtp_target_leaf() takes no jump, since it is notrace
LOGLEVEL = "4"  # print only errors on the console; the output of SysRq has a lower priority, and does not mean trouble


class Load:
    """Keeps the kernel at work with files, processes, the network and memory."""

    def __init__(self):
        self.end, self.rounds, self.failure = threading.Event(), 0, None
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        try:
            while not self.end.is_set():
                guest.work(1)
                self.rounds += 1
        except Exception as error:
            self.failure = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()
        tap.check(not self.failure, "the load failed: %s" % self.failure)


def mixed(i):
    """Return the condition and the actions of the i-th tracepoint. Most of those whose condition can hold start something, or
    end it, by a pair."""
    condition, actions = guest.mixed(i)
    if i % 4 and condition != guest.NEVER:
        actions = (*(guest.ENDS if condition else guest.STARTS), *actions)
    return gated.mixed(i, condition, actions)


class Hunt:
    def __init__(self, seed, some, sure):
        self.sure = sure  # the addresses for gated.define_sure()
        self.rng = random.Random("hunt %s" % seed)
        self.walkers = some
        self.totals = collections.Counter()

    def stir(self, client, places, walker, before):
        """Leave a walker on for a moment, and print the number of hits in this time. Return the number of hits in this run
        so far."""
        with walker:
            fixture.target("loop mix 20")
            walker.walk()
        after = sum(guest.all_hits(client, places))
        say("  %s: %d hits" % (walker.name, after - before))
        return after

    def others(self, client):
        samples.define(client)
        gated.define(client)
        gated.define_sure(client, self.sure)

    def armed(self, client, places):
        # Every other place gets two tracepoints, because the pads of tracepoints at the same place are chained.
        places = guest.start(client, places, mixed, has_twin=lambda i: i % 2 == 0, others=self.others)
        how = collections.Counter(probe.how for probe in guest.mechanisms(client).values())
        say("  " + ", ".join("%d %s" % (n, what) for what, n in how.most_common()))
        self.totals.update(how)
        return places

    def under_way(self, client, places):
        """Arm the probes first, then turn on one walker after the other."""
        places, hits = self.armed(client, places), 0
        for walker in self.rng.sample(self.walkers, len(self.walkers)):
            hits = self.stir(client, places, walker, hits)
        self.totals["hits"] += hits
        self.totals["samples"] += sum(samples.hits(client))
        say(*guest.losses(client))
        client.ok("QTStop")
        self.totals["inside"] += gated.check(client, guest.all_hits(client, places), self.sure)
        self.totals["pairs"] += guest.Pair(guest.aggregates(client, "show")).ended

    def while_on(self, client, places, mechanism):
        """Arm and remove the probes while the walkers already run."""
        most = KPROBES_UNDER if mechanism == "kprobes" else len(places)
        places = self.rng.sample(places, min(most, len(places)))
        for walker in self.rng.sample(self.walkers, min(ARMED_UNDER, len(self.walkers))):
            say("  %s first" % walker.name)
            with walker:
                armed = self.armed(client, places)
                walker.walk()
                self.totals["hits"] += sum(guest.all_hits(client, armed))
                client.ok("QTStop")

    @staticmethod
    def progress(text):
        """Print progress while a thousand kprobes are armed under a tracer."""
        if text.startswith("gdbtp: "):
            say("  " + text.strip())

    def batch(self, places, mechanism):
        with Client() as client, Load():
            client.on_console = self.progress
            client.ok("QTBuffer:circular:1")
            client.monitor("jumps " + ("on" if mechanism == "jumps" else "off"))
            self.under_way(client, places)
            self.while_on(client, places, mechanism)
            client.monitor("jumps on")
        until(lambda: not kprobes(), "probes that stay")
        self.totals["places as " + mechanism] += len(places)


def cut(items, size):
    return [items[i:i + size] for i in range(0, len(items), size)]


def missing(name, why):
    return name + " walks", lambda: tap.skip(why)


def main(seed, picks, size, *names):
    put("/proc/sys/kernel/printk", LOGLEVEL)
    fixture.load("self_trace=1", "allow_notrace=0")
    fixture.load_fixture()
    fixture.load_tables()
    samples.load()
    guest.work(1)
    places = guest.read_places(picks)["each"]
    at = symbols(*CALLED)
    called = [guest.Place(addr, "", "", name) for name, addr in at.items()]
    some = [w for w in walkers.all_of(places) if not names or w.name in names]
    hunt = Hunt(seed, [w for w in some if not w.lacks()], [at[name] for name in SURE])
    todo = [missing(w.name, w.lacks()) for w in some if w.lacks()]
    for i, part in enumerate(cut(places, int(size))):
        for mechanism in MECHANISMS:
            todo.append(("%d places as %s, batch %d, while %d walkers come and go" % (
                len(part), mechanism, i + 1, len(hunt.walkers)), lambda p=part + called, m=mechanism: hunt.batch(p, m)))
    todo.append(("hits came", lambda: tap.check(hunt.totals["hits"] > len(places), "too few: %s" % hunt.totals)))
    todo.append(("samples came", lambda: tap.check(hunt.totals["samples"] > len(places), "too few: %s" % hunt.totals)))
    todo.append(("tasks had a value", lambda: tap.check(hunt.totals["inside"], "no hits: %s" % hunt.totals)))
    good = tap.run(todo)
    say(dict(hunt.totals))
    fixture.unload()
    sys.exit(not good)


main(*sys.argv[1:])
