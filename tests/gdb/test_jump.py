# SPDX-License-Identifier: GPL-2.0-only
# Tests jumps in the kernel's text, alone and together with other probes. Only for a guest with one host thread (see
# tests/vm/README.md).
import time

import gdb

from fixture import users
from jumps import *
from lib import *
from others import *


@test("there is no jump before the first")
def before_all():
    load_table("gtp_target")
    note(shell()("cat /proc/gtpregions"))
    check(original()[0] not in (JUMP, BREAKPOINT), "something is there")


@test("exact counts on all CPUs, and the text is restored at the end")
def counts():
    num = jumping()
    all_counted(num)
    cmd("tstop")
    restored()


@test("a condition: exact counts, and the registers are those at the instruction", once=True)
def condition():
    num = jumping(" if a % 10 == 0 && a > 0", "collect a, $rsp, $rip, *(unsigned long *)$rsp")
    looped("add")
    cmd("tstop")
    equal(hits(num), (ROUNDS // 10 - 1) * CPUS)
    rows = collected("a", "$rip", "$rsp", "*(unsigned long *)$rsp")
    equal(len(rows), (ROUNDS // 10 - 1) * CPUS)
    equal(sorted(row[0] for row in rows), sorted(list(range(10, ROUNDS, 10)) * CPUS))
    equal({row[1] for row in rows}, {place()})
    check(all(row[2] % 8 == 0 for row in rows), "the stack pointer is not aligned")
    callers = {cmd("info symbol 0x%x" % (row[3] % 2**64)).split()[0] for row in rows}
    check(callers <= {"one_add", "one_mix", "loop_thread"}, "called by %s" % callers)
    restored()


@test("the same registers as a kprobe sees")
def as_kprobe():
    names = ["$" + r for r in "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15 eflags cs ss".split()]
    rows = []
    for way, expected in (("on", "jump"), ("off", "kprobe")):
        cmd("monitor jumps " + way)
        num = trace("*0x%x" % place(), "collect $regs")
        cmd("tstart")
        equal(mechanism(num), expected)
        target("call add 77 78")
        cmd("tstop")
        rows.append(collected(*names)[0])
        cmd("delete")
    cmd("monitor jumps on")
    # These registers are equal in both runs. Others have addresses of the calling task.
    same = [i for i, name in enumerate(names) if name in ("$rdi", "$rsi", "$eflags", "$cs", "$ss")]
    equal([rows[0][i] for i in same], [rows[1][i] for i in same])


@test("flags that no instruction reads are collected as they were, after a condition")
def flags():
    places = instructions("gtp_target_obj", r"\+\d+>:")
    site = instructions("gtp_target_obj", r"\bnop[lw]|\bcall\b")[0]
    seen = []
    for way, expected in (("on", "jump"), ("off", "kprobe")):
        cmd("monitor jumps " + way)
        # n is 3, so the comparison in the condition sets the zero flag, which must not reach the frame.
        num = trace("*0x%x if n == 3" % places[places.index(site) + 1], "collect $eflags")
        cmd("tstart")
        equal(mechanism(num), expected)
        target("call obj 3")
        cmd("tstop")
        seen.append(collected("$eflags")[0])
        cmd("delete")
    cmd("monitor jumps on")
    equal(seen[0], seen[1])


@test("a second tracepoint during the run, at the jump with the first one's condition")
def second():
    num = jumping(" if a == 5")
    target("call add 4 0")
    other = trace("*0x%x if a == 6" % place())
    is_jump(other)
    made = looped("add", 10)
    equal(made["add"], 10 * CPUS)
    cmd("tstop")
    equal((hits(num), hits(other)), (CPUS, CPUS))
    restored()


@test("enabled and disabled during the run")
def enable():
    num = jumping(" if a == 5")
    cmd("disable %d" % num)
    target("call add 5 0")
    cmd("enable %d" % num)
    target("call add 5 0")
    cmd("tstop")
    equal(hits(num), 1)
    restored()


@test("two tracepoints within five bytes are both kprobes, and both count")
def overlap():
    places = instructions("gtp_target_locals", r"\+\d+>:")
    cmd("set circular-trace-buffer on")
    pairs = [(a, b) for a, b in zip(places, places[1:]) if b - a < 5]
    for a, b in pairs:
        first = trace("*0x%x" % a)
        cmd("tstart")
        alone = mechanism(first)
        cmd("tstop")
        if alone == "jump":
            break
        cmd("delete")
    equal(alone, "jump")
    behind = trace("*0x%x" % b)
    cmd("tstart")
    check("jump" not in (mechanism(first), mechanism(behind)), "one of them is a jump")
    for _ in range(10):
        target("call locals 3")
    cmd("tstop")
    equal((hits(first), hits(behind)), (10, 10))


@test("a tracepoint in the middle of a jump, during the run: refused and reported; it works in the next run")
def middle():
    inside = instructions("gtp_target_add", r"\+\d+>:")
    inside = inside[inside.index(place()) + 1]
    check(inside < place() + 5, "the first instruction is a long one")
    num = jumping()
    message = cmd("trace *0x%x" % inside)
    other = number("$tpnum")
    check("tracepoint %d is not armed" % other in message, message)
    check("within the bytes of the jump at 0x%x" % place() in message, message)
    target("call add 1 1")
    cmd("tstop")
    equal((hits(num), hits(other)), (1, 0))
    restored()
    run_trace("call add 1 1")
    equal((hits(num), hits(other)), (1, 1))


@test("interrupts hit too, and none is lost inside another hit")
def interrupts():
    cmd("set circular-trace-buffer on")
    cmd("monitor jumps on")
    where = instructions("gtp_target_irq", r"\bxor\b")[0]
    nums = {"add": trace("*0x%x" % place(), "collect a"), "irq": trace("*0x%x" % where)}
    cmd("tstart")
    note({name: mechanism(num) for name, num in nums.items()})
    made = looped("mix", 5000)
    cmd("tstop")
    note(made)
    check(made["irq"] > 0, "no interrupt came")
    equal({name: hits(num) for name, num in nums.items()}, {name: made[name] for name in nums})
    equal(nested() + missed(), 0)
    restored()


@test("another kprobe is at the address first: the tracepoint becomes a kprobe, both count")
def others_first():
    for state in ("disabled", "armed"):
        other = Kprobe(place())
        other.enable(state == "armed")
        before = other.count()
        num = trace("*0x%x" % place())
        cmd("tstart")
        check(mechanism(num).startswith("kprobe"), "%s: %s" % (state, mechanism(num)))
        other.enable()
        target("call add 1 1")
        equal((hits(num), other.count() - before), (1, 1), state)
        other.remove()
        target("call add 1 1")
        cmd("tstop")
        equal(hits(num), 2)
        cmd("delete")
        restored()


@test("another kprobe at the jump, removed before it: both count")
def others_within():
    num = jumping()
    other = Kprobe(place())
    other.enable()
    before = other.count()
    target("call add 1 1")
    equal((hits(num), other.count() - before), (1, 1))
    other.remove()
    all_counted(num)
    cmd("tstop")
    restored()


def unloadable():
    """Return whether the module can be unloaded. Without a connection, only a jump can keep the module loaded."""
    return users() == 0


@test("another kprobe outlives the run: the jump stays until that kprobe is removed")
def others_after():
    for state in ("armed", "disabled"):
        num = jumping()
        other = Kprobe(place())
        other.enable(state == "armed")
        before = other.count()
        cmd("tstop")
        check(text_at(place(), 5)[1:] != original()[1:5], state + ": the jump is gone")
        target("call add 1 1")
        equal(other.count() - before, 1 if state == "armed" else 0, state)
        equal(hits(num), 0, state)
        cmd("delete")
        num = trace("*0x%x" % place())
        cmd("tstart")
        check(mechanism(num).startswith("kprobe"), state + ": " + mechanism(num))
        target("call add 1 1")
        cmd("tstop")
        equal(hits(num), 1, state)
        disconnect()
        check(not unloadable(), state + ": nothing holds the module")
        other.enable()
        before = other.count()
        target("call add 1 1")
        equal(other.count() - before, 1, state)
        other.remove()
        until(unloadable, "the jump to go")
        connect()
        restored()
        cmd("delete")


def optimized(where):
    """Return whether the kernel has optimised the kprobe at an address."""
    return where in kernel.optimized()


def optimizable():
    """Return an instruction at which the kernel optimises kprobes, and its bytes."""
    for where in instructions("gtp_target_locals", r"\+\d+>:")[2:]:
        text = text_at(where)
        other = Kprobe(where)
        other.enable()
        for _ in range(20):
            if optimized(where):
                other.remove()
                until(lambda: text_at(where) == text, "the text")
                return where, text
            time.sleep(0.1)
        other.remove()
    raise Failure("the kernel optimises no kprobe")


@test("another optimised kprobe is removed at the same time: its jump is not mistaken for the code")
def left_over():
    where, text = optimizable()
    cmd("set circular-trace-buffer on")
    num = trace("*0x%x" % where)
    became = []
    for _ in range(15):
        other = Kprobe(where)
        other.enable()
        until(lambda: optimized(where), "the optimised kprobe")
        going = there.popen(["/bin/sh", "-c", "cd %s; echo 0 >events/gtptest/other/enable;"
                                  "echo -:gtptest/other >>kprobe_events" % TRACING])
        while going.poll() is None:
            cmd("tstart")
            became.append(mechanism(num))
            target("call locals 3")
            equal(hits(num), 1)
            cmd("tstop")
        equal(going.wait(), 0)
        until(lambda: text_at(where) == text, "the text")
    note({how: became.count(how) for how in became})
    cmd("tstart")
    is_jump(num)
    cmd("tstop")
    equal(text_at(where), text)


@test("other kprobes within the jump, after its first byte, are refused")
def others_behind():
    places = instructions("gtp_target_add", r"\+\d+>:")
    places = places[places.index(place()):]
    num = jumping()
    try:
        Kprobe(places[1]).remove()
        raise AssertionError("a kprobe was accepted within the jump")
    except Failure:
        pass
    all_counted(num)
    cmd("tstop")
    restored()


@test("another kprobe before the jump: both count, and the kernel does not optimise it over the jump")
def others_in_front():
    places = instructions("gtp_target_locals", r"\+\d+>:")[1:]
    for front, where in zip(places, places[1:]):
        cmd("delete")
        num, text = trace("*0x%x" % where), text_at(where)
        cmd("tstart")
        if mechanism(num) == "jump":
            break
        cmd("tstop")
    is_jump(num)
    other = Kprobe(front)
    other.enable()
    before = other.count()
    for _ in range(5):
        target("call locals 3")
    equal((hits(num), other.count() - before), (5, 5))
    check(not optimized(front), "the kernel's jump is over ours")
    cmd("tstop")
    other.remove()
    target("call locals 3")
    until(lambda: text_at(where) == text, "the text")


@test("the global switch of kprobes has no effect")
def switch():
    num = jumping()
    shell()("echo 0 >/sys/kernel/debug/kprobes/enabled")
    all_counted(num)
    shell()("echo 1 >/sys/kernel/debug/kprobes/enabled")
    all_counted(num)
    cmd("tstop")
    restored()


@test("the function tracer is switched on and off")
def tracer():
    num = jumping()
    shell()("echo gtp_target_* >%sset_ftrace_filter; echo function >%scurrent_tracer" % (TRACING, TRACING))
    all_counted(num)
    cmd("tstop")
    restored()
    cmd("tstart")
    shell()("echo nop >%scurrent_tracer; echo >%sset_ftrace_filter" % (TRACING, TRACING))
    all_counted(num)
    cmd("tstop")
    restored()


@test("a run ends by itself: the kernel's list says where other kprobes are, and none is registered to find that out")
def ends_itself():
    """A kernel worker removes the jump. In the guest it does not see the debugfs that GDB's task sees."""
    num = trace("*0x%x" % place(), passcount=1)
    cmd("tstart")
    is_jump(num)
    shell()("echo disable_kprobe register_kprobe >%sset_ftrace_filter; echo function >%scurrent_tracer" % (TRACING, TRACING))
    try:
        target("call add 1 1")
        until(lambda: "kworker" in shell()("grep disable_kprobe %strace || true" % TRACING), "a worker reads the list of kprobes")
        cmd("tstop")  # waits until the worker has removed the jump
        calls_seen = shell()("cat %strace" % TRACING)
    finally:
        shell()("echo nop >%scurrent_tracer; echo >%sset_ftrace_filter" % (TRACING, TRACING))
    check("register_kprobe" not in calls_seen, calls_seen)
    equal(hits(num), 1)
    restored()


naps = [500]  # in milliseconds; doubled if the machine is too busy to end a run during the sleep


def ends_meanwhile(num):
    """Return whether the run ended while a task slept in the traced function. The task returns during the next run."""
    start = hits(num)
    nap = background("call nap %d" % naps[-1])
    until(lambda: hits(num) == start + 1, "the nap")
    cmd("tstop")
    sleeps = nap.poll() is None
    cmd("tstart")
    equal(nap.wait(), 0)
    cmd("tstop")
    cmd("tstart")
    if not sleeps:
        naps.append(2 * naps[-1])
    return sleeps


@test("a displaced call sleeps: the run ends meanwhile, and the task returns")
def sleeper():
    where = instructions("gtp_target_nap", r"\bcall\b.*msleep")[0]
    cmd("set circular-trace-buffer on")
    num = trace("*0x%x" % where)
    cmd("tstart")
    is_jump(num)
    for _ in range(3):
        until(lambda: ends_meanwhile(num), "a nap that lasts longer than a tstop")
    cmd("tstop")


@test("a module is unloaded under its jump")
def unload():
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    load_table("gtp_target2")
    cmd("gtp modules " + KMOD)
    where = instructions("gtp_target2_fn", r"\blea\b")[0]
    num = trace("*0x%x" % where, "collect n")
    cmd("tstart")
    is_jump(num)
    shell()("echo 5 >/sys/module/gtp_target2/parameters/call")
    equal(hits(num), 1)
    shell()("rmmod gtp_target2")
    cmd("tstop")
    equal(hits(num), 1)


@test("a run ends by itself, and removing its jump takes longer than GDB waits for a reply", once=True)
def late_answer():
    text, call, before = text_at(place()), "at %x" % kallsyms()["gtp_target_add"], calls("leaf")
    disconnect()
    cmd("target remote " + PIPE)
    fresh()
    num = trace("*0x%x" % place(), passcount=1)
    cmd("tstart")
    is_jump(num)
    busy = background("loop busy 2000000000")
    until(lambda: calls("leaf") > before, "the task that computes")
    target(call)
    # GDB gives up after three timeouts without a byte. Its packet comes before or shortly after the task falls asleep.
    patience = gdb.parameter("remotetimeout")
    cmd("set remotetimeout 3")
    end = there.popen(["/bin/sh", "-c", "sleep 11; echo end >/proc/gtp_target"])
    cmd("set code-cache off")
    equal(text_at(place()), text)
    cmd("set remotetimeout %d" % patience)
    until(lambda: end.poll() is not None, "the end of what the answer has waited for")
    equal(string("init_task.comm"), "swapper/0")
    equal(hits(num), 1)
    equal(end.wait(), 0)
    equal(busy.wait(), 0)
    disconnect()


# Functions that handle breakpoints. The last ones exist only in debug kernels.
WAY = ("__rcu_read_lock", "__rcu_read_unlock", "notifier_call_chain", "atomic_notifier_call_chain", "notify_die",
       "lock_acquire", "lock_release", "rcu_is_watching", "func_ptr_is_kernel_text", "is_module_text_address",
       "__module_text_address", "__module_address", "core_kernel_text")


@test("code between a breakpoint and its handler: no jump, and no harm")
def way():
    cmd("set circular-trace-buffer on")
    tried, there = 0, kernel.symbols(*WAY)
    for name in WAY:
        for where in instructions(name, r"\+\d+>:")[:4] if name in there else ():
            num = trace("*0x%x" % where)
            try:
                cmd("tstart")
                check(mechanism(num) != "jump", "%s is a jump" % name)
                target("call add 1 1")
                cmd("tstop")
            except gdb.error as error:
                check("allows no probe" in str(error) or "not the start" in str(error), str(error))
            cmd("delete")
            tried += 1
    check(tried >= 8, "only %d places" % tried)


@test("ten runs on all CPUs' calls")
def many():
    loops = background("loop mix 30000")
    trace("*0x%x if $rdi %% 3 == 0" % place(), "collect a")
    cmd("set circular-trace-buffer on")
    for _ in range(10):
        cmd("tstart")
        cmd("tstop")
    equal(loops.wait(), 0)
    restored()


run(before=begin)
