# SPDX-License-Identifier: GPL-2.0-only
"""Samples in the runs of the soak: the clock, and counters that interrupt by NMI (gtp_pmu.ko), interrupt all CPUs while jumps
are set, hit and removed, and others change the same code. Each hit takes the kernel's stack and the program's."""
import fixture
from kernel import symbols

FIRST = 51000  # the number of the first sample
# The addresses of base/sample.h: cpu-clock, cycles and instructions, with periods in ns that others do not share.
ADDRESSES = (0x4310000000000000 | 19999999, 0x4300000000000000 | 19999981, 0x4301000000000000 | 49999991)
VARIABLES = {0x70: "key_kernel", 0x71: "key_program", 0x72: "key_pid", 0x73: "count_sample"}
# The actions $key_kernel = $kstack, $key_program = $ustack, $key_pid = $current_task_pid, $count_sample = 1
ACTIONS = ("X00000007,2c00152d007027", "X00000007,2c00172d007127", "X00000007,2c00042d007227", "X00000006,22012d007327")
EVERY_US = 20000  # how often each CPU gets an NMI; with 1000, guests do little else under the function tracer


def load():
    """Give the guest counters, if it has none."""
    if not fixture.loaded("gtp_pmu"):
        fixture.must("insmod", fixture.KMOD + "/gtp_pmu.ko", "every_us=%d" % EVERY_US,
                     "overflow=%#x" % symbols("perf_event_overflow")["perf_event_overflow"])


def define(client):
    """Define the samples and their variables, beside other tracepoints."""
    client.variables(VARIABLES)
    for i, address in enumerate(ADDRESSES):
        client.tracepoint(FIRST + i, address, *ACTIONS)


def hits(client):
    """Return the hits of each sample."""
    return [client.hits(FIRST + i, address) for i, address in enumerate(ADDRESSES)]
