# SPDX-License-Identifier: GPL-2.0-only
# Tests $ustack, the stacks of programs. Compares them with the return addresses that the program's functions themselves have
# noted.
import os
import re
import sys

import programs
from event import strace
from lib import *
from others import looped
from programs import BUILT, gtp_trace, linked

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.formats import space, ustack
from gtp.run import aggregations, kstack

FRAMED = os.path.join(BUILT, "framed")
FRAMELESS = os.path.join(BUILT, "frameless")
SCRATCH = scratch()
PATHS = 4
HOSTILE = ("loop", "static", "misaligned", "below", "unmapped", "one", "text", "direct", "last", "hole", "space", "top", "kernels")


def running_program(path=FRAMED):
    return programs.running_program(path, programs.Frames)


def function_of(path, where):
    """Return the function that has a link-time address, from the linker's own table."""
    return max((address_, name) for name, address_ in linked(path).items() if address_ <= where)[1]


def stack_of(number_):
    """Return (addresses, pid of the process) for the stack that has this number."""
    addresses, whose = ustack.parted(kstack.addresses(number_))
    check(whose is not None, "no program's stack: %s" % addresses)
    return addresses, ustack.pid(whose)


def stacks(num, one):
    """Return the stacks in the frames of a tracepoint, all of one process."""
    found = []
    for _ in frames():
        if number("$tracepoint") == num:
            addresses, pid = stack_of(number("$ustack"))
            equal(pid, one.pid)
            found.append([space.linked(word) + one.base if space.has(word) else word for word in addresses])
    return found


def begins(stack, truth, why):
    equal([hex(where) for where in stack[:len(truth)]], [hex(where) for where in truth], why)


def of_getppid(one):
    """Set a tracepoint in the kernel at the system call that leaf() makes. Return its number."""
    return trace("__x64_sys_getppid if $current_task_pid == %d" % one.pid, "collect $ustack")


@test("in the kernel, at a system call: the program's callers, as they have noted themselves")
def at_a_system_call():
    with running_program() as one:
        num = of_getppid(one)
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in range(PATHS)]
        cmd("tstop")
        found = stacks(num, one)
        equal(len(found), PATHS)
        for n, (stack, noted) in enumerate(zip(found, truth)):
            begins(stack, noted, "path %d" % n)
        equal(number_of_mains(found), PATHS, "stacks that reach main()")


def number_of_mains(found):
    """Return the number of stacks that include main(), which is above the functions that note their return addresses."""
    return sum(len(stack) > 5 for stack in found)


@test("at each instruction of a function, from its first one to its return: the same callers")
def at_each_instruction():
    wheres = programs.instructions(FRAMED, "leaf")
    check(len(wheres) > 10, wheres)
    with running_program() as one:
        base = programs.base_of(cmd("gtp lib " + FRAMED))
        nums = {trace("*%#x" % (base + where), "collect $ustack"): where for where in wheres}
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in (0, 1, 3)]
        cmd("tstop")
        for num, where in nums.items():
            found = stacks(num, one)
            equal(len(found), len(truth), "hits at leaf+%d" % (where - wheres[0]))
            for stack, noted in zip(found, truth):
                begins(stack, [one.base + where] + noted[1:], "at leaf+%d" % (where - wheres[0]))


@test("a function called through a pointer: its caller is in the stack at its first instruction")
def by_a_pointer():
    with running_program() as one:
        num = gtp_trace("-x %s leaf" % FRAMED, "$ustack, $pc")
        cmd("tstart")
        truth = one.path("path 2")
        cmd("tstop")
        stack, = stacks(num, one)
        begins(stack, [one.base + linked(FRAMED)["leaf"]] + truth[1:], "wide()")


@test("when a call returns: the stack at its entry, with frame pointers and without")
def at_a_return():
    for path, known in ((FRAMED, None), (FRAMELESS, 2)):
        cmd("delete")
        num = gtp_trace("-x %s *%#x" % (path, linked(path)["leaf"]), "$ustack, $ret")
        with running_program(path) as one:
            cmd("tstart")
            truth = [one.path("path %d" % n) for n in range(PATHS)]
            cmd("tstop")
            found = stacks(num, one)
            equal(len(found), PATHS)
            for n, (stack, noted) in enumerate(zip(found, truth)):
                begins(stack, ([one.base + linked(path)["leaf"]] + noted[1:])[:known], "path %d" % n)
        cmd("tfind none")


@test("threads on all CPUs, counted by stack: each path has exactly its calls")
def together():
    name = matches(r"\$(count_\w+);", cmd("gtp count by $ustack at __x64_sys_getppid")).group(1)
    with running_program() as one:
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in range(PATHS)]
        one("threads 8 500")
        cmd("tstop")
        found, = [each for each in aggregations.read().all if each.name == name]
        counts = [0] * PATHS
        for entry in found.entries:
            stack, pid = stack_of(entry.keys[0])
            if pid != one.pid:
                continue
            # The stacks are equal below go(). Above it, threads have other functions.
            which, = [n for n, noted in enumerate(truth) if stack[:len(noted) - 2] == noted[:-2]]
            counts[which] += entry.count
        equal(counts, [8 * 500 + 1] * PATHS)
    equal((nested(), missed()), (0, 0))


@test("a value in rbp that is no frame pointer ends the stack, which is marked; nothing else happens")
def hostile():
    with running_program() as one:
        num = of_getppid(one)
        at_leaf = gtp_trace("-x %s leaf" % FRAMED, "$ustack")
        cmd("tstart")
        truth = [one.path("hostile " + kind) for kind in HOSTILE]
        zero = one.path("hostile zero")
        cmd("tstop")
        go = int(one("address go"), 16)
        more = {"loop": [go]}  # the address of a static variable, which is lower than the stack
        for which in (num, at_leaf):
            *found, whole = stacks(which, one)
            for kind, stack, noted in zip(HOSTILE, found, truth):
                equal([hex(where) for where in stack[1:]], [hex(where) for where in noted[1:] + more.get(kind, []) + [0]], kind)
            equal(whole[1:], zero[1:])
        equal(kstack.Symbols().names(kstack.addresses(last_number()))[-1], "[no frame pointer leads on]")


def last_number():
    """Return $ustack in the frame of the last hostile stack, the third frame from the end."""
    return [number("$ustack") for _ in frames()][-3]


@test("without frame pointers: the function and the mark; never another program's or the kernel's memory")
def frameless():
    with running_program(FRAMELESS) as one:
        num = of_getppid(one)
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in range(PATHS)]
        cmd("tstop")
        for stack, noted in zip(stacks(num, one), truth):
            equal(stack[0], noted[0])
            check(all(where < 1 << 56 for where in stack), stack)


@test("a function's first instruction without frame pointers: its caller")
def frameless_entry():
    with running_program(FRAMELESS) as one:
        num = gtp_trace("-x %s leaf" % FRAMELESS, "$ustack")
        cmd("tstart")
        truth = [one.path("path %d" % n) for n in (0, 1, 3)]
        cmd("tstop")
        for stack, noted in zip(stacks(num, one), truth):
            begins(stack, [one.base + linked(FRAMELESS)["leaf"], noted[1]], "the caller")


@test("kernel threads have no stack of a program, and gtp stacks says so; both stacks in one hit")
def kernel_threads():
    num = trace("*gtp_target_irq", "collect $ustack, $current_task_user")
    beside = trace("gtp_target_add", "collect $kstack, $ustack")
    cmd("tstart")
    target("call irq 4")
    target("call add 1 1")
    looped("mix", 10)
    cmd("tstop")
    check(hits(num) > 0, "no hit")
    seen = set()
    for _ in frames():
        if number("$tracepoint") != num:
            continue
        words = kstack.addresses(number("$ustack"))
        has = number("$current_task_user") != 0
        equal(bool(ustack.pid(words[-1])), has)
        if not has:
            equal(cmd("gtp stacks $ustack"), "[a thread of the kernel, which has no program]\n")
        seen.add(has)
    note("interrupts of %s" % seen)
    cmd("tfind tracepoint %d" % beside)
    check(number("$kstack") != number("$ustack"), "one number for both")
    equal(kstack.Symbols().names(kstack.addresses(number("$kstack")))[0], "gtp_target_add")
    check(stack_of(number("$ustack"))[1] > 0, "no process")


NMIS = 300
# A condition that is false, and so long that of 300 NMIs several come in the middle of a hit.
NEVER = " || ".join("$rdi == %d" % n for n in range(99, 199))


def nmi_rounds(num, one):
    """Send NMIs to the other CPUs, in several rounds. Yield the stacks of each round's NMIs. The program is stopped between
    the rounds: otherwise it would come to its end meanwhile, and slow down GDB."""
    for _ in range(20):
        cmd("tstart")
        there.run(["kill", "-CONT", str(one.pid)], check=True)
        target("nmi %d" % NMIS)
        there.run(["kill", "-STOP", str(one.pid)], check=True)
        cmd("tstop")
        yield [kstack.addresses(number("$ustack")) for _ in frames() if number("$tracepoint") == num]


def hits_inside(found, one):
    """Return the stacks that were taken in NMIs in the middle of a hit. Such a stack begins with an address in the traced
    file's space, which gdbtp knows only during a hit."""
    return [words for words in found if ustack.pid(words[-1]) == one.pid and space.has(words[0])]


@test("an NMI in the middle of a hit in a program: that program's stack, with the caller")
def in_nmi():
    # The condition is false and nothing is recorded, so hits in an NMI do not count as nested.
    gtp_trace("-x %s leaf if %s" % (FRAMED, NEVER))
    # Set this tracepoint after gtp trace -x: when GDB adds a file's symbols, it forgets where a marker is.
    num = strace("gtp_target:gtp_target_count", "collect $ustack")
    one = programs.Frames(FRAMED)
    try:
        truth = [one.path("path %d" % n)[1:-2] for n in range(PATHS)]
        one.process.stdin.write("threads %d 1000000\n" % CPUS)
        one.process.stdin.flush()
        inside = next(filter(None, (hits_inside(found, one) for found in nmi_rounds(num, one))), None)
    finally:
        one.kill()
    check(inside, "no NMI came in the middle of a hit")
    note("%d NMIs came in the middle of a hit" % len(inside))
    for words in inside:
        stack = [space.linked(word) + one.base if space.has(word) else word for word in words[1:]]
        check(any(stack[:len(noted)] == noted for noted in truth), "%s" % list(map(hex, words)))


@test("in a program: its own functions have names, even after the process has ended")
def names():
    num = gtp_trace("-x %s leaf" % FRAMED, "$ustack")
    with running_program() as one:
        cmd("tstart")
        truth = one.path("path 1")
    cmd("tstop")
    wanted = [function_of(FRAMED, where - one.base - 1) for where in truth]
    cmd("tfind tracepoint %d" % num)
    lines = cmd("gtp stacks $ustack").splitlines()
    equal([re.sub(r"^0x47[0-9a-f]{14} |\+\d+$", "", line) for line in lines[:len(wanted)]], wanted)
    equal(wanted[:3], ["leaf", "path_c", "other"])
    matches(r" leaf\+0$", lines[0])
    equal(lines[-1], "of process %d" % one.pid)


@test("gtp stacks, folded lines: the kernel's functions are on top of the program's")
def joined():
    with running_program() as one:
        cmd("gtp count by $kstack, $ustack at __x64_sys_getppid if $current_task_pid == %d" % one.pid)
        cmd("tstart")
        truth = one.path("path 0")
        one("path 0")
        cmd("tstop")
        line, = cmd("gtp stacks --folded").splitlines()
    text, count = line.rsplit(" ", 1)
    equal(count, "2")
    names = text.split(";")
    equal(names[-1], "__x64_sys_getppid")
    at = names.index("%#x" % truth[0])
    matches("^entry_SYSCALL_64", names[at + 1])
    equal(names[at - len(truth) + 1:at], ["%#x" % where for where in reversed(truth[1:])])


@test("the same stack has the same number; a trace file has the addresses; $kstack is refused in a program")
def elsewhere():
    with running_program() as one:
        gtp_trace("-x %s path_c" % FRAMED, "$ustack, n")
        cmd("tstart")
        one.path("path 0")
        one.path("path 1")
        one.path("path 0")
        cmd("tstop")
        numbers = collected("$ustack")
        equal(len(set(numbers)), 2)
        equal(numbers[0], numbers[2])
        cmd("gtp save %s/ustack.tf" % SCRATCH)
        words = kstack.addresses(numbers[1])
        text = other_gdb("source %s/gdbscripts/gtp.py" % TOP, "target tfile %s/ustack.tf" % SCRATCH, "tfind 1", "gtp stacks $ustack")
        matches(r"%#x .*\n%#x " % (words[0], words[1]), text)
        matches("of process %d" % one.pid, text)
    cmd("delete")
    gtp_trace("-x %s leaf" % FRAMED, "$kstack")
    matches("ustack is the program's", refused("tstart"))


run()
