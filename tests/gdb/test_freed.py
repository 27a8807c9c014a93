# SPDX-License-Identifier: GPL-2.0-only
# Tests that freed pads and gates are filled with int3. For a guest with --thread single.
import contextlib
import re

from fixture import load_tables, put_table
from lib import *
from others import *

INT3, JUMP, CALL = 0xcc, 0xe9, 0xe8
FIRST_GATE, BACK = 16, 5  # the offset of the first gate, and the offset in a gate to which its call returns


def pad_bytes():
    return int(matches(r"(\d+) of \d+ bytes of pads", cmd("monitor jumps")).group(1))


def led_to(where):
    """Return the target of the jump or call at an address."""
    text = text_at(where, 5)
    check(text[0] in (JUMP, CALL), "no jump and no call: %s" % text.hex())
    return where + 5 + int.from_bytes(text[1:], "little", signed=True)


def freed(where, how, *traces, run=lambda: None):
    """Make a run with tracepoints. The jump or call at WHERE leads to the first pad. Check that after the run all bytes of
    the pads are int3."""
    equal(pad_bytes(), 0)
    nums = [trace(*words) for words in traces]
    cmd("tstart")
    check(mechanism(nums[0]) == how, "not %s:\n%s" % (how, cmd("monitor probes")))
    taken, pad = pad_bytes(), led_to(where)
    before = text_at(pad - taken, 2 * taken)
    check(taken > 0, "no pad")
    check(before[taken] != INT3, "the pad begins with an int3")
    run()
    cmd("tstop")
    equal(pad_bytes(), 0)
    equal(text_at(pad - taken, 2 * taken).hex(), bytes([INT3] * 2 * taken).hex(), "what was a pad")


def fixed_place():
    load_table("gtp_target")
    return place()


@test("of a jump, with a condition and without")
def of_a_jump():
    where = fixed_place()
    for condition in "", " if a == 5":
        freed(where, "jump", ("*0x%x%s" % (where, condition), "collect a"))


LONG = "(" * 40 + "a" + "*5+1)" * 40  # the string is so long that a call spends most of its time in the pad


@contextlib.contextmanager
def written(path, text):
    """Context manager: write a text to a file of the guest's kernel, and restore the old one. Do nothing if there is no
    such file."""
    old = shell()("cat %s 2>/dev/null; true" % path).strip()
    if old:
        shell()("echo %s >%s" % (text, path))
    try:
        yield
    finally:
        if old:
            shell()("echo %s >%s" % (re.sub(r".*\((\w+)\).*", r"\1", old), path))


@test("not while a task is preempted in it: tstop waits for the task")
def held():
    where = fixed_place()
    sched = "/sys/kernel/debug/sched/"
    with contextlib.ExitStack() as stack:
        stack.enter_context(written(sched + "preempt", "full"))
        stack.enter_context(written("/proc/sys/kernel/sched_rt_runtime_us", "-1"))
        for cpu in range(CPUS):  # since 6.8 this reserves a share of each CPU for ordinary tasks
            stack.enter_context(written("%sfair_server/cpu%d/runtime" % (sched, cpu), "0"))
        trace("*0x%x if %s == 12345" % (where, LONG))
        cmd("tstart")
        pad = led_to(where)
        before = calls("held")
        holding = background("hold %x %x %x" % (pad, pad + pad_bytes(), where))
        until(lambda: calls("held") > before or holding.poll() is not None, "a task in the pad")
        equal(holding.poll(), None)
        cmd("tstop")
        equal(holding.wait(), 0)
        equal(calls("held"), before + 1)
    equal(pad_bytes(), 0)


@test("of several tracepoints at a place")
def of_a_chain():
    where = fixed_place()
    freed(where, "jump", *[("*0x%x if a == %d" % (where, n), "collect a") for n in range(3)])


@test("of a place that another tracepoint joined during the run")
def of_one_that_was_joined():
    where = fixed_place()
    freed(where, "jump", ("*0x%x if a == 5" % where,), run=lambda: trace("*0x%x if a == 6" % where))


@test("of an ftrace call")
def of_a_call():
    equal(put_table(b"forget\n"), 0)
    try:
        site = instructions("gtp_target_add", r"\bnop[lw]|\bcall\b")[0]
        freed(site, "ftrace call", ("*gtp_target_add", "collect a"))
    finally:
        load_tables()


@test("of a pad that follows calls, and the calls of its gates; a task that is inside returns through a gate")
def of_gates():
    load_table("gtp_target")
    gates = [at + FIRST_GATE for at in kernel.symbols("gtp_gates_framed", "gtp_gates_bare").values()]
    equal(len(gates), 2)
    site = instructions("gtp_target_wait", r"\bnop[lw]|\bcall\b")[0]
    behind = []

    def inside():
        for gate in gates:
            text = text_at(gate, 16)
            equal((text[0], text[BACK]), (CALL, JUMP))
            behind.append(text[BACK:])
        target("crowd 3")

    try:
        freed(site + 5, "jump, follows the call", ("*gtp_target_wait", "collect $ret"), run=inside)
        for gate, rest in zip(gates, behind):
            equal(text_at(gate, 16).hex(), (bytes([INT3] * BACK) + rest).hex(), "what was a gate")
    finally:
        target("release")


run()
