# SPDX-License-Identifier: GPL-2.0-only
"""Two instructions of one function, at which pair.py and inside.py measure hits together."""
import sys
import time
import traceback

import gdb

from common import ALL, RELEASE, Wrong, answers, calibrate, check, cmd, figure, say, set_up, warmly

NAME, BYTES = "pair", 32  # as GTP_BENCH_PAIR_BYTES
ENGINES = {"jump": ("on", "on"), "kprobe": ("on", "off"), "interpreted": ("off", "off")}  # name -> (jit, jumps)


class Place:
    """Both places. peers.py uses it as one."""
    name, all = NAME, ALL
    warmly = staticmethod(warmly)

    def __init__(self):
        self.start = int(next(at for place, at, *code in answers("place") if place == NAME), 16)
        self.original = self.code()
        self.bare = warmly(NAME)

    def code(self):
        memory = gdb.selected_inferior().read_memory(self.start, BYTES + 1)
        return bytes(memory)[0], bytes(memory)[BYTES]

    def wait(self, armed, other=None):
        """Wait until the code has changed at both places, or is as before."""
        end = time.monotonic() + 60
        while any((now == 0xe9) != armed for now in self.code()):
            check(time.monotonic() < end and (other is None or other.poll() is None), "the code is %02x and %02x" % self.code())
            time.sleep(0.02)

    def probes(self):
        """Return bpftrace's names of the two places."""
        offset = self.start - int(str(gdb.parse_and_eval("(unsigned long)&gtp_bench_pair")), 0)
        return ["kprobe:gtp_bench_pair+%d" % at for at in (offset, offset + BYTES)]

    def traced(self, engine, rows, checked):
        """Set a tracepoint at each place, with the condition and the actions of its row. Return the figures of the calls, after
        CHECKED has looked at the run."""
        jit, jumps = ENGINES[engine]
        cmd("monitor jit " + jit)
        cmd("monitor jumps " + jumps)
        for address, (condition, actions) in zip((self.start, self.start + BYTES), rows):
            cmd("trace *%#x%s" % (address, condition and " if " + condition))
            if actions:
                cmd("commands", *actions, "end")
        cmd("tstart")
        self.wait(True)
        ticks = warmly(NAME)
        checked()
        cmd("tstop")
        self.wait(False)
        cmd("delete")
        return ticks


def title(what):
    say("# %s: instructions above a call that is not traced, %s together" % (RELEASE, what))
    say("%-60s%s" % ("", "".join("%12s" % engine for engine in ENGINES)))


def row(name, *costs):
    say("%-60s%s" % (name, "".join("%12s" % figure(cost) for cost in costs)))


def measure(name, variables, rows):
    """Call ROWS with the Place, in a session that has these variables. If that fails, end GDB with status 1."""
    try:
        set_up()
        for variable in variables:
            cmd("tvariable $" + variable)
        calibrate()
        rows(Place())
        cmd("disconnect")
    except Wrong as e:
        say("%s: %s" % (name, e))
        gdb.execute("quit 1")
    except Exception:  # without this, gdb would exit with status 0 after an exception
        traceback.print_exc(file=sys.stdout)
        gdb.execute("quit 1")
