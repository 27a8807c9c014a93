# SPDX-License-Identifier: GPL-2.0-only
# Tests errors: bad pointers, refused places, refused packets. The kernel must go on each time.
from lib import *


def stopped_by_error(num):
    text = cmd("tstatus")
    check(not running(), "still running: " + text)
    found = matches(r"stopped by an error \((.*), tracepoint (\d+)\)", text)
    equal(int(found.group(2)), num, "tracepoint of the error")
    return found.group(1)


def kernel_goes_on():
    cmd("tfind none")
    target("call add 1 1")
    equal(string("init_task.comm"), "swapper/0")


@test("a bad pointer in a condition stops the run; the message has the tracepoint, the address and the reason")
def bad_condition():
    num = trace("gtp_target_ptr if *(long *)p == 3", "collect p")
    cmd("tstart")
    target("call ptr dead000000000100")
    text = stopped_by_error(num)
    check("dead000000000100" in text, text)
    equal(hits(num), 0)
    kernel_goes_on()


@test("a bad pointer in a collection stops the run with its address; frames before it are kept")
def bad_collection():
    num = trace("gtp_target_ptr", "collect *(long *)p")
    good = "%x" % fixture()["gtp_target_array"]
    cmd("tstart")
    target("call ptr " + good)
    target("call ptr 10")
    target("call ptr " + good)
    text = stopped_by_error(num)
    matches(r"\b0x10\b|\b0x0*10\b", text)
    cmd("tfind start")
    equal(number("*(long *)p"), 1 << 32)
    kernel_goes_on()


@test("every kind of bad address at a hit is an error, never worse")
def bad_kinds():
    num = trace("gtp_target_ptr", "collect *(unsigned char *)p@16")
    for bad in ("0", "1", "fff", "7fffffffffff", "800000000000", "ffff7fffffffffff",
                "ffff800000000000", "ffffffffffffffff", "fffffffffffffff8", "ffffffffff600000",
                "ffffffffff5fffff", "fffffffffffff000"):
        cmd("tstart")
        target("call ptr " + bad)
        if running():
            cmd("tstop")
            note("%s could be read" % bad)
        else:
            stopped_by_error(num)
    kernel_goes_on()


@test("division by zero stops the run and says so")
def division():
    num = trace("gtp_target_add if a / b == 1", "collect a")
    cmd("tstart")
    target("call add 8 8")
    target("call add 8 0")
    matches("[Dd]ivi", stopped_by_error(num))
    equal(collected("a"), [8])
    kernel_goes_on()


@test("the smallest number divided by -1 is no error")
def division_overflow():
    trace("gtp_target_add if a / b == a", "collect a")
    run_trace("call add -9223372036854775808 -1")
    equal(collected("a"), [-2**63])


@test("a string that ends in bad memory: collect/s of a bad pointer is an error")
def bad_string():
    num = trace("gtp_target_ptr", "collect/s (char *)p")
    cmd("tstart")
    target("call ptr dead000000000000")
    stopped_by_error(num)
    kernel_goes_on()


@test("monitor stop-on-error off: a value that fails is missing and counted; the frame and the run continue")
def errors_are_passed():
    monitor = cmd("monitor stop-on-error off")
    check("stop-on-error is off for the next tstart" in monitor, monitor)
    try:
        num = trace("gtp_target_ptr", "collect *(long *)p", "collect $cpu_id, p")
        odd = trace("gtp_target_ptr if *(int *)p == 0", "collect p")
        good = fixture()["gtp_target_array"]
        cmd("tstart")
        for address in good, 0x10, good, 0xdead000000000100:
            target("call ptr %x" % address)
        text = cmd("tstop")
        matches(r"errors: 4; the first: tracepoint %d, action \d+ \(X\): .*0x10 " % num, text)
        equal((hits(num), hits(odd)), (4, 2))
        for address in good, 0x10, good, 0xdead000000000100:
            cmd("tfind tracepoint %d" % num)
            equal(number("(unsigned long)p"), address)
            check(0 <= number("$cpu_id") < 8, "a CPU")
            if address == good:
                equal(number("*(long *)p"), 1 << 32)
            else:
                equal(cmd("output *(long *)p"), "<unavailable>")
    finally:
        cmd("monitor stop-on-error on")
    kernel_goes_on()


@test("after an error the next run works as usual")
def after_error():
    bad_condition()
    cmd("delete")
    trace("gtp_target_add", "collect a")
    run_trace("call add 5 0")
    equal(collected("a"), [5])


def tstart_refused(where):
    cmd("delete")
    num = trace(where, "collect $regs")
    message = refused("tstart")
    check(re.search(r"racepoint %d\b" % num, message), message)
    check(not running(), "running after all")
    return message


@test("a place that is not code is refused with its address and the reason")
def not_code():
    for where in (kallsyms()["init_task"], 0x10, 0xffffffffffffff00, kallsyms()["linux_banner"]):
        message = tstart_refused("*%#x" % where)
        check("%x" % where in message, message)


@test("a place inside an instruction is refused with the reason")
def inside_instruction():
    start = fixture()["gtp_target_locals"]
    lines = re.findall(r"0x([0-9a-f]{16})", cmd("x/4i %#x" % start))
    starts = [int(a, 16) for a in lines]
    middle = next(a + 1 for a, b in zip(starts, starts[1:]) if b - a > 2 and a > start + 8)
    message = tstart_refused("*%#x" % middle)
    check("%x" % middle in message, message)


@test("functions that must not be probed are refused with the reason")
def blacklisted():
    for where in ("*%#x" % fixture()["gtp_target_noprobe"], "*%#x" % kallsyms()["do_int3"]):
        note(tstart_refused(where))


@test("gdbtp's own code is refused with the reason")
def own_code():
    with there.open("/proc/kallsyms") as file:
        own = [l.split() for l in file if "[gdbtp]" in l and "gtp_hit" in l]
    place = next(int(words[0], 16) for words in own if words[2] == "gtp_hit")
    message = tstart_refused("*%#x" % place)
    check("gdbtp" in message, message)


@test("code that every return runs is refused, because gdbtp's own returns run it, too")
def returns():
    thunks = [at for name, at in kallsyms().items()
              if re.search("return_thunk$|safe_ret$|untrain_ret$", name)]
    check(len(thunks) > 3, "only %r" % thunks)
    for at in thunks:
        message = tstart_refused("*%#x" % at)
        check("returns go through it" in message, message)


@test("code that a CPU runs at startup before it has an IDT is refused: a probe would reset the machine")
def bringup():
    names = [name for name in kallsyms() if re.match("cr4_update_irqsoff$|start_secondary$|load_current_idt$|cpu_init$", name)]
    equal(len(names), 4)
    for name in names:
        message = tstart_refused("*%#x" % kallsyms()[name])
        check("a CPU that comes up" in message, message)


@test("one bad tracepoint among good ones is reported, and the good ones are armed")
def one_is_refused():
    good = trace("gtp_target_add", "collect a")
    place = kallsyms()["init_task"]
    bad = trace("*%#x" % place)
    text = cmd("tstart")
    matches(r"tracepoint %d is not armed at 0x%x \(init_task\+0x0/\w+\): \w" % (bad, place), text)
    matches("tracepoint %d is armed nowhere" % bad, text)
    target("call add 1 1")
    matches("places not armed: 1", cmd("tstatus"))
    matches("0x%x  not armed, 0 missed, tracepoints %d; refused: " % (place, bad), cmd("monitor probes"))
    cmd("tstop")
    equal(hits(good), 1)
    equal(hits(bad), 0)
    equal(collected("a"), [1])


@test("trace mutex_lock: several places of one name; those that can be probed are armed, each other place is reported")
def several_places():
    need_mutex_lock()
    num = trace("mutex_lock")
    places = re.findall(r"^%d\.\d+ +y +0x([0-9a-f]+)" % num, cmd("info tracepoints %d" % num), re.M)
    check(len(places) > 1, "only %s" % places)
    text = cmd("tstart")
    told = re.findall(r"tracepoint %d is not armed at 0x([0-9a-f]+) " % num, text)
    how = kernel.probes(cmd("monitor probes"))
    equal(sorted(how), sorted(int(place, 16) for place in places))
    equal([at for at in sorted(how) if how[at].how == "not armed"], sorted(int(place, 16) for place in told))
    note("%d places, %d not armed: %s" % (len(places), len(told), text))
    shell()("cat /proc/modules /proc/meminfo >/dev/null")
    cmd("tstop")
    check(hits(num) > 0, "no hit")


@test("a place that is refused during the run does not prevent GDB from setting the others of the same name")
def refused_later():
    need_mutex_lock()
    trace("gtp_target_add")
    cmd("tstart")
    num = trace("mutex_lock")
    shell()("cat /proc/modules /proc/meminfo >/dev/null")
    cmd("tstop")
    check(hits(num) > 0, "no hit")


@test("monitor strict on: one bad tracepoint among good ones, and nothing is installed")
def all_or_nothing():
    good = trace("gtp_target_add", "collect a")
    trace("*%#x" % kallsyms()["init_task"])
    matches("strict is on", cmd("monitor strict on"))
    try:
        refused("tstart")
        matches("not in a run|no location", cmd("monitor probes"))
        target("call add 1 1")
        cmd("tstatus")
        equal(hits(good), 0)
    finally:
        matches("strict is off", cmd("monitor strict off"))


@test("ftrace: a jump where that is safe, even on a shorter instruction; otherwise the reason")
def fast():
    # The function ends with a four-byte lea and a return.
    lines = cmd("x/4i &gtp_target_add").splitlines()
    at = next(i for i, line in enumerate(lines) if "lea " in line)
    place, second = (re.search("0x[0-9a-f]+", line).group(0) for line in lines[at:at + 2])
    text = cmd("ftrace *%s" % place)
    num = int(matches(r"racepoint (\d+)", text).group(1))
    run_trace("call add 1 1")
    equal(hits(num), 1)
    text = cmd("monitor probes")
    check("  jump, " in text and "kprobe" not in text, text)
    cmd("delete")
    # A probe at the second instruction is among the bytes that a jump would overwrite.
    other = matches(r"racepoint (\d+)", cmd("trace *%s" % second)).group(1)
    num = matches(r"racepoint (\d+)", cmd("ftrace *%s" % place)).group(1)
    message = cmd("tstart")
    check("tracepoint %s is not armed" % num in message and "tracepoint %s" % other not in message, message)
    check("cannot be fast: another tracepoint is within" in message, message)
    check("use trace" in message, message)
    run_trace("call add 1 1")
    equal(hits(int(other)), 1)


@test("strace of a marker that does not exist is refused")
def no_marker():
    note(refused("strace -m sched:no_such_event"))


@test("while-stepping is refused with the reason, not silently ignored")
def while_stepping():
    cmd("trace gtp_target_add")
    num = number("$tpnum")
    cmd("commands %d" % num, "while-stepping 3", "collect $regs", "end", "end")
    message = refused("tstart")
    check("step" in message, message)


@test("an expression that is too deep or has a float is refused, by GDB or the module, with the reason")
def impossible():
    num = trace("gtp_target_add")
    note(refused("commands %d" % num, "collect (double)a * 1.5", "end"))


WRONG = (("gtp clear nosuch", "takes no argument"), ("gtp show nosuch", "there is no $nosuch"), ("gtp event nosuch", "SYSTEM:EVENT"),
         ("gtp event sched:sched_swich", "is it sched:sched_switch"), ("gtp events 'nosuch*'", "no event matches nosuch*"),
         ("gtp syscall opennat", "is it openat"), ("gtp stats nosuch by current->comm at gtp_target_add", "nosuch"),
         ("gtp count by a by b at gtp_target_add", "an operator is expected"), ("gtp trace -x /bin/true", "no place is named"),
         ("gtp table nosuch", "nosuch"), ("gtp table a if", "no expression after `if'"), ("gtp collect /nosuch a", "no format /nosuch"),
         ("gtp print a.nosuch", "long has no members"), ("gtp trace gtp_target_add if $nosuch", "tvariable $nosuch makes a variable\n"))


@test("wrong commands with a kernel and a run: each answer is a sentence, and leaves nothing; aggregations are kept")
def wrong_commands():
    trace("gtp_target_add", "collect a")
    cmd("gtp count by a at gtp_target_add")
    run_trace("call add 21 0")

    def state():
        return cmd("gtp show"), cmd("info tvariables"), len(gdb.objfiles()), re.findall(r"^\d.*", cmd("info tracepoints"), re.M)

    cmd("tfind 0")
    before = state()
    for command, part in WRONG:
        said = refused(command)
        check(part in said + "\n" and not re.search("Python|bug of gdbtp|Error", said), "%s: %s" % (command, said))
        equal(state(), before, command)
    matches(r" 1\n", before[0])
    check("load vmlinux" not in refused("gtp print nosuch"), "vmlinux is loaded")


@test("a tracepoint on GDB's own path skips GDB, and monitor self-trace changes that")
def self_trace():
    num = trace("vfs_write if ((struct task_struct *)$current_task)->tgid == %d" % there.pid)
    cmd("tstart")
    cmd("tstatus")
    cmd("tstop")
    equal(hits(num), 0)
    cmd("monitor self-trace on")
    try:
        cmd("tstart")
        cmd("tstatus")
        cmd("tstop")
        check(hits(num) > 0, "no hit of GDB's own writes")
    finally:
        cmd("monitor self-trace off")


run()
