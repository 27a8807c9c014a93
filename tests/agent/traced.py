# SPDX-License-Identifier: GPL-2.0-only
"""Tests tracepoints in a process that runs on: what is collected, and that nothing harms the process."""
import os
import re
import select
import signal
import time

from linked import linked
from tap import check, equal, matches, note, rounds, seeded, test, until
from world import BUILT, Gdb, Packets, Victim, first_mapping, marks

choose = seeded()


def work(victim, calls):
    """Let the victim make calls of victim_work() in 4 threads, and check the result."""
    equal(int(victim.ask("work %d" % calls)), 4 * 3 * sum(range(calls)) + 6 * calls, "the sum of what was returned")


@test("tracepoints: 4 threads make 100,000 calls each; every hit is counted and every frame is right")
def tracepoints():
    with Victim() as victim:
        before = marks(victim)
        with Gdb(victim) as gdb:
            gdb.ask("set trace-buffer-size %d" % (512 << 20), "trace victim_work if n % 1000 == 7", "actions",
                    "collect n, thread, *w", "end", "ftrace victim_work", "tstart")
            work(victim, 100000)
            gdb.ask("tstop")
            equal(gdb.value("$trace_frame"), "-1")
            hits = re.findall(r"hit (\d+) times", gdb.ask("tstatus", "info tracepoints"))
            equal(hits, ["400", "400000"])
            seen = set()
            frames = gdb.ask("set $i = 0", "tfind tracepoint 1", "while $trace_frame != -1", 'printf "<%d %d %d %d>", '
                             "thread, n, w->scale, w->calls", "tfind tracepoint 1", "end")
            for thread, n, scale, calls in re.findall(r"<(\d+) (\d+) (\d+) (\d+)>", frames):
                equal((scale, calls), ("3", "100000"))
                seen.add((int(thread), int(n)))
            equal(seen, {(thread, n) for thread in range(4) for n in range(7, 100000, 1000)})
            gdb.ask("tfind none")
            matches("detached", gdb.ask("detach"))
        # The victim's own threads have left memory behind, so compare the code, which includes that of the agent, and files.
        until(lambda: is_as_before(victim, before), "the code and the open files to be as before")
        check(b"memfd" not in victim.file("maps"), "no memory that was shared is left")
        work(victim, 1000)


@test("tracepoints: an aggregation that is read again and again while 4 threads update it loses nothing")
def read_aggregation():
    read = "maint packet qXfer:gtpaggregates:read:show:0,1000"
    with Victim() as victim, Gdb(victim) as gdb:
        gdb.ask("tvariable $hist_a", "trace victim_work", "actions", "teval $hist_a = n + 5", "end", "tstart")
        calls = 5000000
        victim.tell("work %d" % calls)
        reads = 0
        while not select.select([victim.process.stdout], [], [], 0)[0]:
            gdb.ask(read)
            reads += 1
        victim.line()
        check(reads > 2, "%d reads" % reads)
        gdb.ask("tstop")
        found = matches(r"entry (\d+) : (\d+) (\d+) (\d+)", gdb.ask(read)).groups()
        equal([int(n) for n in found], [4 * calls, 4 * sum(range(5, calls + 5)), 5, calls + 4])


@test("tracepoints: a bad pointer ends the run with its reason; the process runs on")
def bad_pointer():
    with Victim() as victim, Gdb(victim) as gdb:
        gdb.ask("trace victim_work if *(int *)(n * 4096) == 1", "tstart")
        work(victim, 1000)
        matches("cannot read memory at 0x0", gdb.ask("tstatus"))
        gdb.ask("delete", "trace victim_work if n == 5", "tstart")
        work(victim, 1000)
        matches("Collected 4 trace frames", gdb.ask("tstatus"))


@test("tracepoints: the frames of a process that aborts are there")
def aborts():
    with Victim() as victim, Gdb(victim) as gdb:
        gdb.ask("trace victim_work", "actions", "collect n, thread", "end", "tstart")
        victim.tell("abort")
        victim.process.wait()
        matches("Found trace frame 0", gdb.ask("tstop", "tfind 0"))
        equal((gdb.value("n"), gdb.value("thread")), ("5", "6"))


def is_as_before(victim, before):
    try:
        return marks(victim)[1:] == before[1:]
    except OSError:  # memory of the agent was unmapped between its listing and its reading
        return False


def same_code(victim, before):
    """Check that code and descriptors are as before, and that no memory of the agent is left."""
    until(lambda: is_as_before(victim, before), "the code and the open files to be as before")
    check(b"memfd" not in victim.file("maps"), "memory that was shared is left")


def kill_stub(gdb):
    os.kill(gdb.stub(), signal.SIGKILL)
    gdb.ask("tstatus")


@test("tracepoints: after SIGKILL to gtp-attach the process goes on with its jumps, and the next attach removes them")
def killed():
    with Victim() as victim:
        before = marks(victim)
        with Gdb(victim) as gdb:
            gdb.ask("trace victim_work if n == 5", "actions", "collect n, *w", "end", "trace victim_look", "tstart")
            work(victim, 1000)
            kill_stub(gdb)
        check(marks(victim)[1] != before[1], "no jump is left")
        work(victim, 100000)
        with Gdb(victim) as gdb:
            matches("removed 2 jumps of a gtp attach that was killed", gdb.hello)
            same_code(victim, before)
            gdb.ask("trace victim_work if n == 5", "tstart")
            work(victim, 1000)
            matches("Collected 4 trace frames", gdb.ask("tstop", "tstatus"))
        same_code(victim, before)
        work(victim, 1000)


class Started(Packets):
    """A gtp-attach with tracepoints at two functions of the victim, without a GDB."""

    def __init__(self, victim):
        super().__init__(victim)
        base = first_mapping(victim, "/victim")
        self.command("QTinit")
        for number, name in enumerate(("victim_work", "victim_look"), 1):
            place = base + linked(os.path.join(BUILT, "victim"))[name]
            self.command("QTDP:%x:%x:E:0:0-" % (number, place))
            self.command("QTDP:-%x:%x:M5,0,8" % (number, place))  # the memory that the first argument points to

    def command(self, text):
        self.send(text)
        equal(self.answer(), b"OK", text)

    def again(self, victim, i):
        """Start and stop, and define other tracepoints."""
        self.command("QTStart")
        self.command("QTStop")
        self.command("QTinit")
        place = first_mapping(victim, "/victim") + linked(os.path.join(BUILT, "victim"))["victim_look"]
        # Several expressions, so that the code of each run lies elsewhere: n > i % 100.
        for number in range(1, 2 + i % 3):
            self.command("QTDP:%x:%x:E:0:0:X8,26000422%02x2b1427-" % (number, place, i % 100))
            self.command("QTDP:-%x:%x:R%x" % (number, place, 0x30 if i % 2 else 0xffff))

    def kill(self):
        self.process.kill()
        self.process.communicate()


@test("tracepoints: a handler that sleeps on top of a hit: tstop waits for that hit before the code of the next run is written")
def naps():
    with Victim() as victim:
        packets = Started(victim)
        victim.tell("nap 10")
        i = 0
        while not select.select([victim.process.stdout], [], [], 0)[0]:
            packets.again(victim, i)
            i += 1
        equal(victim.line(), "10\n")
        check(i > 5, "%d tstarts only" % i)
        equal(packets.end(), "")


@test("tracepoints: tstop, new definitions and tstart again and again, while four threads hit all the time")
def toggled():
    with Victim() as victim:
        equal(victim.ask("spin"), "0")
        packets = Started(victim)
        for i in range(rounds(200, 40)):
            packets.again(victim, i)
        equal(packets.end(), "")
        equal(int(victim.ask("look 1000")), sum(range(1000)) + 1000)


def tstart_seconds():
    """Return how long the first tstart takes, and a tstop and tstart after it."""
    times = []
    with Victim() as victim:
        packets = Started(victim)
        for commands in (["QTStart"], ["QTStop", "QTStart"]):
            began = time.monotonic()
            for command in commands:
                packets.command(command)
            times.append(time.monotonic() - began)
        packets.end()
    return times


def killed_somewhere(warm, seconds):
    """Kill gtp-attach in the middle of a tstart; the process must go on, and another gtp-attach remove what is left."""
    with Victim() as victim:
        victim.ask("busy")
        before = marks(victim)
        packets = Started(victim)
        for command in ("QTStart", "QTStop") if warm else ():
            packets.command(command)
        packets.send("QTStart")
        if warm:
            packets.send("QTStop")
        time.sleep(choose.random() * seconds)
        packets.kill()
        work(victim, 1000)
        until(lambda: b"TracerPid:\t0\n" in victim.file("status"), "a child that still works")
        left = b"memfd" in victim.file("maps")
        until(lambda: "removed" in Packets(victim).end() or b"memfd" not in victim.file("maps"), "the jumps to be removed")
        same_code(victim, before)
        packets = Started(victim)
        packets.command("QTStart")
        work(victim, 1000)
        packets.end()
        same_code(victim, before)
        return left


@test("tracepoints: SIGKILL to gtp-attach at any moment of a later tstart and tstop: all is removed by the next one")
def killed_at_once():
    seconds = tstart_seconds()[1]
    for _ in range(rounds(60, 20)):
        check(killed_somewhere(True, seconds), "nothing was left")


@test("tracepoints: SIGKILL to gtp-attach at any moment of the first tstart")
def killed_first():
    seconds = tstart_seconds()[0]
    tries = rounds(60, 20)
    left = sum(killed_somewhere(False, seconds) for _ in range(tries))
    note("in %d of %d tries there was something to remove" % (left, tries))
    check(left, "nothing was left")


@test("tracepoints: memory that another thread protects all the time: frames or errors, and the process runs on")
def flips():
    with Victim() as victim, Gdb(victim) as gdb:
        equal(victim.ask("flip"), "0")
        gdb.ask("monitor stop-on-error off", "set circular-trace-buffer on", "trace victim_look if *page == 4712", "actions",
                "collect *page", "end", "tstart")
        good = bad = 0
        while not (good and bad):
            equal(int(victim.ask("look 200000")), sum(range(200000)))
            status = gdb.ask("monitor status")
            good = int(matches(r" (\d+) collected", status).group(1))
            bad = int((re.findall(r"errors: +(\d+)", status) or "0")[0])
        note("%d frames, %d errors" % (good, bad))
        gdb.ask("tstop")


def call_library(victim):
    equal(int(victim.ask("call 1000")), sum(range(1000)) + 4711 * 1000)


@test("tracepoints in a library that is closed and loaded again during the run: the process runs on, and its code is restored")
def closed_library():
    with Victim() as victim:
        place = int(victim.ask("load " + os.path.join(BUILT, "library.so")), 16)
        before = marks(victim)
        with Gdb(victim) as gdb:
            gdb.ask("trace *%d" % place, "tstart")
            call_library(victim)
            matches("hit 1000 times", gdb.ask("tstatus", "info tracepoints"))
            equal(victim.ask("unload"), "0")
            work(victim, 100)
            victim.ask("load " + os.path.join(BUILT, "library.so"))
            call_library(victim)
            gdb.ask("detach")
        until(lambda: b"memfd" not in victim.file("maps"), "no memory that was shared is left")
        call_library(victim)
        equal(len(marks(victim)[1]), len(before[1]), "mappings of code")


@test("tracepoints: memory of a library that is closed during the run is an error, and the process runs on")
def closed_memory():
    with Victim() as victim, Gdb(victim) as gdb:
        victim.ask("load " + os.path.join(BUILT, "library.so"))
        value = hex(first_mapping(victim, "library.so") + linked(os.path.join(BUILT, "library.so"))["victim_library_value"])
        gdb.ask("trace victim_work if *(long *)%s != 4711" % value, "tstart")
        work(victim, 100)
        matches("Collected 0 trace frames", gdb.ask("tstatus"))
        equal(victim.ask("unload"), "0")
        work(victim, 100)
        matches("cannot read memory", gdb.ask("tstatus"))


@test("tracepoints in a program and its libraries, farther than a jump reaches: refused in words, and nothing is changed")
def far():
    with Victim() as victim, Gdb(victim) as gdb:
        before = marks(victim)
        matches("no free addresses within 2 GiB", gdb.ask("trace victim_work", "trace getpid", "tstart"))
        equal(marks(victim) == before, True, "as before")


@test("tracepoints: a library that is closed and loaded again in another place of memory is not patched at the old one")
def moved_library():
    with Victim() as victim, Gdb(victim) as gdb:
        place = int(victim.ask("load " + os.path.join(BUILT, "library.so")), 16)
        gdb.ask("trace *%d" % place, "tstart")
        equal(victim.ask("unload"), "0")
        victim.ask("load " + os.path.join(BUILT, "library.so"))
        code = marks(victim)[1]
        gdb.ask("tstop", "detach")
        equal([piece for piece in marks(victim)[1] if piece not in code], [], "code that has changed")
        call_library(victim)


@test("tracepoints: a handler that leaves hits by siglongjmp: the process runs on, and its code is restored")
def leaps():
    with Victim() as victim:
        before = marks(victim)
        with Gdb(victim) as gdb:
            gdb.ask("set circular-trace-buffer on", "monitor stop-on-error off", "trace victim_look",
                    "actions", "collect *page", "end", "trace victim_look if n == 7", "tstart")
            equal(victim.ask("leap 2000"), "2000")
            gdb.ask("tstop", "tstart")
            equal(victim.ask("leap 100"), "100")
            gdb.ask("tstop", "detach")
        until(lambda: [piece for piece in before[1] if piece not in marks(victim)[1]] == [], "the code to be as before")
        equal(victim.ask("leap 100"), "100")


@test("tracepoints: a forked child passes through the jumps; in the child tracepoints are refused")
def forked():
    with Victim() as victim, Gdb(victim) as gdb:
        gdb.ask("trace victim_look", "set circular-trace-buffer on", "tstart")
        victim.ask("look 10")
        child = int(victim.ask("fork"))
        with Gdb(child) as other:
            looks = int(other.value("looks"))
            until(lambda: int(other.value("looks")) > looks + 100000, "calls of the child")
            matches("was forked from one with tracepoints", other.ask("trace victim_look", "tstart"))
        matches("hit 10 times", gdb.ask("tstatus", "info tracepoints"))
        gdb.ask("tstop")


@test("tracepoints: a second gtp attach is refused while the first one has tracepoints")
def two():
    with Victim() as victim, Gdb(victim) as gdb, Gdb(victim) as other:
        gdb.ask("trace victim_work", "tstart")
        matches("has tracepoints of another gtp attach", other.ask("trace victim_look", "tstart"))
        work(victim, 100)
        matches("hit 400 times", gdb.ask("tstatus", "info tracepoints"))


def no_tracepoints(victim, pattern, place="victim_work"):
    """Check that a tstart is refused, and that the process is as before."""
    before = marks(victim)
    with Gdb(victim) as gdb:
        matches(pattern, gdb.ask("trace %s" % place, "tstart"))
        equal(marks(victim) == before, True, "as before")
        matches(r"TracerPid:\t0\n", victim.file("status").decode())


@test("tracepoints are refused in programs of Go, without a C library, with filters, limits, locked memory, threads that share data")
def unfit():
    with Victim(os.path.join(BUILT, "victim-go")) as victim:
        no_tracepoints(victim, "has code of Go")
        work(victim, 10)
    with Victim(os.path.join(BUILT, "bare")) as victim:
        no_tracepoints(victim, "is not one of glibc or musl", "bare_count")
        equal(victim.process.poll(), None)
    with Victim() as victim:
        equal(victim.ask("filter"), "0")
        no_tracepoints(victim, "has a seccomp filter")
        work(victim, 10)
    for line, pattern in (("limit", "has a limit of its address space"), ("lock", "has locked memory")):
        with Victim() as victim:
            equal(victim.ask(line), "0")
            no_tracepoints(victim, pattern)
            work(victim, 10)
    with Victim() as victim:
        equal(victim.ask("share"), "0")
        no_tracepoints(victim, r"threads \d+ and \d+ of process \d+ share their FS segment")
        work(victim, 10)


@test("tracepoints: a seccomp filter that comes later: memory is an error from then on, and the process runs on")
def filtered():
    with Victim() as victim, Gdb(victim) as gdb:
        gdb.ask("monitor stop-on-error off", "trace victim_work if w->scale == 3", "tstart")
        work(victim, 100)
        matches("hit 400 times", gdb.ask("tstatus", "info tracepoints"))
        equal(victim.ask("filter"), "0")
        until(lambda: "has a seccomp filter now" in gdb.ask("tstatus"), "the message")
        work(victim, 100)
        matches("hit 400 times", gdb.ask("tstatus", "info tracepoints"))
        matches("errors: +400;", gdb.ask("monitor status"))
        gdb.ask("tstop")
        matches("has a seccomp filter now", gdb.ask("tstart"))


@test("tracepoints: without gtp-attach there are no system calls: a filter that comes then harms nothing")
def ownerless():
    with Victim() as victim:
        with Gdb(victim) as gdb:
            gdb.ask("monitor stop-on-error off", "trace victim_work if w->scale == 3", "tstart")
            work(victim, 100)
            kill_stub(gdb)
        equal(victim.ask("filter"), "0")
        work(victim, 100)


@test("tracepoints: variables of tasks are refused")
def task_variables():
    with Victim() as victim, Gdb(victim) as gdb:
        matches("no variables of tasks", gdb.ask("tvariable $task_x = 0", "trace victim_work if $task_x == 0", "tstart"))
        work(victim, 10)
