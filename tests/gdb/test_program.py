# SPDX-License-Identifier: GPL-2.0-only
# Tests tracepoints in all processes that run a program's file. Compares hits and values with what the program counts and
# prints itself.
import os

import fixture as modules
from lib import *
from places import defined
from programs import BUILT, PROGRAM, Process, base_of, code_of, copy, file_code, gtp_trace, line_of, linked, running_program
from tap import rounds


@test("gtp lib: the file's symbols are in a space that no process maps; the same file has the same space")
def lib():
    text = cmd("gtp lib " + PROGRAM)
    base = base_of(text)
    equal(base >> 56, 0x47)
    equal(cmd("gtp lib " + PROGRAM), text)
    equal(address("&work"), base + linked(PROGRAM)["work"])
    matches("%#x  %s, 0 probes" % (base, re.escape(PROGRAM)), cmd("gtp lib"))


@test("each call is a hit, with the arguments that it had, strings included")
def arguments():
    num = gtp_trace("-x %s work" % PROGRAM, "n, p->x, p->y, $current_task_pid", "/s text", "/s p->name")
    with running_program() as one:
        cmd("tstart")
        one("call 100 5")
        cmd("tstop")
        equal(hits(num), 5)
        equal(collected("n", "p->x", "p->y", "$current_task_pid"), [(n, 2 * n, 3 * n, one.pid) for n in range(100, 105)])
    cmd("tfind start")
    equal((string("text"), string("p->name")), ("some text", "a point"))
    matches("^work in section .text of ", cmd("info symbol $pc"))
    matches(r"#0 .*work \(n=100", cmd("backtrace 1"))


@test("gtp collect /argv and /mem: a program's arguments, and memory of a length known at the hit")
def unrolled():
    begun = gtp_trace("-x %s main" % PROGRAM, "/argv argv")
    num = gtp_trace("-x %s work" % PROGRAM, "n, /mem:(n - 100) text")
    cmd("tstart")
    with running_program() as one:
        one("call 100 10")
    cmd("tstop")
    matches(r'^ *\d+ +"%s"$' % re.escape(PROGRAM), cmd("gtp table %d" % begun))
    rows = re.findall(r'^ *\d+ +(\d+) +(".*")$', cmd("gtp table %d" % num), re.M)
    equal(rows, [(str(100 + n), '"%s"' % "some text"[:n]) for n in range(10)])


@test("a condition selects exactly the right calls, with memory that it reads")
def condition():
    nums = [gtp_trace("-x %s work if n %% 3 == 0" % PROGRAM),
            gtp_trace("-x %s work if p->y > 3 * 50" % PROGRAM),
            gtp_trace("-x %s work if total == 40" % PROGRAM, "n"),
            gtp_trace("-x %s work if n == -1" % PROGRAM)]
    with running_program() as one:
        cmd("tstart")
        one("call 0 99")
        cmd("tstop")
    equal([hits(num) for num in nums], [33, 48, 1, 0])
    cmd("tfind tracepoint %d" % nums[2])
    equal(number("n"), 40)


@test("during a run: a function, a line, an address and a pattern join it with their condition, and with nothing else")
def joins():
    num = gtp_trace("-x %s slow_sum" % PROGRAM)
    with running_program() as one:
        cmd("tstart")
        nums = [gtp_trace("-x %s %s" % (PROGRAM, where))
                for where in ("work if n == 3", "*%#x if n == 4" % linked(PROGRAM)["work"], "'w[o]rk' if n > 7",
                              "slow.c:%d if i == 2" % line_of("step"))]
        one("call 0 10")
        one("slow 5")
        probes = kernel.probes(cmd("monitor probes"))
        cmd("tstop")
    equal([hits(one) for one in (num, *nums)], [1, 1, 1, 2, 1])
    equal(sum(1 for _ in frames()), 6)
    equal(set(probes), {at for places in defined().values() for at in places})


@test("static variables are those of the process, wherever the file is mapped")
def statics():
    num = gtp_trace("-x %s work" % PROGRAM, "total, table, label", "/s &label[2]")
    with running_program() as one, running_program() as other:
        check(one("address total") != other("address total"), "the kernel does not move programs: this shows little")
        cmd("tstart")
        one("call 0 3")
        other("call 0 2")
        one("call 0 1")
        cmd("tstop")
    equal(hits(num), 6)
    equal(collected("total", "table[0]", "table[3]"), [(n, 10, 40) for n in (0, 1, 2, 0, 1, 3)])
    cmd("tfind start")
    equal(string("(char *)label"), "a static text")


@test("a line of unoptimised code: locals, arguments and statics at each pass")
def locals_():
    num = gtp_trace("-x %s slow.c:%d" % (PROGRAM, line_of("step")), "n, i, sum, so_far")
    entry = gtp_trace("-x %s slow_sum" % PROGRAM, "n")
    with running_program() as one:
        cmd("tstart")
        equal(one("slow 6"), "21")
        cmd("tstop")
    equal((hits(num), hits(entry)), (6, 1))
    rows = [(number("n"), number("i"), number("sum"), number("so_far[$i & 7]")) for _ in frames()
            if number("$tracepoint") == num and cmd("set var $i = i - 1") is not None]
    equal(rows, [(6, i, i * (i + 1) // 2, i * (i - 1) // 2) for i in range(1, 7)])
    cmd("tfind tracepoint %d" % entry)
    equal(number("n"), 6)


@test("a link-time address; an instruction in the middle of a function")
def addresses():
    where = linked(PROGRAM)["pushed"]
    nums = [gtp_trace("-x %s *%#x" % (PROGRAM, where), "$rdi"), gtp_trace("-x %s *%#x" % (PROGRAM, where + 1), "$rdi, $rsp")]
    with running_program() as one:
        cmd("tstart")
        one("pushed 4")
        cmd("tstop")
    equal([hits(num) for num in nums], [4, 4])
    equal(collected("$rdi"), [n for n in range(4) for _ in nums])
    matches(r"inside of the instruction at \*%#x" % (where + 1), refused("gtp trace -x %s *%#x" % (PROGRAM, where + 2)))
    matches("no function is known at", refused("gtp trace -x %s *0x10" % PROGRAM))


@test("frames of the kernel and of a program are in one buffer, in the order of the hits")
def beside():
    nums = [gtp_trace("-x %s work if n < 50" % PROGRAM, "n"), gtp_trace("gtp_target_add", "a")]
    with running_program() as one:
        cmd("tstart")
        for n in range(3):
            one("call %d 1" % (30 + n))
            target("call add %d 0" % n)
        cmd("tstop")
        equal([hits(num) for num in nums], [3, 3])
        rows = [number("n") if number("$tracepoint") == nums[0] else number("a") for _ in frames()]
        equal(rows, [30, 0, 31, 1, 32, 2])
        matches("tracepoint %d: 3 of 3 frames" % nums[0], cmd("gtp table %d" % nums[0]))


@test("processes that start later, that fork, that are the child, that exec: each call is a hit")
def later():
    num = gtp_trace("-x %s work" % PROGRAM, "n, $current_task_pid")
    cmd("tstart")
    with running_program() as one:
        one("call 1 2")
        child = int(one("fork 3"))
        one.process.stdin.write("exec\n")
        equal(int(one("pid")), one.pid)
        one("call 7 1")
    cmd("tstop")
    equal(hits(num), 6)
    equal(collected("n", "$current_task_pid"),
          [(1, one.pid), (2, one.pid), (5000, child), (5001, child), (5002, child), (7, one.pid)])


@test("-p PID: the process and none of its children, nor another one of the same program")
def process():
    with running_program() as one, running_program() as other:
        num = gtp_trace("-p %d -x %s work if n < 100000" % (one.pid, PROGRAM), "n")
        cmd("tstart")
        other("call 50 5")
        one("call 1 2")
        one("fork 3")
        cmd("tstop")
        equal(hits(num), 2)
        equal(collected("n"), [1, 2])


@test("threads on all CPUs: each call is a hit, none is lost, each count is exact")
def together():
    cmd("set circular-trace-buffer on")
    cmd("tvariable $n")
    nums = [gtp_trace("-x %s work" % PROGRAM, "n, p->x"), gtp_trace("-x %s work if n %% 10 == 0" % PROGRAM),
            trace("*work", "teval $n = $n + 1")]
    with running_program() as one:
        cmd("tstart")
        made = int(one("threads %d 1000" % (2 * CPUS)))
        cmd("tstop")
    equal(made, 2 * CPUS * 1000)
    equal([hits(num) for num in nums], [made, made // 10, made])
    equal((nested(), missed(), number("$n")), (0, 0, made))


@test("memory of the process that is not resident is faulted in before the hit, in strings too")
def brought():
    path = "/tmp/gtp-program/text"
    shell()("mkdir -p /tmp/gtp-program && head -c 4096 /dev/zero >%s && printf 'far away' >>%s && head -c 4088 /dev/zero >>%s" %
            (path, path, path))
    num = gtp_trace("-x %s work if n == 7000" % PROGRAM, "n", "/s text")
    other = gtp_trace("-x %s work if *text == 'f'" % PROGRAM)
    with running_program() as one:
        cmd("tstart")
        for _ in range(5):
            one("map " + path)
        cmd("tstop")
    equal((hits(num), hits(other)), (5, 5))
    equal([string("text") for _ in frames() if number("$tracepoint") == num], ["far away"] * 5)


@test("the same under a condition on the clock or the CPU, whose value differs between fetching and the hit")
def brought_later():
    path = "/tmp/gtp-program/text"
    for condition in "$clock > 1 && n == 7000", "$clock % 2 == 0 || n == 7000", "$cpu_id + 1 > 0 && *text == 'f'":
        num = gtp_trace("-x %s work if %s" % (PROGRAM, condition), "n", "/s text")
        with running_program() as one:
            cmd("tstart")
            for _ in range(10):
                one("map " + path)
            cmd("tstop")
        equal(hits(num), 10, condition)
        equal([string("text") for _ in frames()], ["far away"] * 10)
        cmd("delete %d" % num)


@test("a bad pointer in the process ends the run with the reason; the process goes on")
def bad():
    gtp_trace("-x %s work if n == 8000" % PROGRAM, "/s text")
    with running_program() as one:
        cmd("tstart")
        one("bad")
        until(lambda: not running(), "the run to end")
        one("call 0 1")
    matches("cannot read memory at 0x10 ", cmd("tstatus"))


@test("a removed file is traced through /proc/PID/exe; its space differs from the new file's")
def removed():
    path = copy("gone")
    with running_program(path) as one:
        shell()("rm " + path)
        old = base_of(cmd("gtp lib --at /proc/%d/exe %s" % (one.pid, PROGRAM)))
        num = trace("*%#x" % (old + linked(PROGRAM)["work"]))
        cmd("tstart")
        one("call 0 3")
        copy("gone")
        with running_program(path) as new:
            new("call 0 5")
        cmd("tstop")
        equal(hits(num), 3)
        text = cmd("monitor files")
        matches("%#x .*, 0 probes" % old, text)


@test("a file is removed while it is traced: the probes stay in the processes that map it")
def removed_meanwhile():
    path = copy("going")
    num = gtp_trace("-x %s work" % PROGRAM)
    gone = trace("*%#x" % (base_of(cmd("gtp lib --at %s %s" % (path, PROGRAM))) + linked(PROGRAM)["work"]))
    with running_program(path) as one:
        cmd("tstart")
        one("call 0 2")
        shell()("rm " + path)
        one("call 0 3")
        cmd("tstop")
        one("call 0 1")
    equal((hits(num), hits(gone)), (0, 5))


@test("a file that is no program is refused with a sentence, and nothing blocks")
def wrong():
    shell()("mkdir -p /tmp/gtp-program && cd /tmp/gtp-program && rm -f fifo loop && mkfifo fifo && ln -s loop loop && echo text >text")
    for path, words in (("/tmp/gtp-program", "is a directory"), ("/tmp/gtp-program/fifo", "is no ordinary file"),
                        ("/tmp/gtp-program/text", "is no ELF file"), ("/tmp/gtp-program/none", "does not exist on the traced"),
                        ("/tmp/gtp-program/text/x", "is no directory"), ("/tmp/gtp-program/loop", "leads nowhere"),
                        ("/dev/null", "is no ordinary file"), ("/proc/gtpframe", "programs cannot be run from"),
                        ("/proc/kmsg", "programs cannot be run from"), ("/sys/kernel/notes", "programs cannot be run from"),
                        (modules.KMOD + "/gtp_target.ko", "neither a program nor a library"),
                        ("bin/sh", "no absolute path"), ("/" + "x" * 300, "a name that is too long")):
        matches(words, refused("gtp lib --at %s %s" % (path, PROGRAM)))
    matches("does not exist", refused("gtp lib /tmp/gtp-program/no-such-file"))
    matches("another build", refused("gtp lib --at %s %s" % (PROGRAM, os.path.join(BUILT, "fixed"))))
    matches("nothing after -x", refused("gtp trace -x"))
    matches("takes the number of a process", refused("gtp trace -p me work"))
    matches("vfs_read is nowhere in", refused("gtp trace -x %s vfs_read" % PROGRAM))
    equal(cmd("info tracepoints"), "No tracepoints.\n")


@test("names of programs are not the kernel's: gtp trace without -x sets nothing in a program")
def apart():
    cmd("gtp lib " + PROGRAM)
    matches("slow_sum is in a program.*-x FILE slow_sum", refused("gtp trace slow_sum"))
    check("%x" % address("&work") not in cmd("gtp trace work"), "the fixture's function of the name is the program's, too")
    matches("no function matches slow_s", refused("gtp trace 'slow_s*'"))
    names = re.findall(r"Tracepoints? (\d+)", cmd("gtp trace -x %s 's[l]ow_*'" % PROGRAM))
    equal(len(names), 1)


@test("places that take no uprobe say why; what a program does not have is refused")
def places():
    with running_program() as one:
        gtp_trace("-x %s locked" % PROGRAM)
        matches("prefix lock", refused("tstart"))
        others = [gtp_trace("-x %s %s" % (PROGRAM, name)) for name in ("work", "slow_sum")]
        said = cmd("tstart")
        matches("prefix lock", said)
        matches("1 of 3 places is not armed", said)
        one("call 1 2")
        cmd("tstop")
        equal([hits(num) for num in others], [2, 0])
        cmd("monitor strict on")
        matches("prefix lock", refused("tstart"))
        cmd("monitor strict off")
        matches(" 0 probes", cmd("monitor files"))
        cmd("delete")
        trace("*%#x" % (address("&total")))
        matches("has no code there", refused("tstart"))
        cmd("delete")
        trace("*0x47ffffff00001000")
        matches("not known any more: gtp lib", refused("tstart"))
        cmd("delete")
        gtp_trace("-x %s work" % PROGRAM, "$kstack")
        matches("program", refused("tstart"))
        equal(one("locked"), "3", "two calls of work, and this one")


@test("a program at fixed addresses, and one whose debug information is in another file")
def kinds():
    for name in ("fixed", "stripped"):
        path = os.path.join(BUILT, name)
        cmd("delete")
        num = gtp_trace("-x %s work" % path, "n, total")
        with running_program(path) as one:
            cmd("tstart")
            one("call 3 2")
            cmd("tstop")
        equal(hits(num), 2, name)
        equal(collected("n", "total"), [(3, 0), (4, 1)], name)
        cmd("tfind none")


@test("run after run while the program hits the probes: they are set and removed, and the program goes on")
def again():
    num = gtp_trace("-x %s work" % PROGRAM, "n")
    gtp_trace("-x %s work" % PROGRAM, "n, $ret")
    cmd("set circular-trace-buffer on")
    one = Process(PROGRAM)
    one("forever")
    cmd("tstart")
    where = address("&work")
    for _ in range(rounds(100, 15)):
        until(lambda: not re.search('"V0:0"', cmd("maint packet qTP:%x:%x" % (num, where))), "a hit")
        cmd("tstop")
        cmd("tstart")
    cmd("tstop")
    shell()("kill -0 %d" % one.pid)
    one.kill()


@test("processes that are killed in the middle of hits")
def killed():
    num = gtp_trace("-x %s work" % PROGRAM, "n, p->x", "/s text")
    gtp_trace("-x %s work" % PROGRAM, "$ret", "/s text")
    cmd("set circular-trace-buffer on")
    cmd("tstart")
    seen = 0
    for _ in range(rounds(20, 8)):
        one = Process(PROGRAM)
        one("forever")
        until(lambda before=seen: hits(num) > before, "a hit")
        one.kill()
        seen = hits(num)
    cmd("tstop")
    check(running() is False, "the run goes on")


@test("processes that are killed while a hit waits for their memory: the hit is missed, and the run goes on")
def killed_waiting():
    work = "-x %s work " % PROGRAM
    for arg, *collect in (work + "if n == 9000", "/s text"), (work + "if *text == 'x'", "$ret"), (work + "if n == 9000", "$ret", "/s text"):
        num = gtp_trace(arg, *collect)
        cmd("tstart")
        before = missed()
        one = Process(PROGRAM)
        one("never")
        until(lambda pid=one.pid: "handle_userfault" in shell()("cat /proc/%d/stack" % pid), "the hit to wait")
        one.kill()
        until(lambda before=before: missed() > before or not running(), "the hit to be given up")
        with running_program() as other:
            other("call 9000 1")
        check(running(), "the run has ended: " + cmd("tstatus"))
        cmd("tstop")
        equal((hits(num), missed() - before), ("'x'" not in arg, 1), arg)
        cmd("delete %d" % num)


@test("gdbtp is unloaded while a run goes on without GDB: the program goes on, and its code is restored")
def unloaded():
    gtp_trace("-x %s work" % PROGRAM, "n")
    gtp_trace("-x %s stays" % PROGRAM, "$ret")
    gtp_trace("-x %s work" % PROGRAM, "$ret")
    cmd("set circular-trace-buffer on")
    cmd("set disconnected-tracing on")
    with running_program() as one:
        cmd("tstart")
        one("call 0 2")
        equal(code_of(one)[0], "cc")
        one("crowd 50 1")
        disconnect()
        one("call 0 3")
        modules.unload()
        equal(one("call 0 4"), "9")
        equal(int(one("crowd_goes")), 50 * 49)
        equal(code_of(one), file_code())
        modules.load()
        modules.load_tables()
        connect()
        equal(cmd("monitor files"), "")
        num = gtp_trace("-x %s work" % PROGRAM, "n")
        cmd("tstart")
        one("call 0 1")
        cmd("tstop")
        equal(hits(num), 1)


@test("only existing tracepoints hold a file: it is closed with the connection")
def held():
    path = copy("held")
    cmd("maint packet QTinit")  # the previous test's tracepoints still keep their file open
    cmd("gtp lib --at %s %s" % (path, PROGRAM))
    matches("held", cmd("monitor files"))
    disconnect()
    connect()
    equal(cmd("monitor files"), "")
    num = trace("*%#x" % (base_of(cmd("gtp lib --at %s %s" % (path, PROGRAM))) + linked(PROGRAM)["work"]))
    with running_program(path) as one:
        cmd("tstart")
        one("call 0 1")
        cmd("tstop")
        disconnect()
        connect()
        matches("held, 0 probes", cmd("monitor files"))
        cmd("tstart")
        one("call 0 2")
        cmd("tstop")
        equal(hits(num), 2)


run()
