# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
# Tests that strings in the frames that pads write by themselves are equal to those in frames that C code writes.
from lib import *
from others import mechanism


def pad_bytes():
    return int(matches(r"(\d+) of \d+ bytes of pads", cmd("monitor jumps")).group(1))


def pad_of(*actions):
    """Return the number of bytes of the pad for a jump with these actions."""
    before = pad_bytes()
    num = trace("gtp_target_str", *actions)
    cmd("tstart")
    check("jump" in mechanism(num), mechanism(num))
    taken = pad_bytes() - before
    cmd("tstop")
    cmd("delete")
    return taken


@test("the pad of a jump with one string has code that writes the frame; with two strings it has none")
def string_in_pad():
    if there.exists("/proc/lockdep"):
        skip("with lockdep, no pad writes frames")
    empty, one, two = pad_of(), pad_of("collect/s s"), pad_of("collect/s s", "collect/s s")
    note("%d bytes for an empty frame, %d with a string, %d with two" % (empty, one, two))
    check(one > empty > two, "they are other pads")


def strings_by(jumps, texts):
    """Collect strings with jumps on or off. Return the values in each frame, and the contents of all frames."""
    cmd("monitor jumps " + jumps)
    num = trace("gtp_target_str", "collect/s s", "collect $rdi")
    cmd("tstart")
    check(("jump" in mechanism(num)) == (jumps == "on"), mechanism(num))
    for text in texts:
        target("call str " + text)
    cmd("tstop")
    equal(hits(num), len(texts))
    found = [(string("s"), number("$rdi == (long)s") == 1) for _ in frames()]
    usage = matches(r"trace buffer usage (\d+) bytes", cmd("info tracepoints")).group(1)
    cmd("delete")
    cmd("monitor jumps on")
    return found, int(usage)


@test("collect/s of strings of each length up to 100: the same, and as many bytes, by the pad as by C")
def strings():
    texts = [("abcdefghijklmnopqrstuvwxyz" * 4)[:n] for n in range(1, 101)]
    by_pad, by_c = (strings_by(jumps, texts) for jumps in ("on", "off"))
    check(by_pad == by_c, "they differ")
    check(by_pad[0] == [(text, True) for text in texts], "the strings are others")


run()
