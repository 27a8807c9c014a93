# SPDX-License-Identifier: GPL-2.0-only
# Code that is changed while all CPUs run it. Only for a guest with one host thread (see tests/vm/README.md).
import gdb

from lib import *

ROUNDS = 20000


@test("tracepoints come and go while all CPUs call them")
def come_and_go():
    cmd("set circular-trace-buffer on")
    loops = background("loop mix %d" % (ROUNDS // 2))
    for _ in range(3):
        num = trace("gtp_target_leaf", "collect n")
        trace("gtp_target_add", "collect a, b")
        trace("gtp_target_irq")
        cmd("tstart")
        cmd("disable %d" % num)
        cmd("enable %d" % num)
        cmd("tstop")
        cmd("delete")
    equal(loops.wait(), 0)


run()
