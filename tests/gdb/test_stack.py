# SPDX-License-Identifier: GPL-2.0-only
# Tests that $kstack and $bt are the stacks that the kernel itself sees at the same calls, wherever the tracepoint is.
import json
import sys
import xml.etree.ElementTree

from lib import *
from fixture import parameter
from others import instructions, looped, mechanism, without

sys.path.insert(0, os.path.join(TOP, "gdbscripts"))
from gtp.run import aggregations, kstack

ROUNDS = 2000
# Make all calls on CPU 0: the fixture notes the last stack of each CPU, and a followed call has a different stack.
if there.here:
    os.sched_setaffinity(0, {0})
else:
    shell()("taskset -cp 0 $$")
SCRATCH = scratch()


def noted(which):
    """Return {CPU: addresses} of the fixture's last save_stack_trace. The innermost address is the return address of
    the call that noted it."""
    found = {}
    with there.open("/proc/gtp_target_stacks") as file:
        for line in file:
            name, cpu, *stack = line.split()
            if name == which:
                found[int(cpu)] = [int(word, 16) for word in stack]
    return found


def noted_here(which):
    """Return the stack that the fixture has noted for the last call. Stacks on other CPUs are those of earlier topics."""
    return noted(which)[0]


def function_of(where):
    """Return the name of the function, of the fixture or the kernel, that contains an address."""
    text = cmd("info symbol %d" % where)
    return matches(r"(\w+)", text).group(1)


def stacks(num):
    """Return [(stack, CPU)] for the frames of a tracepoint."""
    found = []
    for _ in frames():
        if number("$tracepoint") == num:
            found.append((kstack.addresses(number("$kstack")), number("$cpu_id")))
    return found


def same_way(stack, truth):
    """Check that a stack ends with the stack that the fixture noted. Where an interrupt came, $kstack stores the interrupted
    address plus one. $kstack may end with the mark for an incomplete stack. Return the number of interrupts."""
    if stack[-1] == kstack.LOST:
        stack = stack[:-1]
    stack = stack[-len(truth):]
    entries = [function_of(inner - 1).startswith(("asm_", "end_repeat_nmi")) for inner in [1] + stack[:-1]]
    equal(stack, [where + came for where, came in zip(truth, entries)])
    return sum(entries)


def is_below(stack, truth, inner, what):
    """Check that the stack consists of INNER functions of the fixture, followed by the kernel's complete stack."""
    equal([function_of(where - bool(i)) for i, where in enumerate(stack[:len(inner)])], inner, what)
    equal(["%#x" % w for w in stack[len(inner):]], ["%#x" % w for w in truth], what)


@test("at every instruction of three functions, with jumps: the callers that the kernel sees")
def by_jump():
    how = everywhere()
    note(*set(how))
    check("jump" in how, "no jump: %s" % how)


@test("the same with kprobes, and interpreted")
def by_kprobe():
    for off in (("jumps",), ("jumps", "jit")):
        with without(*off):
            note("without", *off, *set(everywhere()))


def until_return(function):
    """Return the addresses of a function's instructions up to its first return. The function must have no branches."""
    leaves = instructions(function, r"\b(ret|jmp)\b")[0]
    return [where for where in instructions(function, r"\+\d+>:") if where <= leaves]


def everywhere():
    """Make a run for each of the three functions gtp_target_chain_a, _b and _c, and check the stacks. Return the
    mechanisms."""
    how = []
    for function, inner in (("gtp_target_chain_c", 2), ("gtp_target_chain_b", 1), ("gtp_target_chain_a", 0)):
        nums = {}
        for where in until_return(function):
            nums[trace("*%#x" % where, "collect $kstack, $cpu_id")] = where
        cmd("tstart")
        armed = {num: mechanism(num) for num in nums}
        target("call chain 5")
        cmd("tstop")
        # The callers of chain_a are the same for all three.
        names = ["gtp_target_chain_" + letter for letter in ("c", "b", "a")[2 - inner:]]
        seen = 0
        for num, where in nums.items():
            for stack, _ in stacks(num):
                equal("%#x" % stack[0], "%#x" % where, "the innermost")
                is_below(stack, noted_here("chain")[2:], names, "%s at %#x, %s" % (function, where, armed[num]))
                how.append(armed[num])
                seen += 1
        check(seen == len(nums) > 2, "%s: %d of %d places were hit" % (function, seen, len(nums)))
        cmd("delete")
    return how


@test("at a kernel tracepoint, alone and beside ftrace's own probe on it")
def event():
    path = os.path.join(TRACING, "events/gtp_target/gtp_target_many/enable")
    num = trace("*__traceiter_gtp_target_many", "collect $kstack, $cpu_id")
    for other in ("0", "1"):
        shell()("echo %s >%s" % (other, path))
        try:
            run_trace("call event 3")
        finally:
            shell()("echo 0 >%s" % path)
        (stack, _), = stacks(num)
        truth = noted_here("event")[1:]
        # The innermost function is the tracepoint's iterator. It occurs twice if it calls two probes.
        names = [function_of(where - bool(i)) for i, where in enumerate(stack[:len(stack) - len(truth)])]
        note(*names)
        equal(names, ["__traceiter_gtp_target_many"] * (len(names) - 1) + ["gtp_target_event_many"])
        check(2 <= len(names) <= 3, "%d innermost" % len(names))
        equal(stack[-len(truth):], truth)


@test("in an interrupt: through it, to the task that was interrupted")
def interrupt():
    num = trace("*gtp_target_irq", "collect $kstack, $cpu_id")
    run_trace("call irq 4")
    (stack, cpu), = stacks(num)
    truth = noted("irq")[cpu]
    names = [function_of(where - bool(i)) for i, where in enumerate(stack)]
    note(" < ".join(names))
    equal(stack[0], address("(long)gtp_target_irq"))
    equal(same_way(stack, truth[1:]), 1, "interrupts")
    check(len(stack) <= len(truth) + 1, "more than the kernel sees")
    check(len(truth) > 6, "only %d" % len(truth))


@test("in NMIs, on each CPU")
def nmi():
    num = trace("*__traceiter_gtp_target_count", "collect $kstack, $cpu_id")
    run_trace("nmi 1")
    found = stacks(num)
    check(found or CPUS == 1, "no hit")
    for stack, cpu in found:
        truth = noted("nmi")[cpu]
        # If the NMI came in user mode, the stack ends with its entry function.
        check(same_way(stack, truth[1:]) >= 1 or function_of(stack[-1]).startswith("asm_exc_nmi"),
              "no NMI in " + " < ".join(map(function_of, stack)))
        check(len(truth) > 4, "only %d" % len(truth))
    equal(len(found), CPUS - 1, "hits")


def is_ours(where):
    """Return whether an address is in gdbtp itself: in a pad, or in the code that pads call."""
    with there.open("/proc/modules") as file:
        (size, base), = [(int(words[1]), int(words[5], 16)) for words in map(str.split, file) if words[0] == "gdbtp"]
    return 0 <= where - base < size


def interrupted():
    """Take the stacks of the fixture's timer interrupts while all CPUs call functions with jumps. Return the stacks."""
    for name in ("key_stack", "count_ticks", "count_calls"):
        cmd("tvariable $" + name)
    for function in ("gtp_target_add", "gtp_target_obj"):
        how = mechanism_of(function, "teval $count_calls = 1")
        check(how.startswith("jump"), cmd("monitor probes"))
    trace("*gtp_target_irq", "teval $key_stack = $kstack", "teval $count_ticks = 1")
    cmd("tstart")
    looped("mix", 100 * ROUNDS)
    ticks, = [one for one in aggregations.read().all if one.name == "count_ticks"]
    cmd("tstop")
    return [kstack.addresses(entry.keys[0]) for entry in ticks.entries]


def mechanism_of(function, *actions):
    """Make a run with a tracepoint at a function. Return by which mechanism the module probes it."""
    num = trace("*" + function, *actions)
    cmd("tstart")
    how = mechanism(num)
    cmd("tstop")
    return how


@test("an interrupt that arrives while a pad runs: its stack ends at the pad and is marked; all others are complete")
def cut_in_a_pad():
    cut = whole = 0
    found = interrupted()
    for stack in found:
        last = stack[-2] if stack[-1] == kstack.LOST else stack[-1]
        # The kernel's unwind tables do not cover thunks, and in __switch_to() the stack already belongs to the next task.
        known = not is_ours(last) and not re.match("__x86_|__switch_to$", function_of(last - 1))
        equal(stack[-1] == kstack.LOST, not known, " < ".join(kstack.Symbols().names(stack)))
        check(kstack.LOST not in stack[:-1], "a mark in the middle")
        cut += stack[-1] == kstack.LOST
        whole += stack[-1] != kstack.LOST
    note("%d end in a pad, %d are whole" % (cut, whole))
    check(cut and whole, "%d and %d" % (cut, whole))
    stack = next(stack for stack in found if stack[-1] == kstack.LOST)
    equal(kstack.Symbols().names(stack)[-1], kstack.CUT_OFF)


@test("at a return: the callers of the call, followed by a pad or a kretprobe; $bt is refused, and tstart says why")
def at_a_return():
    for off, how in (((), "jump, follows the call"), (("jit",), "jump, follows the call"), (("jumps",), "kretprobe")):
        with without(*off):
            num = trace("*gtp_target_chain_b", "collect $ret, $kstack, $cpu_id")
            outer = trace("*gtp_target_chain_a", "collect $latency")
            cmd("tstart")
            equal(mechanism(num), how)
            equal(mechanism(outer), how)
            target("call chain 5")
            cmd("tstop")
        (stack, cpu), = stacks(num)
        truth = [where for where in noted("chain")[cpu] if not is_ours(where)]
        is_below(stack, truth[1:], ["gtp_target_chain_b"], "%s, without %s" % (how, off))
        cmd("delete")
    trace("*gtp_target_chain_b", "collect $ret, $bt")
    check("bt, and is reported at the function's return" in refused("tstart"), refused("tstart"))


@test("as a key: all CPUs have the same numbers, and every call is counted")
def key():
    for name in ("key_stack", "count_calls"):
        cmd("tvariable $" + name)
    num = trace("gtp_target_leaf", "teval $key_stack = $kstack", "teval $count_calls = 1")
    cmd("tstart")
    made = looped("leaf", ROUNDS)["leaf"]
    one, = aggregations.read().all
    equal(sum(entry.count for entry in one.entries), hits(num))
    equal(hits(num) + nested() + missed(), made)
    cmd("tstop")
    known = {}
    for entry in one.entries:
        stack = tuple(kstack.addresses(entry.keys[0]))
        check(stack not in known, "two numbers for one stack")
        known[stack] = entry.count
        equal(function_of(stack[0]), "gtp_target_leaf")
    text = cmd("monitor status")
    equal(int(matches(r"stacks: +(\d+) different ones", text).group(1)), len(known))
    check("Collected 0 trace frames" in cmd("tstatus"), cmd("tstatus"))


@test("gtp stacks: counts by stack, by another key, and folded; gtp show decodes the key")
def commands():
    text = cmd("gtp count by $kstack, n at gtp_target_chain_c")
    name = matches(r"\$(count_\w+);", text).group(1)
    cmd("tstart")
    for n in (1, 1, 2):
        target("call chain %d" % n)
    chain = [function_of(where - bool(i)) for i, where in enumerate(noted_here("chain")[:2])]
    equal(chain, ["gtp_target_chain_b", "gtp_target_chain_a"])
    outer = [function_of(where - 1) for where in noted_here("chain")[2:]]
    names = ["gtp_target_chain_c"] + chain + outer
    text = cmd("gtp stacks")
    note(*text.splitlines())
    equal(text.splitlines()[1:], ["", "3"] + ["    " + one for one in names])
    folded = ";".join(reversed(names))
    equal(cmd("gtp stacks %s --folded" % name), "%s 3\n" % folded)
    equal(sorted(cmd("gtp stacks --folded --by n").splitlines()), ["22;%s 2" % folded, "23;%s 1" % folded])
    cmd("gtp stacks --folded %s/folded" % SCRATCH)
    with open(SCRATCH + "/folded") as file:
        equal(file.read(), "%s 3\n" % folded)
    text = cmd("gtp show")
    check(re.search(r"^%s.* 22 +2$" % " < ".join(names[:4]), text, re.M), text)
    cmd("tstop")
    equal(cmd("gtp stacks --folded"), "%s 3\n" % folded, "after tstop")
    cmd("delete")
    equal(cmd("gtp stacks --folded"), "%s 3\n" % folded, "behind delete")
    for wrong, why in (("gtp stacks nothing", "there is no"), ("gtp stacks --by x", "has no key x"),
                       ("gtp stacks --top x", "--top takes a number"), ("gtp stacks 99999", "no stack has the number"),
                       ("gtp stacks --folded /nowhere/x", "No such file")):
        check(why in refused(wrong), "%s: %s" % (wrong, refused(wrong)))


def base_of(module):
    """Return a module's first address, from /proc/modules."""
    with there.open("/proc/modules") as file:
        return next(int(line.split()[5], 16) for line in file if line.split()[0] == module)


@test("functions of a module without symbols are shown as offsets in it, with the command that loads the symbols")
def without_symbols():
    cmd("gtp count by $kstack at gtp_target_chain_c")
    cmd("tstart")
    target("call chain 1")
    cmd("tstop")
    outer = noted_here("chain")[1]
    names = ["gtp_target_chain_c"] + [function_of(where - 1) for where in noted_here("chain")]
    cmd("remove-symbol-file -a %#x" % number("(unsigned long)&gtp_target_chain_c"))
    text = cmd("gtp stacks")
    cmd("gtp modules " + KMOD)
    lines, base = text.splitlines(), base_of("gtp_target")
    inside = [int(offset, 16) for offset in re.findall(r"^    \[gtp_target\]\+0x([0-9a-f]+)$", text, re.M)]
    equal([function_of(base + offset - bool(i)) for i, offset in enumerate(inside)], names[:len(inside)])
    equal(inside[2], outer - base)
    equal(lines[-1], "gtp modules reads the symbols of gtp_target")
    text = cmd("gtp stacks")
    equal(text.splitlines()[3:], ["    " + name for name in names])
    cmd("delete")


@test("gtp export flamegraph: a live run's hits, widths proportional to calls, and the parts of the kernel")
def picture():
    cmd("gtp count by $kstack, n at gtp_target_chain_c")
    cmd("tstart")
    for n in (1, 1, 2):
        target("call chain %d" % n)
    outer = [function_of(where - 1) for where in noted_here("chain")[2:]]
    names = ["all"] + outer[::-1] + ["gtp_target_chain_" + one for one in "abc"]
    picture = SCRATCH + "/picture"
    for format_ in ("flamegraph", "folded"):
        equal(cmd("gtp export %s %s" % (format_, picture)), picture + ": 1 stack, 3 hits\n")
        if format_ == "flamegraph":
            root = xml.etree.ElementTree.parse(picture).getroot()
    with open(picture) as file:
        equal(file.read(), ";".join(names[1:]) + " 3\n")
    data = json.loads(next(one.text for one in root.iter() if one.get("class") == "data"))
    nodes = [data["nodes"][i:i + 3] for i in range(0, len(data["nodes"]), 3)]
    equal([(depth, data["names"][name], weight) for depth, name, weight in nodes],
          [(depth, name, 3) for depth, name in enumerate(names)])
    parts = [part for part, _ in data["legend"]]
    note(*parts)
    check({"gtp_target", "fs", "arch/x86"} <= set(parts), parts)
    cmd("tstop")


@test("steps and the kernel's unwinder give the same, at busy functions of the kernel and in interrupts")
def both_ways():
    for name in ("key_stack", "count_calls"):
        cmd("tvariable $" + name)
    for where in ("vfs_read", "vfs_write", "kmem_cache_free", "dput", "wake_up_process", "gtp_target_leaf",
                  "gtp_target_irq", "*gtp_target_chain_c"):
        trace(where, "teval $key_stack = $kstack", "teval $count_calls = 1")
    before = {what: int(parameter("stack_" + what)) for what in ("walked", "handed", "differed")}
    parameter("stack_walk", 2)
    try:
        cmd("tstart")
        looped("mix", ROUNDS)
        target("call irq 4")
        target("call chain 5")
        for _ in range(3):
            # Reload the module in each round, so that what was remembered about its addresses is forgotten.
            shell()("find /proc/self /sys/kernel /usr/bin -maxdepth 2 -ls >/dev/null 2>&1; "
                    "rmmod gtp_target2 2>/dev/null; insmod %s/gtp_target2.ko" % KMOD)
        cmd("tstop")
    finally:
        parameter("stack_walk", 1)
        shell()("rmmod gtp_target2")
    found = {what: int(parameter("stack_" + what)) - before[what] for what in before}
    note(found)
    equal(found["differed"], 0, found)
    check(found["walked"] > 5000 and found["walked"] > 4 * found["handed"], found)


@test("gtp stacks $kstack in a frame; a full table is reported")
def no_room():
    num = trace("gtp_target_leaf", "collect $kstack, n")
    run_trace("call leaf 3")
    cmd("tfind start")
    text = cmd("gtp stacks $kstack")
    check(re.match(r"%#x gtp_target_leaf\+\d+\n0x[0-9a-f]+ call_leaf\+\d+\n" % number("$pc"), text), text)
    cmd("tfind none")
    shell()("echo 4 >/sys/module/gdbtp/parameters/stacks_kb")
    try:
        cmd("delete %d" % num)
        trace("*gtp_target_recurse", "collect $kstack")
        cmd("tstart")
        target("call recurse 100")  # every call has a different stack
        text = cmd("tstop") + cmd("monitor status")
    finally:
        shell()("echo 4096 >/sys/module/gdbtp/parameters/stacks_kb")
    note(*re.findall(r"^.*stack.*$", text, re.M))
    lost = sum(row == 0 for row in collected("$kstack"))
    check(50 < lost < 101, "%d of 101 had no room" % lost)
    equal(re.findall(r"(\d+) hits whose stack found no room", text), [str(lost)] * 2)


@test("collect $bt: GDB's backtrace has the callers and their locals; a shallow stack is no error")
def bt():
    trace("*gtp_target_chain_c", "collect $bt")
    trace("gtp_target_locals", "collect $bt")
    run_trace("call chain 5", "call locals 1")
    equal(len(list(frames())), 2, "frames")
    cmd("tfind 0")
    text = cmd("backtrace 3")
    note(*text.splitlines())
    for i, (name, n) in enumerate((("c", 26), ("b", 6), ("a", 5))):
        check(re.search(r"^#%d .*gtp_target_chain_%s \(n=(?:n@entry=)?(%d|<optimized out>)\)" % (i, name, n), text, re.M), text)
    check("gtp_target_chain_b (n=6)" in text, text)
    bytes_ = number("$bt")
    check(0 < bytes_ <= 4096, "%d bytes" % bytes_)
    # GDB's backtrace must be the beginning of the stack that the kernel sees.
    seen = re.findall(r"^#\d+ +(0x[0-9a-f]+) in ", cmd("backtrace"), re.M)
    truth = ["%#x" % where for where in noted_here("chain")[1:]]
    seen = [hex(int(where, 16)) for where in seen][1:]
    check(len(seen) > 4, "%d callers" % len(seen))
    equal(seen[:len(truth)], truth[:len(seen)])


@test("gtp collect accepts both; a trace file has the stack, and its backtrace")
def saved():
    cmd("trace *gtp_target_chain_c")
    cmd("gtp collect $bt, $kstack, n")
    run_trace("call chain 5")
    cmd("tfind 0")
    here = cmd("backtrace")
    check(number("$bt") > 0 and number("$kstack") > 0, "no value")
    check(len(kstack.addresses(number("$kstack"))) > 4, "no stack")
    cmd("gtp save %s/stack.tf" % SCRATCH)
    index = ["-iex", "set index-cache directory %s" % gdb.parameter("index-cache directory"),
             "-iex", "set index-cache enabled on"]
    text = other_gdb("target tfile %s/stack.tf" % SCRATCH, fixture_symbols(), "tfind 0", "backtrace", "print $bt",
                     files=index + [gdb.current_progspace().filename])
    check(re.sub(r"\(.*", "", here.splitlines()[2]) in text, "%s\n%s" % (here, text))
    check("= %d\n" % number("$bt") in text, text)


@test("$bt ends where the stack ends: at the beginning of a system call")
def shallow():
    num = trace("*__x64_sys_write", "collect $bt, $current_task")
    cmd("tstart")
    target("call leaf 1")
    cmd("tstop")
    check(hits(num) > 0, "no hit")
    check("Trace stopped by a tstop command" in cmd("tstatus"), cmd("tstatus"))
    size = 4 * 4096
    for _ in frames():
        sp, bytes_ = address("$rsp"), number("$bt")
        # The stack above this frame has saved registers, and up to 1 KiB by which the kernel randomises it.
        check(bytes_ < 2048, "%d bytes" % bytes_)
        equal((sp + bytes_) % size, 0, "the end of the stack at %#x" % sp)


@test("inside a followed call: the caller, and not the gate or trampoline")
def followed():
    for jumps, how in (("on", "jump, follows the call"), ("off", "kretprobe")):
        cmd("monitor jumps " + jumps)
        try:
            num = trace("*gtp_target_chain_b", "collect $ret")
            inner = trace("*gtp_target_chain_c", "collect $kstack, $cpu_id")
            cmd("tstart")
            equal(mechanism(num), how)
            target("call chain 5")
            cmd("tstop")
        finally:
            cmd("monitor jumps on")
        (stack, cpu), = stacks(inner)
        names = [function_of(where - bool(i)) for i, where in enumerate(stack)]
        note(how, " < ".join(names))
        equal(names[:3], ["gtp_target_chain_c", "gtp_target_chain_b", "gtp_target_chain_a"])
        truth = [where for where in noted("chain")[cpu] if not is_ours(where)]
        is_below(stack, truth[1:], names[:2], how)
        cmd("delete")


run()
