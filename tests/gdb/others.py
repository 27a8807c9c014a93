# SPDX-License-Identifier: GPL-2.0-only
# What the topics about patched code share: calls on all CPUs, bytes of the text, other users of ftrace.
import gdb

from lib import *

ROUNDS = 2000
CPUS = len(os.sched_getaffinity(0))
TRACING = "/sys/kernel/tracing/"


def mechanism(num):
    """How a tracepoint's location is probed."""
    text = cmd("monitor probes")
    for line in text.splitlines():
        found = re.match(r"0x[0-9a-f]+  (.*?), \d+ missed, tracepoints([ \d]*)", line)
        if found and str(num) in found.group(2).split():
            return found.group(1)
    raise Failure("tracepoint %d is not in:\n%s" % (num, text))


def text_at(where, count=8):
    return bytes(gdb.selected_inferior().read_memory(where, count))


def looped(what, rounds=ROUNDS):
    """Have every CPU make its calls; how many of each function were made."""
    before = fixture()
    target("loop %s %d" % (what, rounds))
    after = fixture()
    return {name: after[name] - before[name] for name in ("leaf", "add", "obj", "irq")}


def write(file, text):
    """By another process: GDB's own tasks are not traced."""
    shell()("echo %s >>%s" % (quoted(text), TRACING + file))


class Kprobe:
    """Somebody else's: an event of ftrace. It is registered disabled, and has a count."""

    def __init__(self, where):
        write("kprobe_events", "p:gtptest/other 0x%x" % where)

    def enable(self, on=True):
        write("events/gtptest/other/enable", "1" if on else "0")

    def count(self):
        with open(TRACING + "kprobe_profile") as file:
            return sum(int(line.split()[1]) for line in file if line.split()[0] == "other")

    def remove(self):
        self.enable(False)
        write("kprobe_events", "-:gtptest/other")


def instructions(function, pattern):
    """Addresses in a function at which the disassembler shows the pattern."""
    lines = cmd("disassemble " + function).splitlines()
    return [int(re.search(r"0x[0-9a-f]+", line).group(0), 16) for line in lines if re.search(pattern, line)]


@functools.lru_cache(None)
def place():
    """Behind the function tracer's instruction: ftrace's kprobe events take no function that it does not trace."""
    places = instructions("gtp_target_add", r"\+\d+>:")
    site = instructions("gtp_target_add", r"\bnop[lw]|\bcall\b")[0]
    return places[places.index(site) + 1]


def load_table(module):
    """What the files say of a module's code."""
    table = "/tmp/%s.rgn" % module
    shell()("%s/build/tools/gdbtp-regions table %s/%s.ko -o %s" % (TOP, KMOD, module, table))
    shell()("{ echo module %s; cat %s; } >/proc/gtpregions" % (module, table))
