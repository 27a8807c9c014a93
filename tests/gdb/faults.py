# SPDX-License-Identifier: GPL-2.0-only
# Faults around whole sessions: GDBs that die, modules that go, transcripts with errors in them.
#
# Usage (in the guest, as root, no module loaded): python3 tests/gdb/faults.py [WORD]
# Prints TAP; runs the tests whose name has WORD. GTP_SEED=N repeats the random ones of an earlier run.
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


def hammering():
    """Calls on all CPUs for as long as a test wants them."""
    def forever():
        while True:
            call("loop mix 2000")
    return child(forever)


def kill_and_wait(pid, how=signal.SIGKILL):
    os.kill(pid, how)
    return os.waitpid(pid, 0)[1]


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
    # A mutated size that stands would be refused, and rightly.
    client = rsp.connect()
    client.ask("QTinit")
    client.ask("QTBuffer:size:-1")
    client.close()
    alive()


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
