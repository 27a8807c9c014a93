# SPDX-License-Identifier: GPL-2.0-only
# Tests what happens inside one call: variables that have a value for each task, gtp path and gtp calls. The fixture's source,
# its counters and the kernel's function graph tracer know the right answers.
import collections
import re
import time

from lib import *
from others import looped, mechanism

CROWD = 300
MANY = 2500  # tasks at a time: the table has 1024 buckets of five, so some buckets overflow
EXITS = 20
WANTED = "gtp_target_wait"
IN_WANTED = "task_" + WANTED
FOLLOWED = "jump, follows the call"


def values(name):
    """Return what monitor status says about a variable of tasks: set, still there, without room, died."""
    found = matches(r"\$%s was set for (\d+), (\d+) still have it; no room for (\d+); (\d+) died" % name, cmd("monitor status"))
    return tuple(map(int, found.groups()))


def marked(where, condition, *actions):
    """Set a tracepoint whose condition gives the task a value, which its actions, at the return, remove."""
    return trace("%s if %s($task_in = (long)$rsp)" % (where, condition), "collect $ret", *actions, "teval $task_in = 0")


@test("$task_NAME: only the tasks that have set it have it, while %d tasks sleep inside a function" % CROWD)
def crowd():
    cmd("tvariable $task_in")
    num = marked("*" + WANTED, "n % 3 == 0 && ", "collect n, $current_task_pid")
    inside = trace("*schedule if $task_in", "collect $current_task_pid")
    cmd("tstart")
    equal(mechanism(num), FOLLOWED)
    target("crowd %d" % CROWD)
    equal(values("task_in"), (CROWD // 3, CROWD // 3, 0, 0))
    target("release")
    equal(values("task_in"), (CROWD // 3, 0, 0, 0))
    cmd("tstop")
    equal((nested(), missed(), hits(num)), (0, 0, CROWD // 3))
    pids, seen = {}, collections.Counter()
    for _ in frames():
        if number("$tracepoint") == num:
            pids[number("$current_task_pid")] = number("n")
        elif number("$tracepoint") == inside:
            seen[number("$current_task_pid")] += 1
    equal(sorted(pids.values()), list(range(0, CROWD, 3)))
    equal(set(seen), set(pids), "the tasks that schedule() has seen inside")


@test("$task_NAME on all CPUs at once: exact counts, and nothing that is called outside is seen")
def all_cpus():
    cmd("tvariable $task_in")
    cmd("set circular-trace-buffer on")
    num = marked("*gtp_target_obj", "")
    outside = trace("*gtp_target_leaf if $task_in")
    cmd("tstart")
    made = looped("obj", 2000)
    looped("leaf", 2000)
    equal(values("task_in"), (made["obj"], 0, 0, 0))
    cmd("tstop")
    check(made["obj"] >= 2000 * CPUS, "too few calls: %s" % made)
    equal((hits(num), hits(outside), nested(), missed()), (made["obj"], 0, 0, 0))


@test("$task_NAME of tasks that end inside: their entries are counted, and other tasks are not taken for them")
def ends_inside():
    cmd("tvariable $task_in")
    marked("*gtp_target_exit", "n >= 0 && ")
    other = trace("*gtp_target_chain_c if $task_in")
    cmd("tstart")
    for _ in range(EXITS):
        target("call exit 1")
        target("call chain 1")
    made, still, no_room, died = values("task_in")
    note("%d still there, %d found by a later task at the same address" % (still, died))
    equal((made + no_room, still + died), (EXITS, made))
    cmd("tstop")
    equal(hits(other), 0)
    shell()("sleep 1.5")  # gdbtp counts the calls that have not returned every second, and then may be unloaded


@test("$task_NAME in interrupts: an interrupt has the value of the task under it, other tasks that the call starts have none")
def interrupts():
    cmd("tvariable $task_in")
    num = marked("*gtp_target_call_context", "")
    both = trace("*gtp_target_context if $task_in", "collect $current_task, $hardirq_count")
    every = trace("*gtp_target_context")
    others = trace("*gtp_target_context if !$task_in", "collect $hardirq_count")
    cmd("tstart")
    # Not "soft": whether its softirq comes on top of the task or in a task of the kernel is not certain.
    calls = ("task", "hard", "kthread", "hard", "task", "bh")
    for where in calls:
        target("call context " + where)
    cmd("tstop")
    equal(values("task_in"), (len(calls), 0, 0, 0))
    inside = [where for where in calls if where != "kthread"]
    equal((hits(num), hits(both), hits(others), nested(), missed()), (len(calls), len(inside), hits(every) - len(inside), 0, 0))
    found = []
    for _ in frames():
        if number("$tracepoint") == both:
            found.append(number("$hardirq_count") != 0)
        elif number("$tracepoint") == others:
            equal(number("$hardirq_count"), 0, "an interrupt that does not see the value of the task under it")
    equal(found, [where == "hard" for where in inside], "which of the hits were in interrupts")


@test("a dprintf cannot name $task_NAME")
def refused_dprintf():
    cmd("tvariable $task_in")
    marked("*gtp_target_obj", "")
    run_trace("call obj 1")  # GDB sends variables at tstart only
    cmd("set dprintf-style agent")
    cmd('dprintf *gtp_target_leaf,"%d\\n",$task_in')
    try:
        said = cmd("continue")
        check("$task_in has a value for each task in a run" in said, "it was accepted: " + said)
    finally:
        cmd("delete")
        cmd("set dprintf-style gdb")


# gtp path ---------------------------------------------------------------------------

LINE_OF = re.compile(r"^ *[\d.]+(?:e\+\d+)? \w+ {2}( *)(\w+\.\w+):(\d+)(.*)$")


class Shown:
    """The output of gtp path show or gtp calls show. heads: [(number, text)]; rows: the lines of each call."""

    def __init__(self, text):
        self.text, self.heads, self.rows = text, [], []
        for line in text.splitlines():
            head = re.match(r"call (\d+): (.*)$", line)
            if head:
                self.heads.append(head.group(2))
                self.rows.append([])
            elif line.startswith(" "):
                self.rows[-1].append(line)

    def steps(self, nr):
        """Return [(level, line number, the rest)] of a call."""
        found = [matches(LINE_OF.pattern, row) for row in self.rows[nr]]
        return [(len(one.group(1)) // 2, int(one.group(3)), one.group(4)) for one in found]


def set_path(text):
    return int(matches(r"Tracepoint (\d+): calls of", cmd("gtp path " + text)).group(1))


@test("gtp path: the lines of the wanted calls only, in order, with the variables that changed")
def path_of_locals():
    num = set_path("gtp_target_locals if n > 3")
    run_trace(*("call locals %d" % n for n in range(1, 7)))
    equal((hits(num), nested(), missed()), (3, 0, 0))
    shown = Shown(cmd("gtp path show"))
    note(shown.text)
    check(shown.text.endswith("3 calls of gtp_target_locals\n"), shown.text)
    last = source_line("gtp_target_fn.c", "locals are set")
    for nr, n in enumerate((4, 5, 6)):
        matches(r"gtp_target_locals\(n=%d\) = %d  " % (n, 2 * n + 22 + ord("q")), shown.heads[nr])
        steps = shown.steps(nr)
        lines_ = [line for _, line, _ in steps]
        check(last in lines_, "line %d is not among %s" % (last, lines_))
        check(all(last - 9 <= line <= last + 1 for line in lines_), "other lines than the function's: %s" % lines_)
        equal({level for level, _, _ in steps}, {0})
        changed = "".join(rest for _, _, rest in steps)
        for text in ("twice = %d" % (2 * n), "{11, 22, 33}", "113 'q'"):
            check(text in changed, "no %s: %s" % (text, changed))


@test("gtp path: each call of a function that calls itself has its own level")
def path_of_recursion():
    num = set_path("gtp_target_recurse if n == 3")
    run_trace("call recurse 2", "call recurse 3", "call recurse 4")
    # The call with 4 makes one with 3, too.
    equal((hits(num), nested(), missed()), (2, 0, 0))
    shown = Shown(cmd("gtp path show"))
    note(shown.text)
    for nr in range(2):
        levels = [level for level, _, _ in shown.steps(nr)]
        top = levels.index(max(levels))
        equal(max(levels), 3)
        equal(levels, sorted(levels[:top]) + levels[top:][:0] + sorted(levels[top:], reverse=True), "in and out again")
    equal([row[1:] for row in shown.steps(0)][0][0], [row[1:] for row in shown.steps(1)][0][0])


@test("gtp path: a mark that a missed return has left does not hide later calls of the task")
def path_after_missed_return():
    num = set_path("gtp_target_locals if n > 3")
    # Leave a mark as from a call deeper on the same stack, which has returned meanwhile. The kernel lets each system call
    # begin up to a KiB deeper.
    trace("*gtp_target_leaf if ($task_gtp_target_locals = (long)$rsp - 2048)")
    run_trace("call leaf 1", "call locals 4", "call leaf 1", "call locals 5", "call locals 6")
    equal((hits(num), nested(), missed()), (3, 0, 0))
    equal(values("task_gtp_target_locals"), (3, 0, 0, 0))
    shown = Shown(cmd("gtp path show"))
    equal([matches(r"gtp_target_locals\(n=(\d)\)", head).group(1) for head in shown.heads], ["4", "5", "6"])
    check(all(shown.rows), "a call without lines: " + shown.text)


@test("gtp path show says how many calls found no room for a mark")
def path_without_room():
    from gtp.run import onecall  # import it only now, because the prefix `gtp` must exist first
    set_path("gtp_target_locals")
    run_trace("call locals 4")
    check("no room" not in cmd("gtp path show"), "it says so of a run in which all had room")
    asked = onecall.remote.monitor
    onecall.remote.monitor = lambda what: asked(what).replace("no room for 0;", "no room for 7;")
    try:
        said = cmd("gtp path show")
    finally:
        onecall.remote.monitor = asked
    check("note: 7 calls found no room for a mark: what they would show is not there" in said, said)


@test("more tasks inside than the table has room for: those without room are counted and have no lines, the others are right")
def full_buckets():
    num = set_path(WANTED)
    cmd("tstart")
    target("crowd %d" % MANY)
    made, still, no_room, died = values(IN_WANTED)
    note("%d tasks have a mark, %d found no room" % (made, no_room))
    equal((made + no_room, still, died), (MANY, made, 0))
    check(no_room and made > MANY // 2, "%d of %d tasks found no room" % (no_room, MANY))
    target("release")
    equal(values(IN_WANTED), (made, 0, no_room, 0))
    # The table is as good as new: a few tasks more have room.
    target("crowd 3")
    target("release")
    equal(values(IN_WANTED)[0], made + 3)
    cmd("tstop")
    equal((hits(num), nested(), missed()), (MANY + 3, 0, 0))
    text = cmd("gtp path show --calls %d" % (2 * MANY))
    check("note: %d calls found no room for a mark: what they would show is not there" % no_room in text, text[-300:])
    shown = Shown(text)
    equal((len(shown.heads), sum(not rows for rows in shown.rows)), (MANY + 3, no_room))
    check("hit outside" not in text, "lines of tasks without a mark: " + text[-300:])
    equal(len({tuple(line for _, line, _ in shown.steps(nr)) for nr, rows in enumerate(shown.rows) if rows}), 1,
          "the sequences of lines")


@test("gtp path: calls that never return, and calls that another run has begun, are no calls; their lines are outside of calls")
def path_without_return():
    num = set_path("gtp_target_exit if n >= 0")
    run_trace(*["call exit 1"] * 3)
    made, still, no_room, died = values("task_gtp_target_exit")
    equal((made + no_room, still + died), (3, made))
    ended = 3 - no_room
    text = cmd("gtp path show")
    found = matches(r"^0 calls of gtp_target_exit; (\d+) lines were hit outside of them\n", text)
    check(int(found.group(1)) >= ended > 0 and hits(num) == 0, text)
    shell()("sleep 1.5")  # as in ends_inside()
    cmd("delete")
    num = set_path(WANTED)
    cmd("tstart")
    target("crowd 5")
    equal(values(IN_WANTED), (5, 5, 0, 0))
    cmd("tstop")
    text = cmd("gtp path show")
    matches(r"^0 calls of gtp_target_wait; \d+ lines were hit outside of them\n", text)
    # The five tasks are inside when the next run begins. Their values belong to the run before.
    cmd("tstart")
    equal(values(IN_WANTED), (0, 0, 0, 0))
    target("release")
    equal(values(IN_WANTED), (0, 0, 0, 0))
    target("crowd 2")
    target("release")
    equal(values(IN_WANTED), (2, 0, 0, 0))
    cmd("tstop")
    equal((hits(num), nested(), missed()), (2, 0, 0))
    shown = Shown(cmd("gtp path show"))
    check(shown.text.endswith("2 calls of gtp_target_wait\n") and all(shown.rows), "not only the calls of this run: " + shown.text)


@test("a name of the debug information that is no name in C is not collected")
def names_of_others():
    from gtp.run import onecall  # import it only now, because the prefix `gtp` must exist first
    equal(onecall.plain_names(["n", 'x, $_shell("id")', "$n", "a::b", "_n2", "n = 3", ""]), ["n", "_n2"])


@test("gtp path: 20 tasks that sleep in the function, each has its own lines")
def path_of_sleepers():
    num = set_path(WANTED)
    cmd("tstart")
    target("crowd 20")
    target("release")
    cmd("tstop")
    equal((hits(num), nested(), missed()), (20, 0, 0))
    shown = Shown(cmd("gtp path show --calls 20"))
    note(shown.text[:3000])
    equal(len(shown.heads), 20)
    equal(sorted(int(matches(r"\(n=(\d+)\)", head).group(1)) for head in shown.heads), list(range(20)))
    for nr, head in enumerate(shown.heads):
        n = int(matches(r"\(n=(\d+)\) = (\d+)  ", head).group(1))
        equal(int(matches(r" = (\d+)  ", head).group(1)), 2 * n)
        check(shown.steps(nr), "a call without lines")
    lines_ = [[line for _, line, _ in shown.steps(nr)] for nr in range(20)]
    equal({max(one) for one in lines_}, {max(lines_[0])}, "the last lines")
    check("hit outside" not in shown.text, "lines outside of calls")


# gtp calls --------------------------------------------------------------------------

def set_calls(text):
    said = cmd("gtp calls " + text)
    found = matches(r"Tracepoint (\d+): calls of \w+; (\d+) functions below it", said)
    return int(found.group(1)), int(found.group(2))


def graph(function, pattern, line):
    """Let the function graph tracer record the calls that match a pattern while the fixture calls FUNCTION. Return
    [(depth, name)] below FUNCTION."""
    tracing = shell()
    tracing("cd %s; echo nop >current_tracer; echo '%s' >set_ftrace_filter; echo %s >set_graph_function; "
            "echo function_graph >current_tracer; echo >trace" % (TRACING, pattern, function))
    try:
        target(line)
        text = tracing("cat %strace" % TRACING)
    finally:
        tracing("cd %s; echo nop >current_tracer; echo >set_graph_function; echo >set_ftrace_filter" % TRACING)
    found = re.findall(r"\| ( *)(\w+)(?: \[\w+\])?\(\)", text)
    return [(len(blanks) // 2 - len(found[0][0]) // 2, name) for blanks, name in found][1:]


def tree(rows):
    """Return [(depth, name)] of the lines of a call."""
    return [((len(row) - len(row.lstrip())) // 2, row.split("(")[0].strip()) for row in rows]


@test("gtp calls: the same tree as the function graph tracer's, with arguments, returns and times")
def calls_of_chain():
    truth = graph("gtp_target_chain_a", "gtp_target_*", "call chain 5")
    note(truth)
    num, count = set_calls("gtp_target_chain_a --into 'gtp_target_*' if n > 3")
    run_trace(*("call chain %d" % n for n in (1, 5, 2, 7)))
    equal((hits(num), nested(), missed()), (2, 0, 0))
    shown = Shown(cmd("gtp calls show"))
    note("%d functions\n%s" % (count, shown.text))
    for nr, n in enumerate((5, 7)):
        matches(r"gtp_target_chain_a\(n=%d\) = %d  [\d.]+ \w+  by " % (n, n + 323), shown.heads[nr])
        equal(tree(shown.rows[nr]), truth)
        text = "\n".join(shown.rows[nr])
        matches(r"(?m)^  gtp_target_chain_b\(n=%d\) = %d  [\d.]+ \w+$" % (n + 1, n + 322), text)
        matches(r"(?m)^    gtp_target_chain_c\(n=%d\) = %d  [\d.]+ \w+$" % (n + 21, n + 321), text)
    check(shown.text.endswith("2 calls of gtp_target_chain_a\n"), shown.text)


@test("gtp calls: a call in an interrupt that comes on top of a wanted call is marked, and one in another task is not shown")
def calls_in_interrupts():
    num, _ = set_calls("gtp_target_call_context --into gtp_target_context")
    run_trace(*("call context " + where for where in ("task", "hard", "kthread")))
    equal((hits(num), nested(), missed()), (3, 0, 0))
    shown = Shown(cmd("gtp calls show"))
    note(shown.text)
    equal([[(name, "(in an interrupt)" in row) for row, (_, name) in zip(rows, tree(rows))] for rows in shown.rows],
          [[("gtp_target_context", False)], [("gtp_target_context", True)], []])
    check("made outside" not in shown.text, shown.text)


@test("gtp calls without --into: the functions that the code names; $ret chooses the calls that are shown")
def calls_by_code():
    num, count = set_calls("gtp_target_chain_a if $ret > 328")
    check(count >= 3, "%d functions" % count)
    run_trace(*("call chain %d" % n for n in (5, 6, 7)))
    equal((hits(num), nested()), (3, 0))
    shown = Shown(cmd("gtp calls show"))
    # The kernel misses kretprobes of functions that its own handlers call, and this is said.
    equal("%d hits were missed" % missed() in shown.text, missed() > 0, "what is said about missed hits")
    note(shown.text)
    equal([matches(r"chain_a\(n=(\d+)\) = ", head).group(1) for head in shown.heads], ["6", "7"])
    for rows in shown.rows:
        equal([name for _, name in tree(rows) if "chain" in name], ["gtp_target_chain_b", "gtp_target_chain_c"])


def set_and_armed(command, least):
    """Give a command that sets many tracepoints, at LEAST so many, and run them for a moment. All that takes seconds."""
    began = time.monotonic()
    said = cmd(command)
    was_set = time.monotonic()
    # The run must not end by itself: if debugfs is not mounted for kernel threads, as in these guests, the removal of a
    # thousand jumps by a kernel thread takes minutes.
    cmd("set circular-trace-buffer on")
    told = cmd("tstart")
    armed = time.monotonic()
    probes = collections.Counter(re.sub(r"\d+|, .*", "", line.split("  ")[-1]) for line in cmd("monitor probes").splitlines())
    note("%s%s%d s to set, %d s to arm\n%s" % (said, told, was_set - began, armed - was_set, probes.most_common(12)))
    shell()("cat /proc/version")
    cmd("tstop")
    note(cmd("tstatus"))
    check(armed - began < 300, "it took %d s" % (armed - began))
    note("%d s to stop" % (time.monotonic() - armed))
    places = int(matches(r"(\d+) (?:lines|functions)", said).group(1))
    check(places > least, "only %d places" % places)


@test("300 lines of one function: set and armed in seconds")
def many_lines():
    for command in ("gtp path tcp_sendmsg_locked", "gtp path tcp_sendmsg_locked --fast"):
        set_and_armed(command, 300)
        fresh()


# GDB defines 3,001 tracepoints, which takes half a minute of CPU time. On each kernel, many_lines() arms 300 jumps at once.
@test("1,500 functions below one: set and armed in seconds", once=True)
def many_functions():
    set_and_armed("gtp calls vfs_read --limit 3000", 1500)


@test("refusals: nothing is set")
def refusals():
    for text, why in (("path", "no place is named"), ("path show", "no path is set"), ("path nothing_like_this", "not defined"),
                      ("calls", "no place is named"), ("calls gtp_target_leaf", "calls no function that can be traced"),
                      ("calls gtp_target_chain_a --into", "nothing after --into"), ("path gtp_target_locals if nothing > 3", "nothing")):
        said = refused("gtp " + text) if text != "path show" else None
        check(said is None or why in said, "%s: %s" % (text, said))
    check("No tracepoints" in cmd("info tracepoints"), "tracepoints are left")


run()
