# SPDX-License-Identifier: GPL-2.0-only
# Tests conditions, everything that can be collected, and trace state variables.

import gdb

from lib import *


@test("a condition on an argument selects exactly the calls that meet it")
def condition():
    num = trace("gtp_target_add if a > 5 && b != 3", "collect a, b")
    run_trace(*("call add %d %d" % (a, b) for a in (4, 5, 6, 7) for b in (2, 3)))
    equal(collected("a", "b"), [(6, 2), (7, 2)])
    equal(hits(num), 2)


@test("conditions: signed and unsigned, u8 and u16, bitfields, or, not, arithmetic")
def condition_kinds():
    for text, wanted in (("o->big < -6", [2, 3]), ("o->small == 202", [2]), ("o->medium >= 60002", [2, 3]),
                         ("o->mid == -3", [3]), ("o->wide == 4097 || o->low == 3", [1, 3]),
                         ("!(o->id % 2)", [0, 2]), ("o->id * 3 - n == 302", [1]),
                         ("o->values[3] == 23", [2]), ("(int)o->kind == 1", [1, 3]),
                         ("o->name[4] == 48", [0]), ("n << 2 == 12 && (n ^ 1) == 2", [3])):
        cmd("delete")
        trace("gtp_target_obj if " + text, "collect n")
        run_trace(*("call obj %d" % i for i in range(4)))
        equal(collected("n"), wanted, text)


@test("a condition through two pointers that ends at a null pointer is guarded by &&")
def condition_guarded():
    trace("gtp_target_obj if o->parent && o->parent->parent && o->parent->parent->id == 101",
          "collect n")
    run_trace(*("call obj %d" % i for i in range(4)))
    equal(collected("n"), [3])


@test("collect $args gives the arguments of each call")
def args():
    trace("gtp_target_add", "collect $args")
    run_trace("call add 3 4", "call add -1 9223372036854775807")
    equal(collected("a", "b"), [(3, 4), (-1, 2**63 - 1)])


@test("collect $locals gives locals that are on the stack")
def locals_():
    line = source_line("gtp_target_fn.c", "locals are set")
    trace("gtp_target_fn.c:%d" % line, "collect $locals")
    run_trace("call locals 21")
    equal(collected("twice", "seen[0]", "seen[1]", "seen[2]", "letter"), [(42, 11, 22, 33, ord("q"))])


@test("collect $regs gives the registers: arguments in rdi and rsi, the place in rip")
def regs():
    trace("gtp_target_add", "collect $regs")
    run_trace("call add 7 8")
    place = fixture()["gtp_target_add"]
    rows = collected("$rdi", "$rsi", "(long)$pc", "(long)$rsp")
    equal(rows[0][:2], (7, 8))
    check(0 <= rows[0][2] % 2**64 - place <= 4, "pc %#x" % (rows[0][2] % 2**64))
    check(rows[0][3] % 2**64 > 0xff00 << 48, "rsp %#x" % (rows[0][3] % 2**64))


@test("a value that was not collected is unavailable, not zero")
def unavailable():
    trace("gtp_target_add", "collect a")
    run_trace("call add 7 8")
    cmd("tfind start")
    equal(number("a"), 7)
    check("unavailable" in cmd("print b") or "not available" in cmd("print b"), cmd("print b"))
    matches("not available|unavailable|annot access", refused("print gtp_target_objs[1].id + 1"))


@test("a structure through two pointers is collected whole")
def two_pointers():
    trace("gtp_target_obj if n == 3", "collect o, o->parent, *o->parent->parent")
    run_trace("call obj 3")
    cmd("tfind start")
    equal(address("o"), fixture()["gtp_target_objs"] + 3 * number("sizeof(struct gtp_target_obj)"))
    equal(number("o->parent->parent->id"), 101)
    equal(string("o->parent->parent->name"), "obj-1")
    equal([number("o->parent->parent->values[%d]" % i) for i in range(4)], [10, 11, 12, 13])
    equal(number("o->parent->parent->mid"), -1)


@test("collect *o shows every member as print does")
def whole_structure():
    trace("gtp_target_obj", "collect *o")
    run_trace("call obj 2")
    cmd("tfind start")
    text = cmd("print *o")
    for part in ("id = 102", r"small = 202", "medium = 60002", "big = -7", "low = 2", "mid = -2",
                 "wide = 4098", "kind = GTP_TARGET_PLAIN", "on = false", "obj-2",
                 r"values = {20, 21, 22, 23}"):
        matches(part, text)


@test("globals, arrays and array slices are collected")
def globals_():
    trace("gtp_target_leaf", "collect gtp_target_counter, gtp_target_array, gtp_target_objs[1].values[1]@2")
    before = fixture()["value gtp_target_counter"]
    run_trace("call leaf 1")
    cmd("tfind start")
    equal(number("gtp_target_counter"), before)
    equal([number("gtp_target_array[%d]" % i) for i in range(8)], [i * i for i in range(8)])
    equal(number("gtp_target_objs[1].values[2]"), 12)


@test("collect/s collects a string to its end, collect/s5 its first five bytes")
def strings():
    trace("gtp_target_str", "collect/s s")
    run_trace("call str Hello, kernel", "call str x")
    cmd("tfind start")
    equal(string("s"), "Hello, kernel")
    cmd("tfind")
    equal(string("s"), "x")
    cmd("delete")
    trace("gtp_target_str", "collect/s5 s")
    run_trace("call str Hello, kernel")
    cmd("tfind start")
    equal(value("s").string(length=5), "Hello")
    refused("print s[6] + 1")


@test("collect/s follows a string into the user memory of the task that was hit")
def user_string():
    trace("gtp_target_user", "collect/s s")
    run_trace("call user from user space")
    cmd("tfind start")
    equal(value("s").string(length=15), "from user space")
    check(address("s") < 2**47, "%#x is no user address" % address("s"))


@test("an expression is collected with the memory that it reads")
def expression():
    trace("gtp_target_obj", "collect o->values[n] + o->parent->id")
    run_trace("call obj 2")
    cmd("tfind start")
    equal(number("o->values[n] + o->parent->id"), 22 + 101)


@test("teval and a user's trace state variable count and sum without collecting")
def teval():
    cmd("tvariable $count = 100")
    cmd("tvariable $sum")
    trace("gtp_target_add", "teval $count = $count + 1", "teval $sum = $sum + a * b")
    run_trace("call add 2 3", "call add 4 5", "call add -1 6")
    equal(number("$count"), 103)
    equal(number("$sum"), 2 * 3 + 4 * 5 - 6)


@test("tstart resets a trace state variable to its initial value")
def tsv_initial():
    cmd("tvariable $again = 5")
    trace("gtp_target_leaf", "teval $again = $again + 1")
    for _ in range(2):
        run_trace("call leaf 1", "call leaf 2")
        equal(number("$again"), 7)


@test("a trace state variable in a condition: only every third call")
def tsv_condition():
    cmd("tvariable $seen")
    trace("gtp_target_add if ($seen = $seen + 1) % 3 == 0", "collect a")
    run_trace(*("call add %d 0" % i for i in range(1, 10)))
    equal(collected("a"), [3, 6, 9])


@test("collected trace state variables have the value of their frame")
def tsv_frames():
    cmd("tvariable $step")
    trace("gtp_target_add", "teval $step = $step + 10", "collect $step, a")
    run_trace("call add 1 0", "call add 2 0", "call add 3 0")
    equal(collected("$step", "a"), [(10, 1), (20, 2), (30, 3)])


@test("$cpu_id and $current_task_pid are those of the caller, $current_task is its task")
def builtins():
    trace("gtp_target_add", "collect a, $cpu_id, $current_task_pid, $current_task, "
          "((struct task_struct *)$current_task)->pid, ((struct task_struct *)$current_task)->comm")
    cpus = there.cpus
    pids = {}
    cmd("tstart")
    for cpu in cpus:
        pids[cpu] = int(shell()("taskset -c %d /bin/sh -c 'echo $$; exec >/proc/gtp_target; "
                                "printf %%s \"call add %d 0\"'" % (cpu, cpu)))
    cmd("tstop")
    equal(collected("a", "$cpu_id", "$current_task_pid",
                    "((struct task_struct *)$current_task)->pid"),
          [(cpu, cpu, pids[cpu], pids[cpu]) for cpu in cpus])
    cmd("tfind start")
    equal(string("((struct task_struct *)$current_task)->comm"), "sh")


@test("$clock never goes back from frame to frame, and agrees with the kernel's monotonic clock")
def clock():
    trace("gtp_target_leaf", "collect $clock, n")
    before = there.clock_ns()
    run_trace(*("call leaf %d" % i for i in range(10)))
    after = there.clock_ns()
    rows = collected("$clock", "n")
    times = [row[0] for row in rows]
    equal([row[1] for row in rows], list(range(10)))
    equal(times, sorted(times))
    check(before <= times[0] and times[-1] <= after, "%d %s %d" % (before, times, after))


@test("info tvariables lists the built-in variables and the user's, with values")
def tvariables():
    cmd("tvariable $mine = 12")
    trace("gtp_target_leaf", "teval $mine = $mine + 1")
    run_trace("call leaf 1")
    text = cmd("info tvariables")
    for name in BUILTIN:
        matches(r"\$%s\b" % name, text)
    matches(r"\$mine\s+12\s+13", text)


@test("a built-in variable cannot be set: tstart refuses and says why")
def tsv_readonly():
    trace("gtp_target_leaf", "teval $cpu_id = 3")
    message = refused("tstart")
    matches("cannot be set", message)


@test("a hit in a hard interrupt is collected like any other")
def interrupt():
    trace("gtp_target_irq", "collect n, $cpu_id")
    run_trace("call irq 41", "call irq 42")
    equal(collected("n"), [41, 42])


@test("several actions and lists of expressions are all in one frame")
def many_actions():
    trace("gtp_target_obj", "collect o->id, o->big", "collect $regs", "collect *o->parent",
          "collect gtp_target_array")
    run_trace("call obj 1")
    cmd("tfind start")
    equal(number("o->id"), 101)
    equal(number("o->parent->id"), 100)
    equal(number("$rsi"), 1)
    equal(number("gtp_target_array[7]"), 49)
    equal(number("$trace_frame"), 0)
    cmd("tfind")
    equal(number("$trace_frame"), -1)


@test("a slice of several thousand bytes is collected byte for byte", once=True)
def large():
    wanted = gdb.selected_inferior().read_memory(fixture()["gtp_target_objs"], 500).tobytes()
    trace("gtp_target_leaf", "collect *(unsigned char *)&gtp_target_objs@500",
          "collect *(unsigned char *)&init_task@6000")
    run_trace("call leaf 1")
    cmd("tfind start")
    got = gdb.selected_inferior().read_memory(fixture()["gtp_target_objs"], 500).tobytes()
    equal(got, wanted)
    equal(len(gdb.selected_inferior().read_memory(kallsyms()["init_task"], 6000)), 6000)


@test("default-collect is collected in every tracepoint")
def default_collect():
    cmd("set default-collect gtp_target_counter")
    try:
        trace("gtp_target_leaf", "collect n")
        before = fixture()["value gtp_target_counter"]
        run_trace("call leaf 6")
        equal(collected("n", "gtp_target_counter"), [(6, before)])
    finally:
        cmd("set default-collect")


run()
