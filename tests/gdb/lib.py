# SPDX-License-Identifier: GPL-2.0-only
# What every topic uses: named tests, GDB as a function, and the truths to compare with.
#
# A topic is a file that a fresh gdb runs: it imports this, marks functions with @test("what is shown"),
# and ends with run(). Each test prints one TAP line; what it asserts comes from the fixture's own
# counters, /proc/kallsyms or arguments that it chose itself, never from what GDB printed before.
import functools
import os
import re
import subprocess
import sys
import time
import traceback

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
RELEASE = os.uname().release
MODULE = os.path.join(TOP, "build/module", RELEASE, "gdbtp.ko")
KMOD = os.path.join(TOP, "build/kmod", RELEASE)
OUT = os.environ.get("GTP_OUT", "/tmp")
PIPE = "/proc/gtp"

tests = []


class Failure(Exception):
    """A test's own verdict."""


def test(name):
    def mark(function):
        tests.append((name, function))
        return function
    return mark


def check(condition, text):
    if not condition:
        raise Failure(text)


def equal(got, wanted, what="value"):
    check(got == wanted, "%s: got %r, wanted %r" % (what, got, wanted))


def matches(pattern, text, what="output"):
    found = re.search(pattern, text, re.M | re.S)
    check(found, "%s: no match for %r in:\n%s" % (what, pattern, text))
    return found


def note(text):
    """Something a reader of the log may want to know."""
    for line in str(text).splitlines():
        print("# " + line)
    sys.stdout.flush()


# GDB ---------------------------------------------------------------------------------------------

def cmd(*lines):
    """Give GDB a command (with the lines that belong to it); its output."""
    return gdb.execute("\n".join(lines), to_string=True)


def refused(*lines):
    """A command that must fail; GDB's message."""
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
    """The expression's value as an unsigned address."""
    return int(value(expression)) % 2**64


def connected():
    connection = gdb.selected_inferior().connection
    return connection is not None and connection.type == "remote"


def connect():
    return "" if connected() else cmd("target remote " + PIPE)


def disconnect():
    if connected():
        cmd("disconnect")


def running():
    return "Trace is running" in cmd("tstatus")


BUILTIN = ("cpu_id", "clock", "current_task", "current_task_pid")


def forget_variables():
    """The user's; the built-in ones came with the connection and would not come again."""
    for name in re.findall(r"^\$(\w+)", cmd("info tvariables"), re.M):
        if name not in BUILTIN:
            cmd("delete tvariable $" + name)


def fresh():
    """Connected, nothing running, nothing defined, GDB's settings as at its start."""
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
    """Set a tracepoint at WHERE (with its condition, if any); its number."""
    text = cmd("trace " + where)
    num = int(matches(r"racepoint (\d+) at", text).group(1))
    if passcount is not None:
        cmd("passcount %d %d" % (passcount, num))
    if actions:
        # Not "actions": GDB reads what follows that from its terminal only.
        cmd("commands %d" % num, *actions, "end")
    return num


def hits(num):
    """GDB's count of hits of a tracepoint, asked for anew."""
    cmd("tstatus")
    text = cmd("info tracepoints %d" % num)
    found = re.search(r"already hit (\d+) time", text)
    return int(found.group(1)) if found else 0


def frames():
    """Select every frame in turn; yields its number. Ends outside of all frames."""
    cmd("tfind start")
    last = -1
    while number("$trace_frame") != -1:
        current = number("$trace_frame")
        check(current > last, "frame %d came after frame %d" % (current, last))
        last = current
        yield current
        cmd("tfind")


def collected(*expressions):
    """A row of expression values (numbers) for every frame."""
    rows = []
    for _ in frames():
        row = tuple(number(e) for e in expressions)
        rows.append(row[0] if len(row) == 1 else row)
    return rows


def run_trace(*calls):
    """One run around some fixture calls."""
    cmd("tstart")
    for line in calls:
        target(line)
    cmd("tstop")


def status(pattern):
    """A number out of `monitor status`."""
    return int(matches(pattern, cmd("monitor status"), "monitor status").group(1))


def nested():
    return status(r"(\d+) hits inside another hit")


def missed():
    return status(r"(\d+) missed by the kernel")


# The world beside GDB ----------------------------------------------------------------------------

class Shell:
    """A process of its own for what must not be done by GDB itself, whose tasks are not traced."""

    def __init__(self):
        self.process = subprocess.Popen(["/bin/bash"], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __call__(self, script):
        """Run a script; its output. A script that fails is a failure."""
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
    """Have the fixture make its calls; returns when they are made."""
    shell()("printf %%s %s >/proc/gtp_target" % quoted(line))


def background(line):
    """The same without waiting; the caller waits for the process that is returned."""
    return subprocess.Popen(["/bin/sh", "-c", "printf %%s %s >/proc/gtp_target" % quoted(line)])


def fixture():
    """What the fixture says of itself: counts, values and addresses by name."""
    with open("/proc/gtp_target") as file:
        rows = [line.split() for line in file]
    return {"value " + name if kind == "value" else name: int(text, 16 if kind == "addr" else 10)
            for kind, name, text in rows}


def calls(name):
    return fixture()[name]


@functools.lru_cache(None)
def kallsyms():
    """The kernel's own list of addresses; a name that occurs twice is left out."""
    seen = {}
    with open("/proc/kallsyms") as file:
        for line in file:
            words = line.split()
            seen[words[2]] = 0 if words[2] in seen else int(words[0], 16)
    return seen


def source_line(file, remark):
    """The number of the line of a fixture source that carries the remark."""
    with open(os.path.join(TOP, "tests/kmod", file)) as source:
        for i, line in enumerate(source, 1):
            if "/* line: %s */" % remark in line:
                return i
    raise Failure("no line '%s' in %s" % (remark, file))


def until(condition, what, seconds=60):
    """Wait for something that must come true; the limit only ends a test that has failed."""
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, "waited %d s for %s" % (seconds, what))
        time.sleep(0.02)


def other_gdb(*commands, files=()):
    """A second gdb, without vmlinux; its output."""
    args = ["gdb", "-batch", "-nx", *files]
    for command in commands:
        args += ["-ex", command]
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    return done.stdout


def fixture_symbols():
    """The command that gives a GDB without vmlinux the fixture's symbols."""
    with open("/sys/module/gtp_target/sections/.text") as file:
        return "add-symbol-file %s/gtp_target.ko %s" % (KMOD, file.read().strip())


def load_symbols():
    """The fixture's symbols, found by gdbtp's own command."""
    connect()
    cmd("source " + os.path.join(TOP, "gdbscripts/gtp.py"))
    return cmd("gtp modules " + KMOD)


# Running -----------------------------------------------------------------------------------------

def one(name, function, index):
    start = time.monotonic()
    problem = None
    try:
        function()
    except Failure as failure:
        problem = str(failure)
    except Exception:
        problem = traceback.format_exc(limit=-2)
    took = time.monotonic() - start
    print("%s %d - %s # %.1f s" % ("not ok" if problem else "ok", index, name, took))
    if problem:
        note(problem)
    sys.stdout.flush()
    return problem is None


def run(symbols=True, before=fresh):
    """Run the topic's tests, or those whose name contains the word in GTP_ONLY."""
    for setting in ("pagination off", "confirm off", "width 0", "height 0"):
        gdb.execute("set " + setting)
    only = os.environ.get("GTP_ONLY", "")
    chosen = [t for t in tests if only in t[0]]
    print("1..%d" % len(chosen))
    if symbols:
        load_symbols()
    good = 0
    for i, (name, function) in enumerate(chosen, 1):
        def body(function=function):
            if before:
                before()
            function()
        good += one(name, body, i)
    leave(good == len(chosen))


def leave(well):
    if connected():
        try:
            fresh()
            # The stub keeps what the last run was made of; the next GDB would take it over, before
            # it knows the fixture's symbols.
            cmd("maint packet QTinit")
            disconnect()
        except gdb.error as error:
            print("not ok - leaving: %s" % error)
            well = False
    gdb.execute("quit %d" % (0 if well else 1))
