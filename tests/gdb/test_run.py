# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
# Tests run control: how runs start, stop, fill their buffer, and continue without GDB. Also tests changes during a run.
import time

from lib import *


@test("passcount stops the whole run at exactly that hit and names the tracepoint")
def passcount():
    num = trace("gtp_target_add", "collect a", passcount=3)
    other = trace("gtp_target_leaf", "collect n")
    cmd("tstart")
    for i in range(6):
        target("call add %d 0" % i)
        target("call leaf %d" % i)
    text = cmd("tstatus")
    matches("Trace stopped by tracepoint %d" % num, text)
    check(not running(), "still running")
    equal(hits(num), 3)
    equal(hits(other), 2)
    equal(collected("$tracepoint"), [num, other, num, other, num])


@test("continue waits until the run stops, in a script without a sleep")
def continue_():
    num = trace("gtp_target_add", "collect a", passcount=2)
    cmd("tstart")
    caller = there.popen(["/bin/sh", "-c", "for i in 1 2 3; do "
                               "printf %s 'call add 1 1' >/proc/gtp_target; done"])
    cmd("continue")
    equal(caller.wait(), 0)
    check(not running(), "still running after continue")
    matches("Trace stopped by tracepoint %d" % num, cmd("tstatus"))
    equal(collected("a"), [1, 1])


@test("continue with nothing running returns at once and says why")
def continue_idle():
    trace("gtp_target_add")
    cmd("tstart")
    cmd("tstop")
    matches("trace was stopped by tstop", cmd("continue"))


@test("a buffer that fills up stops the run with tfull; every frame in it is whole")
def full():
    cmd("set trace-buffer-size %d" % (CPUS * 65536))
    trace("gtp_target_obj", "collect *o, n")
    cmd("tstart")
    target("call obj 3 5000")
    text = cmd("tstatus")
    matches("buffer was full|buffer full", text)
    check(not running(), "still running")
    rows = collected("o->id", "o->values[3]", "n")
    check(100 < len(rows) < 5000, "%d frames" % len(rows))
    equal(set(rows), {(103, 33, 3)})


@test("a circular buffer keeps the newest frames, whole and in order")
def circular():
    cmd("set trace-buffer-size %d" % (CPUS * 65536))
    cmd("set circular-trace-buffer on")
    trace("gtp_target_add", "collect a, b, $clock")
    cmd("tstart")
    pinned = "taskset -c 0 /bin/bash -c 'for i in {1..3000}; do echo call add $i 5 " \
             ">/proc/gtp_target; done'"
    shell()(pinned)
    check(running(), "a circular buffer stopped the run")
    cmd("tstop")
    text = cmd("tstatus")
    found = matches(r"contains (\d+) trace frames \(of (\d+) created total\)", text)
    kept, created = int(found.group(1)), int(found.group(2))
    equal(created, 3000)
    matches("circular", text)
    cmd("tfind start")
    first = number("a")
    equal(first, 3000 - kept + 1)
    cmd("tfind %d" % (kept - 1))
    equal(number("a"), 3000)
    equal(number("b"), 5)
    cmd("tfind %d" % (kept // 2))
    equal(number("a"), first + kept // 2)


@test("tstatus shows trace-buffer-size, and changing it during a run is refused")
def size():
    cmd("set trace-buffer-size %d" % (CPUS * 8192))
    trace("gtp_target_add")
    cmd("tstart")
    matches(r"of %d bytes free" % (CPUS * 8192), cmd("tstatus"))
    matches("cannot change while", refused("set trace-buffer-size %d" % (CPUS * 16384)))
    cmd("tstop")
    cmd("set trace-buffer-size unlimited")


@test("enable and disable take effect while the run goes on")
def enable_disable():
    num = trace("gtp_target_add", "collect a")
    cmd("tstart")
    target("call add 1 0")
    cmd("disable %d" % num)
    target("call add 2 0")
    cmd("enable %d" % num)
    target("call add 3 0")
    cmd("tstop")
    equal(collected("a"), [1, 3])


@test("a run may start with its only tracepoint disabled")
def start_disabled():
    num = trace("gtp_target_add", "collect a")
    cmd("disable %d" % num)
    cmd("tstart")
    target("call add 1 0")
    cmd("enable %d" % num)
    target("call add 2 0")
    cmd("tstop")
    equal(collected("a"), [2])


@test("a tracepoint that is set while the run goes on joins it")
def install():
    trace("gtp_target_leaf", "collect n")
    cmd("tstart")
    target("call add 1 0")
    num = trace("gtp_target_add")
    target("call add 2 0")
    cmd("tstop")
    equal(hits(num), 1)
    equal(collected("$tracepoint"), [num])


@test("symbols that are loaded during a run disturb neither it nor its tracepoints")
def symbols_meanwhile():
    trace("gtp_target_add", "collect a")
    cmd("tstart")
    target("call add 1 0")
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    try:
        cmd("gtp modules %s" % KMOD)
        target("call add 2 0")
        cmd("tstop")
        equal(collected("a"), [1, 2])
    finally:
        shell()("rmmod gtp_target2")
    cmd("maint flush dcache")
    cmd("gtp modules %s" % KMOD)


@test("ten tracepoints at once count their own calls")
def ten():
    names = ("add", "obj", "str", "leaf", "irq", "locals", "chain_a", "chain_b", "chain_c", "ptr")
    nums = {name: trace("gtp_target_" + name, "collect $args") for name in names}
    before = fixture()
    run_trace("call add 1 2", "call obj 2 7", "call str x", "call leaf 3", "call irq 1",
              "call locals 5", "call chain 1", "call chain 2", "call ptr 0", "call add 5 6")
    after = fixture()
    for name in names:
        equal(hits(nums[name]), after[name] - before[name], name)


@test("several tracepoints on one address: each with its own condition, actions and count")
def one_address():
    odd = trace("gtp_target_leaf if n % 2 == 1", "collect n")
    big = trace("gtp_target_leaf if n > 5", "collect n")
    every = trace("gtp_target_leaf", "collect n")
    run_trace(*("call leaf %d" % n for n in range(10)))
    equal((hits(odd), hits(big), hits(every)), (5, 4, 10))
    rows = collected("$tracepoint", "n")
    equal([n for tp, n in rows if tp == odd], [1, 3, 5, 7, 9])
    equal([n for tp, n in rows if tp == big], [6, 7, 8, 9])
    equal([n for tp, n in rows if tp == every], list(range(10)))


@test("a tracepoint in the middle of a function sees the values computed so far")
def middle():
    line = source_line("gtp_target_fn.c", "locals are set")
    trace("gtp_target_fn.c:%d if twice == 8" % line, "collect twice")
    run_trace("call locals 3", "call locals 4", "call locals 5")
    equal(collected("twice"), [8])


@test("tstatus shows notes and the user's name")
def notes():
    cmd("set trace-user the tester")
    trace("gtp_target_add")
    cmd("tstart a note on the start")
    cmd("tstop a note on the stop")
    text = cmd("tstatus")
    matches("the tester", text)
    matches("a note on the start", text)
    matches("a note on the stop", text)


@test("times in tstatus are those of the wall clock")
def times():
    trace("gtp_target_add")
    before = there.clock_ns(time.CLOCK_REALTIME) / 1e9
    cmd("tstart")
    cmd("tstop")
    found = matches(r"started at (\d+\.\d+) secs, stopped (\d+\.\d+) secs later", cmd("tstatus"))
    check(before - 2 <= float(found.group(1)) <= there.clock_ns(time.CLOCK_REALTIME) / 1e9 + 2, found.group(0))


@test("disconnecting stops the run, and the next GDB shows why")
def disconnected():
    trace("gtp_target_add", "collect a")
    cmd("tstart")
    target("call add 1 0")
    disconnect()
    target("call add 2 0")
    connect()
    matches("disconnect", cmd("tstatus"))
    equal(collected("a"), [1])


@test("disconnected tracing goes on without GDB; another GDB finds its tracepoints, status and frames")
def disconnected_tracing():
    cmd("set disconnected-tracing on")
    num = trace("gtp_target_add if a > 1", "collect a, b")
    cmd("tstart")
    target("call add 1 0")
    target("call add 2 0")
    disconnect()
    target("call add 3 0")
    text = other_gdb(fixture_symbols(), "target remote " + LINE, "tstatus", "info tracepoints", "tstop", "tfind 1",
                     "p a")
    matches("Trace is running", text)
    matches("trace only if a > 1", text)
    matches("already hit 2 times", text)
    matches("collect a, b", text)
    matches(r"Found trace frame 1", text)
    matches(r"^\$1 = 3$", text)
    connect()
    matches("stopped by a tstop", cmd("tstatus"))
    equal(collected("a"), [2, 3])
    equal(hits(num), 2)


@test("a GDB that reconnects to its own run recognises its tracepoints")
def reconnect():
    cmd("set disconnected-tracing on")
    num = trace("gtp_target_add", "collect a")
    cmd("tstart")
    disconnect()
    target("call add 4 0")
    text = connect()
    matches("Assuming tracepoint %d is same as target's tracepoint %d" % (num, num), text)
    check(running(), "not running any more")
    cmd("tstop")
    equal(collected("a"), [4])


@test("a user's variables survive a reconnection with their values")
def reconnect_variables():
    cmd("set disconnected-tracing on")
    cmd("tvariable $kept = 3")
    trace("gtp_target_leaf", "teval $kept = $kept + 1")
    cmd("tstart")
    target("call leaf 1")
    disconnect()
    target("call leaf 2")
    text = other_gdb("target remote " + LINE, "info tvariables", "tstop")
    matches(r"\$kept\s+3\s+5", text)
    connect()


@test("a second tstart begins from zero: no frame and no count of the previous run")
def again():
    num = trace("gtp_target_add", "collect a")
    run_trace("call add 1 0", "call add 2 0")
    run_trace("call add 3 0")
    equal(collected("a"), [3])
    equal(hits(num), 1)


@test("a module that is unloaded takes its tracepoint along; the rest of the run goes on")
def module_unload():
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    cmd("maint flush dcache")
    cmd("gtp modules %s" % KMOD)
    gone = trace("gtp_target2_fn", "collect n")
    stays = trace("gtp_target_add", "collect a")
    cmd("tstart")
    shell()("echo 5 >/sys/module/gtp_target2/parameters/call")
    target("call add 1 0")
    shell()("rmmod gtp_target2")
    target("call add 2 0")
    text = cmd("tstop")
    note(text)
    equal(hits(gone), 1)
    equal(hits(stays), 2)
    matches("gone", cmd("monitor status"))
    cmd("maint flush dcache")
    cmd("gtp modules %s" % KMOD)


@test("tstart after the module of a tracepoint was unloaded is refused with the reason")
def start_gone():
    trace("*%#x" % (fixture()["gtp_target_objs"]), "collect $regs")
    message = refused("tstart")
    check("%x" % fixture()["gtp_target_objs"] in message, message)


run()
