# SPDX-License-Identifier: GPL-2.0-only
# What GDB knows of the trace state variables that `gtp count` and its kin have made, or that a trace file tells of.
import collections
import contextlib

# text: that it was made from. type: None: a string. place: (location, keys) of an aggregation.
Variable = collections.namedtuple("Variable", "text type place")

variables = {}  # name -> Variable, as long as this GDB runs


@contextlib.contextmanager
def kept():
    """What is learnt of other runs' variables meanwhile is forgotten: a name may be another thing there."""
    before = dict(variables)
    try:
        yield
    finally:
        variables.clear()
        variables.update(before)
