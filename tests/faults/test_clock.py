# SPDX-License-Identifier: GPL-2.0-only
"""Tests clocks that are wrong during a run, and a machine that sleeps: gdbtp must report or correct the error in the
clock."""

import contextlib
import ctypes
import os
import time

from fixture import hammering, load, load_fixture, main, target
from kernel import get, put, symbols
from rsp import Client
from tap import note, skip, test

load("self_trace=1")
load_fixture()
LEAF = symbols("gtp_target_leaf")["gtp_target_leaf"]
SOURCE = "/sys/devices/system/clocksource/clocksource0/"
CLOCK = 2  # the number of the variable $clock
COLLECT_CLOCK = "X4,2e%04x27" % CLOCK
WRONG = ("clock: ", "may be wrong")


def said(client):
    """Return the text of `monitor status` and tstatus."""
    text = client.monitor("status")
    client.status()
    return text + client.console


def clocks_of_calls(client, n):
    """Make N calls, whose hits collect $clock. Return the monotonic clock before and after each call."""
    around = []
    for _ in range(n):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        target("call leaf 1")
        around.append((before, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
    return around


def clock_of_frame(client, n):
    assert client.ask("QTFrame:%x" % n).startswith("F%xT" % n)
    return int(client.ask("qTV:%x" % CLOCK)[1:], 16)


@contextlib.contextmanager
def fast_clock():
    """Context manager: make the kernel's monotonic clock run a tenth faster, by an adjustment like NTP's."""
    libc, timex = ctypes.CDLL(None), (ctypes.c_long * 64)()

    def tick(us):
        ctypes.memset(timex, 0, ctypes.sizeof(timex))
        timex[0], timex[11] = 0x4000, us  # struct timex: modes is ADJ_TICK, then the tick
        assert libc.adjtimex(ctypes.byref(timex)) >= 0

    tick(11000)
    try:
        yield
    finally:
        tick(10000)


@test("under load, and while NTP adjusts the kernel's clock, $clock is not reported as wrong")
def no_false_alarm():
    with Client() as client, hammering(), fast_clock():
        client.ok("QTBuffer:circular:1")
        client.start((1, LEAF, COLLECT_CLOCK))
        end = time.monotonic() + 5
        while time.monotonic() < end:
            text = said(client)
            assert not any(word in text for word in WRONG), text
        client.ok("QTStop")
        text = client.console + said(client)
        assert not any(word in text for word in WRONG), text


@test("the kernel abandons the processor's counter during a run: status and stop say so, the next run does not use it")
def counter_given_up():
    if get(SOURCE + "current_clocksource").strip() != "tsc":
        skip("the kernel does not use the processor's counter")
    others = [name for name in get(SOURCE + "available_clocksource").split() if name != "tsc"]
    with Client() as client:
        try:
            client.start((1, LEAF, COLLECT_CLOCK))
            put(SOURCE + "current_clocksource", others[0])
            client.status()
            assert "no longer uses the processor's counter" in client.console, client.console
            client.ok("QTStop")
            assert "no longer uses the processor's counter" in client.console, client.console
            client.start((1, LEAF, COLLECT_CLOCK))
            around = clocks_of_calls(client, 10)
            text = said(client)
            client.ok("QTStop")
            assert not any(word in text + client.console for word in WRONG), text
            for n, (before, after) in enumerate(around):
                assert before <= clock_of_frame(client, n) <= after, n
        finally:
            put(SOURCE + "current_clocksource", "tsc")


@test("after the machine has slept, or has tried to, $clock is calibrated and is the monotonic clock again")
def calibrated_after_sleep():
    if not os.path.exists("/sys/power/state"):
        skip("the kernel is built without CONFIG_SUSPEND")
    with Client() as client:
        client.start((1, LEAF, COLLECT_CLOCK))
        with fast_clock():
            time.sleep(2)
        early = clocks_of_calls(client, 1)
        try:
            put("/sys/power/state", "freeze")
            note("the guest has slept")
        except OSError as error:
            # The root file system cannot be frozen, so the suspend fails, but only after all other steps.
            note("no sleep:", error)
        late = clocks_of_calls(client, 5)
        text = said(client)
        client.ok("QTStop")
        assert not any(word in text for word in WRONG), text
        # Before the sleep, $clock lacks the adjustment by NTP (a tenth of two seconds). After the sleep it is included.
        assert early[0][0] - clock_of_frame(client, 0) > 50 * 10 ** 6
        for n, (before, after) in enumerate(late, 1):
            clock = clock_of_frame(client, n)
            assert before - 10 ** 6 <= clock <= after + 10 ** 6, (n, before, clock, after)


main()
