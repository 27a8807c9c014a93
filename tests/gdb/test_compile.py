# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests that a session that `gtp compile` compiles and gtp-run runs has the same frames as in GDB, and that gtp-run refuses
# wrong files.
import struct
import zlib

import cells
from fixture import load_tables
from kernel import get, kallsyms, put
from lib import *
from rsp import Client

SCRATCH = scratch()
RUN = TOP + "/build/tools/gtp-run"
REGIONS = "/proc/gtpregions"
FIRST, CALLS, SIGNAL = 77000, 20, 59
SESSION = """gtp trace __x64_sys_getpgid if regs->di >= {first} && regs->di < {last}
gtp collect regs->di, &init_task, init_task.comm, init_task.pid
gtp collect this_cpu(runqueues.cpu), this_cpu_ptr(&runqueues)->curr->pid, per_cpu(runqueues, 0).idle->comm, $cpu_id, $current_task_pid
gtp event signal:signal_generate if sig == {signal} && task != 0
gtp collect sig, $pc
gtp count by regs->di at __x64_sys_getpgid if regs->di >= {first} && regs->di < {last}
""".format(first=FIRST, last=FIRST + CALLS, signal=SIGNAL)
PER_CPU = ("this_cpu(runqueues.cpu)", "this_cpu_ptr(&runqueues)->curr->pid", "per_cpu(runqueues, 0).idle->comm", "$cpu_id",
           "$current_task_pid")
COLUMNS = "1 regs->di, &init_task, init_task.comm, init_task.pid", "2 sig, $pc"
LOAD = """import os, signal
signal.signal({signal}, signal.SIG_IGN)
for i in range({calls}):
    try:
        os.getpgid({first} + i)
    except OSError:
        pass
    os.kill(os.getpid(), {signal})
""".format(first=FIRST, calls=CALLS, signal=SIGNAL)


def path(name):
    return os.path.join(SCRATCH, name)


def calls():
    """Make the calls that the session traces, in another process, because the module does not trace GDB's own tasks."""
    there.run(["python3", "-c", LOAD], check=True)


def vmlinux():
    return gdb.current_progspace().filename


def begin():
    """Write the session to a file, and compile it."""
    with open(path("s.gdb"), "w", encoding="ascii") as file:
        file.write(SESSION)
    note("the session is written, and gets compiled: GDB reads vmlinux once more")
    said = []
    with subprocess.Popen(["python3", TOP + "/tools/gtp", "compile", path("s.gdb"), "-o", path("s.gtpd"),
                           "--vmlinux", vmlinux()], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as compiling:
        for line in compiling.stdout:
            said.append(line)
            note(line.rstrip())
    check(compiling.returncode == 0, "".join(said))


class Run:
    """A running gtp-run."""

    def __init__(self, *words):
        self.process = there.popen([RUN, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)

    def traces(self):
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if "tracing" in line:
                return
        raise Failure("".join(lines))

    def end(self):
        """Return (status, output, error messages)."""
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


def finished(*words):
    return Run(*words).end()


def tables():
    """Return the run's tables of frames and its aggregations, as GDB prints them."""
    return [cells.rows(columns) for columns in COLUMNS], cmd("gtp show")


def built(name, change):
    """Return the compiled session with changed contents, and with correct size and checksum."""
    with open(path("s.gtpd"), "rb") as file:
        data = change(file.read()[16:])
    with open(path(name), "wb") as file:
        file.write(b"GTPDEF\0\1" + struct.pack("<II", len(data) + 16, zlib.crc32(data)) + data)
    return path(name)


@test("the frames are those that GDB collects in the same session, and agree with the calls and the kernel's symbols")
def frames_of_gdb():
    fresh()
    cmd("source " + path("s.gdb"))
    cmd("tstart")
    calls()
    cmd("tstop")
    online = tables()
    moved = address("(long)&init_task")
    disconnect()
    run = Run(path("s.gtpd"), "-o", path("s.tf"))
    run.traces()
    calls()
    run.process.terminate()
    status, out, err = run.end()
    equal(status, 0, err)
    note(out)
    matches(r"^tracepoint 1 at %#x: %d hits$" % (kallsyms()["__x64_sys_getpgid"], CALLS), out)
    cmd("target tfile " + path("s.tf"))
    ours = tables()
    equal([int(row["regs->di"]) for row in ours[0][0]], list(range(FIRST, FIRST + CALLS)))
    equal(len(ours[0][1]), CALLS)
    matches("%#x" % kallsyms()["init_task"], str(ours[0][0]))
    equal(moved, kallsyms()["init_task"])
    equal([[of_the_call(row) for row in rows] for rows in ours[0]],
          [[of_the_call(row) for row in rows] for rows in online[0]])
    equal(ours[1], online[1])


def of_the_call(row):
    """Return those cells of a row that are equal in all runs with the same calls."""
    return {title: cell for title, cell in row.items() if title not in ("frame", "cpu", "pid")}


@test("per-CPU variables are those of the hit's CPU, though the session was compiled without a kernel")
def per_cpu():
    rows = cells.rows("1 " + ", ".join(PER_CPU))
    equal(len(rows), CALLS)
    for row in rows:
        cpu, pid, idle, at, task = (row[title] for title in PER_CPU)
        equal((cpu, pid, idle), (at, task, "swapper/0"))


@test("the kernel's address differed from vmlinux's, so that addresses had to be relocated")
def is_moved():
    if "nokaslr" in get("/proc/cmdline").split():
        skip("the guest was booted with nokaslr")
    with open(path("s.gtpd"), "rb") as file:
        text, = struct.unpack_from("<Q", file.read(), 24)
    check(text != kallsyms()["_text"], "_text is at %#x, where it was linked" % text)
    equal(text % 2**21, kallsyms()["_text"] % 2**21)


def forget_tables():
    put(REGIONS, "forget\n")
    check("vmlinux" not in get(REGIONS), get(REGIONS))


@test("if the module has no table of regions, it gets the file's; a table that it has stays")
def table_comes_along():
    before = get(REGIONS)
    forget_tables()
    try:
        for _ in range(2):
            equal(finished(path("s.gtpd"), "-o", path("t.tf"), "--for", "100ms")[0], 0)
            matches("^vmlinux [0-9a-f]+ ", get(REGIONS))
        equal(re.search("^vmlinux.*", get(REGIONS), re.M).group(), re.search("^vmlinux.*", before, re.M).group())
    finally:
        forget_tables()
        load_tables()
    check("gtp_target" in get(REGIONS), get(REGIONS))


@test("the file of another kernel is refused with both names, and nothing is changed")
def another_kernel():
    connect()
    mine = cmd("monitor build-id").strip()
    disconnect()
    theirs = "12" * (len(mine) // 2)
    other = built("other.gtpd", lambda data: data.replace(bytes.fromhex(mine), bytes.fromhex(theirs), 1))
    status, out, err = finished(other, "-o", path("other.tf"))
    equal((status, out), (3, ""), err)
    matches("%s.*%s" % (theirs, mine), err)
    check(not os.path.exists(path("other.tf")), "a file was written")
    matches("tracepoint 1 at", finished("--info", path("s.gtpd"))[1])


@test("gtp-run says so if another session is connected")
def line_is_busy():
    with Client() as client:
        status, _, err = finished(path("s.gtpd"), "-o", path("busy.tf"))
        equal(client.ask("qTStatus")[:1], "T")
    equal(status, 4)
    matches("another session is connected to it; nothing was changed", err)


@test("a killed gtp-run leaves no probe")
def killed():
    run = Run(path("s.gtpd"), "-o", path("killed.tf"))
    run.traces()
    run.process.kill()
    run.end()
    connect()
    matches("no location is probed|stopped", cmd("monitor run") + cmd("monitor probes"))
    check(not running(), "the run goes on")


begin()
cmd("source %s/gdbscripts/gtp.py" % TOP)
run(symbols=False, before=disconnect)
