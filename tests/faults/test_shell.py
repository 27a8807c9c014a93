# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: these tests are about the command, not about the kernel.
"""Tests the shell command `gtp`. Compares its rows with the fixture's own counts, and ends its runs in every possible
way.

GDB takes ten seconds in a guest to read vmlinux. So only some of these commands start a GDB of their own (fresh=True); the
GDB of the others is a child of one that has read vmlinux already (tests/gdb/ready.py). With GTP_FRESH=1 all start their own.
"""

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import indexed
from fixture import KMOD, TOP, counted, facts, hammering, load, load_fixture, main, target, unload
from kernel import Kcore, RELEASE, kprobes, only_symbols
from rsp import Client
from tap import SECONDS, check, equal, matches, note, test, until

GTP = os.path.join(TOP, "tools/gtp")
HEAD = "time cpu pid task "

load()
load_fixture()
indexed.at_hand()


def with_ready_gdb():
    """Start a GDB that reads vmlinux. Return environment variables with which a command gtp gets a child of this GDB."""
    path = os.path.join(tempfile.mkdtemp(), "ready")
    words = ["gdb", "-q", "-batch", "-nx", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off", "-iex",
             "maint set worker-threads 0", "-iex", "set index-cache directory " + indexed.CACHE, "-iex",
             "set index-cache enabled on", os.environ["VMLINUX"], "-x", os.path.join(TOP, "tests/gdb/ready.py")]
    gdb = subprocess.Popen(words, stdin=subprocess.DEVNULL, env=dict(os.environ, GTP_READY=path), start_new_session=True)
    atexit.register(gdb.kill)
    until(lambda: os.path.exists(path) or gdb.poll() is not None, "the GDB that reads vmlinux")
    return {"GTP_READY": path, "PATH": os.path.join(TOP, "tests/gdb/forked") + ":" + os.environ["PATH"]}


READY = {} if os.environ.get("GTP_FRESH") else with_ready_gdb()


class Gtp:
    """A running command gtp. begun() returns when its probes are armed."""

    def __init__(self, *words, shell=None, fresh=False):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(shell or [sys.executable, GTP, *words], stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True,
                                        env=dict(os.environ, **({} if fresh else READY)))
        self.head = None

    def begun(self):
        self.head = self.process.stdout.readline()
        check(self.head.startswith("time"), "no table, but: %r %s" % (self.head, self.said()))
        return self

    def row(self):
        return self.process.stdout.readline().split()

    def rest(self):
        """Read the remaining rows. Afterwards the command has ended."""
        rows = [line.split() for line in self.process.stdout]
        self.status = self.process.wait(SECONDS)
        return rows

    def interrupted(self, how=signal.SIGINT):
        os.kill(self.process.pid, how)
        return self.rest()

    def said(self):
        """Return the command's output on standard error so far."""
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode()


def traced(*words):
    return Gtp("trace", *words, "--modules", KMOD).begun()


def finished(*words, shell=None):
    """Run the command to its end. Return (status, output, errors)."""
    gtp = Gtp(*words, shell=shell)
    out = gtp.process.stdout.read()
    status = gtp.process.wait(SECONDS)
    check("Traceback" not in gtp.said(), gtp.said())
    return status, out, gtp.said()


def summary(gtp):
    """Return (lines printed, hits, lines dropped) from the command's last line."""
    found = matches(r"^gtp: (\d+) lines? printed; (\d+) hits?"
                    r"(?:, (\d+) not printed: too fast, or right before the end)?$", gtp.said())
    return tuple(int(n or 0) for n in found.groups())


def text_of(name):
    with Kcore() as memory:
        return memory.read(facts()[name], 16)


UNTOUCHED = {name: text_of(name) for name in ("gtp_target_obj", "gtp_target_leaf", "gtp_target_add")}


def nothing_armed():
    """Check that no probe of the module is left: /proc/gtp is free, nothing is armed, the code is unchanged."""
    with Client() as client:
        text = client.monitor("probes")
    check("0x" not in text, "still armed: " + text)
    for name, before in UNTOUCHED.items():
        equal(text_of(name), before, "the code of " + name)
    equal([line for line in kprobes() if "gtp_target" in line], [])


README = "trace", "vfs_read if count > 4096", "--collect", "count, file->f_path.dentry->d_iname"


@test("the README's command: reads of more than 4096 bytes, under the titles that were typed, until ^C")
def readme():
    with tempfile.NamedTemporaryFile(prefix="truth-") as file:
        file.write(bytes(100000))
        file.flush()
        gtp = Gtp(*README, fresh=True).begun()
        with open(file.name, "rb", buffering=0) as again:
            sizes = [len(again.read(size)) for size in (4096, 8192, 4097, 100, 65536)]
        rows = gtp.interrupted()
    name = os.path.basename(file.name)
    equal(gtp.status, 0, gtp.said())
    matches(r"^time +cpu +pid  task +count  file->f_path.dentry->d_iname$", gtp.head)
    equal([int(row[4]) for row in rows if row[5:] == [name]], [n for n in sizes if n > 4096])
    equal({(row[2], row[3]) for row in rows if row[5:] == [name]}, {(str(os.getpid()), "python3")})
    check(all(int(row[-2]) > 4096 for row in rows if len(row) == 6), rows)
    nothing_armed()


@test("--for 1s ends it")
def seconds():
    status, out, errors = finished(*README, "--for", "1s")
    equal((status, out.split()[:5]), (0, "time cpu pid task count".split()), errors)
    matches(r"^gtp: \d+ lines? printed; \d+ hits?", errors)
    nothing_armed()


@test("rows are the fixture's calls, each value as in C, with more columns than one dprintf holds; ^C ends it")
def values():
    gtp = traced("gtp_target_obj if n != 2", "--collect", "n, o->id, o->small, o->medium, o->big, o->low, o->mid, "
                 "o->kind, o->on, o->name, o->parent, &gtp_target_objs, o->name, o->values[1], n ? o->name : 0")
    before = counted("obj")
    for n in (1, 2, 0, 3):
        target("call obj %d 2" % n)
    rows = gtp.interrupted()
    equal(gtp.status, 0, gtp.said())
    where = "0x%x" % only_symbols()["gtp_target_objs"]
    wanted = []
    for n in (1, 1, 0, 0, 3, 3):
        wanted.append([str(n), str(100 + n), str(200 + n), str(60000 + n), str(-5 - n), str(n), str(-n),
                       "GTP_TARGET_" + ("FANCY" if n & 1 else "PLAIN"), "true" if n & 1 else "false", "obj-%d" % n])
    equal([row[4:14] for row in rows], wanted)
    equal([where in row for row in rows], 6 * [True], "&gtp_target_objs")
    equal([(row[2], row[3]) for row in rows], 6 * [(str(os.getpid()), "python3")])
    equal([row[-2] for row in rows], [str(10 * n + 1) for n in (1, 1, 0, 0, 3, 3)])
    equal([row[-1] for row in rows], ["obj-1", "obj-1", "(null)", "(null)", "obj-3", "obj-3"])
    equal(sorted(row[0] for row in rows), [row[0] for row in rows])
    equal(summary(gtp), (6, 6, 0))
    equal(counted("obj") - before, 8)
    nothing_armed()


@test("--count 7 in a storm prints exactly 7 lines; CSV")
def count():
    gtp = traced("gtp_target_leaf", "--collect", "n", "--count", "7", "--csv", "-")
    with hammering("loop leaf 2000"):
        rows = gtp.rest()
    equal((gtp.status, gtp.head), (0, "time,cpu,pid,task,n\n"), gtp.said())
    equal(len(rows), 7)
    check(all(re.match(r"\d+\.\d{9},\d+,\d+,\S+,-?\d+$", row[0]) for row in rows), rows)
    matches("^gtp: 7 lines printed; ", gtp.said())
    nothing_armed()


@test("a storm on all CPUs: each call is a line, or is dropped and counted; SIGTERM ends it")
def storm():
    gtp = traced("gtp_target_leaf", "--collect", "n")
    before = counted("leaf")
    target("loop leaf 5000")
    made = counted("leaf") - before
    rows = gtp.interrupted(signal.SIGTERM)
    equal(gtp.status, 0, gtp.said())
    printed, hits, dropped = summary(gtp)
    note("%d calls, %d lines, %d dropped" % (made, printed, dropped))
    equal((printed, hits, printed + dropped), (len(rows), made, made))
    nothing_armed()


@test("| head -n 2: the table's head and a row, and gtp ends while the hits go on")
def piped():
    words = "%s %s trace gtp_target_leaf --collect n --modules %s" % (sys.executable, GTP, KMOD)
    gtp = Gtp(shell=["bash", "-c", "set -o pipefail; %s | head -n 2" % words])
    until(lambda: armed(gtp, "gtp_target_leaf"), "the probe")
    with hammering("loop leaf 2000"):
        out = gtp.process.stdout.read()
        status = gtp.process.wait(SECONDS)
    equal((status, len(out.splitlines())), (0, 2), gtp.said())
    matches(r" after the output was closed$", gtp.said())
    nothing_armed()


@test("a structure does not fit into a line: a message says so, and the frames are shown at the end")
def at_end():
    gtp = Gtp("trace", "gtp_target_obj", "--modules", KMOD, "--collect", "n, o->values", "--count", "2")
    until(lambda: "o->values is an array: the rows are shown when the run has ended" in gtp.said(), "the note")
    with hammering("call obj 3"):
        out = gtp.process.stdout.read()
        equal(gtp.process.wait(SECONDS), 0, gtp.said())
    found = re.findall(r"^ +\d+ .* +(\d)  \{(.*)\}$", out, re.M)
    equal(found, 2 * [("3", "30, 31, 32, 33")])
    nothing_armed()


def armed(gtp, name):
    """Return whether the code of the kernel function NAME is patched. Fail if the gtp command has ended."""
    check(gtp.process.poll() is None, "it has ended: " + gtp.said())
    return text_of(name) != UNTOUCHED[name]


@test("a system call when it returns, with its arguments; an event with the fields of its record")
def calls():
    gtp = Gtp("syscall", "openat if $ret < 0 && $current_task_pid == %d" % os.getpid()).begun()
    equal(gtp.head.split(), (HEAD + "dfd filename flags mode $ret").split())
    for path in ("/nonexistent/truth", os.devnull):
        try:
            os.close(os.open(path, os.O_RDONLY))
        except FileNotFoundError:
            pass
    rows = gtp.interrupted()
    equal([row[4:6] + row[-2:] for row in rows], [["-100", "/nonexistent/truth", "-2", "(ENOENT)"]])
    gtp = Gtp("event", "signal:signal_generate if pid == %d" % os.getpid(), "-c", "sig, pid, comm").begun()
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    rows = gtp.interrupted()
    equal([row[4:] for row in rows], [[str(int(signal.SIGUSR1)), str(os.getpid()), "python3"]], gtp.said())
    nothing_armed()


@test("unknown functions and wrong expressions: GDB's sentence, exit status 1, and nothing is armed")
def refused():
    status, out, errors = finished("trace", "vfs_raed")
    equal((status, out), (1, ""))
    matches(r'^gtp: Function "vfs_raed" not defined; is it vfs_read', errors)
    status, out, errors = finished("trace", "vfs_read", "--collect", "count, file->f_flag")
    equal((status, out), (1, ""))
    matches(r"struct file has no member f_flag\n +file->f_flag\n +\^\n +Did you mean f_flags\?", errors)
    equal(len(re.search(r"^( +)\^$", errors, re.M).group(1)), errors.splitlines()[-3].index("f_flag"))
    nothing_armed()


@test("what is missing is reported before GDB starts: root, vmlinux, the module, the line; wrong usage is status 2")
def missing():
    status, _, errors = finished(shell=["setpriv", "--reuid", "1000", "--clear-groups", GTP, "trace", "vfs_read"])
    equal((status, errors), (1, "gtp: tracing the kernel is for root; say: sudo gtp ...\n"))
    status, _, errors = finished("trace", "--vmlinux", "/nonexistent", "vfs_read")
    equal((status, errors), (1, "gtp: /nonexistent is not a file\n"))
    if not any(map(os.path.exists, ("/usr/lib/debug/boot/vmlinux-" + RELEASE, "/lib/modules/%s/build/vmlinux" % RELEASE))):
        named = os.environ.pop("VMLINUX")
        status, _, errors = finished("trace", "vfs_read", "--for", "1s")
        os.environ["VMLINUX"] = named
        equal(status, 1)
        matches(r"Looked for:\n +/usr/lib/debug/boot/vmlinux-%s\n.*apt install linux-image-%s-dbg" %
                (2 * (re.escape(RELEASE),)), errors)
    with Client():
        status, _, errors = finished("trace", "vfs_read", "--for", "1s")
        equal((status, errors), (1, "gtp: /proc/gtp: another GDB, or another gtp, is connected to it; "
                                    "there is one at a time\n"))
    equal(finished("trace", "vfs_read", "--for", "soon")[0], 2)
    unload()
    status, _, errors = finished("trace", "vfs_read", "--for", "1s")
    load()
    equal(status, 1)
    matches(r"^gtp: /proc/gtp is not there: the module is not loaded\.\n +modprobe gdbtp says: .*gdbtp", errors)


@test("^C before anything runs is status 130; gtp killed during its run leaves no probe")
def killed():
    gtp = Gtp("trace", "gtp_target_add", fresh=True)
    until(lambda: reads_symbols(gtp), "GDB")
    equal((gtp.interrupted(), gtp.status), ([], 130), gtp.said())
    nothing_armed()
    gtp = traced("gtp_target_add")
    check(text_of("gtp_target_add") != UNTOUCHED["gtp_target_add"], "nothing was armed")
    gtp.process.kill()
    gtp.process.wait()
    until(lambda: text_of("gtp_target_add") == UNTOUCHED["gtp_target_add"], "the code")
    until(line_is_free, "the line")
    nothing_armed()


def reads_symbols(gtp):
    """Return whether the command has started a GDB, which then reads the symbols."""
    return subprocess.run(["pgrep", "-P", str(gtp.process.pid)], stdout=subprocess.DEVNULL, check=False).returncode == 0


def line_is_free():
    try:
        Client().close()
    except OSError:
        return False
    return True


@test("gtp events, lines, explain, status and check print what GDB's commands do")
def others():
    status, out, _ = finished("events", "sched:sched_process_f*")
    equal((status, out), (0, "sched:sched_process_fork\nsched:sched_process_free\n"))
    status, out, errors = finished("check")
    equal(status, 0, errors)
    matches("is of the running kernel", out)
    if shutil.which("gdbtp-regions") or os.path.exists(TOP + "/build/tools/gdbtp-regions"):
        status, out, errors = finished("explain", "vfs_read+1")
        equal(status, 0, errors)
        matches(r"^vfs_read\+0x1 ", out)


main()
