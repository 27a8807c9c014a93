# SPDX-License-Identifier: GPL-2.0-only
"""Runs named tests and prints TAP: @test("what is shown") marks a function, run() runs the file's tests in order.

A test may be left out, and the log says so. With GTP_BRIEF, the `lengthy` tests are left out: they take half a minute
or more in a guest, and other tests cover most of them or need no guest. With GTP_BESIDE (a kernel whose guest runs all
tests), the tests marked `once` are left out, because they show the same on each kernel. A test that repeats something,
to meet a rare moment or to let a leak add up, repeats it less often with GTP_BRIEF: see rounds().

Expected values do not come from the tested code, but from counters, /proc/kallsyms, or arguments that the test has
chosen.
check(), equal() and matches() fail with their text, any other exception with its traceback; skip() says why there is
nothing to test.
"""
import os
import random
import re
import signal
import sys
import time
import traceback

tests = []
left_out = []

# A test that waits longer has failed. This is enough for a busy machine, and less than the limit of tests/lib/silence.
SECONDS = 600


def default_signals():
    """Restore the default action of SIGHUP, SIGINT and SIGQUIT. Under nohup, or in the background of a shell, they are
    ignored. Programs that a test starts would inherit this, and would not end when the test sends them one of these
    signals."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


default_signals()


class Failure(AssertionError):
    """A test has failed; the text says why."""


class Skipped(Exception):
    """A test is skipped because its precondition is missing; the text says which precondition."""


def test(name, lengthy=False, once=False):
    def mark(function):
        if lengthy and os.environ.get("GTP_BRIEF"):
            left_out.append("lengthy, left out: " + name)
        elif once and os.environ.get("GTP_BESIDE"):
            left_out.append("runs on %s: %s" % (os.environ["GTP_BESIDE"], name))
        else:
            tests.append((name, function))
        return function
    return mark


def rounds(many, brief):
    """Return how often a test repeats its work. BRIEF is enough for the test's purpose; with MANY, the test also meets
    rare moments."""
    return brief if os.environ.get("GTP_BRIEF") else many


def skip(reason):
    raise Skipped(reason)


def check(condition, text):
    if not condition:
        raise Failure(text)


def equal(got, wanted, what="value"):
    check(got == wanted, "%s: got %r, wanted %r" % (what, got, wanted))


def matches(pattern, text, what="output"):
    found = re.search(pattern, text, re.M | re.S)
    check(found, "%s: no match for %r in:\n%s" % (what, pattern, text))
    return found


def note(*words):
    """Print the words as TAP comments, for readers of the log."""
    for line in " ".join(map(str, words)).splitlines():
        print("# " + line)
    sys.stdout.flush()


def until(condition, what="it", seconds=SECONDS):
    """Wait until CONDITION() is true, and fail if this takes too long. Return its value. The time limit only ends a test
    that has failed."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, "waited %d s for %s" % (seconds, what))
        time.sleep(0.02)


def seeded():
    """Return a random generator. GTP_SEED repeats an earlier run."""
    seed = int(os.environ.get("GTP_SEED") or random.SystemRandom().randrange(2**32))
    note("GTP_SEED=%d" % seed)
    return random.Random(seed)


def chosen():
    """Return all tests, or those whose name or function's name contains GTP_ONLY."""
    word = os.environ.get("GTP_ONLY", "")
    return [(name, function) for name, function in tests if word in name or word in function.__name__]


def verdict(function):
    """Run a test. Return its error, and the reason if it was skipped; each may be None."""
    try:
        function()
    except Skipped as reason:
        return None, str(reason)
    except Failure as failure:
        return str(failure) or "failed", None
    except Exception:
        return traceback.format_exc(), None
    return None, None


def one(index, name, function):
    sys.stdout.flush()  # the test may fork, and the child must not print this again
    began = time.monotonic()
    problem, reason = verdict(function)
    remark = "SKIP " + reason if reason is not None else "%.1f s" % (time.monotonic() - began)
    print("%s %d - %s # %s" % ("not ok" if problem else "ok", index, name, remark))
    note(problem or "")
    return problem is None


def run(some=None, before=lambda: None):
    """Run tests, each after BEFORE. Return True if none failed. A failure does not stop the rest."""
    some = chosen() if some is None else some
    note("\n".join(left_out))
    print("1..%d" % len(some))
    good = True
    for index, (name, function) in enumerate(some, 1):
        def body(function=function):
            before()
            function()
        good &= one(index, name, body)
    return good
