# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests gtp export of a real run: babeltrace2 and protoc must read the values that gtp table shows, and the guest's time of
# day.
import importlib
import shutil
import subprocess
import time

import exported
from lib import *

SCRATCH = scratch()
CALLS = 30
TASK = "((struct task_struct *)$current_task)->"
facts = {}


def a_run():
    """Make a run: reads with $latency, opens with their stacks, calls with known arguments, and an event with its record."""
    fresh()
    # Spell `current' as GDB compiles it: the GDB that reads the saved trace does not know how the user spelled it.
    leading = "$clock, $cpu_id, $current_task_pid, %scomm, %stgid, " % (TASK, TASK)
    read = trace("*vfs_read if count > 1")
    cmd("gtp collect %d %s $latency, $ret, count, file->f_mode, file->f_op, %s" % (read, leading, file_name()))
    opened = trace("*vfs_open")
    cmd("gtp collect %d %s $kstack, %s, path->mnt" % (opened, leading, entry_name("path->dentry")))
    facts["add"] = trace("gtp_target_add", "collect a, b, $clock, $cpu_id, $current_task_pid")
    cmd("gtp event sched:sched_process_exit")
    event = number("$tpnum")
    cmd("gtp collect %d $clock, $cpu_id, $current_task_pid, $_sdata" % event)
    facts["numbers"] = read, opened, facts["add"], event
    facts["before"] = there.clock_ns(time.CLOCK_REALTIME)
    cmd("tstart")
    for i in range(CALLS):
        target("call add %d %d" % (i, -i * i))
    shell()("for i in 1 2 3; do cat /proc/version /proc/self/status /bin/true; done >/dev/null")
    cmd("tstop")
    facts["after"] = there.clock_ns(time.CLOCK_REALTIME)


def export():
    """Export the whole run in all formats, and its tables, to the scratch folder."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH + "/tables")
    for n in facts["numbers"]:
        cmd("gtp table %d --csv %s/tables/%d.csv" % (n, SCRATCH, n))
    facts["said"] = [cmd("gtp export %s %s/%s" % (form, SCRATCH, form)) for form in ("csv", "ctf", "ctf2", "perfetto")]
    cmd("gtp save %s/run.tf" % SCRATCH)
    facts["rows"] = exported.tables(SCRATCH + "/tables")


def before():
    """Make the run once, for all tests."""
    connect()
    if not facts:
        a_run()
        export()
    cmd("tfind none")


def needs(module):
    try:
        importlib.import_module(module)
    except ImportError:
        skip("python3's %s is not installed here: build/roots/ was made before it was needed" % module)


def right(compare, *arguments):
    try:
        return compare(*arguments)
    except exported.Wrong as error:
        raise Failure(str(error)) from None


def of(n):
    return {frame: row for frame, (name, row) in facts["rows"].items() if name == "%d.csv" % n}


@test("the tables have the calls that were made, and each tracepoint has frames")
def is_something():
    added = of(facts["add"]).values()
    equal([(int(row["a"]), int(row["b"])) for row in added], [(i, -i * i) for i in range(CALLS)])
    for n in facts["numbers"]:
        check(of(n), "tracepoint %d has no frames" % n)
    note(*facts["said"])


@test("gtp export csv has a file for each tracepoint, as gtp table writes it")
def csv_files():
    for name in os.listdir(SCRATCH + "/csv"):
        with open(SCRATCH + "/csv/" + name) as ours, open("%s/tables/%s.csv" % (SCRATCH, name.split("-")[0])) as theirs:
            equal(ours.read(), theirs.read())
    equal(len(os.listdir(SCRATCH + "/csv")), len(facts["numbers"]))


@test("babeltrace2 reads the values of gtp export ctf as the tables have them, at the guest's time of day")
def ctf():
    needs("bt2")
    times = {context["frame"]: (name, when) for name, when, _, context, _ in exported.ctf_events(SCRATCH + "/ctf")}
    for frame, (name, when) in times.items():
        check(facts["before"] <= when <= facts["after"], "frame %d, %s: %d is not in the run" % (frame, name, when))
    offset = times[0][1] - exported.nanoseconds(facts["rows"][0][1])
    right(exported.compare_ctf, SCRATCH + "/ctf", facts["rows"], offset)
    equal({name for name, _ in times.values()}, {"vfs_read", "vfs_open", "gtp_target_add", "sched_process_exit"})


@test("babeltrace2 reads the same values of gtp export ctf2, whose streams differ from those of ctf only in the trace's number")
def ctf2():
    for name in sorted(os.listdir(SCRATCH + "/ctf")):
        if name != "metadata":
            with open(SCRATCH + "/ctf/" + name, "rb") as one, open(SCRATCH + "/ctf2/" + name, "rb") as two:
                before, after = one.read(), two.read()
            check(before != after and before[20:64] == after[20:64] and len(before) == len(after), name + " differs")
    needs("bt2")
    bt2 = importlib.import_module("bt2")
    if tuple(map(int, bt2.__version__.split(".")[:2])) < (2, 1):
        skip("babeltrace2 %s is here; CTF 2 is read from 2.1 on, as Debian 13 has it" % bt2.__version__)
    read = [list(exported.ctf_events(SCRATCH + name)) for name in ("/ctf", "/ctf2")]
    # Compare without the times of day: each export asks for the clock's offset again.
    equal(*([(name, cpu, context, fields) for name, _, cpu, context, fields in events] for events in read))
    first = next(time for _, time, _, context, _ in read[1] if context["frame"] == 0)
    check(facts["before"] <= first <= facts["after"], "the first event is at %d" % first)
    right(exported.compare_ctf, SCRATCH + "/ctf2", facts["rows"], first - exported.nanoseconds(facts["rows"][0][1]))


@test("protoc reads the slices, values and stacks of gtp export perfetto as the tables and gtp stacks have them")
def perfetto():
    needs("google.protobuf")
    found = right(exported.compare_perfetto, SCRATCH + "/perfetto", facts["rows"])
    equal(len(found.slices), len(of(facts["numbers"][0])), "slices")
    for frame, row in of(facts["numbers"][1]).items():
        lines = [line.split() for line in cmd("gtp stacks " + row["$kstack"]).splitlines() if line.startswith("0x")]
        equal([pc for _, pc in found.instants[frame].callstack], [int(words[0], 16) for words in reversed(lines)])
        names = [words[1].split("+")[0] for words in reversed(lines)]
        equal([name.split("+")[0] for name, _ in found.instants[frame].callstack], names)


@test("a GDB that was never connected exports a saved trace as online, except for the source of the time of day")
def offline():
    needs("google.protobuf")
    vmlinux = gdb.current_progspace().filename
    args = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex",
            "set index-cache directory " + os.environ.get("GTP_GDB_INDEX", ""), "-iex", "set index-cache enabled on", vmlinux]
    for line in ("source %s/gdbscripts/gtp.py" % TOP, fixture_symbols(), "target tfile %s/run.tf" % SCRATCH,
                 "print/x (long) &_text", "gtp export perfetto %s/offline" % SCRATCH):
        args += ["-ex", line]
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "nokaslr" not in there.open("/proc/cmdline").read().split():
        matches("gdbtp: the symbols of %s are where this run's kernel lay" % re.escape(vmlinux), done.stdout)
    matches(r"\$1 = %#x\n" % address("&_text"), done.stdout)
    matches(r"%s/offline: \d+ events; time of day by the run's begin and end, to within" % SCRATCH, done.stdout)
    live, later = (right(exported.compare_perfetto, SCRATCH + name, facts["rows"]) for name in ("/perfetto", "/offline"))
    check(abs(live.clocks[1] - later.clocks[1]) <= facts["after"] - facts["before"], "times of day: %s, %s" %
          (live.clocks, later.clocks))


@test("the page of gtp report has the frames that gtp table has, and names the kernel")
def page():
    path = SCRATCH + "/report.html"
    rows = len(facts["rows"])
    equal(cmd("gtp report -o " + path).strip(), "%s: %d frames, 0 aggregations" % (path, rows))
    files = ["%s/tables/%d.csv" % (SCRATCH, n) for n in facts["numbers"]]
    done = subprocess.run([TOP + "/tests/tfile/report.py", "table", path, *files], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    equal((done.returncode, done.stdout), (0, ""))
    with open(path, encoding="utf-8") as file:
        check('"source":"Linux %s"' % there.release in file.read(), "it does not name the kernel")


run(before=before)
