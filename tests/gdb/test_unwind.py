# SPDX-License-Identifier: GPL-2.0-only
# Tests $ustack of programs without frame pointers, with the call frame information that gtp unwind loads. Compares the
# stacks with the return addresses that the program's functions have noted, and with GDB's own backtrace of a process.
import os
import re
import subprocess
import sys

import programs
from lib import *
from programs import BUILT, gtp_trace, linked
from sampling import with_counters

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.formats import space, ustack
from gtp.run import aggregations, kstack

FRAMELESS = os.path.join(BUILT, "frameless")
PATHS = 4
LIBC = matches(r"libc\.so\.6 => (\S+)", subprocess.run(["ldd", FRAMELESS], capture_output=True, text=True).stdout).group(1)


def running_program():
    return programs.running_program(FRAMELESS, programs.Frames)


def bases(pid, access=""):
    """Return {path: what is added to a link-time address of the file in the process}, for all files or those that are
    mapped with this access."""
    first, wanted = {}, set()
    with there.open("/proc/%d/maps" % pid) as f:
        for line in f:
            words = line.split(maxsplit=5)
            if len(words) == 6 and words[5].startswith("/"):
                first.setdefault(words[5].strip(), int(words[0].split("-")[0], 16))
                wanted |= {words[5].strip()} if access in words[1] else set()
    for path in wanted:
        with open(path, "rb") as f:
            if f.read(18)[16:18] == b"\2\0":
                first[path] = 0
    return {path: first[path] for path in wanted}


def of_process(words_, at):
    """Return a stack's addresses as those of the process. AT has its files' bases."""
    by_base = {one.base: path for (path, _), one in space.programs.items()}
    return [space.linked(word) + at[os.path.realpath(by_base[word - space.linked(word)])] if space.has(word) else word for word in words_]


def stacks(num, pid, at, some=False):
    """Return the stacks in the frames of a tracepoint, as addresses of the process. SOME: leave out frames that have none."""
    found = []
    for _ in frames():
        if number("$tracepoint") != num:
            continue
        words_, whose = ustack.parted(kstack.addresses(number("$ustack")))
        if some and not words_:
            continue
        equal(ustack.pid(whose), pid)
        found.append(of_process(words_, at))
    return found


def whole(stack, truth, one, why):
    """Check a stack: it begins with the noted addresses, and goes on to _start without a mark."""
    equal([hex(where) for where in stack[:len(truth)]], [hex(where) for where in truth], why)
    start = linked(FRAMELESS)["_start"] + one.base
    check(start < stack[-1] < start + 64, "%s: ends at %#x, not in _start at %#x" % (why, stack[-1], start))


@test("at a system call, without frame pointers: the callers that the program has noted, and on to the program's start")
def at_a_system_call():
    text = cmd("gtp unwind %s %s" % (FRAMELESS, LIBC))
    equal(len(re.findall(r"^/.*: \d+ KiB$", text, re.M)), 2, text)
    with running_program() as one:
        num = trace("__x64_sys_getppid if $current_task_pid == %d" % one.pid, "collect $ustack")
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in range(PATHS)]
        cmd("tstop")
        found = stacks(num, one.pid, bases(one.pid))
        equal(len(found), PATHS)
        for n, (stack, noted) in enumerate(zip(found, truth)):
            whole(stack, noted, one, "path %d" % n)
        names = kstack.Symbols().names(kstack.addresses([number("$ustack") for _ in frames()][0]))
        check(any("__libc_start_main" in name for name in names), "names in libc: %s" % names)


@test("in the program, at each instruction of a function: the same callers, and on to the program's start")
def at_each_instruction():
    wheres = programs.instructions(FRAMELESS, "leaf")
    check(len(wheres) > 5, wheres)
    base = programs.base_of(cmd("gtp lib " + FRAMELESS))
    cmd("gtp unwind %s %s" % (FRAMELESS, LIBC))
    with running_program() as one:
        nums = {trace("*%#x" % (base + where), "collect $ustack"): where for where in wheres}
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in (0, 1, 3)]
        cmd("tstop")
        at = bases(one.pid)
        for num, where in nums.items():
            found = stacks(num, one.pid, at)
            equal(len(found), len(truth), "hits at leaf+%d" % (where - wheres[0]))
            for stack, noted in zip(found, truth):
                whole(stack, [one.base + where] + noted[1:], one, "at leaf+%d" % (where - wheres[0]))


@test("threads on all CPUs, counted by stack: each path has exactly its calls")
def together():
    cmd("gtp unwind %s %s" % (FRAMELESS, LIBC))
    name = matches(r"\$(count_\w+);", cmd("gtp count by $ustack at __x64_sys_getppid")).group(1)
    with running_program() as one:
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in range(PATHS)]
        one("threads 8 500")
        cmd("tstop")
        at = bases(one.pid)
        found, = [each for each in aggregations.read().all if each.name == name]
        counts = [0] * PATHS
        for entry in found.entries:
            words_, whose = ustack.parted(kstack.addresses(entry.keys[0]))
            if ustack.pid(whose) != one.pid:
                continue
            check(words_[-1], "a stack that does not end")
            stack = of_process(words_, at)
            which, = [n for n, noted in enumerate(truth) if stack[:len(noted) - 2] == noted[:-2]]
            counts[which] += entry.count
        equal(counts, [8 * 500 + 1] * PATHS)
    equal((nested(), missed()), (0, 0))


def backtrace(pid):
    """Return the addresses of GDB's own backtrace of a process."""
    script = ("f = gdb.newest_frame()\nwhile f:\n    if f.type() != gdb.INLINE_FRAME: print('pc %x' % f.pc())\n    f = f.older()\n")
    text = there.run(["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "set backtrace past-main on", "-ex", "python exec(%r)" % script],
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return [int(word, 16) for word in re.findall(r"^pc (\w+)$", text, re.M)]


@test("python3 as Debian builds it: GDB's own backtrace of the process")
def of_debian():
    code = "import time\ndef f(n):\n    if n: return f(n - 1)\n    while True: time.sleep(0.05)\nf(3)\n"
    one = there.popen(["/usr/bin/python3", "-c", "import os\nprint(os.getpid(), flush=True)\n" + code], stdout=subprocess.PIPE,
                      text=True)
    pid = int(one.stdout.readline())
    try:
        cmd("gtp unwind -p %d" % pid if there.here else "gtp unwind " + " ".join(bases(pid, "x")))
        num = trace("__x64_sys_clock_nanosleep if $current_task_pid == %d" % pid, "collect $ustack", passcount=20)
        cmd("tstart")
        cmd("gtp wait")
        found = stacks(num, pid, bases(pid))
        equal(len({tuple(stack) for stack in found}), 1, "different stacks")
        truth = backtrace(pid)
        check(len(truth) > 12, "GDB's backtrace: %s" % truth)
        equal([hex(where) for where in found[0]], [hex(where) for where in truth])
    finally:
        shell()("kill -KILL %d" % pid)
        one.wait()


@test("NMIs while a program changes its mappings all the time: no stack is wrong, and most are whole")
@with_counters(150)
def in_nmis():
    cmd("gtp unwind %s %s" % (FRAMELESS, LIBC))
    inside = programs.instructions(FRAMELESS, "churn")
    with running_program() as one:
        text = cmd("gtp sample cycles:150000 by $ustack if $current_task_pid == %d" % one.pid)
        cmd("tstart")
        caller = int(one("churn 60"), 16)
        cmd("tstop")
        at, found = bases(one.pid), [each for each in aggregations.read().all if "$" + each.name in text]
        equal(len(found), 1, text)
        seen, whole_, cut = 0, 0, 0
        for entry in found[0].entries:
            words_, whose = ustack.parted(kstack.addresses(entry.keys[0]))
            if not words_:
                continue
            equal(ustack.pid(whose), one.pid)
            stack = of_process(words_, at)
            seen += entry.count
            churn = [n for n, word in enumerate(stack) if inside[0] <= word - one.base <= inside[-1]]
            after = stack[churn[0] + 1:] if churn else stack[-1:]
            if after == [0]:
                cut += entry.count  # the stack ends here, which the mark says
            elif churn:
                whole(after, [caller], one, "after churn()")
                whole_ += entry.count
            else:
                whole(stack, [], one, "not in churn()")
        note("%d hits, %d of them whole, %d with a mark; %d missed" % (seen, whole_, cut, missed()))
        check(seen > 50 and whole_ > seen * 3 / 4, "whole stacks")


@test("damaged tables, tables of other files and unknown processes are refused, and change nothing")
def refusals():
    import gtp.commands.unwind as unwind
    from gtp.commands import lib
    ours, libc = unwind.table(FRAMELESS), unwind.table(LIBC)
    program = lib.known(FRAMELESS)
    for bytes_, why in ((libc, "another build"), (ours[:-1] + bytes([ours[-1] ^ 1]), "checksum"), (ours[:-4], "size"),
                        (b"x" * 100, "no table of call frames")):
        try:
            unwind.send(program.base, bytes_)
        except gdb.GdbError as error:
            matches(why, str(error))
        else:
            check(False, "not refused: " + why)
    matches("say gtp unwind", refused("gtp unwind"))
    matches("process 0", refused("gtp unwind -p 0"))
    matches("does not exist", refused("gtp unwind /no/such/file"))
    unwind.send(program.base, ours)
    unwind.send(program.base, ours)


@test("gdbtp forgets the tables when GDB disconnects; until then other commands leave them alone")
def forgotten():
    cmd("gtp unwind %s %s" % (FRAMELESS, LIBC))
    for again in (False, True):
        if again:
            disconnect()
            connect()
            fresh()
            cmd("gtp lib " + FRAMELESS)
        num = gtp_trace("-x %s leaf" % FRAMELESS, "$ustack")
        with running_program() as one:
            cmd("tstart")
            truth = one.path("path 0")
            cmd("tstop")
            stack, = stacks(num, one.pid, bases(one.pid))
            if again:
                equal((stack[1], stack[-1]), (truth[1], 0), "the caller, and the mark")
            else:
                whole(stack, [one.base + linked(FRAMELESS)["leaf"]] + truth[1:], one, "with a table")


run()
