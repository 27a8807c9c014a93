# SPDX-License-Identifier: GPL-2.0-only
# Faults: clients that die, modules that go, memory that is not there, bytes that mean nothing.
#
# Usage (in the guest, as root, no module loaded): python3 tests/gdb/faults.py [WORD]
# Prints TAP; runs the tests whose name has WORD. GTP_SEED=N repeats the random ones of an earlier run.
import errno
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback

import rsp

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
RELEASE = os.uname().release
MODULE = os.environ.get("GTP_MODULE") or os.path.join(TOP, "build/module", RELEASE, "gdbtp.ko")
KMOD = os.path.join(TOP, "build/kmod", RELEASE)
SEED = int(os.environ.get("GTP_SEED") or random.SystemRandom().randrange(2**32))

tests = []


class Failure(Exception):
    pass


def test(name):
    def mark(function):
        tests.append((name, function))
        return function
    return mark


def check(condition, text):
    if not condition:
        raise Failure(text)


def equal(got, wanted, what="value"):
    check(got == wanted, "%s: got %r, wanted %r" % (what, got, wanted))


def sh(command, well=True):
    done = subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT)
    check(not well or done.returncode == 0, "%s: %s" % (command, done.stdout))
    return done


def fixture():
    with open("/proc/gtp_target") as file:
        rows = [line.split() for line in file]
    return {name: int(text, 16 if kind == "addr" else 10) for kind, name, text in rows}


def call(line):
    fd = os.open("/proc/gtp_target", os.O_WRONLY)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def call_aside(line):
    """From a process of its own: the tasks of the connected client are not traced."""
    pid = os.fork()
    if pid == 0:
        try:
            call(line)
            os._exit(0)
        except BaseException:
            os._exit(1)
    equal(os.waitpid(pid, 0)[1], 0, "exit of the caller")


def one_run(client, calls=5):
    """A run that counts, from definition to stop."""
    addr = fixture()["gtp_target_leaf"]
    client.must("QTinit")
    client.define(1, addr, ["R00ffffff", "M7,0,20"])
    client.start()
    for i in range(calls):
        call_aside("call leaf %d" % i)
    client.must("QTStop")
    equal(client.hits(1, addr), calls, "hits")


def alive():
    """A new client gets in at once, and a run of its own counts right."""
    client = rsp.connect()
    try:
        if client.running():
            client.must("QTStop")
        one_run(client)
    finally:
        client.close()


def child(function):
    """FUNCTION in a process of its own, with a session of its own."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        function()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def busy_client(rng):
    """What GDB does in a session, over and over, until it is killed."""
    addrs = [value for name, value in fixture().items() if name.startswith("gtp_target_")]
    funcs = [fixture()["gtp_target_" + name] for name in ("add", "leaf", "irq", "obj", "str")]
    client = rsp.connect()
    while True:
        client.ask("QTinit")
        for i, addr in enumerate(rng.sample(funcs, 3)):
            client.define(i + 1, addr, ["R00ffffff", "M7,0,40", "X00000001,27"])
        client.start(disconnected=rng.random() < 0.3, circular=rng.random() < 0.5)
        for _ in range(5):
            client.ask("qTStatus")
            client.ask("m%x,40" % rng.choice(addrs))
        client.ask("QTStop")
        client.ask("QTFrame:0")
        client.ask("g")
        client.ask("qTBuffer:0,7d0")
        # Half a packet is where a kill hurts most.
        client.send(rsp.framed(b"QTDP:9:%016x:E:0:0-" % funcs[0])[:rng.randrange(1, 30)])
        client.resync()


def hammering():
    """Calls on all CPUs for as long as a test wants them."""
    def forever():
        while True:
            call("loop mix 2000")
    return child(forever)


def kill_and_wait(pid, how=signal.SIGKILL):
    os.kill(pid, how)
    return os.waitpid(pid, 0)[1]


@test("90 clients killed at random moments of a session: the next one always finds all well")
def killed_clients():
    rng = random.Random(SEED)
    load = hammering()
    try:
        for i in range(90):
            seed = rng.randrange(2**32)
            pid = child(lambda: busy_client(random.Random(seed)))
            time.sleep(rng.uniform(0, 0.15))
            equal(kill_and_wait(pid), signal.SIGKILL, "exit of client %d" % i)
            client = rsp.connect()
            if client.running():
                client.must("QTStop")
            client.close()
    finally:
        kill_and_wait(load)
    alive()


@test("10 GDBs killed with SIGKILL at random moments of their start, run and exit")
def killed_gdbs():
    rng = random.Random(SEED + 1)
    addr = fixture()["gtp_target_add"]
    load = hammering()
    try:
        for i in range(10):
            script = ["target remote /proc/gtp", "trace *%#x" % addr, "tstart"] + \
                ["tstatus", "x/8gx %#x" % addr] * 50 + ["tstop", "tfind start", "info registers"]
            gdb = subprocess.Popen(["gdb", "-batch", "-nx"] + [w for c in script for w in ("-ex", c)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.3, 2.5))
            gdb.kill()
            gdb.wait()
            client = rsp.connect()
            if client.running():
                client.must("QTStop")
            client.close()
    finally:
        kill_and_wait(load)
    alive()


@test("a client that is killed while it waits in continue, and one while it waits in read")
def killed_waiting():
    for packet in (rsp.framed(b"c"), b""):
        def wait():
            client = rsp.connect()
            one_run(client)
            client.must("QTinit")
            client.define(1, fixture()["gtp_target_leaf"])
            client.start()
            client.send(packet)
            os.write(ready[1], b"x")
            os.read(client.fd, 1)
            os.read(client.fd, 1)
            time.sleep(1000)
        ready = os.pipe()
        pid = child(wait)
        os.read(ready[0], 1)
        kill_and_wait(pid)
        alive()


@test("a second client gets EBUSY, the first goes on")
def two_clients():
    first = rsp.connect()
    try:
        os.open("/proc/gtp", os.O_RDWR)
        raise Failure("a second open went through")
    except OSError as error:
        equal(error.errno, errno.EBUSY)
    one_run(first)
    first.close()
    alive()


@test("without CAP_SYS_ADMIN the file does not open, even where its mode would allow it")
def capability():
    without = "setpriv --bounding-set -sys_admin --inh-caps -sys_admin "
    sh(without + "/bin/sh -c 'exec 3</proc/version'")
    done = sh(without + "/bin/bash -c 'exec 3<>/proc/gtp'", well=False)
    check(done.returncode != 0 and "not permitted" in done.stdout, done.stdout)
    equal(oct(os.stat("/proc/gtp").st_mode & 0o777), oct(0o600))


@test("rmmod while a client is connected is refused; the client goes on")
def rmmod_open():
    client = rsp.connect()
    done = sh("rmmod gdbtp", well=False)
    check(done.returncode != 0 and "in use" in done.stdout, done.stdout)
    one_run(client)
    client.close()


@test("rmmod while a run goes on without a client: it stops, all probes are gone")
def rmmod_running():
    load = hammering()
    client = rsp.connect()
    client.must("QTinit")
    for i, name in enumerate(("leaf", "add", "obj", "irq"), 1):
        client.define(i, fixture()["gtp_target_" + name], ["R00ffffff"])
    client.start(disconnected=True)
    client.close()
    sh("rmmod gdbtp")
    probes = sh("cat /sys/kernel/debug/kprobes/list").stdout
    check("gtp_target" not in probes, probes)
    kill_and_wait(load)
    sh("insmod " + MODULE)
    alive()


@test("10 times: a module is unloaded under a tracepoint that is being hit")
def module_goes():
    for i in range(10):
        sh("insmod %s/gtp_target2.ko" % KMOD)
        with open("/proc/kallsyms") as file:
            addr = next(int(l.split()[0], 16) for l in file if l.split()[2] == "gtp_target2_fn")
        client = rsp.connect()
        client.must("QTinit")
        leaf = fixture()["gtp_target_leaf"]
        client.define(1, addr, ["R00ffffff"])
        client.define(2, leaf, ["R00ffffff"])
        client.start()
        sh("for i in 1 2 3; do echo $i >/sys/module/gtp_target2/parameters/call; done; "
           "rmmod gtp_target2")
        call_aside("call leaf 1")
        if i % 2:
            client.must("QTStop")
        else:
            check(client.running(), "the run stopped with the module")
        equal(client.hits(1, addr), 3, "hits before it went")
        equal(client.hits(2, leaf), 1, "hits of the other")
        client.close()
    alive()


def fail_at(n):
    with open("/sys/module/gdbtp/parameters/fail_alloc", "w") as file:
        file.write(str(n))


def whole_session():
    """Everything that allocates: connect, define, variables, notes, run, index, read out, save."""
    client = rsp.connect()
    try:
        addr = fixture()["gtp_target_leaf"]
        for packet in ("QTinit", "QTDP:1:%016x:E:0:0:X1,27-" % addr,
                       "QTDP:-1:%016x:R00ffffff" % addr, "QTDPsrc:1:%x:cond:0:2:6e6e" % addr,
                       "QTDV:64:5:0:6162", "QTNotes:user:6162;notes:6364;", "QTBuffer:size:10000",
                       "QTDisconnected:0", "QTStart"):
            client.ask(packet)
        call_aside("call leaf 1")
        for packet in ("QTDP:2:%016x:E:0:0" % (addr), "qTStatus", "QTStop", "QTNotes:tstop:6162;",
                       "QTFrame:0", "g", "QTFrame:ffffffff", "qTBuffer:0,100", "qTfP", "qTsP",
                       "qTfV", "QTSave:" + b"/tmp/gtp-save".hex()):
            client.ask(packet)
    finally:
        client.close()


@test("allocation number n fails, for every n: an error in words, then all works again")
def allocations():
    for n in range(1, 1000):
        fail_at(n)
        try:
            whole_session()
        except OSError as error:
            equal(error.errno, errno.ENOMEM, "allocation %d" % n)
        with open("/sys/module/gdbtp/parameters/fail_alloc") as file:
            left = int(file.read())
        fail_at(0)
        if left > 0:
            print("# %d allocations" % (n - left))
            check(n - left > 5, "hardly any allocation was counted")
            alive()
            return
        if n % 10 == 0:
            alive()
    raise Failure("no end of allocations")


def seeds():
    """The packets of the session transcripts, with the fixture's addresses in them."""
    names = {k: "%x" % v for k, v in fixture().items()}
    found = []
    folder = os.path.join(TOP, "tests/sessions")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            for line in file:
                if line.startswith("> "):
                    text = re.sub(r"\{(?:\w+:)?(\w+)\}",
                                  lambda m: names.get(m.group(1), names["gtp_target_leaf"]),
                                  line[2:].rstrip("\n"))
                    found.append(text.encode())
    return found


def mutated(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            data[at:at] = bytes((rng.randrange(256),))
        elif kind == 1:
            del data[at:at + rng.randrange(1, 8)]
        elif kind == 2 and at < len(data):
            data[at] = rng.choice(b"0123456789abcdef:;,-$#}*ERXMST\0\xff")
        elif kind == 3:
            data[at:at] = rng.choice((b"ffffffffffffffff", b"-1", b":" * 50, b"0" * 100, b"80000000"))
        elif kind == 4:
            data[at:at] = data[:at][-40:] * rng.randrange(1, 20)
        else:
            data = data[:at]
    return bytes(data)


def tame(data, leaf):
    """No probe but in the fixture, and no file but one: other places have their own tests."""
    low, high = leaf - 0x10000, leaf + 0x10000

    def place(match):
        inside = low <= int(match.group(2), 16) < high
        return match.group(0) if inside else match.group(1) + b"%x" % leaf
    data = re.sub(rb"(QTDP:-?[0-9a-fA-F]*:)([0-9a-fA-F]+)", place, data)
    return re.sub(rb"QTSave:.*", b"QTSave:" + b"/tmp/gtp-save".hex().encode(), data, flags=re.S)


@test("mutated packets: none of them hangs the session or harms the kernel")
def mutations():
    rng = random.Random(SEED + 2)
    packets = seeds()
    check(len(packets) > 50, "%d seeds" % len(packets))
    leaf = fixture()["gtp_target_leaf"]
    load = hammering()
    try:
        for _ in range(12):
            client = rsp.connect()
            for _ in range(250):
                data = tame(mutated(rng, rng.choice(packets)), leaf)
                if data[:1] in (b"c", b"C", b"s", b"S", b"k", b"D") or data[:4] == b"vCon":
                    continue
                client.send(rsp.framed(data))
                while client.reply(0.0 if rng.random() < 0.7 else 0.01) is not None:
                    pass
            client.resync()
            client.close()
    finally:
        kill_and_wait(load)
    alive()


@test("random bytes: whatever is written, the next packet is understood")
def garbage():
    rng = random.Random(SEED + 3)
    for _ in range(20):
        client = rsp.connect()
        for _ in range(60):
            size = rng.choice((1, 3, 50, 400, 5000, 40000))
            data = rng.randbytes(size)
            if rng.random() < 0.5:
                data = data.replace(b"#", b"").replace(b"\x03", b"")
            client.send(data)
            while client.read(0.0):
                pass
        client.pending = b""
        client.resync()
        client.close()
    alive()


@test("a writer that never reads is held back, takes no endless memory, and can be killed")
def never_reads():
    def flood():
        client = rsp.connect()
        while True:
            client.send(rsp.framed(b"qXfer:features:read:target.xml:0,fff") * 20)
    before = memory_free()
    pid = child(flood)
    blocked = 0
    for _ in range(600):
        time.sleep(0.02)
        with open("/proc/%d/stat" % pid) as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
        blocked = blocked + 1 if state == "S" else 0
        if blocked > 10:
            break
    check(blocked > 10, "the writer was never held back")
    check(before - memory_free() < 64 << 10, "it took %d KiB" % (before - memory_free()))
    kill_and_wait(pid)
    alive()


def memory_free():
    with open("/proc/meminfo") as file:
        return int(re.search(r"MemAvailable:\s+(\d+)", file.read()).group(1))


@test("one byte per write, and ten packets in one write")
def splits():
    client = rsp.connect()
    for byte in rsp.framed(b"qAttached"):
        client.send(bytes((byte,)))
    equal(client.reply(), "1")
    client.send(rsp.framed(b"qAttached") * 10)
    equal([client.reply() for _ in range(10)], ["1"] * 10)
    client.close()


@test("buffers larger than memory are refused with words")
def large_buffers():
    client = rsp.connect()
    client.must("QTinit")
    client.define(1, fixture()["gtp_target_leaf"])
    for size in ("7fffffffffffffff", "ffffffffff", "8000000000000000"):
        client.ask("QTBuffer:size:" + size)
        answer = client.ask("QTStart")
        check(answer.startswith("E"), "size %s: %s" % (size, answer))
    client.ask("QTBuffer:size:-1")
    client.close()
    alive()


@test("50 times: insmod, a run that counts, rmmod")
def load_unload():
    sh("rmmod gdbtp")
    for _ in range(50):
        sh("insmod " + MODULE)
        alive()
        sh("rmmod gdbtp")
    sh("insmod " + MODULE)


def leaked():
    """What is left of the kernel's per-module allocations after all that (vmalloc areas)."""
    with open("/proc/vmallocinfo") as file:
        return [line for line in file if "gdbtp" in line and "module_alloc" not in line
                and "load_module" not in line and "execmem" not in line]


@test("nothing of it all stays behind: no probe, no buffer")
def nothing_left():
    client = rsp.connect()
    client.must("QTinit")
    client.close()
    probes = sh("cat /sys/kernel/debug/kprobes/list").stdout
    check("gtp_target" not in probes, probes)
    areas = leaked()
    check(len(areas) == 0, "".join(areas))


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [t for t in tests if word in t[0]]
    print("# seed %d (GTP_SEED=%d repeats it)" % (SEED, SEED))
    print("1..%d" % len(chosen))
    sh("insmod %s; insmod %s/gtp_target.ko" % (MODULE, KMOD))
    good = 0
    for i, (name, function) in enumerate(chosen, 1):
        start = time.monotonic()
        problem = None
        sys.stdout.flush()
        try:
            function()
        except (Failure, rsp.Gone) as failure:
            problem = str(failure)
        except Exception:
            problem = traceback.format_exc()
        print("%s %d - %s # %.1f s" % ("not ok" if problem else "ok", i, name,
                                       time.monotonic() - start))
        for line in (problem or "").splitlines():
            print("# " + line)
        sys.stdout.flush()
        good += problem is None
    done = sh("rmmod gtp_target gdbtp", well=False)
    if done.returncode:
        print("not ok - the modules unload\n# " + done.stdout)
    print("%d passed, %d failed" % (good, len(chosen) - good + (done.returncode != 0)))
    sys.exit(good != len(chosen) or done.returncode != 0)


main()
