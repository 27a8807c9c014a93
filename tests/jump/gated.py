# SPDX-License-Identifier: GPL-2.0-only
"""Tracepoints that depend on a value of the task (docs/inside.md), in the runs of the soak and the hunt. Some give the current
task a value or take it away, some have the condition that the task has one. A second variable is never set."""
import re

VARIABLES = {0x80: "task_in", 0x81: "task_never"}
IN, NEVER = "2c008027", "2c008127"  # the conditions $task_in and $task_never
SETS, CLEARS = ("X00000006,22012d008027",), ("X00000006,22002d008027",)  # $task_in = 1 and $task_in = 0


def define(client):
    client.variables(VARIABLES)


def mixed(i, condition, actions):
    """Return the condition and the actions of the i-th tracepoint: those given, or changed so that they use a variable."""
    if i % 11 == 5:
        return NEVER if i % 2 else IN, actions
    if i % 11 == 9:
        return condition, (*(CLEARS if i % 2 else SETS), *actions)
    return condition, actions


def check(client, hits):
    """Check the hits of a run's tracepoints, and what the module says of the variables. Return the hits whose condition was
    that the task has a value."""
    never = [i for i, n in enumerate(hits, 1) if n and i % 11 == 5 and i % 2]
    assert not never, "tracepoints %s depend on a variable that is never set" % never
    was_set = sum(n for i, n in enumerate(hits, 1) if i % 11 == 9 and not i % 2)
    said = {name: list(map(int, rest)) for name, *rest in re.findall(
        r"^tasks: +\$(\w+) was set for (\d+), (\d+) still have it; no room for (\d+); (\d+) died with it$",
        client.monitor("status"), re.M)}
    assert said["task_never"] == [0, 0, 0, 0], said
    given, left, no_room, died = said["task_in"]
    assert given + no_room <= was_set and left + died <= given, "%s, and %d hits set it" % (said, was_set)
    return sum(n for i, n in enumerate(hits, 1) if i % 11 == 5 and not i % 2)
