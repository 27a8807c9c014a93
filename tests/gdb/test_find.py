# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests the commands that look at frames: tfind in every form, tdump, backtraces. Also tests saved files and their readers.

from lib import *

SCRATCH = scratch()
nums = {}


def a_run():
    """Make a run with the tracepoints in `nums'. Its frames 0 to 9 are add(0), leaf(0), add(1), leaf(1) and so on."""
    fresh()
    nums["add"] = trace("gtp_target_add", "collect a, b")
    nums["leaf"] = trace("gtp_target_leaf", "collect n, $regs")
    cmd("tstart")
    for i in range(5):
        target("call add %d 7" % i)
        target("call leaf %d" % i)
    cmd("tstop")


def frame():
    return number("$trace_frame")


def before():
    """Make the run once, for all tests."""
    connect()
    if not nums:
        a_run()
    cmd("tfind none")


def find(command, wanted):
    cmd(command)
    equal(frame(), wanted, command)


@test("tfind start, end, and none")
def start_end():
    find("tfind start", 0)
    find("tfind end", -1)
    find("tfind 3", 3)
    find("tfind none", -1)


@test("tfind without an argument goes to the next frame, tfind - to the one before")
def next_previous():
    find("tfind", 0)
    find("tfind", 1)
    find("tfind", 2)
    find("tfind -", 1)


@test("tfind N selects frame N; after the last there is none")
def by_number():
    find("tfind 7", 7)
    equal(number("n"), 3)
    find("tfind 9", 9)
    find("tfind 10", -1)


@test("tfind tracepoint N finds its next frame")
def by_tracepoint():
    find("tfind start", 0)
    find("tfind tracepoint %d" % nums["leaf"], 1)
    equal(number("$tracepoint"), nums["leaf"])
    find("tfind tracepoint %d" % nums["leaf"], 3)
    find("tfind tracepoint %d" % nums["add"], 4)
    find("tfind tracepoint", 6)


@test("tfind pc finds frames at an address")
def by_pc():
    find("tfind start", 0)
    find("tfind 1", 1)
    pc = address("(long)$pc")
    cmd("tfind start")
    find("tfind pc %#x" % pc, 1)
    find("tfind pc %#x" % pc, 3)
    find("tfind pc 0xffffffff00000000", -1)


@test("tfind range and tfind outside, ends included")
def by_range():
    add, leaf = fixture()["gtp_target_add"], fixture()["gtp_target_leaf"]
    find("tfind start", 0)
    find("tfind range %#x, %#x" % (leaf, leaf + 8), 1)
    find("tfind outside %#x, %#x" % (leaf, leaf + 8), 2)
    find("tfind outside %#x, %#x" % (add, add + 8), 3)
    find("tfind range 1, 2", -1)


@test("tfind line finds frames in a source line")
def by_line():
    line = int(matches(r"Line (\d+) of", cmd("info line gtp_target_leaf")).group(1))
    find("tfind start", 0)
    find("tfind line gtp_target_fn.c:%d" % line, 1)
    find("tfind line gtp_target_fn.c:%d" % line, 3)


@test("$trace_line, $trace_func and $trace_file describe the frame")
def describe():
    cmd("tfind 1")
    equal(string("$trace_func"), "gtp_target_leaf")
    check(string("$trace_file").endswith("gtp_target_fn.c"), string("$trace_file"))
    equal(number("$tracepoint"), nums["leaf"])


@test("tdump shows what was collected, with its values")
def tdump():
    cmd("tfind 4")
    text = cmd("tdump")
    matches(r"Data collected at tracepoint %d, trace frame 4" % nums["add"], text)
    matches(r"a = 2\b", text)
    matches(r"b = 7\b", text)
    cmd("tfind 7")
    matches(r"^rdi +0x3 ", cmd("tdump"))


@test("tfind is refused while the run goes on")
def while_running():
    cmd("tstart")
    message = refused("tfind start")
    cmd("tstop")
    nums.clear()
    matches("while trace is running", message)


@test("code is read from the live kernel while a frame is selected")
def code():
    cmd("tfind 0")
    text = cmd("x/3i vfs_read")
    check("annot" not in text and "vfs_read" in text, text)


@test("a backtrace from a collected piece of stack reaches the system call")
def backtrace():
    fresh()
    nums.clear()
    trace("gtp_target_chain_c", "collect $regs", "collect *(unsigned char *)$rsp@512")
    run_trace("call chain 5")
    matches("stopped by a tstop", cmd("tstatus"))
    cmd("tfind start")
    text = cmd("backtrace 20")
    names = re.findall(r"^#\d+\s+(?:0x[0-9a-f]+ in )?(\w+)", text, re.M)
    wanted = ["gtp_target_chain_c", "gtp_target_chain_b", "gtp_target_chain_a", "call_chain"]
    equal(names[:4], wanted)
    # With KASAN, stack frames are so large that the last two callers are beyond the collected bytes.
    reached = ["proc_reg_write", "vfs_write"]
    if not RELEASE.endswith("-gtpdebug"):
        reached += ["ksys_write", "do_syscall_64"]
    for name in reached:
        check(name in names, text)
    equal(number("n"), 5 + 1 + 20)
    cmd("up")
    cmd("up")
    equal(string("$trace_func"), "gtp_target_chain_c")


def offline(path, *commands):
    """Return the output of a GDB that has only a trace file and the fixture's symbols."""
    with open(SCRATCH + "/commands", "w") as script:
        # GDB's CTF files do not store the architecture.
        script.write("\n".join(("set architecture i386:x86-64", fixture_symbols(), "target %s %s" % (
            "ctf" if os.path.isdir(path) else "tfile", path)) + commands) + "\n")
    return other_gdb("source %s/commands" % SCRATCH)


def value_there():
    return number("a") if number("$tracepoint") == nums["add"] else number("n")


def online_rows():
    rows = []
    for _ in frames():
        rows.append((string("$trace_func"), address("(long)$pc"), value_there()))
    return rows


def offline_rows(path):
    """Return the rows of the run, read from a trace file by a GDB that has only this file and the fixture's symbols."""
    shown = offline(path, "tfind start",
                    "while $trace_frame != -1",
                    'if $_streq($trace_func, "gtp_target_add")',
                    'printf "row %s %lx %ld\\n", $trace_func, $pc, a', "else",
                    'printf "row %s %lx %ld\\n", $trace_func, $pc, n', "end", "tfind", "end")
    return [(a, int(b, 16), int(c))
            for a, b, c in re.findall(r"^row (\w+) ([0-9a-f]+) (-?\d+)$", shown, re.M)] or shown


@test("tsave writes a file whose frames are those of the live session")
def tsave():
    live = online_rows()
    cmd("tfind none")
    cmd("tsave %s/one.tf" % SCRATCH)
    equal(len(live), 10)
    equal(offline_rows(SCRATCH + "/one.tf"), live)


@test("target tfile shows values, tracepoints and status as the live session does")
def tfile_values():
    text = offline(SCRATCH + "/one.tf", "tfind 7", "p/d $rdi", "info tracepoints", "tstatus", "tdump")
    matches(r"^\$1 = 3$", text)
    matches("gtp_target_leaf", text)
    matches("collect n, \\$regs", text)
    matches("10 trace frames", text)


@test("tsave -r: the module writes the same file on its own machine")
def tsave_remote():
    path = SCRATCH + "/remote.tf"
    live = online_rows()
    cmd("tfind none")
    cmd("tsave -r remote.tf")
    shell()("mv /tmp/remote.tf %s" % path)
    equal(offline_rows(path), live)


@test("a copy of /proc/gtpframe is a complete trace file")
def gtpframe():
    path = SCRATCH + "/copied.tf"
    live = online_rows()
    shell()("cat /proc/gtpframe >%s" % path)
    equal(offline_rows(path), live)
    text = offline(path, "tfind 7", "p/d $rdi")
    matches(r"^\$1 = 3$", text)


@test("tsave -ctf writes a trace that babeltrace2 and target ctf read")
def ctf():
    if "'-ctf'" not in cmd("help tsave"):
        skip("GDB %s writes no CTF" % gdb.VERSION)
    path = SCRATCH + "/ctf"
    live = online_rows()
    cmd("tfind none")
    cmd("tsave -ctf %s" % path)
    equal(offline_rows(path), live)
    shown = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, text=True, timeout=SECONDS,
                           stderr=subprocess.STDOUT)
    equal(shown.returncode, 0, shown.stdout[-400:])
    found = re.findall(r"^frame: { tpnum = (\d+) }", shown.stdout, re.M)
    # GDB saves the definitions in the file's first frame, which belongs to tracepoint 0.
    equal([int(num) for num in found], [0] + [nums["add"], nums["leaf"]] * 5, "babeltrace2's frames")


@test("frames of all CPUs are numbered in the order of their time")
def order():
    fresh()
    nums.clear()
    trace("gtp_target_add", "collect a, b, $clock, $cpu_id")
    cmd("tstart")
    target("loop add 200")
    cmd("tstop")
    rows = collected("$clock", "$cpu_id", "a", "b")
    equal(len(rows), 200 * CPUS)
    times = [row[0] for row in rows]
    equal(times, sorted(times))
    for cpu in range(CPUS):
        equal([row[2] for row in rows if row[1] == cpu], list(range(200)), "cpu %d" % cpu)
    check(all(row[1] == row[3] for row in rows), "$cpu_id is not the caller's")


run(before=before)
