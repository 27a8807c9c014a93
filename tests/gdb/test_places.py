# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Tests gtp trace, which takes places by name: functions wherever they are, patterns, files, lines. A refused command must
# define nothing.
import contextlib
import io
import itertools
import re
import sys
import tempfile
import types

from lib import *
from places import all_hits, defined, nothing

SOURCE = "gtp_target_fn.c"


@contextlib.contextmanager
def memory():
    """Context manager: mount a tmpfs. Yield its folder. On overlayfs one system call would become two calls of a
    function."""
    folder = shell()("folder=$(mktemp -d); mount -t tmpfs none $folder; echo $folder").strip()
    try:
        yield folder
    finally:
        shell()("umount %s; rmdir %s" % (folder, folder))


@test("a function: at its first instruction, not after the prologue that GDB finds; the condition holds")
def function():
    matches("first instruction of gtp_target_add", cmd("gtp trace gtp_target_add if a == 3"))
    equal(list(defined().values()), [[kallsyms()["gtp_target_add"]]])
    run_trace("call add 3 1", "call add 4 1", "call add 3 2")
    equal(all_hits(), 2)


@test("the result is an ordinary tracepoint: actions, condition, passcount, delete")
def ordinary():
    cmd("gtp trace gtp_target_add")
    number = list(defined())[0]
    cmd("commands %d" % number, "collect a, b", "end")
    cmd("condition %d b == 7" % number)
    run_trace("call add 1 7", "call add 2 8", "call add 3 7")
    equal(collected("a", "b"), [(1, 7), (3, 7)])
    cmd("delete %d" % number)
    equal(defined(), {})


@test("a function that the compiler split and inlined into itself is hit once per call")
def split():
    with memory() as folder:
        work = {"vfs_rmdir": "mkdir {0}/d; rmdir {0}/d", "vfs_symlink": "ln -s x {0}/l; rm {0}/l",
                "vfs_mkdir": "mkdir {0}/d; rmdir {0}/d"}
        for name, script in work.items():
            note(cmd("gtp trace " + name).strip())
            cmd("tstart")
            shell()("for i in 1 2 3 4 5; do %s; done" % script.format(folder))
            cmd("tstop")
            equal(all_hits(), 5, name)
            cmd("delete")


@test("an inlined function is hit at each of its copies")
def inlined():
    note(cmd("gtp trace vfs_fsync").strip())
    with memory() as folder:
        cmd("tstart")
        shell()("python3 -c 'import os; fd = os.open(\"%s/f\", os.O_CREAT); [os.fsync(fd) for i in range(7)]'" % folder)
        cmd("tstop")
    equal(all_hits(), 7)


@test("mutex_lock: a place that takes no probe is reported, the others are traced")
def mutex_lock():
    need_mutex_lock()
    text = cmd("gtp trace mutex_lock")
    note(text.strip())
    places = [at for number in defined().values() for at in number]
    check(kallsyms()["mutex_lock"] in places, "not at its first instruction")
    said = cmd("tstart")
    shell()("true | cat")
    probes = kernel.probes(cmd("monitor probes"))
    cmd("tstop")
    equal(set(probes), set(places))
    refusals = [at for at, probe in probes.items() if probe.how == "not armed"]
    note("%d of %d places refused" % (len(refusals), len(places)))
    for at in refusals:
        check("%x" % at in said, "%x is not told in: %s" % (at, said))
    check(all_hits() > 0, "no hit")


@test("an inlined copy without a variable of the condition is reported, and the others are set")
def some_places():
    need_mutex_lock()
    cmd("gtp trace mutex_lock")
    places = {at for number in defined().values() for at in number}
    cmd("delete")
    text = cmd("gtp trace mutex_lock if lock == 0")
    note(text.strip())
    there = {at for number in defined().values() for at in number}
    told = {int(at, 16) for line in re.findall(r"^not set: .*", text, re.M) for at in re.findall(r"0x[0-9a-f]+", line)}
    equal(there | told, places)
    equal({at for at in places if re.search(r"^Symbol lock is", cmd("info scope *%#x" % at), re.M)}, there)
    check(kallsyms()["mutex_lock"] in there, text)
    check(not told or "no variable lock here" in text, text)


@test("a pattern: every function that it matches, each with the fixture's count")
def pattern():
    text = cmd("gtp trace 'gtp_target_chain_?'")
    matches(r"^Tracepoints \d+-\d+: 3 of 3 functions that match 'gtp_target_chain_\?'; places: 3$", text)
    names = {kallsyms()["gtp_target_chain_" + c]: c for c in "abc"}
    equal({at for (at,) in defined().values()}, set(names))
    before = {c: calls("chain_" + c) for c in "abc"}
    run_trace("call chain 1", "call chain 2")
    for number, (at,) in defined().items():
        equal(hits(number), calls("chain_" + names[at]) - before[names[at]], names[at])


@test("a pattern with a condition: functions without a variable of that name are reported, and nothing is guessed")
def pattern_condition():
    text = cmd("gtp trace gtp_target_* if a == 5")
    matches(r"^not set: .*: no variable a here$", text)
    there = [at for (at,) in defined().values()]
    check(kallsyms()["gtp_target_add"] in there, text)
    check(kallsyms()["gtp_target_leaf"] not in there, text)
    run_trace("call add 5 1", "call add 6 1", "call leaf 5")
    equal(all_hits(), 1)


@test("a name that is static in another file gets a note: GDB uses it silently")
def elsewhere():
    matches(r"^note: count is not a variable here; it is a static function of fs/exec.c$",
            cmd("gtp trace vfs_fsync if count != 0"))


@test("FILE:*: all functions of a source file, and only those")
def file():
    with open(os.path.join(TOP, "tests/kmod", SOURCE)) as source:
        wanted = set(re.findall(r"^[a-zA-Z]\w.*?\b(gtp_target_\w+)\([^;]*?\)\n\{", source.read(), re.M))
    check(len(wanted) > 12, str(wanted))
    matches(" %d functions that match" % len(wanted), cmd("gtp trace %s:*" % SOURCE))
    names = {kallsyms()[name] for name in wanted}
    found = {at for places in defined().values() for at in places}
    check(names <= found, "missing: %s" % [hex(at) for at in names - found])


@test("FILE:PATTERN and FILE:FUNCTION")
def file_pattern():
    cmd("gtp trace %s:gtp_target_chain_*" % SOURCE)
    equal(len(defined()), 3)
    cmd("delete")
    matches("first instruction of gtp_target_leaf", cmd("gtp trace %s:gtp_target_leaf" % SOURCE))


@test("FILE:LINE and *ADDRESS mean the same as in GDB, with the condition")
def line():
    cmd("gtp trace %s:%d if twice == 8" % (SOURCE, source_line(SOURCE, "locals are set")))
    cmd("gtp trace *gtp_target_add if b == 9")
    run_trace("call locals 3", "call locals 4", "call add 1 9", "call add 1 8")
    equal([hits(number) for number in defined()], [1, 1])


@test("the address is kept as a symbol: it is right in the kernel's next boot, too")
def by_name():
    cmd("gtp trace gtp_target_add if a == 1")
    with tempfile.NamedTemporaryFile("r") as saved:
        cmd("save tracepoints " + saved.name)
        text = saved.read()
    matches(r"^(with breakpoint pending on -- )?trace \*gtp_target_add *$", text)  # GDB 18 adds the words before "trace"


@test("more places than the limit are refused with their number, and set with --limit")
def limit():
    nothing("gtp trace --limit 2 'gtp_target_chain_?'",
            "3 functions match, and the limit is 2; narrow it down, or say --limit 3")
    matches("and the limit is 200; narrow it down, or say --limit", refused("gtp trace '*read*'"))
    cmd("gtp trace --limit 3 'gtp_target_chain_?'")
    equal(len(defined()), 3)
    cmd("delete")
    nothing("gtp trace --limit few gtp_target_add", "--limit takes a number, as in --limit 1000")
    nothing("gtp trace gtp_target_add --limit", "--limit takes a number")


@test("refusals: the mistake in a sentence; nothing is defined")
def refusals():
    nothing("gtp trace", "no place is named; say gtp trace LOCATION [if EXPRESSION]")
    nothing("gtp trace gtp_target_add if", "no expression after `if'; say gtp trace LOCATION [if EXPRESSION]")
    nothing("gtp trace if a == 3", "no place is named")
    nothing("gtp trace gtp_target_ad", 'Function "gtp_target_ad" not defined; is it gtp_target_add')
    nothing("gtp trace no_such_function_anywhere", "not defined; if it is a module's, gtp modules loads its symbols")
    nothing("gtp trace no_such_*", "no function matches no_such_*")
    nothing("gtp trace no_such.c:*",
            "No source file named no_such.c; if it is a module's, gtp modules loads its symbols")
    nothing("gtp trace no_such.c:7", "No source file named no_such.c")
    nothing("gtp trace include/linux/fs.h:*",
            "include/linux/fs.h is a header: its functions stand in the files that include it; name them one by one")
    nothing("gtp trace gtp_target_add if nonesuch == 1", "gtp_target_add (0x", "nonesuch")
    nothing("gtp trace gtp_target_chain_* if nonesuch == 1", "nothing is set:", "gtp_target_chain_a (0x", "nonesuch")
    nothing("gtp trace gtp_target_add if a ==", "gtp_target_add (0x")
    nothing("gtp trace %s:%d if nonesuch" % (SOURCE, source_line(SOURCE, "locals are set")), "nonesuch")
    nothing("gtp trace *nonesuch", 'No symbol "nonesuch" in current context')


@test("a name that is in several files is refused with their paths")
def several_files():
    nothing("gtp trace main.c:*", "files; write more of the path:", "init/main.c")


@test("during a run: a new tracepoint joins it, a refused one leaves nothing armed in it")
def during():
    cmd("gtp trace gtp_target_leaf")
    cmd("tstart")
    refused("gtp trace %s:%d if nonesuch" % (SOURCE, source_line(SOURCE, "locals are set")))
    cmd("gtp trace gtp_target_chain_? if n == 1")
    target("call locals 3")
    target("call chain 1")
    cmd("tstop")
    wanted = {kallsyms()["gtp_target_chain_a"]: 1, kallsyms()["gtp_target_leaf"]: 0,
              kallsyms()["gtp_target_chain_b"]: 0, kallsyms()["gtp_target_chain_c"]: 0}
    equal({at: hits(number) for number, (at,) in defined().items()}, wanted)
    equal(sum(1 for _ in frames()), 1)


@test("during a run: a line and an address join it with their condition, and with nothing else")
def during_locations():
    cmd("gtp trace gtp_target_leaf")
    cmd("tstart")
    cmd("gtp trace %s:%d if twice == 8" % (SOURCE, source_line(SOURCE, "locals are set")))
    cmd("gtp trace *gtp_target_add if b == 9")
    refused("gtp trace *gtp_target_chain_a if nonesuch == 1")
    for line in ("locals 3", "locals 4", "locals 5", "add 1 9", "add 1 8", "add 2 9"):
        target("call " + line)
    probes = kernel.probes(cmd("monitor probes"))
    cmd("tstop")
    equal([hits(number) for number in defined()], [0, 1, 2])
    equal(sum(1 for _ in frames()), 3)
    equal(set(probes), {at for places in defined().values() for at in places})


@test("completion: functions and files before if, expressions after it")
def completion():
    check("gtp trace gtp_target_add" in cmd("complete gtp trace gtp_target_ad").splitlines(), "no function")
    check("gtp trace gtp_target_add if gtp_target_counter" in
          cmd("complete gtp trace gtp_target_add if gtp_target_count").splitlines(), "no variable")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@test("a pattern that takes longer than a second shows its progress on the terminal, and erases it")
def shows_progress():
    progress, terminal, seconds = sys.modules["gtp.gdblib.progress"], Terminal(), itertools.count(0, 0.5)
    usual = progress.time, sys.__stderr__
    progress.time, sys.__stderr__ = types.SimpleNamespace(monotonic=lambda: next(seconds)), terminal
    try:
        cmd("gtp trace 'gtp_target_chain_?'")
    finally:
        progress.time, sys.__stderr__ = usual
    equal(re.findall(r"\r(\w[^\r]*?) *(?=\r)", terminal.getvalue()),
          ["looking for the places of functions: 1 of 3", "looking for the places of functions: 2 of 3",
           "setting tracepoints at functions: 1 of 3", "setting tracepoints at functions: 2 of 3"])
    matches(r"\r +\r$", terminal.getvalue())


run()
