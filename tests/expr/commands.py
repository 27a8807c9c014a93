# SPDX-License-Identifier: GPL-2.0-only
# Types wrong commands into a GDB that has vmlinux, but no connection to a kernel. Each command must answer with a sentence,
# and must leave GDB's state unchanged.
import os
import re
import sys
import tempfile

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

import tap

gdb.execute("source %s/gdbscripts/gtp.py" % TOP)

# Words of Python or of gdbtp's code that a sentence for a user must not contain.
INTERNAL = re.compile(r"Python|Traceback|bug of gdbtp|NoneType|__init__|linespec|(?<!/)\bargv\b|Error\b")

NOT_CONNECTED = "not connected to a kernel; say: target remote /proc/gtp"
NO_PLACE = "no place is named; say gtp trace LOCATION"

# (command, a part of its answer)
WRONG = (
    ("gtp nosuch", "there is no command gtp nosuch; help gtp lists"),
    ("gtp trace", NO_PLACE), ("gtp trace ''", NO_PLACE), ("gtp trace if count > 3", NO_PLACE),
    ("gtp trace --nosuch vfs_read", "--nosuch is not understood; say gtp trace"),
    ("gtp trace --limit vfs_read", "--limit takes a number"), ("gtp trace --limit \u00b2 vfs_read", "--limit takes a number"),
    ("gtp trace vfs_reed", "is it vfs_read"), ("gtp trace vfs_read if", "no expression after `if'"),
    ("gtp trace vfs_read if count >", "an operand is expected\n  count >\n"),
    ("gtp trace vfs_read if count == 'a", "the quote is not closed"),
    ("gtp trace vfs_read if $nosuch", "target remote /proc/gtp brings those of the kernel"),
    ("gtp trace vfs_read if file->f_flags & NOSUCH", "no variable or constant NOSUCH"),
    ("gtp trace 'nosuch*'", "no function matches nosuch*"), ("gtp trace fs/read_write.c:", "no function or line of it"),
    ("gtp trace fs/read_write.c:999999", "No line 999999"), ("gtp trace *nosuch", "nosuch"),
    ("gtp trace \u00e9", "not defined"), ("gtp trace vfs_read vfs_write", "is not a place: write FUNCTION"),
    ("gtp trace -x", "nothing after -x"), ("gtp trace -x /nosuch main", "/nosuch does not exist"),
    ("gtp trace -x /bin/true main", NOT_CONNECTED), ("gtp trace -x /bin/true", NO_PLACE),
    ("gtp trace -p x main", "takes the number of a process"), ("gtp trace -p 99999999 main", "no process 99999999 with a program"),
    ("gtp event", "say gtp event SYSTEM:EVENT"), ("gtp event nosuch:nosuch", NOT_CONNECTED), ("gtp events 'nosuch*'", NOT_CONNECTED),
    ("gtp syscall nosuch", "no 64-bit system call nosuch"), ("gtp syscall openat if nosuch", "no variable or constant nosuch"),
    ("gtp trace vfs_read if count > 3 collect pos", "`collect' is no part of this command; say gtp trace LOCATION [if"),
    ("gtp trace vfs_read if count > 3 --limit 300", "`--limit' belongs before `if'; say gtp trace"),
    ("gtp calls vfs_read if count > 3 --into 'ext4_*'", "`--into' belongs before `if'; say gtp calls"),
    ("gtp path vfs_read if count > 3 --fast", "`--fast' belongs before `if'; say gtp path"),
    ("gtp trace vfs_read collect count", "`collect' is no part of this command; say gtp trace LOCATION"),
    ("gtp count at vfs_read if count > 3 --limit 300", "`--limit' belongs before `if'; say gtp count"),
    ("gtp collect", "gtp collect takes expressions"), ("gtp collect nosuch", "there is no tracepoint"),
    ("gtp collect pos if pos > 3", "`if' is no part of this command; say gtp collect [N] EXPRESSION, ...; gtp if N"),
    ("gtp collect/s0 buf", "a string has 1 to 65535 characters"), ("gtp collect/s99999999999 buf", "a string has 1 to 65535"),
    ("gtp if 1", "there is no tracepoint 1"), ("gtp if \u00b2 a", "gtp if takes a tracepoint's number"),
    ("gtp print", "takes an expression"), ("gtp print init_task.nosuch", "task_struct has no member nosuch"),
    ("gtp print this_cpu(runqueues)", "target remote"), ("gtp print/nosuch 1", "there is no format /nosuch"),
    ("gtp print/flags:nosuch 3", "no table of that name; if it is a macro: apt install"), ("gtp print 1/0", "division by zero"),
    ("gtp print \"abc", "the quote is not closed"), ("gtp print \\xff", "is not part of a C expression"),
    ("gtp count by", "nothing after `by'"), ("gtp count by a, b, c, d, e at vfs_read", "four are the most"),
    ("gtp count --nosuch", "nothing after --nosuch"), ("gtp count --nosuch 1 at vfs_read", "--nosuch is not understood"),
    ("gtp count by count by pos at vfs_read", "an operator is expected before"),
    ("gtp hist $since at vfs_read", "$since is the time from one place to another; say [by KEY, ...] from A on KEY to"),
    ("gtp hist $since from return of vfs_read on file to vfs_write on file", NOT_CONNECTED),
    ("gtp count by pos if count > 3 at vfs_read", "`at' is in the wrong place; the order is gtp count"),
    ("gtp count at vfs_read by pos", "`by' is in the wrong place; the order is gtp count"),
    ("gtp hist count at vfs_read if (count > 3) by (char *)pos", "`by' is in the wrong place; the order is gtp hist"),
    ("gtp sample 99hz if $cpu_id == 0 by $kstack", "`by' is in the wrong place; the order is gtp sample EVENT [by KEY, ...] [if"),
    ("gtp sample 99hz collect $kstack if $cpu_id == 0", "`if' is in the wrong place; the order is gtp sample EVENT"),
    ("gtp sample 99hz if $cpu_id == 0 on 1", "`on' is no part of this command; say gtp sample EVENT"),
    ("gtp watch jiffies if $cpu_id == 0 rw", "`rw' is in the wrong place; the order is gtp watch EXPRESSION [w|rw] [if"),
    ("gtp watch jiffies collect $kstack if $cpu_id == 0", "`if' is in the wrong place; the order is gtp watch"),
    ("gtp count from vfs_read on file if pos keep n = pos to vfs_write on file by pos", "the order is [EXPRESSION] [by KEY, ...] from A"),
    ("gtp count from vfs_read on file keep n = pos if pos to vfs_write on file", "`if' is in the wrong place; the order is [EXPRESSION]"),
    ("gtp stats nosuch by file->f_flags at vfs_read", "no variable or constant nosuch"),
    ("gtp hist --linear", "nothing after --linear"), ("gtp hist --linear count at vfs_read", "--linear takes three numbers"),
    ("gtp sum *file at vfs_read", "is neither a number nor a pointer"),
    ("gtp show", NOT_CONNECTED), ("gtp show --top x", "--top takes a number"), ("gtp show --sort", "nothing after --sort"),
    ("gtp clear", NOT_CONNECTED), ("gtp clear nosuch", "gtp clear takes no argument"), ("gtp stacks --by", "nothing after --by"),
    ("gtp table", "there is no run to read"), ("gtp table --nosuch", "--nosuch is not understood; say gtp table"),
    ("gtp table --csv", "nothing after --csv; say"), ("gtp table --limit \u00b2", "a number of rows is needed"),
    ("gtp table count if", "no expression after `if'"),
    ("gtp save", "takes the name of one file"), ("gtp save /tmp/x", NOT_CONNECTED), ("gtp wait x", "a number of seconds"),
    ("gtp explain", "which place?"), ("gtp explain nosuch", "nosuch"), ("gtp lines", "takes a function"),
    ("gtp lib /nosuch", "/nosuch does not exist"), ("gtp merge", "say gtp merge FILE"), ("gtp merge /nosuch", "No such file"),
    ("gtp merge /etc/passwd", "/etc/passwd is not a trace file"), ("gtp report", "a page needs a name"),
    ("gtp export nosuch x", "no format nosuch"), ("gtp export csv /nosuch/x", "No such file"),
    ("gtp sdata", "no static data in this frame"), ("gtp check now", "takes no argument"), ("gtp status x", "takes no argument"),
    ("gtp modules", NOT_CONNECTED), ("set gtp-headers /nosuch", "/nosuch has no folder include"))

# For these locations GDB 13's gdb.decode_line() throws its error through Python's frames, or aborts.
PLACES = ("'", '"', "'vfs_read", "vfs_read'", "'a':'", ",", "*1/0 if 1:'", "-probe x", "task !", "thread a$")


def state():
    """Return GDB's state that a refused command must not change: tracepoints, variables, symbol files, settings."""
    shown = tuple(re.sub(r" +", " ", gdb.execute(text, to_string=True)) for text in ("info tracepoints", "info tvariables"))
    return shown, len(gdb.objfiles()), gdb.parameter("language"), gdb.parameter("gtp-headers")


def answer(command):
    """Return the error that GDB shows for a command."""
    try:
        said = gdb.execute(command, to_string=True)
    except gdb.error as error:
        return str(error)
    raise tap.Failure("%s is not refused, and says: %s" % (command, said))


def lapse(command, part):
    """Return a sentence about a wrong answer to a command, or None if the answer is right."""
    before = state()
    try:
        said = answer(command)
    except tap.Failure as failure:
        return str(failure)
    if part not in said:
        return "%s: %s, and not: %s" % (command, said, part)
    if INTERNAL.search(said):
        return "%s: %s" % (command, said)
    return None if state() == before else "%s: leaves %s" % (command, state())


@tap.test("%d wrong commands: each answer is a sentence about it, without a word of Python's, and leaves nothing" % len(WRONG))
def wrong():
    lapses = [found for found in (lapse(*row) for row in WRONG) if found]
    tap.check(not lapses, "\n".join(lapses))


@tap.test("places that GDB's Python interface dies of are refused before they reach it")
def places():
    for text in PLACES:
        for command in ("gtp trace ", "gtp explain "):
            said = answer(command + text)
            tap.check(said and not INTERNAL.search(said), said)
    tap.equal([re.sub("x", "y", "ax%d" % i, flags=re.M) for i in range(3)], ["ay0", "ay1", "ay2"], "Python afterwards")


@tap.test("gtp alone lists the commands; gtp if N without an expression says that the condition is gone")
def alone():
    tap.matches(r"gtp trace -- .*\n", gdb.execute("gtp", to_string=True))
    gdb.execute("gtp trace vfs_read if count > 3", to_string=True)
    try:
        tap.matches(r"tracepoint \d+ is unconditional", gdb.execute("gtp if %d" % int(gdb.parse_and_eval("$bpnum")), to_string=True))
    finally:
        gdb.execute("delete")


@tap.test("a command that fails at a tracepoint that is there leaves its actions and variables")
def kept():
    gdb.execute("tvariable $hits", to_string=True)
    gdb.execute("gtp trace vfs_read", to_string=True)
    try:
        gdb.execute("gtp collect count")
        for command, part in (("gtp collect pos, nosuch", "nosuch"), ("gtp sum nosuch by count", "nosuch"),
                              ("gtp count by count, nosuch", "nosuch"), ("gtp if 1 count >", "no")):
            found = lapse(command, part)
            tap.check(not found, found)
    finally:
        gdb.execute("delete")


EMPTY = (b"\x7fTRACE0\nR a4\nstatus 0;tstop::0;tframes:0;tcreated:0;tfree:100;tsize:1000;circular:0;disconn:0;starttime:0;"
         b"stoptime:0;username::;notes::\n\n\0\0")
OF_FILES = (("gtp modules", NOT_CONNECTED), ("gtp status", NOT_CONNECTED), ("gtp wait", NOT_CONNECTED),
            ("gtp syscall openat", NOT_CONNECTED), ("gtp table", "the run has no frames"),
            ("gtp show", "the trace file has no aggregations"), ("gtp save /tmp/x", NOT_CONNECTED))


@tap.test("files that are no trace files, or cut ones, and commands that want a kernel while GDB reads a trace file: a sentence each")
def files():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.tf")
        rows = [(b"hello\n", "gtp merge " + path, "is not a trace file"), (b"", "gtp merge " + path, "is not a trace file"),
                (EMPTY[:40], "gtp merge " + path, "has no aggregations"), (EMPTY[:40], "target tfile " + path, "Premature end of file")]
        for data, command, part in rows:
            with open(path, "wb") as file:
                file.write(data)
            found = lapse(command, part)
            tap.check(not found, found)
        with open(path, "wb") as file:
            file.write(EMPTY)
        gdb.execute("target tfile " + path, to_string=True)
        lapses = [found for found in (lapse(*row) for row in OF_FILES) if found]
        tap.check(not lapses, "\n".join(lapses))


tap.run()
