# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests the commands that handle all frames at once, gtp table and gtp save. Also tests the end of a run, for which gtp wait
# waits and which tfind notices.
import random

import cells
from lib import *

SCRATCH = scratch()
SEED = int(os.environ.get("GTP_SEED", random.SystemRandom().getrandbits(32)))
CALLS = 50
CHOSEN = 10
nums = {}

FILE = """file, file->f_mode, file->f_flags, file->f_op, PATH, PATH.dentry,
NAME, QSTR, file->f_inode->i_ino, count, buf, pos, $clock, $cpu_id,
$current_task, ((struct task_struct *) $current_task)->comm, ((struct task_struct *) $current_task)->__state,
((struct task_struct *) $current_task)->se, ((struct task_struct *) $current_task)->policy"""


def of_file(text):
    """Return a list of columns about a file. In TEXT, replace NAME, QSTR and PATH by expressions that GDB's own `collect'
    understands."""
    qstr = member("struct dentry", "d_name", file_path() + ".dentry")
    for word, expression in (("NAME", file_name()), ("QSTR", qstr), ("PATH", file_path())):
        text = text.replace(word, expression)
    return text.replace("\n", " ")


def a_run():
    """Make a run with tracepoints add, obj and read, hit by calls with known arguments a and b."""
    fresh()
    nums["add"] = trace("gtp_target_add", "collect a, b, $clock, $cpu_id, $current_task_pid")
    nums["obj"] = trace("*gtp_target_obj", "collect *o, n, o->parent->id")
    # The condition leaves out the reads of one byte with which a shell reads its commands.
    nums["read"] = trace("*vfs_read if count > 1", "collect " + of_file(FILE))
    cmd("tstart")
    for i in range(CALLS):
        target("call add %d %d" % (i, -i * i))
        target("call obj %d 1" % (i % 3 + 1))
    shell()("for i in 1 2 3; do cat /proc/version /proc/self/status /bin/true; done >/dev/null")
    cmd("tstop")
    equal(cmd("monitor run"), "the trace was stopped by tstop\n")


def before():
    """Make the run once: it serves every test that does not make its own."""
    connect()
    if not nums:
        a_run()
    cmd("tfind none")


def a_new_run():
    fresh()
    nums.clear()


def same_as_gdb(number, columns=""):
    differences, count = cells.compare(number, columns.replace("\n", " "), SEED, CHOSEN)
    check(not differences, "seed %d: %d differ:\n%s" % (SEED, len(differences), "\n".join(differences[:10])))
    return count


@test("a table has a row for each hit, in the order of the calls, with their arguments")
def hits_in_order():
    rows = cells.rows("%d a, b" % nums["add"])
    equal([(int(row["a"]), int(row["b"])) for row in rows], [(i, -i * i) for i in range(CALLS)])
    numbers = [int(row["frame"]) for row in rows]
    equal(numbers, sorted(numbers))


@test("time, cpu and pid are the first columns if they were collected")
def in_front():
    rows = cells.rows("%d" % nums["add"])
    equal(list(rows[0]), ["frame", "time", "cpu", "pid", "a", "b"])
    equal({int(row["pid"]) for row in rows}, {shell().pid})
    times = [float(row["time"]) for row in rows]
    equal(times, sorted(times))
    check(all(0 <= int(row["cpu"]) < CPUS for row in rows), str(rows[0]))
    equal(list(cells.rows("%d $cpu_id" % nums["add"])[0]), ["frame", "time", "pid", "$cpu_id"])


@test("the cells of the kernel's own types are what GDB prints of those frames")
def kernel_types():
    check(same_as_gdb(nums["read"]) > 10, "few reads")
    check("file->f_inode->i_ino" in cells.rows("%d --limit 1" % nums["read"])[0], "a long line of actions is lost")
    same_as_gdb(nums["read"], of_file(FILE + ", *file, *PATH.dentry, PATH.dentry->d_flags, count * 2 - 1, $pc, $rdi, $rbx"))


@test("structs, bit fields, enums and values that were not collected look as GDB prints them")
def fixture_types():
    equal(same_as_gdb(nums["obj"]), CALLS)
    same_as_gdb(nums["obj"], "o->id, o->small, o->medium, o->big, o->low, o->mid, o->wide, o->kind, o->on, o->name,"
                " o->values, o->parent, o->parent->id, o->parent->name, o->link, o->kind == GTP_TARGET_FANCY, n, *o,"
                " *o->parent")


@test("a condition leaves out rows; --limit ends the table")
def rows_wanted():
    equal([int(row["a"]) for row in cells.rows("%d a if a %% 7 == 3 && b < -100" % nums["add"])],
          [i for i in range(CALLS) if i % 7 == 3 and -i * i < -100])
    equal([int(row["a"]) for row in cells.rows("%d a --limit 3" % nums["add"])], [0, 1, 2])
    text = cmd("gtp table %d a, b if a == 9" % nums["add"])
    matches(r"^frame +time +cpu +pid +a +b\n *\d+ +\d+\.\d{9} +\d+ +\d+ +9 +-81\n"
            r"tracepoint \d+: 1 of %d frames$" % CALLS, text)


@test("without a number every tracepoint has its table")
def all_tables():
    text = cmd("gtp table --limit 2")
    equal(re.findall(r"^tracepoint (\d+): 2 of \d+ frames$", text, re.M),
          [str(nums[name]) for name in ("add", "obj", "read")])


@test("the selected frame stays selected")
def selection():
    for frame in (7, -1):
        cmd("tfind %d" % frame if frame >= 0 else "tfind none")
        cmd("gtp table")
        equal(number("$trace_frame"), frame)


@test("through a pipe, as over ssh, the table is the same, read in pieces; so is the saved file")
def through_a_pipe():
    here = cells.rows("%d" % nums["obj"]), cells.rows("%d" % nums["read"])
    cmd("gtp save %s/here.tf" % SCRATCH)
    disconnect()
    cmd("target remote " + PIPE)
    try:
        check(here == (cells.rows("%d" % nums["obj"]), cells.rows("%d" % nums["read"])), "other rows")
        cmd("gtp save %s/there.tf" % SCRATCH)
    finally:
        disconnect()
    with open(SCRATCH + "/here.tf", "rb") as one, open(SCRATCH + "/there.tf", "rb") as other:
        ours, theirs = one.read(), other.read()
    check(b"\n\n" in ours and len(ours) > 10000 and ours == theirs, "%d and %d bytes" % (len(ours), len(theirs)))


@test("gtp save writes the file that /proc/gtpframe gives, then its tail, and a table of it is the live one")
def saved():
    path = SCRATCH + "/saved.tf"
    matches(r"^%s: \d+ KiB$" % path, cmd("gtp save " + path))
    begins_with_run(path)
    commands = ("set architecture i386:x86-64", fixture_symbols(), "target tfile " + path,
                "source %s/gdbscripts/gtp.py" % TOP, "gtp table %d a, b --csv %s/offline.csv" % (nums["add"], SCRATCH))
    text = other_gdb(*commands)
    with open(SCRATCH + "/offline.csv") as file:
        offline = cells.sheet.rows(file)
    equal(offline, cells.rows("%d a, b" % nums["add"]), text)


@test("the refusals of gtp table, gtp save and gtp wait are sentences")
def refusals():
    wanted = {
        "gtp table 99": "the run has no frames of tracepoint 99",
        "gtp table %d nosuch" % nums["add"]: 'nosuch: No symbol "nosuch" in current context.',
        "gtp table %d a if nosuch" % nums["add"]: 'if nosuch: No symbol "nosuch" in current context.',
        "gtp table --csv /tmp/x": "a CSV file has the columns of one tracepoint; say which, there are frames of ",
        "gtp save": "gtp save takes the name of one file",
        "gtp save /no/such/file": "/no/such/file: No such file or directory",
        "gtp wait long": "gtp wait long: a number of seconds is needed",
    }
    for line, words in wanted.items():
        check(words in refused(line), line + ": " + refused(line))
    cmd("tstart")
    nums.clear()
    try:
        # The error for /proc/gtpframe, or the stub's message if the frames come over the connection.
        words = "the run is going on; tstop ends it, " + ("gtp wait waits for its end" if there.here else "then it can be saved")
        equal(refused("gtp table"), words)
        equal(refused("gtp save %s/x" % SCRATCH), words)
        equal(refused("gtp wait 0.1"), "the trace is still running after 0.1 seconds; tstop ends it")
    finally:
        cmd("tstop")
    disconnect()
    matches("not connected", refused("gtp wait"))
    matches("target remote /proc/gtp, or target tfile FILE", refused("gtp table"))


@test("tfind and gtp table work at once when a pass count has ended the run while GDB was idle")
def noticed():
    for command in ("tfind start", "tfind 0", "gtp table"):
        a_new_run()
        trace("gtp_target_add", "collect a", passcount=3)
        cmd("tstart")
        for i in range(5):
            target("call add %d 1" % i)
        matches("Found trace frame 0|3 of 3 frames", cmd(command))
        equal(collected("a"), [0, 1, 2])


@test("tfind works at once after a continue")
def noticed_after_continue():
    a_new_run()
    trace("gtp_target_add", "collect a", passcount=2)
    cmd("tstart")
    process = there.popen(
        ["/bin/sh", "-c", "for i in 1 2; do printf 'call add 5 5' >/proc/gtp_target; done"])
    cmd("continue")
    equal(process.wait(), 0)
    cmd("tfind start")
    equal(number("a"), 5)


@test("gtp wait ends when a buffer is full, and says so")
def waits():
    a_new_run()
    cmd("set trace-buffer-size %d" % (CPUS * 65536))
    trace("gtp_target_obj", "collect *o, n")
    cmd("tstart")
    process = background("call obj 3 5000")
    equal(cmd("gtp wait 300"), "the trace stopped because its buffer is full\n")
    equal(process.wait(), 0)
    rows = cells.rows("%d o->id, n" % number("$tpnum"))
    check(100 < len(rows) < 5000, "%d frames" % len(rows))
    equal({(row["o->id"], row["n"]) for row in rows}, {("103", "3")})


@test("frames of all CPUs are in one table, in the order of their time")
def all_cpus():
    a_new_run()
    num = trace("gtp_target_add", "collect a, b, $clock, $cpu_id")
    cmd("tstart")
    target("loop add 200")
    cmd("tstop")
    rows = cells.rows("%d" % num)
    equal(len(rows), 200 * CPUS)
    times = [row["time"] for row in rows]
    equal(times, sorted(times, key=lambda time: [int(part) for part in time.split(".")]))
    for cpu in range(CPUS):
        equal([int(row["a"]) for row in rows if row["cpu"] == str(cpu)], list(range(200)), "cpu %d" % cpu)


run(before=before)
