# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
"""Tests that /proc/gtpframe_pipe delivers every frame once and in order, and reports lost frames, while its readers open it,
die, wait, or are slow."""
import contextlib
import errno
import os
import select
import signal
import subprocess
import tempfile

from fixture import child, command, ended, facts, hammering, kill, load, load_fixture, loaded, main, target, \
    target_aside, users
from kernel import CPUS
from rsp import Client
from stream import CLOCK, CPU_ID, END, LOST_TP, PIPE, lost, reader, split
from tap import check, equal, matches, note, test, until

load()
load_fixture()
LEAF, ADD, OBJ = (facts()["gtp_target_" + name] for name in ("leaf", "add", "obj"))
TIMES = "X7,2e00022e000127"  # collect $clock, $cpu_id
WHERE = tempfile.mkdtemp()
FILE = WHERE + "/stream"


def begin(client, *places, kib=0):
    """Begin a run with a circular buffer of KIB KiB on each CPU."""
    client.ok("QTBuffer:circular:1")
    client.ok("QTBuffer:size:%x" % (kib * 1024 * CPUS) if kib else "QTBuffer:size:-1")
    client.start(*((i, addr, TIMES) for i, addr in enumerate(places, 1)))


def all_hits(client, *places):
    return sum(client.hits(i, addr) for i, addr in enumerate(places, 1))


def read(path=FILE):
    with open(path, "rb") as file:
        return file.read()


def times(frames):
    return [values[CLOCK] for number, values in frames if number != LOST_TP]


@contextlib.contextmanager
def opened(flags=os.O_RDONLY):
    fd = os.open(PIPE, flags)
    try:
        yield fd
    finally:
        os.close(fd)


def rest(fd, size=1 << 20):
    """Read the pipe up to the end. Return the bytes."""
    data = b""
    while more := os.read(fd, size):
        data += more
    return data


def refused(how, *args):
    try:
        how(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None


@test("a reader beside calls on all CPUs: each hit is a frame of the stream, in order of time")
def complete():
    with Client() as client:
        begin(client, LEAF, ADD, OBJ)
        pid = reader(FILE)
        for _ in range(3):
            target_aside("loop mix 3000")
        client.ok("QTStop")
        equal(ended(pid), 0, "the reader's end")
        header, frames, end = split(read())
        equal(end, END, "the end")
        check(header.startswith(b"\x7fTRACE0\n"), "no header")
        hits = all_hits(client, LEAF, ADD, OBJ)
        note("%d hits, %d frames, %d lost" % (hits, len(times(frames)), lost(frames)))
        check(hits > 3000 * CPUS, "few hits")
        equal(len(times(frames)) + lost(frames), hits, "frames")
        equal(times(frames), sorted(times(frames)), "order")
        equal({values[CPU_ID] for _, values in frames}, set(range(CPUS)), "CPUs")
        equal({number for number, _ in frames} - {LOST_TP}, {1, 2, 3}, "tracepoints")
        # A delivered frame is removed from the buffers, so none are left.
        status = client.status()
        equal(int(status["tframes"], 16), 0, "frames that are left")
        equal(int(status["tcreated"], 16), hits, "frames that were made")


@test("a reader that is too slow reads how many frames it has lost, on which CPU")
def slow():
    with Client() as client:
        begin(client, LEAF, kib=16)
        with opened() as fd:
            data = os.read(fd, 1 << 20)
            target_aside("loop leaf 3000")
            client.ok("QTStop")
            data += rest(fd, 1000)
        _, frames, end = split(data)
        equal(end, END, "the end")
        note("%d frames, %d lost" % (len(times(frames)), lost(frames)))
        check(lost(frames) > 1000 * CPUS, "little is lost")
        equal(len(times(frames)) + lost(frames), client.hits(1, LEAF), "frames")
        equal({values[CPU_ID] for number, values in frames if number == LOST_TP}, set(range(CPUS)), "CPUs")
        first = {values[CPU_ID]: number for number, values in reversed(frames)}
        equal(set(first.values()), {LOST_TP}, "in front of each CPU's frames")


@test("a buffer that is not circular ends the run when it is full, and the reader reads to the end")
def linear():
    with Client() as client:
        client.ok("QTBuffer:circular:0")
        client.ok("QTBuffer:size:%x" % (16384 * CPUS))
        client.start((1, LEAF, TIMES))
        with opened() as fd:
            data = os.read(fd, 1 << 20)
            target_aside("loop leaf 3000")
            data += rest(fd)
        _, frames, end = split(data)
        equal((end, lost(frames), client.status()["why"]), (END, 0, "tfull"))
        equal(len(frames), int(client.status()["tcreated"], 16), "frames")


@test("reads wait for a run, for frames and for the end; poll and O_NONBLOCK say the same")
def waits():
    with Client() as client:
        client.ok("QTinit")
        with opened(os.O_RDONLY | os.O_NONBLOCK) as fd:
            equal(refused(os.read, fd, 10), "EAGAIN", "no run")
            equal(select.select([fd], [], [], 0.1)[0], [], "no run")
            begin(client, LEAF)
            equal(select.select([fd], [], [], 60)[0], [fd], "the header")
            header = os.read(fd, 1 << 20)
            check(header.endswith(b"\n\n"), "no header")
            equal(refused(os.read, fd, 10), "EAGAIN", "no frame")
            equal(select.select([fd], [], [], 0.1)[0], [], "no frame")
            target_aside("call leaf 1")
            equal(select.select([fd], [], [], 60)[0], [fd], "a frame")
            equal(len(os.read(fd, 1 << 20)), 6 + 2 * 13, "a frame's bytes")
            equal(refused(os.read, fd, 10), "EAGAIN", "no frame more")
            client.ok("QTStop")
            equal(select.select([fd], [], [], 60)[0], [fd], "the end")
            equal((os.read(fd, 3), os.read(fd, 3), os.read(fd, 3)), (END[:3], END[3:], b""), "the end")
        with opened(os.O_RDONLY | os.O_NONBLOCK) as fd:
            equal(refused(os.read, fd, 10), "EAGAIN", "a run that was over before")
        pid = reader(FILE)
        begin(client, LEAF)
        target_aside("call leaf 2")
        until(lambda: len(read()) > len(header), "a frame in the file")
        client.ok("QTStop")
        equal(ended(pid), 0, "the reader's end")
        equal(len(split(read())[1]), 1, "frames")


@test("a signal ends a read that waits")
def signals():
    with Client() as client:
        begin(client, LEAF)
        pid = reader(FILE)
        until(lambda: read().endswith(b"\n\n"), "the header in the file")
        kill(pid, signal.SIGTERM)
        client.ok("QTStop")


@test("there is one reader at a time, and the module stays while there is one")
def one():
    with opened():
        equal(refused(os.open, PIPE, os.O_RDONLY), "EBUSY")
        equal(users(), 1, "users of the module")
        done = command("rmmod", "gdbtp")
        matches("in use", done.stderr)
        check(loaded(), "gone")
    with opened():
        pass
    equal(users(), 0, "users of the module")


@test("a reader dies while hits come, 20 times; the run goes on, and the next one reads on")
def dies():
    with Client() as client:
        begin(client, LEAF, ADD, OBJ)
        with hammering("loop mix 500"):
            for i in range(20):
                pid = reader(FILE)
                until(lambda: os.path.getsize(FILE) > 5000 * i, "bytes in the file")
                kill(pid)
                check(client.running(), "the run is over")
            pid = reader(FILE)
            until(lambda: os.path.getsize(FILE) > 100000, "bytes in the file")
        client.ok("QTStop")
        equal(ended(pid), 0, "the reader's end")
        _, frames, end = split(read())
        equal(end, END, "the end")
        equal(times(frames), sorted(times(frames)), "order")
        equal(int(client.status()["tcreated"], 16), all_hits(client, LEAF, ADD, OBJ), "frames that were made")


@test("a new run, and QTinit, end a stream that was not read to its end")
def stale():
    with Client() as client:
        begin(client, LEAF)
        with opened() as fd:
            os.read(fd, 1 << 20)
            target_aside("call leaf 1")
            client.ok("QTStop")
            client.ok("QTStart")
            equal(refused(os.read, fd, 10), "ESTALE", "a new run")
            equal(select.select([fd], [], [], 60)[0], [fd], "a new run")
        with opened() as fd:
            os.read(fd, 10)
            client.ok("QTinit")
            equal(refused(os.read, fd, 10), "ESTALE", "QTinit")


@test("a run that ends before the first read can be read, if it was on when the file was opened")
def over():
    with Client() as client:
        begin(client, LEAF)
        with opened() as fd:
            target_aside("call leaf 1")
            client.ok("QTStop")
            data = rest(fd)
        equal((len(split(data)[1]), split(data)[2]), (1, END))


@test("a run's last frames wait while GDB has selected one of them")
def looked_at():
    with Client() as client:
        begin(client, LEAF)
        target_aside("call leaf 1")
        with opened(os.O_RDONLY | os.O_NONBLOCK) as fd:
            client.ok("QTStop")
            check(client.ask("QTFrame:0").startswith("F0"), "no frame")
            check(os.read(fd, 1 << 20).endswith(b"\n\n"), "no header")
            equal(refused(os.read, fd, 10), "EAGAIN", "GDB looks")
            equal(select.select([fd], [], [], 0.1)[0], [], "GDB looks")
            equal(int(client.status()["tframes"], 16), 1, "frames")
            equal(client.ask("QTFrame:ffffffff"), "F-1")
            equal(select.select([fd], [], [], 60)[0], [fd], "GDB looks no more")
            equal(len(os.read(fd, 1 << 20)), 6 + 2 * 13 + len(END), "a frame and the end")
            check(client.ask("QTFrame:0") == "F-1", "the frame is there yet")


@test("CPUs go offline and come back while frames are read")
def cpus():
    path = "/sys/devices/system/cpu/cpu%d/online" % (CPUS - 1)
    with Client() as client:
        begin(client, LEAF)
        pid = reader(FILE)
        for _ in range(3):
            for state in "0", "1":
                with open(path, "w", encoding="ascii") as file:
                    file.write(state)
                target_aside("loop leaf 300")
        client.ok("QTStop")
        equal(ended(pid), 0, "the reader's end")
        _, frames, _ = split(read())
        equal(len(times(frames)) + lost(frames), client.hits(1, LEAF), "frames")
        equal({values[CPU_ID] for _, values in frames}, set(range(CPUS)), "CPUs")


@test("the reader's own calls and GDB's are not traced, those of others are")
def own():
    with Client() as client:
        begin(client, LEAF)

        def work():
            with opened() as fd:
                os.read(fd, 1 << 20)
                target("call leaf 1")
        equal(ended(child(work)), 0, "the reader's end")
        equal(client.hits(1, LEAF), 0, "hits by the reader")
        target("call leaf 2")
        equal(client.hits(1, LEAF), 0, "hits by GDB")
        target_aside("call leaf 3")
        equal(client.hits(1, LEAF), 1, "hits by others")
        client.ok("QTStop")


@test("splice, and reads of one byte")
def pieces():
    with Client() as client:
        begin(client, LEAF)
        with opened() as fd:
            target_aside("call leaf 1")
            data = b"".join(os.read(fd, 1) for _ in range(100))
            target_aside("loop leaf 100")
            client.ok("QTStop")
            out, into = os.pipe()
            while (n := os.splice(fd, into, 4096)):
                while n:
                    piece = os.read(out, n)
                    n -= len(piece)
                    data += piece
            os.close(out)
            os.close(into)
        _, frames, end = split(data)
        equal((len(frames), end), (client.hits(1, LEAF), END))


@test("GDB reads a file with the stream, lost frames included")
def by_gdb():
    with Client() as client:
        begin(client, LEAF, kib=16)
        with opened() as fd:
            data = os.read(fd, 1 << 20)
            target_aside("loop leaf 1000")
            client.ok("QTStop")
            data += rest(fd)
        _, frames, _ = split(data)
    with open(FILE, "wb") as file:
        file.write(data)
    first = next(i for i, frame in enumerate(frames) if frame[0] == 1)
    done = subprocess.run(["gdb", "-batch", "-nx", "-ex", "target tfile " + FILE, "-ex", "tstatus", "-ex", "tfind 0",
                           "-ex", "p $lost", "-ex", "p $cpu_id", "-ex", "tfind %d" % first, "-ex", "p $clock",
                           "-ex", "tfind %d" % (len(frames) - 1), "-ex", "p $cpu_id", "-ex", "tfind"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    note(done.stdout, done.stderr)
    matches(r"\$1 = %d\n" % frames[0][1][0x200], done.stdout)
    matches(r"\$2 = %d\n" % frames[0][1][CPU_ID], done.stdout)
    matches(r"Found trace frame %d, tracepoint 1\n" % first, done.stdout)
    matches(r"\$3 = %d\n" % frames[first][1][CLOCK], done.stdout)
    matches(r"\$4 = %d\n" % frames[-1][1][CPU_ID], done.stdout)
    matches("No trace frame found", done.stdout)


@test("only root can open it")
def users_of_it():
    def work():
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        equal(refused(os.open, PIPE, os.O_RDONLY), "EACCES")
    equal(ended(child(work)), 0, "the child's end")


main()
