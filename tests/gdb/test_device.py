# SPDX-License-Identifier: GPL-2.0-only
# GDB inside the guest: GDB opens /proc/gtp as a file, as it does for a user on the traced machine.
# Tests a GDB that runs on the traced kernel itself: a run from its start to its frames, ^C, and a second GDB that opens
# /proc/gtp.

import fixture as modules
from inner import Inner
from lib import *


@test("target tfile /proc/gtpframe_pipe: GDB cannot seek in it; a message says so, and what to do")
def stream():
    # This must be the first test: if GDB has selected a frame of another file before, it reads the pipe at that frame's
    # offset, and waits for frames.
    trace("*vfs_read if count == 100001")
    cmd("tstart")
    cmd("set disconnected-tracing on")
    disconnect()
    matches("gtpframe_pipe is a stream: GDB cannot go back in it.*gtp record -o FILE", cmd("target tfile /proc/gtpframe_pipe"))
    connect()
    check(running(), "the run has ended")


@test("target remote /proc/gtp prints no warning")
def connect_quietly():
    disconnect()
    text = cmd("target remote /proc/gtp")
    check("arning" not in text and "failed" not in text, text)
    disconnect()
    text = other_gdb("target remote /proc/gtp", "p/x $pc", "show architecture")
    check("tty_state" not in text and "failed" not in text, text)
    matches("i386:x86-64", text)


@test("a run has the calls of other processes, and none that the connected GDB makes itself")
def a_run():
    num = trace("gtp_target_add", "collect a")
    cmd("tstart")
    for n in range(3):
        target("call add %d 0" % n)
        modules.target("call add 77 0")
    cmd("tstop")
    equal(hits(num), 3)
    equal(collected("a"), [0, 1, 2])


@test("a second GDB is told that the file is busy; the first is not disturbed")
def second():
    text = other_gdb("target remote /proc/gtp")
    check("busy" in text, text)
    equal(string("init_task.comm"), "swapper/0")


@test("^C ends a continue; the run goes on and can be stopped as usual")
def interrupt():
    at = fixture()["gtp_target_add"]
    cmd("maint packet QTinit")  # the other GDB would upload the last run's definitions
    disconnect()
    with Inner("trace *%#x" % at, "tstart") as gdb_:
        gdb_.wait()
        gdb_.interrupt()
        matches("Trace is running", gdb_.say("tstatus"))
        target("call add 1 2")
        matches("Trace stopped by a tstop.*Collected 1 trace frame", gdb_.say("tstop", "tstatus"))
        gdb_.leave()
    connect()


run()
