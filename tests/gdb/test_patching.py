# SPDX-License-Identifier: GPL-2.0-only
# Tests that code can be changed while all CPUs run it. Only for a guest with one host thread (see tests/vm/README.md).
from lib import *
from others import *

TURNS = 20000


@test("tracepoints are added and removed while all CPUs call the function")
def come_and_go():
    cmd("set circular-trace-buffer on")
    loops = background("loop mix %d" % (TURNS // 2))
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


@test("CPUs go offline and come back meanwhile, and are hit when they are back")
def hotplug():
    cmd("set circular-trace-buffer on")
    load_table("gtp_target")
    add = trace("*0x%x" % place(), "collect a")
    trace("gtp_target_leaf")
    switch = "/sys/devices/system/cpu/cpu%d/online"
    script = "for i in 1 2 3 4 5; do for on in 0 1; do for cpu in 1 2; do echo $on >%s || exit 1; done; done; done"
    power = there.popen(["/bin/sh", "-c", script % (switch.replace("%d", "$cpu"))])
    runs = 0
    while power.poll() is None or runs < 5:
        cmd("tstart")
        equal(mechanism(add), "jump")
        target("call add 1 1")
        cmd("tstop")
        runs += 1
    equal(power.returncode, 0)
    note("%d runs meanwhile" % runs)
    cmd("tstart")
    before = fixture()["add"]
    target("loop add 1000")
    made = fixture()["add"] - before
    cmd("tstop")
    check(made >= 1000 * CPUS, "%d calls on %d CPUs" % (made, CPUS))
    equal(hits(add), made)


run()
