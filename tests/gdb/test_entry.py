# SPDX-License-Identifier: GPL-2.0-only
# Function entries: the function tracer's direct calls, alone and with others. For a guest with --thread single.
from lib import *
from others import *

NOP = bytes.fromhex("0f1f440000")


def site():
    """Where the function tracer's instruction is: there, or behind an endbr64."""
    start = address("&gtp_target_obj")
    return start + 4 if text_at(start, 4) == bytes.fromhex("f30f1efa") else start


def entering(condition="", *actions):
    """A run with a call at the entry of gtp_target_obj; the tracepoint's number."""
    cmd("set circular-trace-buffer on")
    num = trace("*gtp_target_obj" + condition, *actions)
    cmd("tstart")
    equal(mechanism(num), "ftrace call")
    equal(text_at(site(), 1)[0], 0xe8)
    return num


def restored():
    equal(text_at(site(), 5), NOP, "the site")


@test("exact counts on all CPUs, and the site is idle again")
def counts():
    restored()
    num = entering()
    made = looped("obj")
    equal(made["obj"], ROUNDS * CPUS)
    equal(hits(num), made["obj"])
    equal(nested() + missed(), 0)
    cmd("tstop")
    restored()


@test("arguments, the caller and the stack are those of the entry")
def registers():
    rows = []
    for way, expected in (("on", "ftrace call"), ("off", "kprobe on ftrace")):
        cmd("monitor jumps " + way)
        num = trace("*gtp_target_obj", "collect $regs, o->id, n, *(unsigned long *)$rsp")
        cmd("tstart")
        equal(mechanism(num), expected)
        target("call obj 3")
        cmd("tstop")
        rows.append(collected("o->id", "n", "$rip", "$cs", "$ss", "*(unsigned long *)$rsp")[0])
        check(rows[-1][2] in (address("&gtp_target_obj"), site()), "rip 0x%x" % rows[-1][2])
        cmd("delete")
    cmd("monitor jumps on")
    equal(rows[0], rows[1], "by a call, as by a kprobe")
    equal(rows[0][0], 103)


@test("a condition is evaluated at the entry")
def condition():
    num = entering(" if (int)o->kind == 1 && o->id > 101", "collect o->id")
    for i in (0, 1, 2, 3, 3):
        target("call obj %d" % i)
    cmd("tstop")
    equal(collected("o->id"), [103, 103])
    equal(hits(num), 2)


@test("an error of the condition is the same error")
def error():
    trace("*gtp_target_ptr if *(long *)p == 5")
    cmd("tstart")
    target("call ptr 18")
    matches(r"stopped by an error \(.*0x18", cmd("tstatus"))


@test("a second tracepoint during the run")
def second():
    entering(" if o->id == 100")
    target("call obj 1")
    other = trace("*gtp_target_obj if o->id == 101")
    target("call obj 1")
    target("call obj 0")
    cmd("tstop")
    equal(hits(other), 1)
    equal(len(collected("$pc")), 2)
    restored()


@test("the function tracer and a kprobe at the same entry, whoever comes and goes first")
def others():
    probe = Kprobe(site())
    num = entering()
    target("call obj 1")
    probe.enable()
    before = probe.count()
    write("set_ftrace_filter", "gtp_target_obj")
    write("current_tracer", "function")
    made = looped("obj", 50)["obj"]
    equal(hits(num), made + 1)
    equal(probe.count() - before, made)
    cmd("tstop")
    made = looped("obj", 50)["obj"]
    equal(probe.count() - before, made + 50 * CPUS)
    cmd("tstart")
    write("current_tracer", "nop")
    probe.remove()
    made = looped("obj", 50)["obj"]
    equal(hits(num), made)
    cmd("tstop")
    write("set_ftrace_filter", "")
    restored()


@test("a condition that faults on the kernel's own way through a fault ends the run, and nothing else")
def fault_in_fault():
    # An address that the pad tries to read: it is known only there. And a process that the kernel takes through a fault.
    faulty = "*(long *)(((unsigned long)$rsp & 0xff8) + 0xffff800000001000)"
    bad_write = "python3 -c 'import ctypes; ctypes.CDLL(None).write(1, ctypes.c_void_p(16), 8)'"
    for where in ("*fixup_exception", "*search_exception_tables", "*search_extable"):
        trace("%s if %s == 1" % (where, faulty))
        cmd("tstart")
        shell()(bad_write)
        matches(r"stopped by an error \(.*0xffff80000000[12]", cmd("tstatus"))
        cmd("delete")


@test("many entries: the first few by a call, the others by a kprobe, all counted")
def many():
    with open(TRACING + "available_filter_functions") as file:
        names = [line.strip() for line in file if re.fullmatch(r"vfs_\w+", line.strip())][:40]
    nums = [trace("*" + n) for n in names]
    cmd("tstart")
    kinds = [mechanism(n) for n in nums]
    check(kinds.count("ftrace call") == 16, "kinds %s" % kinds)
    shell()("cat /proc/modules >/dev/null")
    cmd("tstop")
    check(sum(hits(n) for n in nums) > 10, "hardly any hit")


run()
