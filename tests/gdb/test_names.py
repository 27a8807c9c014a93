# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests the commands that take the names of events and system calls: gtp event, gtp events, gtp syscall. Compares the values
# of an event's names with its record.
import re
import sys

from event import iterators, sdata
from lib import *
from places import defined, nothing

# For the events of these systems the values of names are compared with the record; with GTP_SOAK=1, for all events.
SYSTEMS = ("sched", "signal", "task", "timer", "irq", "workqueue", "kmem", "mmap", "filelock", "writeback", "net",
           "skb", "sock", "udp", "tcp", "cgroup", "percpu", "pagemap", "gtp_target")

kernel.mount_tracing()

FIRST = "import os, socket, time; "
# Work that makes many kinds of events.
WORK = (
    "[os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0) for i in range(3)]",
    "r, w = os.pipe(); os.write(w, b'x'); os.read(r, 1); time.sleep(0.05)",
    "import signal; signal.signal(10, lambda *a: None); os.kill(os.getpid(), 10)",
    "import tempfile, fcntl; f = tempfile.TemporaryFile(); f.write(b'x' * 99999); fcntl.flock(f, 2); f.close()",
    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); [s.sendto(b'x' * i, ('127.0.0.1', 9)) for i in range(1, 9)]",
    "l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(); socket.create_connection(l.getsockname()).close()",
)


def module(name):
    """Return one of the Python modules of gdbtp's scripts, which GDB has already loaded."""
    return sys.modules["gtp." + name]


def python(script):
    shell()("ip link set lo up; python3 -c %s" % quoted(FIRST + script))


def event_names():
    return {event.id: event for event in module("places.events").everything().values()}


@test("gtp event: an event by its name, in a GDB that strace crashes; arguments in the condition, $_sdata")
def event():
    text = cmd("gtp event gtp_target:gtp_target_many if a == 7 && pair.y == 7002")
    matches(r"event gtp_target:gtp_target_many \(int a, long b, u8 c, bool d, const char \*s, const void \*p, ", text)
    num, places = list(defined().items())[0]
    equal(places, [kallsyms()["__traceiter_gtp_target_many"]])
    cmd("commands %d" % num, "collect b, $_sdata", "end")
    run_trace("call event 6", "call event 7", "call event 8")
    equal(collected("b"), [-7])
    cmd("tfind start")
    equal(sdata("a", "b"), {"a": "7", "b": "-7"})


@test("gtp event sched:sched_switch: fields of the record stand for the members of arguments that they copy")
def fields():
    matches("event sched:sched_switch",
            cmd("gtp event sched:sched_switch if prev_pid != prev->pid || next_prio != next->prio"))
    matches("prev->pid != prev->pid", cmd("info tracepoints"))
    cmd("gtp event sched:sched_switch if next_pid != 0")
    run_trace("call add 1 1")
    first, second = [hits(n) for n in defined()]
    equal(first, 0)
    check(second > 0, "no switch")


@test("a name that is an argument and a field of another type is the argument, and a note says so")
def note_of_argument():
    text = cmd("gtp event sched:sched_switch if prev_state == 1")
    matches(r"^note: prev_state is the argument \(unsigned int\), not the record's field \(long\)$", text)
    check("note:" not in cmd("gtp event sched:sched_switch if next_pid == 1"), "a note for nothing")
    matches(r"^note: count is not a variable here; it is a static function of fs/exec.c$",
            cmd("gtp event sched:sched_switch if count != 0"))


def expressions(event):
    """Return {field: C} for those fields of an event that stand for an expression and can be compared with it."""
    own = event.names()
    there = {name for _, name in event.fields}
    found = dict(own.stands_for)
    found.update((name, name) for name in own.own if name in there and name not in own.notes)
    kinds = {name: kind for kind, name in event.fields}
    return {name: text for name, text in found.items() if not kinds[name].startswith("__")}


def as_text(expression):
    """Return an expression's value in the selected frame, as gtp sdata writes it."""
    got = value(expression)
    kind = got.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY and kind.target().strip_typedefs().sizeof == 1:
        data = bytes(int(got[i]) % 256 for i in range(kind.range()[1] + 1))
        return module("commands.sdata").quoted(data.split(b"\0")[0])
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return "{%s}" % ", ".join(str(int(got[i])) for i in range(kind.range()[1] + 1))
    return "0x%x" % (int(got) % 2**64) if kind.code == gdb.TYPE_CODE_PTR else str(int(got))


def set_with_fields(name, wanted):
    cmd("gtp event " + name)
    num = number("$bpnum")
    cmd("commands %d" % num, "collect $_sdata", *("collect " + text for text in wanted.values()), "end")
    return num


def differing(num, name, wanted):
    """Compare fields with the record in the first frames of an event. Return the number of comparisons, and the
    differences."""
    seen, wrong = 0, []
    cmd("tfind none")
    for _ in range(4):
        try:
            cmd("tfind tracepoint %d" % num)
        except gdb.error:
            break
        if number("$trace_frame") == -1:
            break
        record = sdata()
        for field, text in wanted.items():
            got = as_text(text)
            seen += 1
            # Some records have an address as a number.
            if got != record[field] and int_of(got) != int_of(record[field]):
                wrong.append("%s %s: %s is %s, the record has %s" % (name, field, text, got, record[field]))
    return seen, wrong


def int_of(text):
    try:
        return int(text, 0) % 2**64
    except ValueError:
        return text


@test("a field's name has the value in the record, at all events that some work hits")
def same_as_the_record():
    chosen, skipped = {}, []
    for name, event in sorted(event_names().items()):
        system = name.split(":")[0]
        if system not in SYSTEMS and not os.environ.get("GTP_SOAK") or system == "raw" or not event.arguments():
            continue
        wanted = expressions(event)
        if not wanted:
            continue
        try:
            chosen[set_with_fields(name, wanted)] = name, wanted
        except gdb.error as error:
            skipped.append("%s: %s" % (name, error))
    note("%d events, %d names" % (len(chosen), sum(len(w) for _, w in chosen.values())))
    note("\n".join(skipped))
    cmd("tstart")
    for script in WORK:
        python(script)
    target("call event 5")
    cmd("tstop")
    note(cmd("tstatus").splitlines()[0])
    events = comparisons = 0
    wrong = []
    for num, (name, wanted) in chosen.items():
        seen, more = differing(num, name, wanted)
        events += seen > 0
        comparisons += seen
        wrong += more
    note("%d comparisons at %d events" % (comparisons, events))
    check(events > 20, "only %d events were hit" % events)
    check(not wrong, "\n".join(wrong))


@test("a pattern of events; events for which the condition cannot be translated are reported")
def pattern():
    text = cmd("gtp event 'gtp_target:*'")
    names = re.findall(r"event (gtp_target:\w+)", text)
    with there.open(TRACING + "available_events") as file:
        wanted = [line.strip() for line in file if line.startswith("gtp_target:")]
    equal(sorted(names), sorted(wanted))
    cmd("delete")
    text = cmd("gtp event gtp_target:* if pair.x == 2")
    matches(r"^not set: gtp_target:gtp_target_count: it has no pair$", text)
    equal(len(defined()), 1)


@test("gtp events: ftrace's events that are tracepoints, by pattern, system or name")
def listing():
    known = iterators()
    with there.open(TRACING + "available_events") as file:
        wanted = {line.strip() for line in file if line.strip().split(":")[1] in known}
    equal({line for line in cmd("gtp events").split() if not line.startswith("raw:")}, wanted)
    equal(cmd("gtp events sched_switch").split(), ["sched:sched_switch"])
    equal(set(cmd("gtp events gtp_target").split()), {e for e in wanted if e.startswith("gtp_target:")})
    processes = {e for e in wanted if e.startswith("sched:sched_process")}
    equal(set(cmd("gtp events 'sched:sched_process*'").split()), processes)


@test("gtp events -v: the arguments, and each field in terms of them")
def detail():
    text = cmd("gtp events -v sched:sched_switch")
    for line in ("    bool preempt", "    struct task_struct *prev", "  fields of its record:"):
        check(line in text.splitlines(), line + " is missing in:\n" + text)
    matches(r"^    pid_t prev_pid +prev->pid$", text)
    matches(r"^    char\[16\] next_comm +next->comm$", text)
    matches(r"^    long prev_state +in the record only: prev_state is the argument$", text)
    matches(r"^    int errno +in the record only$", cmd("gtp events -v signal:signal_generate"))
    matches(r"^    int\[2\] both +in the record only$", cmd("gtp events -v gtp_target:gtp_target_many"))


@test("events: refusals in a sentence, nothing defined")
def event_refusals():
    nothing("gtp event", "no place is named; say gtp event SYSTEM:EVENT [if EXPRESSION]")
    nothing("gtp event sched_switch", "an event is SYSTEM:EVENT; is it sched:sched_switch?")
    nothing("gtp event sched:sched_swich",
            "the running kernel has no event sched:sched_swich; is it sched:sched_switch")
    nothing("gtp event xyzzy:*", "no event matches xyzzy:*; gtp events lists them")
    nothing("gtp event --limit 2 sched:*", "events match, and the limit is 2; narrow it down, or say --limit")
    nothing("gtp event syscalls:sys_enter_read",
            "syscalls:sys_enter_read is not a tracepoint of its own; say gtp syscall read")
    nothing("gtp event sched:sched_switch if nonesuch == 1", "sched:sched_switch: ", "nonesuch",
            "sched:sched_switch has preempt, prev, next, prev_state, prev_comm, prev_pid")
    nothing("gtp event signal:signal_generate if 1 && errno == 1",
            "column 6, errno: the kernel computes this field; "
            "collect $_sdata and see gtp sdata, or use an argument")
    nothing("gtp event sched:sched_switch if common_pid == 1",
            "column 1, common_pid: ftrace writes this field; $current_task_pid and $cpu_id are what there is here")
    check("no event matches xyzzy*" in refused("gtp events xyzzy*"), "gtp events")
    check("say gtp events [PATTERN], gtp events -v SYSTEM:EVENT, or" in refused("gtp events -v"), "gtp events -v")


@test("the number of a system call is known at its exit, too: gtp count by id at raw_syscalls:sys_exit")
def system_call_numbers():
    name = "raw_syscalls:sys_exit"
    wanted = expressions(module("places.events").find(name))
    equal(sorted(wanted), ["id", "ret"])
    num = set_with_fields(name, wanted)
    run_trace("call add 1 1")
    seen, wrong = differing(num, name, wanted)
    check(seen >= 8 and not wrong, "%d compared, %s" % (seen, wrong))
    cmd("delete")
    cmd("gtp count by id at " + name)
    run_trace("call add 1 1")
    rows = re.findall(r"^\s*(\d+)\s+(\d+)\s*$", cmd("gtp show"), re.M)
    check(rows and all(0 <= int(n) < 500 for row in rows for n in row[:1]), cmd("gtp show"))


# Machine code that calls getpid(21, ..., 26) by int 0x80, as 32-bit programs do. 64-bit programs can use int 0x80, too.
COMPAT = bytes.fromhex("5355b814000000bb15000000b916000000ba17000000be18000000bf19000000bd1a000000cd805d5bc3")

CALLS = """
import ctypes, mmap
[ctypes.CDLL(None).syscall(39, *map(ctypes.c_long, range(11, 17))) for i in range(3)]
"""

COMPAT_CALL = """
room = mmap.mmap(-1, 4096, prot=7); room.write(bytes.fromhex("%s"))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
""" % COMPAT.hex()


def has_compat():
    """Return whether the kernel has 32-bit system calls (CONFIG_IA32_EMULATION)."""
    return not {"entry_INT80_compat", "do_int80_emulation"}.isdisjoint(kallsyms())


@test("the arguments of any system call, 32-bit ones too: args[0] to args[5] are the record's; in conditions, as keys")
def system_call_arguments():
    name, all_six = "raw_syscalls:sys_enter", ["args[%d]" % i for i in range(6)]
    cmd("gtp event %s if args[0] == 11 && id == 39 || args[0] == 21 && id == 20" % name)
    num = number("$bpnum")
    cmd("commands %d" % num, "collect $_sdata", "end")
    cmd("gtp collect " + ", ".join(all_six))
    cmd("gtp count by args[1] at %s if args[5] == 16" % name)
    cmd("tstart")
    python((CALLS + (COMPAT_CALL if has_compat() else "")).strip().replace("\n\n", "\n").replace("\n", "; "))
    cmd("tstop")
    records, printed = [], []
    for _ in frames():
        if number("$tracepoint") == num:
            records.append(re.findall(r"\d+", sdata("args")["args"]))
            printed.append(re.findall(r"\d+$", "\n".join(cmd("gtp print " + text).strip() for text in all_six), re.M))
    equal(records, [[str(n) for n in range(11, 17)]] * 3 + [[str(n) for n in range(21, 27)]] * has_compat())
    equal(printed, records)
    matches(r"^\s*12\s+3\s*$", cmd("gtp show"))
    cmd("delete")
    nothing("gtp event %s if args[6] == 1" % name, "column 1, args: say args[0] to args[5], each by its number")
    nothing("gtp event %s if args[01] == 1" % name, "column 1, args: say args[0] to args[5], each by its number")
    nothing("gtp event %s if args == 1" % name, "column 1, args: say args[0] to args[5], each by its number")
    matches(r"\[0\] .*regs->di", cmd("gtp events -v " + name))


@test("not connected: the commands for events say what to do")
def unconnected():
    disconnect()
    for line in ("gtp event sched:sched_switch", "gtp events", "gtp event sched:*"):
        nothing(line, "not connected to a kernel; say: target remote /proc/gtp")


# System calls ------------------------------------------------------------------------------------

SIZE = 12345


def reads(times):
    """Run a process that reads the first SIZE bytes of a file of 1000 bytes, TIMES times."""
    python("fd = os.open('/dev/shm/gtp', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * 1000); "
           "[(os.lseek(fd, 0, 0), os.read(fd, %d)) for i in range(%d)]" % (SIZE, times))


@test("gtp syscall: entry and exit, arguments by name at both, exact counts")
def syscall():
    text = cmd("gtp syscall read if count == %d" % SIZE)
    matches(r"Tracepoint \d+ at 0x\w+: entry of read\(unsigned int fd, char \*buf, size_t count\)\n"
            r"Tracepoint \d+ at 0x\w+: exit of read, \$ret is what it returns", text)
    enter, leave = defined()
    equal(defined()[enter], [kallsyms()["__x64_sys_read"]])
    cmd("commands %d" % leave, "collect ret", "end")
    cmd("tstart")
    reads(5)
    cmd("tstop")
    equal((hits(enter), hits(leave)), (5, 5))
    cmd("tfind tracepoint %d" % leave)
    equal(number("ret"), 1000)


@test("gtp collect after gtp syscall collects at the entry and at the exit, each the values that it has")
def collected_at_both():
    cmd("gtp syscall read if count == %d" % SIZE)
    enter, leave = defined()
    text = cmd("gtp collect fd, count, $ret")
    matches(r"^collected at tracepoints %d and %d$" % (enter, leave), text)
    matches(r"^not at tracepoint %d: \$ret$" % enter, text)
    matches("no_such", refused("gtp collect count, no_such"))
    cmd("tstart")
    reads(3)
    cmd("tstop")
    equal((hits(enter), hits(leave)), (3, 3))
    for num in (enter, leave):
        cmd("tfind tracepoint %d" % num)
        equal(int(cmd("gtp print count").split(" = ")[1]), SIZE)
    equal(int(cmd("gtp print $ret").split(" = ")[1]), 1000)


@test("$ret in the condition: only the exit, and only failed calls")
def ret():
    text = cmd("gtp syscall openat if $ret < 0 && flags == 01000000")
    check("entry" not in text, text)
    cmd("tstart")
    python("import ctypes; c = ctypes.CDLL(None); "
           "[c.syscall(257, -100, path, 0o1000000, 0) for path in (b'/', b'/none', b'/none', b'/none')]")
    cmd("tstop")
    equal([hits(n) for n in defined()], [3])


@test("types of the arguments count: a negative int is negative")
def signed():
    cmd("gtp syscall lseek if offset == -77")
    cmd("gtp syscall dup3 if oldfd == -5")
    cmd("tstart")
    python("import ctypes; c = ctypes.CDLL(None); [c.syscall(8, -1, ctypes.c_long(-77), 0) for i in range(2)]; "
           "[c.syscall(292, -5, 0, 0) for i in range(3)]")
    cmd("tstop")
    equal([hits(n) for n in defined()], [2, 2, 3, 3])


@test("the number of a 32-bit call is another call's: int 0x80 with writev's number is not writev")
def compat():
    if not has_compat():
        skip("the kernel is built without CONFIG_IA32_EMULATION")
    cmd("gtp syscall writev")
    cmd("tstart")
    python("""
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex('b814000000cd80c3'))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
assert call() in (os.getpid(), -38)
os.writev(os.open('/dev/null', 1), [b'a', b'b'])""".lstrip())
    cmd("tstop")
    equal([hits(n) for n in defined()], [1, 1])


@test("collected expressions can use the names: names.py has them by the tracepoint's number")
def names():
    cmd("gtp syscall read if count == %d" % SIZE)
    enter, leave = defined()
    expand = module("places.names").expand
    equal(expand("count + $ret, p->count, \"fd\", sizeof(struct fd)", leave),
          "((size_t)regs->dx) + ret, p->count, \"fd\", sizeof(struct fd)")
    equal(expand("offsetof(struct file, count), container_of(buf, struct x, fd)", enter),
          "offsetof(struct file, count), container_of(((char *)regs->si), struct x, fd)")
    check("it is known at the exit only" in str(outcome(expand, "$ret", enter)), "$ret at the entry")
    equal(expand("count", 99999), "count")
    guarded = module("places.names").guarded
    equal((guarded("a == 1", enter), guarded(None, enter)), ("a == 1", None))
    matches(r"^\(regs->orig_ax == 0\) && .* && \(ret < 0\)$", guarded("ret < 0", leave))
    equal(expand("count", 99999, kallsyms()["__x64_sys_read"]), "((size_t)regs->dx)")
    equal(expand("prev_pid == 1", 99999, kallsyms()["__traceiter_sched_switch"]), "prev->pid == 1")
    equal(expand("prev_pid == 1", 99999, kallsyms()["vfs_read"]), "prev_pid == 1")


def outcome(function, *args):
    try:
        return function(*args)
    except gdb.GdbError as error:
        return error


@test("gtp collect, gtp if and gtp print accept these names, too; an exit stays that of its call")
def names_in_commands():
    cmd("gtp syscall read")
    enter, leave = defined()
    cmd("gtp if %d count == %d" % (enter, SIZE))
    cmd("gtp if %d $ret == 1000 && count == %d" % (leave, SIZE))
    cmd("gtp collect %d count" % enter)
    cmd("gtp collect %d $ret" % leave)
    matches(r"regs->orig_ax == 0", cmd("info tracepoints"))
    cmd("tstart")
    reads(5)
    cmd("tstop")
    equal((hits(enter), hits(leave)), (5, 5))
    cmd("tfind tracepoint %d" % enter)
    equal(int(cmd("gtp print count").split(" = ")[1]), SIZE)
    cmd("tfind tracepoint %d" % leave)
    equal(int(cmd("gtp print $ret").split(" = ")[1]), 1000)
    cmd("gtp if %d" % leave)
    matches(r"regs->orig_ax == 0", cmd("info tracepoints"))


@test("gtp collect/s N: the strings of a tracepoint that is not the last")
def strings_by_number():
    cmd("gtp trace %s if pathname->name == \"/proc/version\"" % opening())
    first = number("$tpnum")
    cmd("gtp syscall read if count == %d" % SIZE)
    cmd("gtp collect/s %d pathname->name" % first)
    cmd("tstart")
    python("open('/proc/version').close()")
    cmd("tstop")
    cmd("tfind tracepoint %d" % first)
    equal(string("pathname->name"), "/proc/version")


@test("gtp collect without a number: the last existing tracepoint, not a deleted one")
def last_there():
    first = trace("*vfs_read")
    cmd("delete %d" % trace("*vfs_write"))
    cmd("gtp collect count")
    matches(r"collect count", cmd("info tracepoints %d" % first))


@test("a pattern of system calls: entry and exit of each that the kernel has")
def syscall_pattern():
    text = cmd("gtp syscall 'open*'")
    names = set(re.findall(r"entry of (\w+)", text))
    offered = {line.split()[-1] for line in cmd("complete gtp syscall open").splitlines()}
    check({"open", "openat", "openat2", "open_tree"} <= names, text)
    equal(names, offered)
    equal(len(defined()), 2 * len(names))
    cmd("delete")
    matches(r"^not set: open_by_handle_at.*: it has no filename$", cmd("gtp syscall open* if filename == 0"))
    equal(len(defined()), 2 * (len(names) - 1))


@test("system calls: refusals in a sentence, nothing defined")
def syscall_refusals():
    nothing("gtp syscall", "no place is named; say gtp syscall NAME [if EXPRESSION]")
    nothing("gtp syscall uname", "the running kernel has no 64-bit system call uname; is it newuname?")
    nothing("gtp syscall raed", "the running kernel has no 64-bit system call raed; is it read")
    nothing("gtp syscall xyz*", "no system call matches xyz*")
    nothing("gtp syscall --limit 1 open*", "system calls match, and the limit is 1; narrow it down, or say --limit")
    nothing("gtp syscall read if nonesuch == 1", "read: ", "nonesuch", "system call read has fd, buf, count, $ret")


@test("completion: events, their names after if, system calls and their names")
def completion():
    def offered(line):
        return cmd("complete " + line).splitlines()
    equal(offered("gtp event sched:sched_swi"), ["gtp event sched:sched_switch"])
    equal(offered("gtp events sched:sched_swi"), ["gtp events sched:sched_switch"])
    check("gtp event sched:sched_switch if next_comm" in offered("gtp event sched:sched_switch if next_"), "no field")
    check("gtp event sched:sched_switch if prev" in offered("gtp event sched:sched_switch if pre"), "no argument")
    equal(offered("gtp syscall openat2"), ["gtp syscall openat2"])
    equal(offered("gtp syscall read if cou"), ["gtp syscall read if count"])
    equal(offered("gtp syscall read if $re"), ["gtp syscall read if $ret"])


run()
