# SPDX-License-Identifier: GPL-2.0-only
# GDB inside the guest: it has not been tried on the host.
# Freed pads and gates are int3, and no pad is freed before the last task has left it. For a guest with --thread single.
import contextlib
import os
import subprocess

from fixture import put_table
from lib import *
from others import *

INT3, JUMP, CALL = 0xcc, 0xe9, 0xe8
FIRST_GATE, BACK = 16, 5  # the first one's place, and where in a gate its call returns to
PREEMPTION = kernel.DEBUG + "sched/preempt"
HOLD_MS = 2000
LAST_CPU = ["taskset", "-c", str(CPUS - 1)]


def pad_bytes():
    return int(matches(r"(\d+) of \d+ bytes of pads", cmd("monitor jumps")).group(1))


def led_to(where):
    """Where the jump or the call at an address leads to."""
    text = text_at(where, 5)
    check(text[0] in (JUMP, CALL), "no jump and no call: %s" % text.hex())
    return where + 5 + int.from_bytes(text[1:], "little", signed=True)


def freed(where, how, *traces, run=lambda: None):
    """A run with tracepoints whose first pad is what WHERE leads to; all pads are int3 behind it."""
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


@test("of several tracepoints at a place")
def of_a_chain():
    where = fixed_place()
    freed(where, "jump", *[("*0x%x if a == %d" % (where, n), "collect a") for n in range(3)])


@test("of a place that another tracepoint joined during the run")
def of_one_that_was_joined():
    where = fixed_place()
    freed(where, "jump", ("*0x%x if a == 5" % where,), run=lambda: trace("*0x%x if a == 6" % where))


@test("of a call that the function tracer makes")
def of_a_call():
    equal(put_table(b"forget\n"), 0)
    site = instructions("gtp_target_add", r"\bnop[lw]|\bcall\b")[0]
    freed(site, "ftrace call", ("*gtp_target_add", "collect a"))


@test("of a pad that follows calls, and the calls of its gates; a task that is inside comes back through one")
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


def held_at():
    """The instruction that a task stays at, a jump there, and what is there without."""
    load_table("gtp_target")
    where = instructions("gtp_target_hold", r"\bscas\b")[0]
    text = text_at(where)
    num = trace("*0x%x" % where)
    cmd("tstart")
    check(mechanism(num) == "jump", "not a jump:\n" + cmd("monitor probes"))
    return where, text, num


@contextlib.contextmanager
def preemptible():
    """A kernel that preempts its own code, and a task that never leaves the last CPU by itself."""
    before = matches(r"\((\w+)\)", shell()("cat " + PREEMPTION)).group(1)
    shell()("echo full >" + PREEMPTION)
    busy = subprocess.Popen(LAST_CPU + ["sh", "-c", "while :; do :; done"])
    try:
        yield busy
    finally:
        busy.kill()
        busy.wait()
        shell()("echo %s >%s" % (before, PREEMPTION))


def preempted(process):
    return int(matches(r"nonvoluntary_ctxt_switches:\s+(\d+)", kernel.get("/proc/%d/status" % process.pid)).group(1))


def stay(held, busy):
    """It hardly runs any more, and will when the other task is gone."""
    shell()("renice -n 19 -p %d; renice -n -20 -p %d" % (held.pid, busy.pid))
    before = preempted(held)
    until(lambda: preempted(held) > before, "the other task to come")


def let_go(where, text, busy):
    """Another process does, two seconds after the text is back: what waits for the task waits until then."""
    order = "let go %x %x %d" % (where, int.from_bytes(text, "little"), HOLD_MS)
    return subprocess.Popen(["sh", "-c", "printf '%s' >/proc/gtp_target; kill -KILL %d" % (order, busy.pid)])


@test("tstop waits for a task that is preempted in a pad, and stays there")
def held_in_a_pad():
    if not os.path.exists(PREEMPTION):
        skip("this kernel preempts its own code always or never")
    where, text, num = held_at()
    with preemptible() as busy:
        held = subprocess.Popen(LAST_CPU + ["sh", "-c", "printf 'call hold' >/proc/gtp_target"])
        until(lambda: hits(num) == 1, "the task in the pad")
        stay(held, busy)
        ender = let_go(where, text, busy)
        check(held.poll() is None, "the task is not in the pad any more")
        equal(fixture()["value hold_ended"], 0)
        cmd("tstop")
        equal(fixture()["value hold_ended"], 1, "tstop came back when the task was let go")
        equal((held.wait(), ender.wait()), (0, 0))
    equal(text_at(where), text)


run()
