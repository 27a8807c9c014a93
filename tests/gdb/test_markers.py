# SPDX-License-Identifier: GPL-2.0-only
# Tests the markers of programs (USDT, SDT). Compares their places, arguments and semaphores with the program's own output.
import os
import re
import subprocess

import fixture as modules
import programs
from lib import *
from programs import BUILT
from tap import rounds

PROGRAM = os.path.join(BUILT, "markers")


class Process(programs.Process):
    """A process that runs the program of tests/program/markers.c."""

    def numbers(self, line):
        """Return the numbers that the program prints after "done"."""
        return list(map(int, self.words(line)[1:]))


def running_program(path=PROGRAM):
    return programs.running_program(path, Process)


def gtp_trace(arg, *collect):
    """Run gtp trace -x, and collect at its tracepoints. Return their numbers."""
    text = cmd("gtp trace -x " + arg)
    first, last = matches(r"Tracepoints? (\d+)(?:-(\d+))?", text).groups()
    for one in collect:
        cmd("gtp collect" + (one if one.startswith("/") else " " + one))
    return list(range(int(first), int(last or first) + 1))


def printed(*expressions):
    """Return a row for each frame: the texts that gtp print shows for the expressions."""
    return [tuple(matches("= ([^\\n]*)", cmd("gtp print " + e)).group(1) for e in expressions) for _ in frames()]


def numbers(*expressions):
    return [tuple(map(int, row)) for row in printed(*expressions)]


def args(count):
    return ["arg%d" % i for i in range(1, count + 1)]


def values(name, line, count, path=PROGRAM):
    """Send the program a line that causes one hit of a marker. Return the arguments at the hit, and the numbers that the
    program prints."""
    nums = gtp_trace("%s gtp_test:%s" % (path, name), ", ".join(args(count)))
    with running_program(path) as one:
        cmd("tstart")
        said = one.numbers(line)
        cmd("tstop")
    equal([hits(num) for num in nums], [1])
    found = list(numbers(*["(long)%s" % a for a in args(count)])[0])
    cmd("tfind none")
    return found, said


@test("gtp events -x: names, types of arguments, places, semaphores; -v the operands at each")
def listed():
    text = cmd("gtp events -x " + PROGRAM)
    for line in (r"gtp_test:place\(int arg1, long arg2\), 3 places", r"gtp_test:guarded\(int arg1\), 1 place, semaphore",
                 r"gtp_test:floats\(double arg1, double arg2, float arg3\), 1 place",
                 r"gtp_test:text\(unsigned long arg1, int arg2\), 1 place"):
        matches("^%s$" % line, text)
    equal(cmd("gtp events -x %s gtp_test:pl*" % PROGRAM), cmd("gtp events -x %s place" % PROGRAM))
    matches(r"place\(.*\n    \*0x[0-9a-f]+: -4@%\w+ 8@%\w+\n.*\n    \*0x[0-9a-f]+: -4@\$-7 -8@%\w+$",
            cmd("gtp events -v -x %s gtp_test:place" % PROGRAM))
    matches("has no marker none:x; gtp events -x lists them", refused("gtp events -x %s none:x" % PROGRAM))
    matches("has no markers", refused("gtp events -x " + os.path.join(BUILT, "framed")))


@test("a name with control characters is shown escaped; a place without a nop is reported and not traced")
def strange():
    text = cmd("gtp events -x %s" % PROGRAM)
    matches(r"^gtp_test:bad\\033\[31m\\nname\(int arg1\), 1 place$", text)
    check("\033" not in text, "an escape sequence was printed")
    matches("no nop is where the notes say, as in another build: gtp_test:elsewhere", text)
    matches("no nop is where the notes say", refused("gtp trace -x %s gtp_test:elsewhere" % PROGRAM))
    num, = gtp_trace(PROGRAM + " gtp_test:odd", "arg1")
    for arg, why in (("arg2", "not understood"), ("arg3", "it has 3 bytes"), ("arg4", "not understood"), ("arg8", "has 7 arguments"),
                     ("$arg5", "not understood")):
        matches("column 1, .*%s.*gtp_test:odd has arg1" % why, refused("gtp collect " + arg))
    matches(r"odd\(int arg1, unsigned long arg2, \? arg3, unsigned long arg4, unsigned long arg5, \? arg6, unsigned long arg7\)",
            cmd("gtp events -x %s gtp_test:odd" % PROGRAM))
    with running_program() as one:
        cmd("tstart")
        one("strange")
        cmd("tstop")
    equal((hits(num), numbers("arg1")), (1, [(1,)]))


@test("each place of a marker is a tracepoint, with the operands of that place; each hit is counted")
def several():
    nums = gtp_trace(PROGRAM + " gtp_test:place", "arg1, $arg2")
    equal(len(nums), 3)
    with running_program() as one:
        cmd("tstart")
        one("places 40 4")
        cmd("tstop")
    equal([hits(num) for num in nums], [4, 4, 4])
    equal(numbers("arg1", "arg2"), [row for n in range(40, 44) for row in ((n, 1000 + n), (n, 2000 + n), (-7, -3000))])
    matches("arg1 +.?arg2", cmd("gtp table %d" % nums[0]))


@test("conditions use each place's own operands; all places share the counts by key")
def conditions():
    nums = gtp_trace(PROGRAM + " gtp_test:place if arg1 == 41 || arg2 < 0")
    cmd("gtp count by arg1")
    cmd("gtp sum arg2 at -x %s gtp_test:place if $arg2 > 2000" % PROGRAM)
    with running_program() as one:
        cmd("tstart")
        one("places 40 4")
        text = cmd("gtp show")
        cmd("tstop")
    equal([hits(num) for num in nums], [1, 1, 4])
    matches(r"^-7 +4\b", text)
    matches(r"^41 +2\b", text)
    matches(r"\b%d\b" % sum(range(2040, 2044)), text)


@test("parts of registers: 8, 4, 2 and 1 bytes, with and without sign, as the program prints them")
def widths():
    for n in (5, -3, 123456789):
        found, said = values("widths", "widths %d" % n, 10)
        equal(found, [word if i != 7 else (word + 2**63) % 2**64 - 2**63 for i, word in enumerate(said)])
        cmd("delete")


@test("memory operands with base, index, scale and displacement; variables of the file; constants")
def memory():
    for path in (PROGRAM, os.path.join(BUILT, "markers-fixed")):
        found, said = values("memory", "memory 9", 5, path)
        equal(found, said)
        cmd("delete")
        found, said = values("statics", "statics 77", 3, path)
        equal(found, said + [said[-1] % 2**32])
        matches("of the thread", refused("gtp collect arg4"))
        matches("no symbol of that name", refused("gtp collect arg5"))
        cmd("delete")
        found, _ = values("constants", "constants", 6, path)
        equal(found, [-5, 2**32 - 5, 2**63 - 1, -2**63, 200, -56])
        cmd("delete")


@test("floating-point numbers: collected from memory, refused in a register and in a condition")
def floats():
    num, = gtp_trace(PROGRAM + " gtp_test:floats", "arg2, arg3")
    matches("floating-point number in a register: 8f@%xmm0", refused("gtp collect arg1"))
    matches("double", refused("gtp trace -x %s gtp_test:floats if arg2 > 1" % PROGRAM))
    with running_program() as one:
        cmd("tstart")
        one("floats")
        cmd("tstop")
    equal((hits(num), printed("arg2", "arg3")), (1, [("1.5", "-2.25")]))


@test("a string: collected, compared, and as a key")
def text():
    gtp_trace(PROGRAM + " gtp_test:text if *(char *)arg1 == 'b'", "/s (char *)arg1", "arg2")
    cmd("gtp count by (char *)arg1 at -x %s gtp_test:text" % PROGRAM)
    with running_program() as one:
        cmd("tstart")
        for word in ("apple", "banana", "banana"):
            one("text " + word)
        shown = cmd("gtp show")
        cmd("tstop")
    equal(numbers("arg2"), [(6,), (6,)])
    cmd("tfind start")
    matches('"banana"', cmd("gtp print (char *)arg1"))
    matches('"?banana"? +2\\b', shown)


@test("patterns; markers beside functions; a name that is no marker is reported")
def patterns():
    text = cmd("gtp trace -x %s 'gtp_test:[pt]*'" % PROGRAM)
    matches("2 of 2 markers that match .*; places: 4", text)
    with running_program() as one:
        cmd("tstart")
        one("places 0 1")
        one("text word")
        cmd("tstop")
    equal(len(list(frames())), 4)
    cmd("tfind none")
    matches("15 places, and the limit is 5", refused("gtp trace -x %s --limit 5 gtp_test:*" % PROGRAM))
    matches("has no marker gtp_test:plaec; is it gtp_test:place", refused("gtp trace -x %s gtp_test:plaec" % PROGRAM))
    matches("No source file", refused("gtp trace -x %s foreign:place" % PROGRAM))


@test("an aggregation at the markers that a pattern matches has the pattern for its place, at those of one marker its name")
def titles():
    for place, title in (("gtp_test:[pt]*", "gtp_test:[pt]*"), ("gtp_test:p[l]ace", "gtp_test:place")):
        gtp_trace("%s '%s'" % (PROGRAM, place))
        cmd("gtp count by arg2")
        with running_program() as one:
            cmd("tstart")
            one("places 0 1")
            one("text word")
            cmd("tstop")
        matches("at %s$" % re.escape(title), cmd("gtp show"))
        cmd("delete")


@test("notes that are only in the separate debug file")
def apart():
    path = os.path.join(BUILT, "markers-apart")
    found, said = values("memory", "memory 9", 5, path)
    equal(found, said)
    matches("no semaphore is set", cmd("gtp trace -x %s gtp_test:guarded" % path))


@test("a semaphore is 1 in all processes while its marker is traced, and 0 before and after")
def semaphore():
    with running_program() as old, running_program() as older:
        num, = gtp_trace(PROGRAM + " gtp_test:guarded", "arg1, $current_task_pid")
        equal((old("semaphore"), old("guarded 5")), ("0", "0"))
        cmd("tstart")
        equal((old("semaphore"), older("semaphore"), old("guarded 5")), ("1", "1", "5"))
        with running_program() as new:
            equal((new("semaphore"), new("guarded 3")), ("1", "3"))
            child = int(new("fork"))
            equal((new("semaphore"), new("guarded 2")), ("1", "2"))
            cmd("tstop")
            equal([one("semaphore") for one in (old, older, new)], ["0"] * 3)
            equal((new("guarded 9"), old("guarded 9")), ("0", "0"))
            equal((hits(num), missed(), nested()), (10, 0, 0))
            new.process.stdin.write("end\n")
            new.process.stdin.flush()
            equal(numbers("arg1", "$current_task_pid"),
                  [(n, pid) for pid, count in ((old.pid, 5), (new.pid, 3), (child, 2)) for n in range(count)])
            cmd("tfind none")
            equal(new("semaphore"), "0", "the parent's, whose child was forked while it was 1")
        cmd("tstart")
        equal((old("semaphore"), old("guarded 4")), ("1", "4"))
        cmd("tstop")
        equal((old("semaphore"), hits(num)), ("0", 4))


@test("a program at fixed addresses; several tracepoints at a marker count once; plain tracepoints at its place, too")
def semaphores():
    path = os.path.join(BUILT, "markers-fixed")
    gtp_trace(path + " gtp_test:guarded")
    place, = re.findall(r"0x47[0-9a-f]{14}", cmd("info tracepoints"))
    num = trace("*" + place)
    with running_program(path) as one:
        cmd("tstart")
        equal((one("semaphore"), one("guarded 5"), hits(num)), ("1", "5", 5))
        cmd("tstop")
        equal(one("semaphore"), "0")
        cmd("delete 1-%d" % (num - 1) if num > 1 else "show version")
        cmd("tstart")
        equal((one("semaphore"), one("guarded 5"), hits(num)), ("1", "5", 5))
        cmd("tstop")
        equal(one("semaphore"), "0")


@test("processes that are killed while traced, and a run that goes on without GDB: the semaphore is 0 afterwards")
def killed():
    num, = gtp_trace(PROGRAM + " gtp_test:guarded")
    cmd("set circular-trace-buffer on")
    cmd("set disconnected-tracing on")
    with running_program() as one:
        cmd("tstart")
        seen = 0
        for _ in range(rounds(20, 5)):
            other = Process(PROGRAM)
            other("forever")
            until(lambda before=seen: hits(num) > before, "a hit")
            other.kill()
            seen = hits(num)
        disconnect()
        equal(one("semaphore"), "1")
        modules.unload()
        equal((one("semaphore"), one("guarded 5")), ("0", "0"))
        modules.load()
        modules.load_tables()
        connect()
        with running_program() as new:
            equal(new("semaphore"), "0")


@test("a nop and a long nop, as libbpf's usdt.h has them: each hit is counted, with $pc at the marker")
def nops():
    names = ("nop5", "nop10")
    nums = [gtp_trace("%s gtp_test:%s" % (PROGRAM, name), "arg1, $rsp, &counter")[0] for name in names]
    with running_program() as one:
        cmd("tstart")
        one("nops 20")
        cmd("tstop")
    equal([hits(num) for num in nums], [20, 20])
    equal(numbers("arg1"), [(n,) for n in range(20) for _ in names])
    cmd("tfind start")
    places = dict(re.findall(r"^stap +gtp_test (nop\w+) +(0x\w+) +\S*/markers *$", cmd("info probes stap gtp_test nop"), re.M))
    equal(address("$pc"), int(places["nop5"], 16))
    cmd("tfind")
    equal(address("$pc"), int(places["nop10"], 16))


@test("a function that begins with a marker: its returns beside the marker's own tracepoint, with semaphore and arguments")
def returns():
    num, = gtp_trace(PROGRAM + " gtp_test:first", "arg1")
    late, = gtp_trace(PROGRAM + " gtp_test:first if $ret > 4", "arg1, $ret")
    with running_program() as one:
        cmd("tstart")
        equal(one("semaphore"), "1")
        one("first 5")
        cmd("tstop")
        equal(one("semaphore"), "0")
    equal((hits(num), hits(late), missed()), (5, 2, 0))
    equal(numbers("arg1"), [(0,), (1,), (2,), (3,), (3,), (4,), (4,)])
    cmd("tfind none")
    cmd("delete %d" % num)
    with running_program() as one:
        cmd("tstart")
        one("first 4")
        cmd("tstop")
    equal(numbers("arg1", "$ret"), [(3, 6)])


@test("plain GDB: trace -probe-stap sets all places in the file's space, semaphores too; $_probe_arg0 of whole registers and of memory")
def plain():
    cmd("gtp lib " + PROGRAM)
    num = trace("-probe-stap gtp_test:place", "collect $_probe_arg1")
    guarded = trace("-probe-stap gtp_test:guarded")
    memory_ = trace("-probe-stap gtp_test:memory", "collect $_probe_arg0, $_probe_arg1, $_probe_arg4")
    with running_program() as one:
        cmd("tstart")
        one("places 40 2")
        equal((one("semaphore"), one("guarded 7")), ("1", "7"))
        said = one.numbers("memory 4")
        cmd("tstop")
        equal((one("semaphore"), hits(num), hits(guarded), hits(memory_)), ("0", 6, 7, 1))
    rows = [number("$_probe_arg1") for _ in frames() if number("$tracepoint") == num]
    equal(rows, [row for n in (40, 41) for row in (1000 + n, 2000 + n, -3000)])
    cmd("tfind none")
    cmd("tfind tracepoint %d" % memory_)
    equal([number("$_probe_arg%d" % i) for i in (0, 1, 4)], [said[0], said[1], said[4]])
    cmd("tfind none")
    matches("gtp trace -x FILE PROVIDER:NAME sets a tracepoint at each", refused("gtp collect %d arg1" % num))
    cmd("gtp collect %d arg1" % guarded)


PYTHON = "/usr/bin/python3"
CALLS = """
import gc, sys
for _ in range(50):
    sys.audit("gtp.test")
    gc.collect(1)
print(gc.get_stats()[1]["collections"])
"""


@test("Debian's python3: a string and a number on the stack, against python's own counts")
def python():
    text = cmd("gtp events -x " + PYTHON)
    if not {"python:audit", "python:gc__start"} <= set(re.findall(r"^([\w:]+)\(", text, re.M)):
        skip("this python3 has no such markers")
    cmd("gtp count by (char *)arg1 at -x %s python:audit" % PYTHON)
    cmd("gtp count by arg1 at -x %s python:gc__start" % PYTHON)
    cmd("tstart")
    one = there.popen([PYTHON, "-c", CALLS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    collections = int(one.stdout.read())
    equal(one.wait(), 0)
    cmd("tstop")
    text = cmd("gtp show")
    matches(r'^"?gtp\.test"? +50$', text)
    matches("^1 +%d$" % collections, text)


run()
