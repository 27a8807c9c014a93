# SPDX-License-Identifier: GPL-2.0-only
"""Tests of gtp record --until: which frame is the last one in the file, for a number and for a condition, and the
messages."""
import itertools
import os
import signal
import socket
import sys

import live
from pipe import (DRAIN, END, GTP, HEADER, Drain, content, drained, frame, frames_in, frames_of, hit, lost, path, refused,
                  variable)
from tap import check, equal, matches, seeded, test, until
from tasks import state

CHANCE = seeded()
SESSION = """tvariable $seen = 0
trace add
actions
collect a, b, $cpu_id
collect $seen = $seen + 1
end
trace look
actions
collect *t
end
trace twice
actions
collect n
end
trace nothing
"""
PROGRAM = sys.executable, GTP, "record", "--vmlinux", live.OUT + "/prog"
made = {}


def run_of_prog():
    """On the first call, make frames of calls with random arguments, and a list of the same calls for Python."""
    if made:
        return
    calls = []
    for _ in range(300):
        where = CHANCE.choice(("add", "add", "look", "here", "there", "nothing"))
        thing = CHANCE.choice(("first", "second"))
        calls.append((where, thing, CHANCE.choice((-1, 0, 1, 5, 2**31, -2**63, CHANCE.randrange(100))), CHANCE.randrange(100)))
    lines = ["{%s} %s %d" % (where, "{%s}" % thing if where == "look" else a, b) for where, thing, a, b in calls]
    made.update(live.run_of(SESSION, *lines), calls=calls)
    equal(len(made["frames"]), len(calls))


def recorded(expression, frames, status=0):
    """Record FRAMES with --until EXPRESSION. Return the frames in the file, and the messages."""
    drain = Drain("-o", "until.tf", "--until", expression, program=PROGRAM)
    drain.in_background(made["header"] + b"".join(frames) + END)
    text = drain.wait(status)
    return frames_of(content("until.tf"), made["header"]) if not status else None, text


def first(holds):
    return next((i for i, call in enumerate(made["calls"]) if holds(*call)), None)


@test("--until FRAMES: that frame, of all or of one tracepoint, is the file's last, wherever reads are split")
def by_number():
    for words, index in (("1", 0), ("37", 36), ("1:20", 38), ("2:20", 39)):
        sent = [hit(i) for i in range(80)]
        sent[30:30] = [lost(0, 3)]
        index += index >= 30
        for pieces in (False, True):
            drain = Drain("-o", "many.tf", "--until", words)
            if pieces:
                drain.pieces(CHANCE, HEADER + b"".join(sent[:index + 1]))
            else:
                drain.write(HEADER + b"".join(sent))
            text = drain.wait()
            equal(frames_in("many.tf"), sent[:index + 1])
            matches("the last one is frame %s, as --until says\n(.*after it were read.*left out\n)?(.*)^gtp-drain: the run continues" %
                    words.split(":")[-1], text)
    text = drained(HEADER + hit(0) + hit(1), "-o", "few.tf", "--until", "3")
    equal(frames_in("few.tf"), [hit(0), hit(1)])
    matches("none of them is the one that --until waits for", text)
    check("goes on" not in text, text)


@test("--until refuses values that gtp-drain does not accept, and a tracepoint that the run does not have")
def usage():
    for text, why in (("0", "is no number of frames"), ("a > 3", "is for gtp record --until"), ("1:", "is no number of frames"),
                      ("x:3", "'x' is no tracepoint's number"), ("0:3", "is no tracepoint's number"), ("", "is no number of frames"),
                      ("99999999999999999999", "is no number"), ("5 ", "is no number")):
        matches(why, refused("--until", text, status=2))
    with open(path("data"), "wb") as file:
        file.write(HEADER + hit(0) + END)
    with open(path("gtp.tf"), "wb") as file:
        file.write(b"before")
    matches("the run has no tracepoint 3$", refused("-p", "data", "--until", "3:1"))
    equal(content("gtp.tf"), b"before")


@test("--until EXPRESSION: the first frame for which it holds is the last one: signs, memory, strings, variables, two places")
def by_condition():
    run_of_prog()
    known, adds = {"first": (1, 11), "second": (2, -22)}, itertools.count(1)
    for expression, holds in (
            ("1:a < b && a != -1", lambda where, _, a, b: where == "add" and a < b and a != -1),
            ("1:(unsigned long)a > 1000", lambda where, _, a, b: where == "add" and a % 2**64 > 1000),
            ("a == 2147483648", lambda where, _, a, b: where == "add" and a == 2**31),
            ("$cpu_id == 0 && b > 90", lambda where, _, a, b: where == "add" and b > 90),
            ('t->name == "second"', lambda where, thing, a, b: where == "look" and thing == "second"),
            ("2:t->big * 2 == 22 && t->id", lambda where, thing, a, b: where == "look" and known[thing] == (1, 11)),
            ("$seen == 7", lambda where, _, a, b: where == "add" and next(adds) == 7),
            ("n == 6", lambda where, _, a, b: where == "here" and a == 6 or where == "there" and a == 5),
            ("3:n == -1 || n == 2", lambda where, _, a, b: where == "here" and a in (-1, 2) or where == "there" and a in (-2, 1))):
        last = first(holds)
        frames, text = recorded(expression, made["frames"])
        equal(frames, made["frames"] if last is None else made["frames"][:last + 1], "of %s: %s" % (expression, text))
        matches("none of them" if last is None else "for the last one, of tracepoint [123], --until holds", text)


@test("if a hit recorded a variable more than once, --until uses the last value: with $n = $n + 1 the new one")
def last_value():
    sent = [frame(1, variable(1, old) + variable(2, 3) + variable(1, old + 1) + variable(2, 0)) for old in range(9)]
    drain = asking(b"= 1 1000 0 getv 1;const8 5;equal;end\n.\n")
    drain.in_background(HEADER + b"".join(sent) + END)
    matches("--until holds", drain.wait())
    equal(frames_in("until.tf"), sent[:5])


@test("--until EXPRESSION that no frame can have, or one frame lacks, is reported; a wrong one writes nothing")
def refuses():
    run_of_prog()
    _, text = recorded("a == 12345", made["frames"])
    matches("tracepoint 2 cannot have the last frame: there is no variable or constant a here", text)
    matches("none of them is the one that --until waits for", text)
    _, text = recorded("2:t->next->big == 3", made["frames"])
    looks = [call for call in made["calls"] if call[0] == "look"]
    matches("%d frames lack a value that --until needs" % len(looks), text)
    os.unlink(path("until.tf"))
    for expression, why in (("nosuch == 1", "--until nosuch == 1: there is no variable or constant nosuch"), ("1:t->big", "--until t->big: there is no"),
                            ("7:a", "the run has no tracepoint 7; there are 1, 2, 3, 4"), ("1:a +", "--until a \\+")):
        matches(why, recorded(expression, made["frames"], status=1)[1])
        check(not os.path.exists(path("until.tf")), "there is a file of " + expression)


@test("^C while gtp record --until waits for a run; another kernel's vmlinux; a GDB that dies")
def ends():
    run_of_prog()
    drain = Drain("-o", "until.tf", "--until", "a > 3", program=PROGRAM)
    matches("no run is on", drain.process.stderr.readline())
    drain.send(signal.SIGINT)
    matches("interrupted before a run began", drain.wait(130))
    other = *PROGRAM[:-1], live.OUT + "/other"
    drain = Drain("-o", "until.tf", "--until", "a > 3", program=other)
    drain.in_background(made["header"] + END)
    matches("other is not of the kernel of this run", drain.wait(1))
    drain = Drain("-o", "until.tf", "--until", "a > 3", program=PROGRAM)
    matches("no run is on", drain.process.stderr.readline())
    for child in children(drain.process.pid):
        os.kill(child, signal.SIGKILL)
    until(lambda: not any(map(alive, children(drain.process.pid))), "its GDB to end")
    drain.in_background(made["header"] + END)
    matches("what knows the kernel's types has ended without a word", drain.wait(1))
    check(not os.path.exists(path("until.tf")), "there is a file")


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def alive(pid):
    return state(pid) != "Z"


@test("nonsense as an answer to gtp-drain is an error")
def nonsense():
    for answer in (b"", b"= 1 1000 0 add\n.\n", b"= 1 1000 0 const8 1;goto 0;end\n.\n", b"= 1 1000 0 nosuch\n.\n", b"= 1 1000 0 reg 0;end\n"):
        drain = asking(answer)
        drain.in_background(HEADER + hit(0) + END)
        matches("--until: (no code for a condition|what knows)", drain.wait(1))


def asking(answer):
    """Start gtp-drain with a socket in place of GDB, from which gtp-drain reads ANSWER."""
    ours, theirs = socket.socketpair()
    ours.sendall(answer)
    ours.shutdown(socket.SHUT_WR)
    drain = Drain("-o", "until.tf", "--ask", str(theirs.fileno()), program=(DRAIN,), pass_fds=[theirs.fileno()])
    theirs.close()
    drain.line = ours
    return drain
