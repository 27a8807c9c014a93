# SPDX-License-Identifier: GPL-2.0-only
# Tests connecting, the live kernel's memory, symbols, refusals, monitor commands and gtp commands.
import os
import re
import tempfile

import gdb

from lib import *


@test("target remote | gdbtp-connect: the same through a pipe, as over ssh")
def through_pipe():
    disconnect()
    cmd("target remote " + PIPE)
    fresh()
    equal(string("init_task.comm"), "swapper/0")
    equal(address("(long)&vfs_read"), kallsyms()["vfs_read"])
    trace("gtp_target_add", "collect a")
    run_trace("call add 21 0")
    equal(collected("a"), [21])
    matches("another GDB", shell()("%s/build/tools/gdbtp-connect </dev/null || true" % TOP))
    disconnect()


@test("symbols lie where /proc/kallsyms says (KASLR through qOffsets)")
def kaslr():
    for name in ("vfs_read", "init_task", "linux_banner", "jiffies_64", "_text"):
        equal(address("(long)&%s" % name), kallsyms()[name], name)


@test("jiffies_64 grows between two prints, by no more than the time that has passed")
def jiffies():
    first = number("jiffies_64")
    until(lambda: number("jiffies_64") != first, "jiffies_64 to grow")


@test("x/s linux_banner is what /proc/version says")
def banner():
    cmd("set print elements 0")
    with there.open("/proc/version") as file:
        equal(string("(char *)&linux_banner"), file.read().rstrip("\n") + "\n")
    matches("Linux version", cmd("x/s linux_banner"))


@test("structures through pointers: init_task.comm, the list of tasks leads to pid 1")
def structures():
    equal(string("init_task.comm"), "swapper/0")
    equal(string("init_task.nsproxy->uts_ns->name.release"), RELEASE)
    equal(number("init_task.thread_pid->numbers[0].nr"), 0)


@test("the fixture's data, structures, bitfields and arrays read as they were written")
def fixture_data():
    equal(address("&gtp_target_objs"), fixture()["gtp_target_objs"])
    equal(number("gtp_target_objs[3].wide"), 4099)
    equal(number("gtp_target_objs[3].mid"), -3)
    equal(number("gtp_target_objs[2].big"), -7)
    equal(string("gtp_target_objs[1].name"), "obj-1")
    equal(number("gtp_target_array[5]"), 25)
    equal(string("(char *)&gtp_target_banner"), "gtp_target: the fixture of gdbtp")
    equal(number("gtp_target_counter"), fixture()["value gtp_target_counter"])


@test("memory is read live: a counter that the fixture increments rises")
def live():
    before = number("gtp_target_counter")
    target("call leaf 1")
    cmd("maint flush dcache")
    equal(number("gtp_target_counter"), before + 1)


@test("a bad address is an error, at both ends of the address space and in the hole")
def bad_addresses():
    for bad in ("0", "8", "0x00007ffffffff000", "0x0000800000000000", "0x8000000000000000",
                "0xffff7fffffffffff", "0xffffffffffffffff", "0xfffffffffffffff8"):
        message = refused("p *(long *)%s" % bad)
        check("annot access memory" in message, message)
    matches("swapper", cmd("p init_task.comm"))


@test("user addresses are not the kernel's: reading one is an error")
def user_address():
    check("annot access memory" in refused("p *(char *)0x400000"), "0x400000 was read")


@test("a read that ends in unmapped memory returns the mapped part, and an error for the rest")
def partial():
    # A guard page always follows the last page of the fixture module's data.
    start = fixture()["gtp_target_objs"] & ~0xfff
    text = cmd("x/8xb %#x" % start)
    check("annot" not in text, text)


@test("writing memory is refused, and nothing is written")
def no_writing():
    before = number("gtp_target_array[3]")
    message = refused("set var gtp_target_array[3] = 77")
    cmd("maint flush dcache")
    equal(number("gtp_target_array[3]"), before)
    check(message, "no message")


@test("break is refused with the reason, and the kernel goes on")
def no_breakpoints():
    cmd("break vfs_read")
    message = refused("continue")
    matches("Command aborted", message)
    cmd("delete")
    equal(string("init_task.comm"), "swapper/0")


@test("stepi does not hang")
def no_stepping():
    try:
        note(cmd("stepi"))
    except gdb.error as error:
        note(error)
    equal(string("init_task.comm"), "swapper/0")


@test("monitor help, status, version, build-id and probes answer; an unknown word is refused")
def monitor():
    matches(r"monitor status", cmd("monitor help"))
    matches(RELEASE.replace(".", r"\.").replace("+", r"\+"), cmd("monitor version"))
    matches(r"^[0-9a-f]{40}$", cmd("monitor build-id"))
    matches("no trace has run|stopped", cmd("monitor status"))
    matches("no location|, tracepoints", cmd("monitor probes"))
    refused("monitor nonsense")


@test("monitor build-id is what the kernel's own notes say")
def build_id():
    with there.open("/sys/kernel/notes", "rb") as file:
        notes = file.read()
    at = notes.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    equal(cmd("monitor build-id").strip(), notes[at:at + 20].hex())


VMLINUX_PLACES = ("/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux",
                  "/lib/modules/%s/build/vmlinux")


@test("gtp check accepts the right vmlinux")
def check_right():
    matches("is of the running kernel", cmd("gtp check"))


@test("gtp check refuses a wrong vmlinux and names the package")
def check_wrong():
    disconnect()
    text = other_gdb("target remote " + LINE, "source %s/gdbscripts/gtp.py" % TOP, "gtp check",
                     files=["/bin/bash"])
    matches("is not of the running kernel", text)
    # If the right file is on the machine, the message must name it.
    here = [f for f in (place % RELEASE for place in VMLINUX_PLACES) if os.path.exists(f)]
    matches(re.escape("file " + here[0] if here else "linux-image-%s-dbg" % RELEASE), text)


@test("gtp check without vmlinux, and without a connection, says what to do")
def check_nothing():
    disconnect()
    script = "source %s/gdbscripts/gtp.py" % TOP
    matches("no vmlinux is loaded", other_gdb("target remote " + LINE, script, "gtp check"))
    matches("target remote", refused("gtp check"))


@test("gtp modules puts the symbols of modules where the kernel has them")
def modules():
    names = fixture()
    for name in ("gtp_target_add", "gtp_target_leaf", "gtp_target_array", "gtp_target_banner"):
        equal(address("(long)&%s" % name), names[name], name)
    text = cmd("gtp modules %s" % KMOD)
    matches(r"^loaded:.*\bgtp_target\b", text)
    matches("gtp_target_leaf", cmd("info symbol %#x" % names["gtp_target_leaf"]))


@test("gtp modules adds loaded modules and forgets unloaded ones")
def modules_move():
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    cmd("maint flush dcache")
    matches(r"^loaded:.*\bgtp_target2\b", cmd("gtp modules %s" % KMOD))
    with there.open("/proc/kallsyms") as file:
        places = [int(l.split()[0], 16) for l in file if l.split()[2] == "gtp_target2_fn"]
    equal(address("(long)&gtp_target2_fn"), places[0])
    shell()("rmmod gtp_target2")
    cmd("maint flush dcache")
    text = cmd("gtp modules %s" % KMOD)
    check("gtp_target2" not in text, text)
    refused("p &gtp_target2_fn")


def second_fixture():
    """Load the second fixture module. Return the address of its function."""
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    cmd("maint flush dcache")
    with there.open("/proc/kallsyms") as file:
        return next(int(line.split()[0], 16) for line in file if line.split()[2] == "gtp_target2_fn")


def second_run(num, n):
    """Make a run in which the second fixture's function is called with N. Return the values that the tracepoint collects."""
    told = cmd("tstart")
    shell()("echo %d >/sys/module/gtp_target2/parameters/call" % n)
    cmd("tstop")
    equal(hits(num), 1)
    equal(collected("n"), [n])
    cmd("tfind none")
    return told


@test("a tracepoint in a module that is unloaded and loaded again, mostly elsewhere, is where the module is", once=True)
def modules_again():
    first = second_fixture()
    cmd("gtp modules %s" % KMOD)
    num = trace("gtp_target2_fn", "collect n")
    second_run(num, 5)
    shell()("rmmod gtp_target2")
    for n in range(6, 9):
        place = second_fixture()
        note("gtp_target2_fn at %#x, %s" % (place, "as before" if place == first else "moved"))
        second_run(num, n)
        equal(address("(long)&gtp_target2_fn"), place)
        shell()("rmmod gtp_target2")
        cmd("maint flush dcache")
    matches(r"^modules: gone: gtp_target2$", cmd("gtp trace gtp_target_add"))


@test("a tracepoint that waits for a module is in it at the first tstart after loading; gtp trace finds it too", once=True)
def modules_pending():
    cmd("gtp modules %s" % KMOD)
    text = cmd("with breakpoint pending on -- trace gtp_target2_fn")
    matches("pending", text)
    num = number("$bpnum")
    cmd("commands %d" % num, "collect n", "end")
    trace("gtp_target_add")
    second_fixture()
    try:
        matches("^modules: symbols loaded of: gtp_target2$", second_run(num, 3))
        cmd("delete")
        shell()("rmmod gtp_target2")
        cmd("maint flush dcache")
        cmd("gtp trace gtp_target_add")  # gtp trace notices that the module was unloaded
        second_fixture()
        cmd("gtp trace gtp_target2_fn")
        num = number("$bpnum")
        cmd("commands %d" % num, "collect n", "end")
        second_run(num, 4)
    finally:
        shell()("rmmod gtp_target2")
        cmd("maint flush dcache")
        cmd("gtp modules %s" % KMOD)


@test("a module's per-CPU variable, live and at a hit")
def modules_per_cpu():
    name, which = "'gtp_target_fn.c'::counts", "calls[GTP_TARGET_COUNT_leaf]"
    trace("gtp_target_leaf")
    cmd("gtp collect per_cpu(%s, 0).%s, this_cpu(%s).%s" % (name, which, name, which))
    target("call leaf 1")
    run_trace("call leaf 1")
    cmd("tfind start")
    seen = number_in(cmd("gtp print this_cpu(%s).%s" % (name, which)))
    cmd("tfind none")
    live = sum(number_in(cmd("gtp print per_cpu(%s, %d).%s" % (name, cpu, which))) for cpu in range(CPUS))
    equal(live, fixture()["leaf"])
    check(0 <= seen <= live and live > 0, "%d of %d" % (seen, live))


def number_in(text):
    return int(re.search(r"= (\d+)$", text.strip()).group(1))


@test("gtp modules leaves no index that would mislead a GDB that finds the module elsewhere")
def modules_index():
    usual = gdb.parameter("index-cache directory")
    with tempfile.TemporaryDirectory() as folder:
        cmd("set index-cache directory " + folder)
        shell()("insmod %s/gtp_target2.ko" % KMOD)
        try:
            cmd("maint flush dcache")
            matches(r"^loaded:.*\bgtp_target2\b", cmd("gtp modules %s" % KMOD))
            cmd("info scope gtp_target2_fn")
        finally:
            shell()("rmmod gtp_target2")
            cmd("set index-cache directory " + usual)
        equal((gdb.parameter("index-cache enabled"), os.listdir(folder)), (True, []))


@test("gtp modules refuses a path that does not exist")
def modules_misuse():
    matches("does not exist", refused("gtp modules /no/such/place"))


@test("gtp status names the traced functions")
def gtp_status():
    trace("gtp_target_add")
    run_trace("call add 1 2")
    matches(r"tracepoint \d+ at 0x[0-9a-f]+ <gtp_target_add(\+\d+)?>: 1 hits", cmd("gtp status"))


run()
