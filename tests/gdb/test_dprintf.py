# SPDX-License-Identifier: GPL-2.0-only
# Tests dprintf with the style "agent": the kernel's text must reach a GDB that waits, the kernel's trace, or the kernel's
# log.
from inner import Inner
from lib import *
from others import instructions, looped

ROUNDS = 20000
LOG_A_SECOND = 200


def agent(*lines):
    return Inner("set dprintf-style agent", *lines)


def dprintf(function, text, *args):
    return 'dprintf %s,"%s\\n"%s' % (function, text, "".join("," + arg for arg in args))


def clean():
    """Delete all definitions, in the stub as well. Otherwise the next GDB to connect would upload them."""
    fresh()
    cmd("maint packet QTinit")
    disconnect()


def said(text, word):
    """Return the lines of a text that begin with a word."""
    return re.findall("^(?:%s).*" % word, text, re.M)


def so_far(gdb_):
    """Return hits, lines printed, lines dropped, since the module was loaded."""
    found = matches(r"all so far: (\d+) hits, (\d+) lines printed, (\d+) dropped", gdb_.say("monitor dprintf"))
    return tuple(map(int, found.groups()))


def since(before, now):
    return tuple(b - a for a, b in zip(before, now))


def drain(gdb_):
    """Let GDB print the lines of dprintfs that still wait in the module. Return their text."""
    text = ""
    for _ in range(100):
        hits_, printed, dropped = so_far(gdb_)
        if hits_ == printed + dropped:
            return text
        text += gdb_.during()
    raise Failure("lines still wait: %s" % (so_far(gdb_),))


def places(gdb_):
    """Return the lines of `monitor dprintf` that describe a place: those that begin with its address."""
    return said(gdb_.say("monitor dprintf"), "0x")


def text_of(name):
    with kernel.Kcore() as memory:
        return memory.read(calls(name), 16)


@test("text goes to GDB's console while continue waits; ^C ends that, and the code is restored")
def console():
    before = text_of("gtp_target_add")
    with agent(dprintf("gtp_target_add", "add %ld %ld", "a", "b")) as gdb_:
        equal(text_of("gtp_target_add"), before, "the code before the continue")
        gdb_.wait()
        check(text_of("gtp_target_add") != before, "nothing is armed")
        target("call add 1 2")
        equal(said(gdb_.until("^add"), "add"), ["add 1 2"])
        target("call add -3 4")
        equal(said(gdb_.interrupt(), "add"), ["add -3 4"])
        equal(text_of("gtp_target_add"), before, "the code after ^C")
        target("call add 5 6")
        equal(said(gdb_.during("call add 7 8"), "add"), ["add 7 8"])
        gdb_.leave()


@test("formats, members, strings, built-in variables; a value that cannot be read is replaced by a message")
def formats():
    with agent(dprintf("gtp_target_obj", "obj %s %d %5u|%-4x|%#lx",
                       "&o->name[0]", "o->values[1]", "o->medium", "n", "o->big"),
               dprintf("gtp_target_str", "str '%s' %c on %d", "s", "*s", "$cpu_id"),
               dprintf("gtp_target_ptr", "ptr %d", "*(int *)p")) as gdb_:
        text = gdb_.during("call obj 2 2", "call str kernel", "call ptr 10", "call obj 1 1")
        equal(said(text, "obj"), 2 * ["obj obj-2 21 60002|2   |0xfffffffffffffff9"] +
              ["obj obj-1 11 60001|1   |0xfffffffffffffffa"])
        check(re.fullmatch(r"str 'kernel' k on \d+", said(text, "str")[0]), text)
        matches(r"dprintf at gtp_target_ptr.* failed: .*cannot read memory at 0x10 \(4 bytes\)", text)


@test("a dprintf within the bytes of another's jump: both are armed, and both print")
def within_a_jump():
    connect()
    found = instructions("gtp_target_locals", r"\+\d+>:")
    disconnect()
    # Do not take the entry: the jump for the entry is after the function tracer's site, and the second dprintf would
    # precede it.
    for one, other in [(a, b) for a, b in zip(found[1:], found[2:]) if b - a < 5]:
        with agent("set breakpoint always-inserted on", dprintf("*0x%x" % one, "one")) as gdb_:
            if "jump" not in places(gdb_)[0]:
                continue
            text = gdb_.say(dprintf("*0x%x" % other, "other")) + gdb_.during("call locals 3")
            check("not armed" not in text, text)
            equal(said(text, "one|other"), ["one", "other"])
            equal(["jump" in line for line in places(gdb_) if "0x%x " % one in line], [False])
            gdb_.say("delete")
            return
    raise Failure("no jump over a second instruction")


@test("each dprintf has its own condition, even two at one address")
def conditions():
    with agent(dprintf("gtp_target_add", "three %ld", "b"), dprintf("gtp_target_add", "four %ld", "b"),
               dprintf("gtp_target_leaf", "leaf %ld", "n"), "condition 1 a == 3", "condition 2 a == 4",
               "condition 3 n > 7 && n < 10") as gdb_:
        text = gdb_.during(*["call add %d %d" % (i, 10 * i) for i in range(6)],
                           *["call leaf %d" % i for i in range(12)])
        equal(said(text, "three|four|leaf"), ["three 30", "four 40", "leaf 8", "leaf 9"])


@test("a place that takes no probe is reported, and the others print; a breakpoint is refused as usual")
def refused_places():
    with agent(dprintf("gtp_target_noprobe", "never"), dprintf("gtp_target_add", "add %ld", "a")) as gdb_:
        text = gdb_.during("call add 1 1")
        matches(r"gdbtp: dprintf is not armed at 0x%x \(gtp_target_noprobe.*\): " % calls("gtp_target_noprobe"), text)
        equal(said(text, "add"), ["add 1"])
        # If GDB cannot insert a breakpoint in a module's code, it silently continues.
        text = gdb_.say("break gtp_target_leaf") + gdb_.during("call leaf 1", "call add 2 1")
        matches(r"gdbtp: no breakpoint at 0x%x, it would stop the kernel: use trace" % calls("gtp_target_leaf"), text)
        equal(said(text, "add"), ["add 2"])
        # GDB cannot pass an array as an argument.
        gdb_.say("delete 3", dprintf("gtp_target_obj", "never %s", "o->name"))
        text = gdb_.during("call obj 1 1", "call add 3 1")
        matches(r"no breakpoint at 0x%x.*If it is a dprintf" % calls("gtp_target_obj"), text)
        equal(said(text, "add|never"), ["add 3"])
        gdb_.say("delete 1", "monitor strict on", dprintf("gtp_target_noprobe", "never"))
        text = gdb_.during("call add 4 1")
        gdb_.say("monitor strict off")
        matches(r"gdbtp: dprintf at 0x%x: " % calls("gtp_target_noprobe"), text)
        equal(said(text, "add"), ["add 4"])
        text = gdb_.say("delete", "break *0x%x" % kallsyms()["vfs_read"], "continue", "delete")
        matches("Cannot insert breakpoint", text)
        matches("takes console, trace, log, clear or nothing, not 'printer'", gdb_.say("monitor dprintf printer"))


@test("beside a tracepoint at the same place: a frame and a line for each hit, and the run ends as usual")
def beside():
    with agent("trace gtp_target_add", "passcount 5", dprintf("gtp_target_add", "add %ld", "a"), "tstart") as gdb_:
        text = gdb_.during("call add 1 1", "call add 2 1")
        equal(said(text, "add"), ["add 1", "add 2"])
        target("call add 3 1")
        gdb_.wait()
        target("call add 4 1")
        target("call add 5 1")
        text = gdb_.stopped()
        equal(said(text, "add"), ["add 4"])
        matches("tracepoint 1 reached its pass count", text)
        matches("Collected 5 trace frames", gdb_.say("tstatus"))
        equal(places(gdb_), [])
        equal(said(gdb_.during("call add 6 1"), "add"), ["add 6"])
        matches("Found trace frame 4", gdb_.say("tfind 4", "tfind none"))


@test("always inserted: through tstart and tstop, with and without a tracepoint there")
def always():
    with agent("set breakpoint always-inserted on", "monitor dprintf trace",
               dprintf("gtp_target_add", "always %ld", "a")) as gdb_:
        start = so_far(gdb_)
        seen = []
        for number_, commands in enumerate(([], ["trace gtp_target_add", "tstart"], ["tstop"],
                                            ["delete 2", "trace gtp_target_leaf", "tstart"],
                                            ["tstop", "tstart", "tstop"]), 1):
            gdb_.say(*commands)
            target("call add %d 0" % number_)
            seen.append(since(start, so_far(gdb_))[0])
        equal(seen, [1, 2, 3, 4, 5])
        gdb_.say("delete", "monitor dprintf console")
        equal(places(gdb_), [])


@test("monitor dprintf trace: the kernel's trace has the line, with place, CPU, pid and time; no warning at load")
def trace_buffer():
    kernel.mount_tracing()
    with agent("monitor dprintf trace", dprintf("gtp_target_add", "traced %ld", "a")) as gdb_:
        gdb_.wait()
        for i in range(20):
            target("call add %d 0" % i)
        until(lambda: "traced 19" in kernel.get(TRACING + "trace"), "the last line")
        found = re.findall(r"gtp_target_add: (\d+\.\d{6}) cpu \d+ pid (\d+): traced (\d+)$",
                           kernel.get(TRACING + "trace"), re.M)
        equal([int(n) for _, _, n in found], list(range(20)))
        equal({int(pid) for _, pid, _ in found}, {shell().pid})
        times = [float(time) for time, _, _ in found]
        equal(times, sorted(times))
        equal(said(gdb_.interrupt(), "traced"), [])
        gdb_.say("monitor dprintf console")
    check("trace_printk() being used" not in shell()("dmesg"), "the kernel warns of trace_printk()")


@test("monitor dprintf log: the kernel's log has the lines, up to the rate limit")
def log():
    with agent("monitor dprintf log", dprintf("gtp_target_leaf", "logged %ld", "n")) as gdb_:
        start = so_far(gdb_)
        gdb_.wait()
        target("call leaf 4711")
        until(lambda: "logged 4711" in shell()("dmesg"), "the line in the log")
        made = looped("leaf", ROUNDS // 10)["leaf"]
        gdb_.interrupt()
        until(lambda: sum(since(start, so_far(gdb_))[1:]) == made + 1, "the last line")
        hits_, printed, dropped = since(start, so_far(gdb_))
        note("%d hits, %d lines printed, %d dropped" % (hits_, printed, dropped))
        equal(hits_, made + 1)
        check(printed >= 1 and dropped > 0, "nothing was held back")
        matches(r"\[\d+ lines of dprintf were dropped", shell()("dmesg"))
        gdb_.say("monitor dprintf console")


@test("a storm on all CPUs: GDB prints a line for each hit, or the line is dropped and counted")
def storm():
    check(CPUS >= 2, "one CPU is no storm")
    with agent(dprintf("gtp_target_leaf", "storm %ld on %d", "n", "$cpu_id")) as gdb_:
        start = so_far(gdb_)
        gdb_.wait()
        made = looped("leaf", ROUNDS)["leaf"]
        text = gdb_.interrupt()
        text += drain(gdb_)
        hits_, printed, dropped = since(start, so_far(gdb_))
        note("%d calls, %d hits, %d lines printed, %d dropped" % (made, hits_, printed, dropped))
        equal(made, CPUS * ROUNDS)
        equal(hits_, made, "hits")
        equal(len(said(text, "storm")), printed, "lines that GDB printed")
        if dropped and "dropped" not in text:
            text += gdb_.during()  # the lines have filled the pipe; the rest waits for the next continue
        told = re.findall(r"\[(\d+) lines of dprintf were dropped", text)
        equal(sum(map(int, told)), dropped, "lines that GDB says were dropped")
        check(dropped > 0 and printed > 0, "no storm")
        equal({int(cpu) for cpu in re.findall(r"^storm \d+ on (\d+)$", text, re.M)}, set(range(CPUS)))


@test("a kernel tracepoint, hit in NMIs: no line is lost")
def nmi():
    with agent("monitor dprintf trace", dprintf("*__traceiter_gtp_target_count", "event %ld", "$rsi")) as gdb_:
        start = so_far(gdb_)
        gdb_.wait()
        before = fixture()
        target("nmi 20")
        made = fixture()["nmi"] - before["nmi"]
        gdb_.interrupt()
        until(lambda: sum(since(start, so_far(gdb_))[1:]) == made, "the last line")
        note("%d NMIs" % made)
        check(made > 0, "no NMI")
        equal(since(start, so_far(gdb_))[0], made)
        gdb_.say("monitor dprintf console")


@test("unloading a module removes its dprintf, and ends a continue that has no other dprintf")
def module_unload():
    shell()("insmod %s/gtp_target2.ko" % KMOD)
    where = kernel.symbols("gtp_target2_fn")["gtp_target2_fn"]
    with agent(dprintf("*0x%x" % where, "second %ld", "$rdi")) as gdb_:
        gdb_.wait()
        shell()("echo 5 >/sys/module/gtp_target2/parameters/call")
        shell()("rmmod gtp_target2")
        text = gdb_.stopped()
        equal(said(text, "second"), ["second 5"])
        matches("code of module gtp_target2 has gone, and 1 dprintf with it", text)
        matches("no dprintf is left that continue could wait for", text)
        gdb_.leave()


@test("GDB is killed in its continue: printing to its console ends; printing to the trace goes on until it is cleared")
def killed():
    before = text_of("gtp_target_add")
    with agent(dprintf("gtp_target_add", "add %ld", "a")) as gdb_:
        gdb_.wait()
        gdb_.kill()
    equal(text_of("gtp_target_add"), before, "the code")
    with agent("monitor dprintf trace", dprintf("gtp_target_add", "orphan %ld", "a")) as gdb_:
        gdb_.wait()
        gdb_.kill()
    target("call add 99 0")
    until(lambda: "orphan 99" in kernel.get(TRACING + "trace"), "the line")
    with agent() as gdb_:
        equal(len(places(gdb_)), 1)
        gdb_.say("monitor dprintf clear", "monitor dprintf console")
        equal(places(gdb_), [])
        matches("no trace is running|the trace", gdb_.say("continue"))
    equal(text_of("gtp_target_add"), before, "the code")


run(before=clean)
