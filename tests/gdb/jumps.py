# SPDX-License-Identifier: GPL-2.0-only
# Common code of the topics of jumps in the text.
from lib import *
from others import *

JUMP, BREAKPOINT = 0xe9, 0xcc


def is_jump(num):
    """Check that a tracepoint is a jump. A failure shows `monitor probes`."""
    check(mechanism(num) == "jump", "not a jump:\n" + cmd("monitor probes"))


def first_byte(where):
    return text_at(where, 1)[0]


def jumping(condition="", *actions):
    """Start a run with a jump in gtp_target_add. Return the tracepoint's number."""
    cmd("set circular-trace-buffer on")
    num = trace("*0x%x%s" % (place(), condition), *actions)
    cmd("tstart")
    is_jump(num)
    equal(first_byte(place()), JUMP)
    return num


def all_counted(num):
    """Check that every call of the traced function, on every CPU, is a hit of a tracepoint."""
    before = hits(num)
    made = looped("add")
    equal(made["add"], ROUNDS * CPUS)
    equal(hits(num) - before, made["add"])
    equal(nested() + missed(), 0)


@functools.lru_cache(None)
def original():
    """Return the code at place() without a jump, as it was at the first call."""
    return text_at(place())


def begin():
    """Call original() before the first test that was chosen, while there is no jump."""
    fresh()
    original()


def restored():
    """Wait until the code at place() is as before. The kernel may be slow to remove the jump of another user's kprobe."""
    until(lambda: text_at(place()) == original(), "the text %s, not %s" % (original(), text_at(place())))
