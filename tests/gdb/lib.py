# SPDX-License-Identifier: GPL-2.0-only
# Common code of all topics: named tests, GDB as a function, and values to compare with.
#
# A topic is a file that a fresh gdb runs: it imports this file, marks functions with @test("what is shown"), and ends with
# run(). Each test prints one TAP line. Its expected values come from the fixture's own counters, from /proc/kallsyms or from
# arguments that the test chose itself, never from GDB's earlier output.
import functools
import os
import re
import subprocess
import tempfile

import gdb

import kernel
import tap
from fixture import KMOD, SECONDS, TOP, facts as fixture, load_table
from kernel import CPUS, RELEASE, TRACING
from tap import Failure, check, equal, matches, note, skip, test, until
from where import there

LINE = there.line
# The argument of `target remote' with which a GDB connects through a command, as a GDB on another machine does through ssh.
PIPE = "| %s%s/build/tools/gdbtp-connect" % ("" if there.here else TOP + "/tests/vm/in-guest ", TOP)

HANDED_ON = CPUS, RELEASE, TRACING, equal, load_table, note, skip, test, there, until  # topics say "from lib import *"


# GDB ---------------------------------------------------------------------------------------------

def cmd(*lines):
    """Give GDB a command with the lines that belong to it. Return its output."""
    return gdb.execute("\n".join(lines), to_string=True)


def refused(*lines):
    """Give GDB a command that must fail. Return GDB's message."""
    try:
        text = cmd(*lines)
    except gdb.error as error:
        return str(error)
    raise Failure("%s was not refused, but said: %s" % (lines[0], text))


def value(expression):
    return gdb.parse_and_eval(expression)


def number(expression):
    return int(value(expression))


def string(expression):
    return value(expression).string()


def address(expression):
    """Return the value of a GDB expression as an unsigned 64-bit number."""
    return int(value(expression)) % 2**64


def connected():
    connection = gdb.selected_inferior().connection
    return connection is not None and connection.type == "remote"


def connect():
    return "" if connected() else cmd("target remote " + LINE)


def disconnect():
    if connected():
        cmd("disconnect")


def running():
    return "Trace is running" in cmd("tstatus")


BUILTIN = ("cpu_id", "clock", "current_task", "current_task_pid", "ret", "latency", "entry_clock", "kret",
           "hardirq_count", "softirq_count", "irq_count", "current_task_user", "task_pt_regs", "xtime_sec", "xtime_nsec",
           "rdtsc", "cpu_number", "self_trace", "enable", "disable", "kstack", "bt",
           "ustack", "watch_addr", "watch_val", "watch_prev_val")


def forget_variables():
    """Delete all trace state variables except the built-in ones, which GDB would not get again before it reconnects."""
    for name in re.findall(r"^\$(\w+)", cmd("info tvariables"), re.M):
        if name not in BUILTIN:
            cmd("delete tvariable $" + name)


def fresh():
    """Make this GDB as good as new: connected, without a run and definitions, and with its initial settings."""
    end_loops()
    connect()
    if running():
        cmd("tstop")
    cmd("tfind none")
    cmd("delete")
    forget_variables()
    for setting in ("circular-trace-buffer off", "trace-buffer-size unlimited",
                    "disconnected-tracing off", "print elements 200", "trace-user", "trace-notes",
                    "trace-stop-notes"):
        cmd("set " + setting)


def trace(where, *actions, passcount=None):
    """Set a tracepoint at WHERE, with its condition, if any. Return its number."""
    text = cmd("trace " + where)
    num = int(matches(r"racepoint (\d+) at", text).group(1))
    if passcount is not None:
        cmd("passcount %d %d" % (passcount, num))
    if actions:
        # Not "actions": GDB reads the lines of that command from its terminal only.
        cmd("commands %d" % num, *actions, "end")
    return num


def hits(num):
    """Make GDB ask the module for the hits of a tracepoint. Return their number."""
    cmd("tstatus")
    text = cmd("info tracepoints %d" % num)
    found = re.search(r"already hit (\d+) time", text)
    return int(found.group(1)) if found else 0


def frames():
    """Select every frame in turn and yield its number. At the end no frame is selected."""
    cmd("tfind start")
    last = -1
    while number("$trace_frame") != -1:
        current = number("$trace_frame")
        check(current > last, "frame %d came after frame %d" % (current, last))
        last = current
        yield current
        cmd("tfind")


def collected(*expressions):
    """Return for every frame a row of expression values (numbers)."""
    rows = []
    for _ in frames():
        row = tuple(number(e) for e in expressions)
        rows.append(row[0] if len(row) == 1 else row)
    return rows


def run_trace(*calls):
    """Make one trace run, in which the fixture makes the calls."""
    cmd("tstart")
    for line in calls:
        target(line)
    cmd("tstop")


def nested():
    return kernel.not_seen(cmd("monitor status"))[0]


def missed():
    return kernel.not_seen(cmd("monitor status"))[1]


# The machine beside GDB ----------------------------------------------------------------------------

class Shell:
    """A separate process for work that GDB itself must not do, because its tasks are not traced."""

    def __init__(self):
        self.process = there.popen(["/bin/bash"], stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    @functools.cached_property
    def pid(self):
        return int(self("echo $$"))

    def __call__(self, script):
        """Run a shell script and return its output. Fail the test if the script fails."""
        self.process.stdin.write("{ %s\n} </dev/null 2>&1; echo \"done $?\"\n" % script)
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith("done "):
                break
            lines.append(line)
        check(line == "done 0\n", "%s: %s%s" % (script, "".join(lines), line))
        return "".join(lines)


@functools.lru_cache(None)
def shell():
    return Shell()


def quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


def target(line):
    """Give the fixture an order, such as `call add 1 2`. Return when it has made the calls."""
    shell()("printf %%s %s >/proc/gtp_target" % quoted(line))


orders = []  # the processes that background() has started


def background(line):
    """Give the fixture an order without waiting. Return the process that gives it; the caller waits for its end."""
    orders.append(there.popen(["/bin/sh", "-c", "printf %%s %s >/proc/gtp_target" % quoted(line)]))
    return orders[-1]


def end_loops():
    """End the loop that a failed test has left in the fixture. Otherwise removing a kprobe would wait for the looping
    tasks."""
    if any(order.poll() is None for order in orders):
        shell()("echo end >/proc/gtp_target")
    orders.clear()


def calls(name):
    return fixture()[name]


kallsyms = kernel.only_symbols


def opening():
    """Return the name of the function that opens a struct filename *pathname; kernel 7.3 has renamed it."""
    return "do_filp_open" if "do_filp_open" in kallsyms() else "do_file_open"


def need_mutex_lock():
    """Skip the test if the kernel has no function mutex_lock()."""
    if "mutex_lock" not in kallsyms():
        skip("with lockdep, mutex_lock() is a macro")


def has(struct, name):
    return any(field.name == name for field in gdb.lookup_type(struct).fields())


def spelled(kind):
    """Return a type's name in C. GDB leaves out the word struct while its current file is assembly."""
    if kind.code == gdb.TYPE_CODE_PTR:
        return spelled(kind.target()) + " *"
    return "struct " + kind.tag if kind.code == gdb.TYPE_CODE_STRUCT else str(kind)


def member(struct, name, pointer):
    """Return an expression for a member. For a member of an unnamed struct or union, which GDB's `collect' does not search,
    the expression uses the member's offset."""
    if has(struct, name):
        return "%s->%s" % (pointer, name)
    place = gdb.parse_and_eval("&((%s *)0)->%s" % (struct, name))
    return "(*(%s)((char *)%s + %d))" % (spelled(place.type), pointer, int(place))


def file_path(pointer="file"):
    """Return an expression for the path of a struct file *, which is in a union since kernel 7.3."""
    return member("struct file", "f_path", pointer)


def entry_name(pointer):
    """Return an expression for the short name of a struct dentry *, which is in a union since kernel 7.3."""
    return "%s->%s" % (pointer, "d_iname" if has("struct dentry", "d_iname") else "d_shortname.string")


def file_name(pointer="file"):
    """Return an expression for the short name of a struct file *."""
    return entry_name(file_path(pointer) + ".dentry")


def scratch():
    """Return a new folder for files that both GDB and the traced machine can access."""
    return tempfile.mkdtemp(prefix="gtp-", dir=None if there.here else os.environ["GTP_OUT"])


def source_line(file, remark):
    """Return the number of the line in a fixture's source file that has the comment "line: REMARK"."""
    with open(os.path.join(TOP, "tests/kmod", file)) as source:
        for i, line in enumerate(source, 1):
            if "/* line: %s */" % remark in line:
                return i
    raise Failure("no line '%s' in %s" % (remark, file))


# On a busy machine, an answer through the agent may take longer than GDB's two seconds. From the device itself, GDB gets
# the answer as soon as its write returns.
GDB = ["gdb"] if there.here else ["gdb", "-iex", "set remotetimeout %d" % SECONDS]


def other_gdb(*commands, files=()):
    """Run a second gdb, without vmlinux. Return its output."""
    args = [*GDB, "-batch", "-nx", *files]
    for command in commands:
        args += ["-ex", command]
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    return done.stdout


def begins_with_run(path):
    """Check that a file of gtp save begins with the contents of /proc/gtpframe, and that the run's counts follow."""
    shell()("n=$(wc -c </proc/gtpframe) && cmp -n $n {0} /proc/gtpframe && tail -c +$((n + 1)) {0} | grep -aq ^gdbtp:"
            .format(path))


def fixture_symbols():
    """Return the command that gives a GDB without vmlinux the fixture's symbols."""
    with there.open("/sys/module/gtp_target/sections/.text") as file:
        return "add-symbol-file %s/gtp_target.ko %s" % (KMOD, file.read().strip())


def load_symbols():
    """Load the fixture's symbols, found by gdbtp's own command."""
    connect()
    cmd("source " + os.path.join(TOP, "gdbscripts/gtp.py"))
    return cmd("gtp modules " + KMOD)


# Running -----------------------------------------------------------------------------------------

def run(symbols=True, before=fresh):
    """Run the topic's tests, or those that GTP_ONLY chooses, and leave GDB."""
    for setting in ("pagination off", "confirm off", "width 0", "height 0"):
        gdb.execute("set " + setting)
    if symbols:
        load_symbols()
    leave(tap.run(before=before))


def leave(well):
    if connected():
        try:
            fresh()
            # The stub keeps the last run's definitions; the next GDB would upload them before it has the fixture's
            # symbols.
            cmd("maint packet QTinit")
            disconnect()
        except gdb.error as error:
            print("not ok - leaving: %s" % error)
            well = False
    gdb.execute("quit %d" % (0 if well else 1))
