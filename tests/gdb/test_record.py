# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests runs whose frames are written to a file while GDB controls the run, and runs that a trigger ends (flight recorders).
import contextlib
import os
import re
import signal
import subprocess

import cells
import indexed
from lib import *

FILE = scratch() + "/run.tf"
GTP = indexed.at_hand() + [TOP + "/tools/gtp"]


def started(*words):
    """Start the command gtp on the machine of the traced kernel. Return its process."""
    return there.popen([*GTP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(*words):
    return there.run([*GTP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                     timeout=SECONDS, check=False)


@contextlib.contextmanager
def recorder(wait_for, *words):
    """Context manager: start gtp record, and wait until it has printed WAIT_FOR. It runs in parallel with this GDB
    until the run's end."""
    process = started("record", "-o", FILE, *words)
    said = []
    for line in process.stdout:
        note(line.strip())
        if wait_for in line:
            break
    try:
        yield process, said
    finally:
        said.append(process.communicate(timeout=SECONDS)[0])
        note(said[0].strip())


def offline():
    """Read the recorded file in another GDB. Return the number of its frames, and whether $clock rises from frame to
    frame."""
    out = other_gdb("target tfile " + FILE, "python frames = []", "tfind start",
                    "python\nwhile int(gdb.parse_and_eval('$trace_frame')) >= 0:\n"
                    "    if int(gdb.parse_and_eval('$tracepoint')) > 0:\n"
                    "        frames.append((int(gdb.parse_and_eval('$cpu_id')), int(gdb.parse_and_eval('$clock'))))\n"
                    "    gdb.execute('tfind', to_string=True)\nend",
                    "python print('frames', len(frames), sorted(f[1] for f in frames) == [f[1] for f in frames])")
    return matches(r"frames (\d+) (True|False)", out).groups()


@test("gtp record beside GDB's run: the file has each hit, in order, and GDB reads it")
def record():
    cmd("set circular-trace-buffer on")
    num = trace("gtp_target_leaf", "collect n, $clock, $cpu_id")
    with recorder("waits for one to begin") as (_, said):
        cmd("tstart")
        target("loop leaf 200")
        cmd("tstop")
    equal(offline(), (str(hits(num)), "True"))
    equal(hits(num), 200 * CPUS)
    matches(r"\b%d frames" % hits(num), said[0])
    matches("Collected %d trace frames" % hits(num), other_gdb("target tfile " + FILE, "tstatus"))


@test("an interrupted gtp record does not end the run, and a second gtp record continues reading")
def interrupted():
    cmd("set circular-trace-buffer on")
    num = trace("gtp_target_leaf", "collect n, $clock, $cpu_id")
    cmd("tstart")
    with recorder("recording to") as (process, _):
        target("loop leaf 100")
        until(lambda: os.path.exists(FILE) and os.path.getsize(FILE) > 10000, "frames in the file")
        process.send_signal(signal.SIGINT)
    first = int(offline()[0])
    check(running(), "the run is over")
    with recorder("recording to"):
        target("loop leaf 100")
        cmd("tstop")
    equal(first + int(offline()[0]), hits(num), "frames of both files")


@test("if gtp record or gtp live refuses to begin, it takes no frames", lengthy=True)
def refusals():
    cmd("set circular-trace-buffer on")
    num = trace("gtp_target_leaf", "collect n, $clock, $cpu_id")
    cmd("tstart")
    target("loop leaf 100")
    for words, why in ((("record", "-o", FILE, "--until", "nosuch == 1"), "no variable or constant nosuch"),
                       (("record", "-o", FILE, "--until", "%d:1" % (num + 1)), "no tracepoint %d" % (num + 1)),
                       (("record", "-o", FILE, "--size", "4k"), "say --size with twice that or more"),
                       (("live", "%d" % (num + 1)), "no tracepoint %d" % (num + 1))):
        done = ended(*words)
        note(done.stdout.strip())
        equal(done.returncode, 1)
        matches(why, done.stdout)
    with recorder("recording to"):
        cmd("tstop")
    equal((offline()[0], hits(num)), (str(hits(num)), 100 * CPUS))


@test("gtp record --until, with the kernel's types: the first frame that meets the condition is the file's last; the run goes on")
def until_holds():
    cmd("set circular-trace-buffer on")
    num = trace("*vfs_read if count >= 100001 && count < 100101")
    cmd("gtp collect %d $clock, count, current->comm, current->pid" % num)
    expression = "%d:count > 100005 && current->comm == \"dd\" && current->pid == $current_task_pid" % num
    with recorder("waits for one to begin", "--until", expression) as (process, said):
        cmd("gtp collect %d $current_task_pid" % num)
        cmd("tstart")
        run = shell()
        for size in (100001, 100003, 100005, 100006, 100007):
            run("dd if=/dev/zero of=/dev/null bs=%d count=2 2>/dev/null" % size)
        until(lambda: process.poll() is not None, "the recording to end")
        check(running(), "the run is over")
        cmd("tstop")
    equal(process.returncode, 0)
    matches("for the last one, of tracepoint %d, --until holds.*the run continues" % num, said[0])
    disconnect()
    cmd("target tfile " + FILE)
    rows = cells.rows("%d count" % num)
    connect()
    equal([row["count"] for row in rows], ["100001"] * 2 + ["100003"] * 2 + ["100005"] * 2 + ["100006"])


@test("gtp live beside GDB's run prints a line for each read, with types")
def live():
    num = trace("*vfs_read if count == 100001")
    cmd("gtp collect %d $clock, $cpu_id, $current_task_pid, count, current->comm" % num)
    process = started("live")
    matches("waits for one to begin", process.stdout.readline())
    cmd("tstart")
    shell()("dd if=/dev/zero of=/dev/null bs=100001 count=7 2>/dev/null")
    cmd("tstop")
    out = process.communicate(timeout=SECONDS)[0]
    note(out.strip())
    equal((len(re.findall(r'^\d+\.\d{9}  cpu \d  pid \d+  vfs_read  count=100001, .*comm="dd"$', out, re.M)), hits(num)), (7, 7))
    matches("^gtp: 7 frames shown\n$", out[out.rfind("gtp:"):])


@test("a GDB that has read a recorded file can begin a new run")
def after_a_file():
    disconnect()
    cmd("target tfile " + FILE)
    connect()
    fresh()
    num = trace("gtp_target_leaf", "collect n")
    cmd("tstart")
    target("call leaf 1")
    cmd("tstop")
    equal(hits(num), 1)


@test("a flight recorder: after the trigger there are five more hits, and the run ends")
def flight_recorder():
    cmd("set circular-trace-buffer on")
    cmd("set trace-buffer-size %d" % (CPUS * 8192))
    every = trace("gtp_target_leaf", "collect n")
    last = trace("gtp_target_leaf", passcount=5)
    cmd("disable %d" % last)
    trace("gtp_target_add if a == 77", "teval $enable = %d" % last)
    cmd("tstart")
    for i in range(300):
        target("call leaf %d" % i)
    target("call add 76 1")
    target("call leaf 300")
    check(running(), "the run is over before the trigger")
    target("call add 77 1")
    for i in range(301, 320):
        target("call leaf %d" % i)
    matches("stopped by tracepoint %d" % last, cmd("tstatus"))
    seen = list(each(every))
    equal(seen[-6:], list(range(300, 306)), "the last hits")
    check(len(seen) > 50, "%d frames" % len(seen))


@test("gtp snapshot: each has the frames in the circular buffers since the previous snapshot, and the run goes on")
def snapshots():
    refused = ended("snapshot", FILE)
    matches("no run is on; nothing is written", refused.stdout)
    equal(refused.returncode, 1)
    cmd("set circular-trace-buffer on")
    cmd("set trace-buffer-size %d" % (CPUS * 8192))
    cmd("tvariable $leaf")
    num = trace("gtp_target_leaf", "teval $leaf = (long)n", "collect $leaf, n")
    cmd("tstart")
    for i in range(1500):
        target("call leaf %d" % i)
    kept = snapshot()
    equal(kept[-50:], list(range(1450, 1500)), "the last hits")
    check(len(kept) < 1500, "nothing was replaced: the test's buffers are too large")
    for i in range(1500, 1510):
        target("call leaf %d" % i)
    equal(snapshot(), list(range(1500, 1510)))
    equal(snapshot(), [])
    check(running(), "the run has ended")
    target("call leaf 1510")
    cmd("tstop")
    equal(hits(num), 1511)
    equal(list(each(num)), [1510])


def snapshot():
    """Return $leaf in each frame of a snapshot, as another GDB reads it."""
    done = ended("snapshot", FILE)
    equal(done.returncode, 0, done.stdout)
    told = done.stdout.strip()
    note(told)
    matches("the run continues$", told)
    out = other_gdb("target tfile " + FILE, "python numbers = []", "tfind start",
                    "python\nwhile int(gdb.parse_and_eval('$trace_frame')) >= 0:\n"
                    "    numbers += [int(gdb.parse_and_eval('$leaf'))] if int(gdb.parse_and_eval('$tracepoint')) > 0 else []\n"
                    "    gdb.execute('tfind', to_string=True)\nend", "python print('numbers', *numbers)")
    return [int(text) for text in matches("^numbers(.*)$", out).group(1).split()]


def each(num):
    """Yield n in every frame of a tracepoint."""
    for _ in frames():
        if number("$tracepoint") == num:
            yield number("n")


run()
