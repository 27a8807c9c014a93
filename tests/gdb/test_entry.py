# SPDX-License-Identifier: GPL-2.0-only
# Tests probes at function entries: jumps after the function tracer's site, and the function tracer's direct calls, alone and
# together with other probes. For a guest with --thread single.
from fixture import load_tables, put_table
from lib import *
from others import *

NOP = bytes.fromhex("0f1f440000")
BEHIND = "jump after the function tracer's site"
CALL = "ftrace call"


def by(way):
    """Make the module probe the entries of the fixture's functions in this WAY. For jumps, load the table of regions, which
    the module needs for them; otherwise remove the table."""
    if way == BEHIND:
        load_table("gtp_target")
    else:
        equal(put_table(b"forget\n"), 0)


def each_way(name):
    """Make a test for each of the two mechanisms, jumps and the function tracer's direct calls."""
    def for_each(function):
        for way in (BEHIND, CALL):
            def turn(way=way):
                by(way)
                function(way)
            test("%s: %s" % (way, name))(turn)
    return for_each


def site():
    """Return the address of the function tracer's instruction, which is the entry, or follows an endbr64 there."""
    start = address("&gtp_target_obj")
    return start + 4 if text_at(start, 4) == bytes.fromhex("f30f1efa") else start


ORIGINAL = []


def entering(way, condition="", *actions):
    """Start a run with a tracepoint at the entry of gtp_target_obj. Return its number."""
    cmd("set circular-trace-buffer on")
    if not ORIGINAL:
        ORIGINAL.append(text_at(site(), 16))
    num = trace("*gtp_target_obj" + condition, *actions)
    cmd("tstart")
    equal(mechanism(num), way)
    if way == CALL:
        equal(text_at(site(), 1)[0], 0xe8)
    else:
        equal(text_at(site(), 6), NOP + b"\xe9")
    return num


def restored():
    equal(text_at(site(), 16), ORIGINAL[0], "the site and what is behind it")
    equal(ORIGINAL[0][:5], NOP, "the site")


@each_way("exact counts on all CPUs, and the code is what it was")
def counts(way):
    num = entering(way)
    made = looped("obj")
    equal(made["obj"], ROUNDS * CPUS)
    equal(hits(num), made["obj"])
    equal(nested() + missed(), 0)
    cmd("tstop")
    restored()


@test("arguments, the caller and the stack are those of the entry, with each mechanism")
def registers():
    rows = []
    for way in (BEHIND, CALL, "kprobe on ftrace"):
        by(way)
        cmd("monitor jumps " + ("off" if way == "kprobe on ftrace" else "on"))
        num = trace("*gtp_target_obj", "collect $regs, o->id, n, *(unsigned long *)$rsp")
        cmd("tstart")
        equal(mechanism(num), way)
        target("call obj 3")
        cmd("tstop")
        rows.append(collected("o->id", "n", "$rip", "$cs", "$ss", "*(unsigned long *)$rsp")[0])
        check(rows[-1][2] in (address("&gtp_target_obj"), site()), "rip 0x%x" % rows[-1][2])
        cmd("delete")
    cmd("monitor jumps on")
    equal(rows[0], rows[2], "by a jump behind the site, as by a kprobe")
    equal(rows[1], rows[2], "by a call, as by a kprobe")
    equal(rows[0][0], 103)


@each_way("the pc that a condition sees is the entry's")
def pc(way):
    num = entering(way, " if (unsigned long)$rip == %d" % address("&gtp_target_obj"))
    target("call obj 1")
    cmd("tstop")
    equal(hits(num), 1)


@each_way("a condition is evaluated at the entry")
def condition(way):
    num = entering(way, " if (int)o->kind == 1 && o->id > 101", "collect o->id")
    for i in (0, 1, 2, 3, 3):
        target("call obj %d" % i)
    cmd("tstop")
    equal(collected("o->id"), [103, 103])
    equal(hits(num), 2)


@each_way("an error of the condition is the same error")
def error(way):
    trace("*gtp_target_ptr if *(long *)p == 5")
    cmd("tstart")
    target("call ptr 18")
    matches(r"stopped by an error \(.*0x18", cmd("tstatus"))


@each_way("a second tracepoint during the run")
def second(way):
    entering(way, " if o->id == 100")
    target("call obj 1")
    other = trace("*gtp_target_obj if o->id == 101")
    target("call obj 1")
    target("call obj 0")
    cmd("tstop")
    equal(hits(other), 1)
    equal(len(collected("$pc")), 2)
    restored()


@each_way("the function tracer and a kprobe at the same entry, whoever comes and goes first")
def others(way):
    probe = Kprobe(site())
    num = entering(way)
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


@test("a condition that faults in the kernel's own fault handling ends the run, and does nothing else")
def fault_in_fault():
    load_tables()
    # The pad reads a faulting address that it computes itself, while a process makes the kernel handle another fault.
    faulty = "*(long *)(((unsigned long)$rsp & 0xff8) + 0xffff800000001000)"
    bad_write = "python3 -c 'import ctypes; ctypes.CDLL(None).write(1, ctypes.c_void_p(16), 8)'"
    for where in ("*fixup_exception", "*search_exception_tables", "*search_extable"):
        trace("%s if %s == 1" % (where, faulty))
        cmd("tstart")
        shell()(bad_write)
        matches(r"stopped by an error \(.*0xffff80000000[12]", cmd("tstatus"))
        cmd("delete")


@each_way("the function graph tracer at the same entry: every call is a hit, and returns")
def graph(way):
    write("set_graph_function", "gtp_target_obj")
    num = entering(way)
    try:
        write("current_tracer", "function_graph")
        made = looped("obj", 50)["obj"]
        equal(hits(num), made)
        equal(made, 50 * CPUS)
    finally:
        write("current_tracer", "nop")
        write("set_graph_function", "")
    cmd("tstop")
    restored()


@test("tracepoints at an entry and after its site: both are hit, as jumps or as calls, in either order")
def both():
    by(BEHIND)
    behind = site() + len(NOP)
    for first, second in (("*gtp_target_obj", "*%#x" % behind), ("*%#x" % behind, "*gtp_target_obj")):
        for together in (True, False):
            a = trace(first)
            if together:
                b = trace(second)
            cmd("tstart")
            if not together:
                b = trace(second)
            how = mechanism(a), mechanism(b)
            note("%s, then %s%s: %s" % (first, second, "" if together else " during the run", how))
            made = looped("obj", 50)["obj"]
            cmd("tstop")
            equal((hits(a), hits(b)), (made, made))
            cmd("delete")
            check(how[0] in ("jump", BEHIND, CALL), "the first is a %s" % how[0])
            if together:
                equal(sorted(how), [CALL, "jump"])


def functions(pattern, count):
    with there.open(TRACING + "available_filter_functions") as file:
        return [line.strip() for line in file if re.fullmatch(pattern, line.strip())][:count]


@test("300 entries with the command ftrace, which requires a fast probe: all get one, in one batch", once=True)
def many():
    load_tables()
    names = functions(r"(vfs|tcp|inet|sock|dentry|bio)_\w+", 300)
    nums = [int(matches(r"racepoint (\d+)", cmd("ftrace *" + n)).group(1)) for n in names]
    text = cmd("tstart")
    how = [probe.how for probe in kernel.probes(cmd("monitor probes")).values()]
    shell()("cat /proc/modules >/dev/null")
    cmd("tstop")
    counts = {way: how.count(way) for way in set(how)}
    note(counts, text)
    check(len(names) == 300, "only %d functions" % len(names))
    check(counts[BEHIND] >= 0.95 * len(how), counts)
    check(set(how) <= {BEHIND, CALL, "not armed"}, counts)
    check(counts.get("not armed", 0) <= 3, counts)
    cmd("tstatus")  # one tstatus reads the counts of all tracepoints
    equal(len(nums), 300)
    check(sum(map(int, re.findall(r"already hit (\d+) time", cmd("info tracepoints")))) > 10, "hardly any hit")


@test("many entries without a table: the first few become ftrace calls, the others kprobes, and all are counted")
def many_calls():
    by(CALL)
    nums = [trace("*" + n) for n in functions(r"vfs_\w+", 40)]
    cmd("tstart")
    kinds = [mechanism(n) for n in nums]
    check(kinds.count("ftrace call") == 16, "kinds %s" % kinds)
    shell()("cat /proc/modules >/dev/null")
    cmd("tstop")
    check(sum(hits(n) for n in nums) > 10, "hardly any hit")
    load_tables()


run()
