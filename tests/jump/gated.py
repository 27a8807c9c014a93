# SPDX-License-Identifier: GPL-2.0-only
"""Tracepoints that depend on a value of the task (docs/inside.md), in the runs of the soak and the hunt. Some give the current
task a value or take it away, some have the condition that the task has one. A second variable is never set."""
import re

VARIABLES = {0x80: "task_in", 0x81: "task_never", 0x82: "task_sure"}
IN, NEVER = "2c008027", "2c008127"  # the conditions $task_in and $task_never
SETS, CLEARS = ("X00000006,22012d008027",), ("X00000006,22002d008027",)  # $task_in = 1 and $task_in = 0
SURE, SETS_SURE, IF_SURE = (45001, 45002), ("X00000006,22012d008227",), "2c008227"  # the tracepoints of define_sure()


def define(client):
    client.variables(VARIABLES)


def define_sure(client, addresses):
    """Define two more tracepoints, at functions that the test lets a task call one after the other: the first gives the task a
    value, the second has the condition that the task has it. So there are such hits whatever places were chosen."""
    for number, address, actions, condition in zip(SURE, addresses, (SETS_SURE, ()), ("", IF_SURE)):
        client.tracepoint(number, address, *actions, condition=condition)


def mixed(i, condition, actions):
    """Return the condition and the actions of the i-th tracepoint: those given, or changed so that they use a variable."""
    if i % 11 == 5:
        return NEVER if i % 2 else IN, actions
    if i % 11 == 9:
        return condition, (*(CLEARS if i % 2 else SETS), *actions)
    return condition, actions


def check(client, hits, sure=None):
    """Check the hits of a run's tracepoints, and what the module says of the variables. SURE are the addresses that
    define_sure() was given, if it was called. Return the hits whose condition was that the task has a value."""
    never = [i for i, n in enumerate(hits, 1) if n and i % 11 == 5 and i % 2]
    assert not never, "tracepoints %s depend on a variable that is never set" % never
    set_sure, inside = map(client.hits, SURE, sure) if sure else (0, 0)
    assert inside or not sure, "%d hits have given a task a value, and none has seen it" % set_sure
    was_set = sum(n for i, n in enumerate(hits, 1) if i % 11 == 9 and not i % 2)
    said = {name: list(map(int, rest)) for name, *rest in re.findall(
        r"^tasks: +\$(\w+) was set for (\d+), (\d+) still have it; no room for (\d+); (\d+) died with it$",
        client.monitor("status"), re.M)}
    assert said["task_never"] == [0, 0, 0, 0], said
    for name, most in ("task_in", was_set), ("task_sure", set_sure):
        given, left, no_room, died = said.get(name, (0, 0, 0, 0))
        assert given + no_room <= most and left + died <= given, "%s, and %d hits set %s" % (said, most, name)
    return inside + sum(n for i, n in enumerate(hits, 1) if i % 11 == 5 and not i % 2)
