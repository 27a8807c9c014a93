# SPDX-License-Identifier: GPL-2.0-only
# One kernel is enough: what this shows is the user's side.
# Types the lines that a kernel engineer types on the first day, and checks their results: members, strings, enums, locals,
# inlined functions, events, ends of runs, dprintf, return addresses, many frames.

import cells
from event import sdata
from inner import Inner
from lib import *
from others import instructions, looped
from places import defined

PORT = 8080
FRAMES = 50000
SIZES = (11, 22, 33)
MIDDLE = 40  # how many instructions of a function are tried


def python(script):
    shell()("ip link set lo up; python3 -c %s" % quoted(script))


def named(name, script):
    """Run the script in a shell whose task has this name."""
    shell()("sh -c %s" % quoted("printf %%s %s >/proc/self/comm; %s; :" % (name, script)))


def during(script):
    cmd("tstart")
    script()
    cmd("tstop")


def titles(num):
    return list(cells.rows("%d" % num)[0])


TCP = """import socket
server = socket.socket(); server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", {port})); server.listen()
client = socket.create_connection(("127.0.0.1", {port})); peer, _ = server.accept()
[(client.send(b"x" * 5), peer.send(b"y" * size)) for size in {sizes}]"""

READ = """import os
open("/proc/self/comm", "w").write("{comm}"); fd = os.open("{path}", os.O_RDONLY); os.read(fd, {count})"""


@test("gtp trace tcp_sendmsg if sk->__sk_common.skc_num == 8080: the server's sends, and no other")
def unnamed_union():
    cmd("gtp trace tcp_sendmsg if sk->__sk_common.skc_num == %d" % PORT)
    num = number("$tpnum")
    cmd("gtp collect sk->__sk_common.skc_num, size")
    during(lambda: python(TCP.format(port=PORT, sizes=SIZES)))
    equal(collected("sk->__sk_common.skc_num", "size"), [(PORT, size) for size in SIZES])
    equal(titles(num), ["frame", "sk->__sk_common.skc_num", "size"])
    equal([row["sk->__sk_common.skc_num"] for row in cells.rows("%d" % num)], [str(PORT)] * len(SIZES))


@test("gtp trace vfs_read: file->f_path and its members, in a union or not")
def moved_member():
    cmd('gtp trace vfs_read if file->f_path.dentry->d_name.name == "gtp-typed"')
    cmd("gtp collect file->f_path.dentry->d_name.len, file->f_inode->i_size, count")
    path = "/tmp/gtp-typed"
    with there.open(path, "w", encoding="ascii") as file:
        file.write("x" * 321)
    during(lambda: python(READ.format(comm="gtp", path=path, count=4711)))
    equal(collected("count"), [4711])
    cmd("tfind start")
    matches(r"= %d$" % len("gtp-typed"), cmd("gtp print file->f_path.dentry->d_name.len"))
    matches(r"= 321$", cmd("gtp print file->f_inode->i_size"))


@test("gtp trace ... if $_streq(p->comm, \"nginx\"), and p->comm[0] == 'p': the forks of those, and no others")
def strings():
    cmd('gtp trace wake_up_new_task if $_streq(p->comm, "nginx")')
    cmd("gtp collect p->comm")
    cmd("gtp trace wake_up_new_task if p->comm[0] == 'p' && p->comm[1] == 'q'")
    cmd("gtp collect p->comm")
    during(lambda: (named("nginx", "(:); (:); (:)"), named("pqrs", "(:); (:)"), named("xnginx", "(:)")))
    found = []
    for _ in frames():
        found.append((number("$tracepoint"), string("p->comm")))
    first, second = defined()
    equal(found, [(first, "nginx")] * 3 + [(second, "pqrs")] * 2)


@test("gtp trace ... if o->on == 1, o->kind == GTP_TARGET_PLAIN: bool and enum")
def bool_and_enum():
    cmd("gtp trace gtp_target_obj if o->on == 1")
    cmd("gtp collect o->id")
    cmd("gtp trace gtp_target_obj if o->kind == GTP_TARGET_PLAIN")
    cmd("gtp collect o->id, o->kind")
    run_trace(*["call obj %d 1" % i for i in range(4)])
    found = []
    for _ in frames():
        found.append((number("$tracepoint"), number("o->id")))
    first, second = defined()
    equal(found, [(second, 100), (first, 101), (second, 102), (first, 103)])
    cmd("tfind start")
    matches(r"= GTP_TARGET_PLAIN$", cmd("gtp print o->kind"))


def in_the_middle():
    """Set a tracepoint in vfs_read at a place where `count' has a location and some variables have none. Return the output
    of gtp collect there."""
    for at in instructions("vfs_read", r"\+\d+>:")[4:MIDDLE]:
        cmd("gtp trace *%#x" % at)
        told = cmd("gtp collect $args, $locals")
        if "no location" in told and "collect count" in cmd("info tracepoints %d" % number("$tpnum")):
            return told
        cmd("delete")
    raise Failure("every variable has a location, or none")


@test("gtp collect $args, $locals in the middle of vfs_read: those with a location; the others are named")
def some_locals():
    told = in_the_middle()
    note(told.strip())
    matches(r"^no location at 0x[0-9a-f]+: \w", told)
    check(" count" not in told, told)
    num = number("$tpnum")
    cmd("gtp if %d current->comm == \"gtp-middle\"" % num)
    during(lambda: python(READ.format(comm="gtp-middle", path="/etc/passwd", count=4711)))
    check(4711 in collected("count"), "count: %s" % (collected("count"),))


@test("gtp trace mutex_lock: the place that takes no probe is reported, the others are traced")
def inlined():
    need_mutex_lock()
    text = cmd("gtp trace mutex_lock")
    matches(r"^Tracepoint\S* \S+ at ", text)
    places = sorted(at for found in defined().values() for at in found)
    nums = list(defined())
    cmd("gtp collect %d $rdi" % nums[0])  # rdi has the argument lock at the function's beginning
    told = cmd("tstart")
    target("nmi 1")
    probes = kernel.probes(cmd("monitor probes"))
    cmd("tstop")
    equal(sorted(probes), places)
    refused_ = [at for at, probe in probes.items() if probe.how == "not armed"]
    note("%d of %d places are not armed" % (len(refused_), len(places)))
    equal(len(re.findall(r"not armed at (0x[0-9a-f]+)", told)), len(refused_), told)
    check(len(refused_) < len(places), "none is armed")
    lock = address("(unsigned long)&gtp_target_nmi::lock")
    found = []
    for _ in frames():
        if number("$pc") % 2**64 == kallsyms()["mutex_lock"]:
            found.append(address("$rdi"))
    equal(found.count(lock), 1, "locks of the fixture's mutex")


@test("gtp event sched:sched_switch if next_pid == PID: a field by its name, even if GDB echoes commands")
def event():
    pid = shell().pid
    cmd("set trace-commands on")
    try:
        cmd("gtp event sched:sched_switch if next_pid == %d" % pid)
        num = int(defined().popitem()[0])
        cmd("gtp collect next->pid, next->comm, next_pid, $_sdata")
    finally:
        cmd("set trace-commands off")
    during(lambda: shell()("sleep 0.1"))
    found = []
    for _ in frames():
        found.append((number("next->pid"), string("next->comm"), sdata("next_pid")["next_pid"]))
    check(len(found) > 0, "no switch to the shell")
    equal(set(found), {(pid, "bash", str(pid))})
    check("next_pid" in titles(num), titles(num))
    equal({row["next_pid"] for row in cells.rows("%d next_pid" % num)}, {str(pid)})


@test("tstart, continue, tfind start: the run has ended by itself, and its frames can be read")
def ended():
    trace("gtp_target_add", "collect a", passcount=2)
    cmd("tstart")
    process = there.popen(
        ["/bin/sh", "-c", "for i in 7 8; do printf \"call add $i 5\" >/proc/gtp_target; done"])
    cmd("continue")
    equal(process.wait(), 0)
    matches("Found trace frame 0", cmd("tfind start"))
    equal(number("a"), 7)
    cmd("tfind")
    equal(number("a"), 8)


@test("set dprintf-style agent, dprintf, continue: the text with its values")
def dprintf():
    cmd("maint packet QTinit")
    disconnect()
    with Inner("set dprintf-style agent", 'dprintf gtp_target_add,"typed %ld and %ld\\n",a,b') as gdb_:
        text = gdb_.during("call add 3 -4", "call add 5 6")
    equal(re.findall("^typed.*", text, re.M), ["typed 3 and -4", "typed 5 and 6"])


@test("gtp collect $_ret: the caller")
def return_address():
    cmd("gtp trace gtp_target_chain_c")
    num = number("$tpnum")
    cmd("gtp collect $_ret, n")
    run_trace("call chain 1")
    equal(collected("n"), [22])
    cmd("tfind start")
    matches(r"<gtp_target_chain_b\+\d+>", cmd("gtp print/a $_ret"))
    matches(r"^#1 .* in gtp_target_chain_b ", cmd("backtrace 2"))
    equal(titles(num), ["frame", "$_ret", "n"])
    matches(r"only at a function.s first instruction\n  \$_ret\n  \^\nTrace \*gtp_target_chain_c\.",
            refused("gtp trace *%#x" % instructions("gtp_target_chain_c", r"\+\d+>:")[1], "gtp collect $_ret"))


@test("50,000 frames: gtp table has each of them, gtp save too")
def many():
    cmd("set trace-buffer-size %d" % (CPUS * (16 << 20)))
    cmd("gtp trace gtp_target_add")
    num = number("$tpnum")
    cmd("gtp collect a, $cpu_id")
    cmd("tstart")
    made = looped("add", -(-FRAMES // CPUS))["add"]
    cmd("tstop")
    check(made >= FRAMES, "%d calls" % made)
    folder = scratch()
    live, path = folder + "/live.csv", folder + "/run.tf"
    cmd("gtp table %d a --csv %s" % (num, live))
    with open(live, encoding="ascii") as file:
        rows = cells.sheet.rows(file)
    equal(len(rows), made)
    for cpu in range(CPUS):
        equal([int(row["a"]) for row in rows if row["cpu"] == str(cpu)], list(range(made // CPUS)), "cpu %d" % cpu)
    cmd("gtp save " + path)
    begins_with_run(path)


@test("gtp print current->comm in a frame that lacks it: the message says what to collect")
def not_collected():
    cmd("gtp trace gtp_target_add")
    run_trace("call add 1 2")
    cmd("tfind start")
    equal(refused("gtp print current->comm"),
          "current is not known here: this frame does not hold $current_task\n  current->comm\n  ^\n"
          "Collect what is to be shown, for the next run: gtp collect current->comm.")
    cmd("tfind none")
    matches("current is known at a hit only", refused("gtp print current->comm"))


run()
