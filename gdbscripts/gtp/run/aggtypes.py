# SPDX-License-Identifier: GPL-2.0-only
# The types and titles of the trace state variables that `gtp count` and the like have made, or that a trace file
# describes.
import collections
import contextlib

from gtp.run import source

# text: the expression. type: None for a string. place: (location, keys) of an aggregation.
Variable = collections.namedtuple("Variable", "text type place")

variables = {}  # name -> Variable, for all variables that this GDB has made
in_file = {}  # name -> Variable, for the last trace file
instead = None  # if not None, names() returns this instead of the two dictionaries above


def names():
    """Return {name: Variable} for the run that GDB has open. In another run, a name may have another meaning."""
    if instead is not None:
        return instead
    return in_file if source.is_trace_file() else variables


@contextlib.contextmanager
def of(others):
    """Context manager: in the block, names() returns OTHERS."""
    global instead
    before, instead = instead, others
    try:
        yield
    finally:
        instead = before
