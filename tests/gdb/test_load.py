# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: the code is the same on each.
# Traces real kernel functions under a real load. Compares the hits with the numbers of calls that the load itself counts.
from lib import *

READER = r"""
import os, sys
fd = os.open("/dev/zero", os.O_RDONLY)
big = small = 0
for i in range(int(sys.argv[1])):
    size = 5000 + i if i % 3 == 0 else 100
    os.read(fd, size)
    big += size > 4096
    small += size <= 4096
print(os.getpid(), big, small)
"""


def reader(rounds):
    """Run a process that reads from /dev/zero. Return its pid, the number of large reads, and the number of small reads."""
    text = shell()("python3 -c %s %d" % (quoted(READER), rounds))
    return tuple(int(word) for word in text.split())


def task(member):
    return "((struct task_struct *)$current_task)->" + member


@test("vfs_read with a condition on count: exactly the large reads of the reader")
def vfs_read():
    trace("vfs_read if count >= 5000 && count < 6000", "collect count, $current_task_pid, " + file_name())
    cmd("tstart")
    pid, big, _ = reader(300)
    cmd("tstop")
    rows = [row for row in collected("count", "$current_task_pid") if row[1] == pid]
    equal(len(rows), big)
    equal([row[0] for row in rows], [5000 + i for i in range(0, 300, 3)])


@test("file names through three pointers: the reader's frames say zero")
def names():
    trace("vfs_read if count == 5000", "collect %s, $current_task_pid" % file_name())
    cmd("tstart")
    pid, _, _ = reader(1)
    cmd("tstop")
    seen = [string(file_name()) for _ in frames()
            if number("$current_task_pid") == pid]
    equal(seen, ["zero"])


@test("a trace state variable counts the reader's small reads exactly, no frame needed")
def counting():
    cmd("tvariable $small")
    cmd("set circular-trace-buffer on")
    trace("vfs_read if count == 100 && %s[0] == 122" % file_name(), "teval $small = $small + 1")
    cmd("tstart")
    _, _, small = reader(500)
    cmd("tstop")
    equal(number("$small"), small)


@test("an open collects the paths that a process has asked for")
def openat():
    path = member("struct filename", "name", "pathname")
    trace(opening(), "collect/s " + path, "collect $current_task_pid")
    cmd("tstart")
    pid = int(shell()("python3 -S -c 'import os; print(os.getpid()); "
                      "os.open(\"/etc/hostname\", 0)\n"
                      "try: os.open(\"/no/such/gtp-path\", 0)\nexcept OSError: pass'"))
    cmd("tstop")
    asked = []
    for _ in frames():
        if number("$current_task_pid") == pid:
            asked.append(string(path))
    check("/no/such/gtp-path" in asked, asked)
    check("/etc/hostname" in asked, asked)


@test("the scheduler's own functions can be traced under load")
def scheduler():
    num = trace("try_to_wake_up", "collect p->pid, p->comm")
    cmd("set circular-trace-buffer on")
    cmd("tstart")
    shell()("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i | cat | cat >/dev/null; done")
    cmd("tstop")
    check(hits(num) > 20, "%d hits" % hits(num))
    names_seen = set()
    for _ in frames():
        names_seen.add(string("p->comm"))
        if len(names_seen) > 1:
            break
    check(names_seen, "no name")


@test("a backtrace of vfs_read from the stack reaches the system call's entry")
def backtrace():
    trace("vfs_read if count == 5000", "collect $regs", "collect *(unsigned char *)$rsp@256")
    cmd("tstart")
    reader(1)
    cmd("tstop")
    matches("stopped by a tstop", cmd("tstatus"))
    cmd("tfind start")
    text = cmd("backtrace 10")
    for name in ("vfs_read", "ksys_read", "do_syscall_64"):
        check(name in text, text)


@test("functions that run all the time, all with actions, while processes start and end")
def busy():
    cmd("set circular-trace-buffer on")
    # With lockdep mutex_lock() is a macro for another function.
    lock = "mutex_lock" if "mutex_lock" in kallsyms() else "mutex_lock_nested"
    nums = [trace(where, "collect $regs, $current_task_pid, $cpu_id")
            for where in ("vfs_read", "vfs_write", "do_sys_openat2", opening(),
                          "handle_mm_fault", "schedule", "kmem_cache_free", "__fput", "*" + lock,
                          "do_exit")]
    cmd("tstart")
    shell()("for i in $(seq 30); do /bin/true; ls /proc >/dev/null; done")
    text = cmd("tstop") + cmd("tstatus")
    note("\n".join(re.findall(r"not seen:.*", cmd("monitor status"))))
    counts = [hits(num) for num in nums]
    note(counts)
    check(all(count > 0 for count in counts), text)


run()
