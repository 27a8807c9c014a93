# SPDX-License-Identifier: GPL-2.0-only
# Common code of the topics about patched code: calls on all CPUs, bytes of the text, other users of ftrace.
import contextlib

import gdb

import kernel
from lib import *

ROUNDS = 2000


def mechanism(num):
    """Return the mechanism by which a tracepoint's location is probed."""
    for probe in kernel.probes(cmd("monitor probes")).values():
        if num in probe.tracepoints:
            return probe.how
    raise Failure("tracepoint %d is not in:\n%s" % (num, cmd("monitor probes")))


@contextlib.contextmanager
def without(*switches):
    """Context manager: turn off jumps or jit, for the runs that begin in the block."""
    try:
        for switch in switches:
            cmd("monitor %s off" % switch)
        yield
    finally:
        for switch in switches:
            cmd("monitor %s on" % switch)


def text_at(where, count=8):
    return bytes(gdb.selected_inferior().read_memory(where, count))


def looped(what, rounds=ROUNDS):
    """Let the fixture call functions in a loop on every CPU. Return {function: number of calls}."""
    before = fixture()
    target("loop %s %d" % (what, rounds))
    after = fixture()
    return {name: after[name] - before[name] for name in ("leaf", "add", "obj", "irq")}


def write(path, text, _=0):
    """Write to tracefs by another process, because GDB's own tasks are not traced."""
    shell()("echo %s >>%s" % (quoted(text.strip()), os.path.join(TRACING, path)))


def Kprobe(where):
    """Return a kernel.KprobeEvent, a kprobe of another user, that writes to tracefs through another process."""
    return kernel.KprobeEvent(where, write=write)


def instructions(function, pattern):
    """Return addresses in a function at which the disassembler shows the pattern."""
    lines = cmd("disassemble " + function).splitlines()
    return [int(re.search(r"0x[0-9a-f]+", line).group(0), 16) for line in lines if re.search(pattern, line)]


@functools.lru_cache(None)
def place():
    """Return the place after the function tracer's instruction in gtp_target_add. ftrace's kprobe events need a function
    that ftrace can trace."""
    places = instructions("gtp_target_add", r"\+\d+>:")
    site = instructions("gtp_target_add", r"\bnop[lw]|\bcall\b")[0]
    return places[places.index(site) + 1]
