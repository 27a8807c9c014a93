# SPDX-License-Identifier: GPL-2.0-only
"""Tests probes and memory: invalid addresses, modules and CPUs that are added and removed, printf, counts."""

import collections
import ctypes
import functools
import mmap
import os
import re
import signal

from fixture import (child, command, counted, hammering, kill, load, load_fixture, loaded, main, parameter, target,
                     unload)
from kernel import (TRACING, get, kallsyms, kprobes, lines, mount_tracing, not_seen, optimized, probes, put,
                    symbols)
from rsp import Client
from tap import note, rounds, seeded, skip, test, until

load("self_trace=1")
load_fixture()
load_fixture("gtp_target2")
SYM = symbols("_text", "gtp_target_leaf", "gtp_target_add", "gtp_target_user", "gtp_target2_fn",
              "exc_int3", "jiffies_64", "linux_banner", "init_task")
LEAF = SYM["gtp_target_leaf"]
CPUS = os.cpu_count()
NO_MEMORY = [0, 8, 0x7fffffffeff8, 0x800000000000, 0xffff7fffffffffff, 0xffff800000000000 - 4,
             0x8000000000000000, 0xff10ffffffffffff, 0xdead000000000100, 0xffffffffff600008,
             0xffffffffff5ffffc, 0xfffffffffffffffd, 0xffffffffffffffff]
COUNT_IN_45 = "X0000000A,2c00452201022d004527"  # getv 0x45, const8 1, add, setv 0x45, end


def printf_of_rdi(text):
    """Return bytecode: reg 5, const8 0, const8 0, printf of one argument, end."""
    fmt = text.encode() + b"\0"
    code = bytes([0x26, 0, 5, 0x22, 0, 0x22, 0, 0x34, 1, len(fmt) >> 8, len(fmt) & 255]) + fmt + b"\x27"
    return f"X{len(code):08X},{code.hex()}"


@test("qOffsets is where /proc/kallsyms has _text")
def text_start():
    with Client() as client:
        assert int(client.ask("qOffsets").removeprefix("TextSeg="), 16) == SYM["_text"]


@test("live memory is the kernel's; unmapped memory is an error, not an oops")
def live_memory():
    with Client() as client:
        banner = bytes.fromhex(client.ask(f"m{SYM['linux_banner']:x},d"))
        assert banner == b"Linux version", banner
        for address in NO_MEMORY:
            assert client.ask(f"m{address:x},8").startswith("E"), hex(address)


MEMORY = "/sys/devices/system/memory/"


def direct_map(client):
    """Return the address of the kernel's direct map."""
    return int.from_bytes(bytes.fromhex(client.ask("m%x,8" % symbols("page_offset_base")["page_offset_base"])), "little")


def block_offline():
    """Take a block of memory offline. Return its number, or None if no block can be taken offline."""
    blocks = sorted((int(name[6:]) for name in os.listdir(MEMORY) if name.startswith("memory")), reverse=True)
    for block in blocks:
        try:
            put(f"{MEMORY}memory{block}/online", "0")
        except OSError:
            continue
        return block
    return None


@test("memory that is offline is not read, though it is mapped")
def offline_memory():
    if not os.path.exists(MEMORY + "block_size_bytes"):
        skip("this kernel takes no memory offline")
    size = int(get(MEMORY + "block_size_bytes"), 16)
    with Client() as client:
        base = direct_map(client)
        block = block_offline()
        if block is None:
            skip("no block of memory can be taken offline here")
        there = base + block * size
        try:
            assert client.ask(f"m{there:x},8") == "E01"
            # The last bytes of the offline block cannot be read either.
            assert client.ask(f"m{there + size - 16:x},8") == "E01"
        finally:
            put(f"{MEMORY}memory{block}/online", "1")
        assert len(client.ask(f"m{there:x},8")) == 16


def poisoned(report):
    """At each SIGUSR1, declare a page of this process to be faulty memory. Never return."""
    page = mmap.mmap(-1, 4096)
    page.write(b"whole" * 800)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    entry = os.pread(os.open("/proc/self/pagemap", os.O_RDONLY), 8, start // 4096 * 8)
    frame = int.from_bytes(entry, "little") & (1 << 55) - 1
    signal.signal(signal.SIGBUS, lambda *_: None)  # the kernel signals the owner of the page
    madvise = ctypes.CDLL(None).madvise
    signal.signal(signal.SIGUSR1, lambda *_: os.write(report, b"%d\n" % madvise(ctypes.c_void_p(start), 4096, 100)))
    os.write(report, b"%d\n" % frame)
    while True:
        signal.pause()


@test("memory that was reported as faulty is not read")
def broken_memory():
    reading, writing = os.pipe()
    pid = child(lambda: poisoned(writing))
    os.close(writing)
    try:
        with Client() as client, open(reading, encoding="ascii") as answers:
            there = direct_map(client) + int(answers.readline()) * 4096
            assert client.ask(f"m{there:x},a") == b"wholewhole".hex()
            os.kill(pid, signal.SIGUSR1)
            if int(answers.readline()):
                skip("this kernel cannot be told that memory is broken")
            assert client.ask(f"m{there:x},a") == "E01"
    finally:
        kill(pid)


@test("memory cannot be written unless the module parameter allows it, rodata never")
def no_writes():
    with Client() as client:
        assert client.ask(f"M{SYM['init_task']:x},4:00000000").startswith("E.")
    load("self_trace=1", "allow_write=1")
    counter = symbols("gtp_target_counter")["gtp_target_counter"]
    with Client() as client:
        client.ok(f"M{counter:x},8:efbeadde00000000")
        assert client.ask(f"m{counter:x},8") == "efbeadde00000000"
        for address in [SYM["linux_banner"], SYM["_text"], *NO_MEMORY]:
            assert client.ask(f"M{address:x},1:00").startswith("E"), hex(address)
        assert client.ask(f"m{SYM['linux_banner']:x},1") == "4c"
    load("self_trace=1")


@test("an address that cannot be probed is refused with the reason; the others are armed, or none under monitor strict")
def no_probe():
    places = {"gdbtp itself": symbols("gtp_hit")["gtp_hit"], "data": SYM["jiffies_64"], "nothing": 0x1234,
              "user": 0x400000, "blacklist": SYM["exc_int3"], "inside": LEAF + 2,
              "non-canonical": 0x1234567812345678, "the end": 0xffffffffffffffff}
    with Client() as client:
        for what, address in places.items():
            client.monitor("strict off")
            client.start((1, LEAF), (2, address))
            assert f"tracepoint 2 is not armed at 0x{address:x}" in client.console, (what, client.console)
            target("call leaf 1")
            assert (client.hits(1, LEAF), client.hits(2, address)) == (1, 0), what
            client.ok("QTStop")
            client.monitor("strict on")
            client.define((1, LEAF), (2, address))
            reply = client.ask("QTStart")
            assert reply.startswith(f"E.tracepoint 2 at 0x{address:x}: "), (what, reply)
            assert not kprobes(), (what, kprobes())
            assert client.status()["run"] == "T0"
            client.define((2, address))
            client.monitor("strict off")
            assert client.ask("QTStart").startswith(f"E.tracepoint 2 at 0x{address:x}: "), what
        everything = [(n, address) for n, address in enumerate(places.values(), 2)]
        client.start((1, LEAF), *everything)
        assert client.console.count(" is not armed at ") == len(places), client.console
        assert client.console.count(" is armed nowhere") == len(places), client.console
        how = probes(client.monitor("probes"))
        assert [at for at, probe in how.items() if probe.how != "not armed"] == [LEAF], how
        client.ok("QTStop")
        client.define(*everything)
        assert client.ask("QTStart").startswith("E.tracepoint 2 at ")
        assert not kprobes()


# Addresses just outside and inside the canonical ranges for 48 and for 57 address bits. The kernel has no code at any.
NO_CODE = [0x00fffffffc088470, 0x0000800000000000, 0x0100000000000000, 0xfeffffffffffffff, 0xffff7ffffffffff8,
           0xfffffffffffffff8]


@test("an address that no code of the kernel can have takes no probe, and the kernel has nothing to warn of")
def not_canonical():
    with Client() as client:
        assert set(refused_of(client, [*NO_CODE, LEAF])) == set(NO_CODE)


@test("a module's last function: a kprobe is refused where the kernel would decode past the end, and crash")
def behind_the_last():
    last = symbols("gtp_target2_last")["gtp_target2_last"]
    end = last | mmap.PAGESIZE - 1
    assert max(at for at, _, module in kallsyms() if module == "gtp_target2" and at <= end) == last, "another is behind it"
    with Client() as client:
        client.define((1, last))
        reply = client.ask("QTStart")
        mapped = not client.ask(f"m{end + 1:x},1").startswith("E")
        note("behind it there is", "memory" if mapped else "nothing", reply)
        if mapped:
            assert reply == "OK", reply
            client.ok("QTStop")
        else:
            assert reply.startswith(f"E.tracepoint 1 at 0x{last:x}: ") and "read on past this function" in reply, reply
        assert not kprobes(), kprobes()


def traced_functions():
    """Return the names of the functions that the function tracer can trace."""
    return {line.split()[0] for line in lines(TRACING + "available_filter_functions")}


def text_functions():
    """Return {address: names} for those functions of the kernel, without modules, each of whose names occurs only once."""
    bounds = symbols("_stext", "_etext")
    count, names = collections.Counter(), collections.defaultdict(list)
    for at, name, module in kallsyms():
        count[name] += 1
        if not module and bounds["_stext"] <= at < bounds["_etext"] and not name.startswith("__pfx_"):
            names[at].append(name)
    return {at: found for at, found in names.items() if all(count[name] == 1 for name in found)}


# Two functions of tracers, and a clock that tracers use. With the function tracer on, a probe in one of the first two
# crashed the kernel, and a probe in the third hung it.
TRACERS = ("ring_buffer_lock_reserve", "trace_clock_local", "function_trace_call")


def by_default(function):
    """Decorate a test so that gdbtp refuses probes in notrace functions, as it does by default. Without this, the tests
    load the module with allow_notrace, because the fixture's functions are notrace, too."""
    @functools.wraps(function)
    def run():
        mount_tracing()
        parameter("allow_notrace", 0)
        try:
            function()
        finally:
            parameter("allow_notrace", 1)
    return run


@test("a function that tracers run through takes no probe, whichever tracer is on")
@by_default
def no_notrace():
    places = symbols(*TRACERS)
    with Client() as client:
        client.monitor("strict on")
        for tracer in "nop", "function":
            put(TRACING + "current_tracer", tracer)
            for name, address in places.items():
                client.define((1, SYM["gtp_target_add"]), (2, address))
                reply = client.ask("QTStart")
                assert "is marked notrace" in reply and f"0x{address:x}" in reply, (name, reply)
                assert not kprobes(), (name, kprobes())
        put(TRACING + "current_tracer", "nop")
        client.monitor("strict off")


def refused_of(client, addresses):
    """Return {address: reason} for those addresses at which gdbtp refuses a probe. All others have been armed together in
    the last attempt."""
    left, refused = list(addresses), {}
    client.monitor("strict on")
    while True:
        client.define(*enumerate(left, 1))
        reply = client.ask("QTStart")
        if reply == "OK":
            client.ok("QTStop")
            client.monitor("strict off")
            return refused
        address, why = re.fullmatch(r"E\.tracepoint \d+ at (0x[0-9a-f]+): (.*)", reply).groups()
        refused[int(address, 16)] = why
        left.remove(int(address, 16))


@test("such functions are those without a site of the function tracer, and their .cold parts")
@by_default
def notrace_rule():
    rng = seeded()
    traced, functions = traced_functions(), text_functions()
    names = {name for found in functions.values() for name in found}
    whole = {at: {name.removesuffix(".cold") for name in found} for at, found in functions.items()}
    parts = [at for at, found in functions.items() if found[0].endswith(".cold") and whole[at] <= names]
    starts = [at for at, found in functions.items() if not found[0].endswith(".cold")]
    chosen = rng.sample(starts, 150) + rng.sample(parts, min(len(parts), 30))
    with Client() as client:
        # At the iterator of a kernel tracepoint, GDB's tracepoint is armed as an event, not as a probe: leave these out.
        chosen = [at for at in chosen if not client.ask("qTSTMat:%x" % at).startswith("m")]
        with_site = [at for at in chosen if whole[at] & traced]
        without = [at for at in chosen if not whole[at] & traced]
        refused = refused_of(client, with_site)
        assert not [functions[at] for at, why in refused.items() if "notrace" in why]
        refused = refused_of(client, without)
        assert set(refused) == set(without), [functions[at] for at in set(without) - set(refused)]
        marked = sum("is marked notrace" in why for why in refused.values())
    note("%d with a site, %d without, of these %d for that reason" % (len(with_site), len(without), marked))
    assert len(with_site) > 50 and marked > 10


@test("monitor notrace on allows a probe there, for the next tstart")
@by_default
def notrace_allowed():
    place = symbols("vsscanf")["vsscanf"]
    with Client() as client:
        assert "notrace is on" in client.monitor("notrace on")
        client.start((1, place))
        assert place in probes(client.monitor("probes"))
        client.ok("QTStop")
        assert "notrace is off" in client.monitor("notrace off")
        assert "is marked notrace" in client.ask("QTStart")


@test("no function of gdbtp has a site of the function tracer")
def no_site_of_ours():
    mount_tracing()
    ours = [line for line in lines(TRACING + "available_filter_functions") if "[gdbtp]" in line]
    assert not ours, ours


@test("GDB's own tasks are not traced by default")
def own_tasks():
    parameter("self_trace", 0)
    with Client() as client:
        client.start((1, LEAF))
        target("call leaf 1")
        assert client.hits(1, LEAF) == 0
        client.monitor("self-trace on")
        target("call leaf 1")
        assert client.hits(1, LEAF) == 1
        assert command("sh", "-c", "echo call leaf 1 >/proc/gtp_target").returncode == 0
        assert client.hits(1, LEAF) == 2
        client.ok("QTStop")


@test("every hit on every CPU is counted, and $n = $n + 1 loses none")
def exact():
    with Client() as client:
        client.define((1, LEAF, COUNT_IN_45), (2, LEAF))
        client.ok("QTDV:45:0:0:" + b"n".hex())
        client.ok("QTBuffer:circular:1")
        client.ok("QTStart")
        before = counted("leaf")
        target("loop leaf 20000")
        calls = counted("leaf") - before
        assert calls == 20000 * CPUS
        client.ok("QTStop")
        assert client.hits(1, LEAF) == client.hits(2, LEAF) == calls
        assert int(client.ask("qTV:45")[1:], 16) == calls
        client.ok("QTBuffer:circular:0")


@test("a full buffer ends the run by itself and removes the probes")
def full():
    with Client() as client:
        client.define((1, LEAF))
        client.ok("QTBuffer:size:2000")
        client.ok("QTStart")
        target("loop leaf 5000")
        until(lambda: not kprobes())
        assert client.status()["why"] == "tfull"
        client.ok("QTBuffer:size:-1")


@test("a buffer that is too large for the machine is refused with the reason")
def too_much():
    with Client() as client:
        client.define((1, LEAF))
        for size in "10000000000", "ffffffffff", "7fffffffffffffff", "8000000000000000":
            client.ask("QTBuffer:size:" + size)
            reply = client.ask("QTStart")
            assert reply.startswith("E.") and "trace-buffer-size" in reply, (size, reply)
        client.ok("QTBuffer:size:-1")
        client.ok("QTStart")


@test("collecting unmapped memory ends the run with terror, and the kernel goes on")
def bad_collection():
    with Client() as client:
        for address in NO_MEMORY:
            client.start((1, LEAF, f"M-1,{address:x},8"))
            target("call leaf 1")
            status = client.status()
            assert status["why"] == "terror", (hex(address), status)
            assert "cannot read memory" in bytes.fromhex(status["terror"].split(":")[0]).decode()


@test("a hit reads the memory of the task that made it")
def user_memory():
    with Client() as client:
        client.start((1, SYM["gtp_target_user"], "M5,0,5"))
        target("call user hello")
        client.ok("QTStop")
        assert client.ask("QTFrame:0") == "F0T1"
        assert b"hello".hex() in client.ask("qTBuffer:0,100")


@test("a module is unloaded under its tracepoints: the user is told, and other tracepoints go on")
def module_goes():
    gone = SYM["gtp_target2_fn"]
    with Client() as client:
        client.start((1, gone), (2, LEAF), (3, gone))
        unload("gtp_target2")
        target("call leaf 1")
        assert client.status()["run"] == "T1"
        assert "gtp_target2" in client.console and "2 tracepoints" in client.console, client.console
        assert len(kprobes()) == 1
        assert client.hits(2, LEAF) == 1
        client.ok("QTStop")
        client.define((1, gone))
        assert client.ask("QTStart").startswith("E.")
    load_fixture("gtp_target2")


@test("again and again: a module is unloaded under a tracepoint that is being hit; another tracepoint loses no hit")
def module_goes_again():
    for _ in range(rounds(10, 4)):
        load_fixture("gtp_target2")
        gone = symbols("gtp_target2_fn")["gtp_target2_fn"]
        with Client() as client:
            client.start((1, gone, "R00ffffff"), (2, LEAF, "R00ffffff"))
            for n in 1, 2, 3:
                put("/sys/module/gtp_target2/parameters/call", str(n))
            unload("gtp_target2")
            target("call leaf 1")
            assert client.running(), "the run stopped with the module"
            assert (client.hits(1, gone), client.hits(2, LEAF)) == (3, 1)
    load_fixture("gtp_target2")


def has_kprobe(address):
    """Return whether the kernel still has a kprobe at an address, even in code that has been freed."""
    return any(int(line.split()[0], 16) == address for line in kprobes())


@test("again and again: a module is unloaded under an optimised kprobe; the place takes another kprobe")
def module_goes_under_kernels_jump():
    put("/sys/kernel/rcu_expedited", "1")  # unregister the kprobe before the kernel's optimizer runs
    for _ in range(rounds(5, 2)):
        load_fixture("gtp_target2")
        with Client() as client:
            assert client.monitor("jumps off")
            site = symbols("gtp_target2_fn")["gtp_target2_fn"]
            place = site + bytes.fromhex(client.ask(f"m{site:x},10")).index(bytes.fromhex("0f1f440000")) + 5
            client.start((1, place))
            until(lambda: place in optimized())
            unload("gtp_target2")
            assert not has_kprobe(place), kprobes()
            client.ok("QTStop")
            assert client.monitor("jumps on")
    put("/sys/kernel/rcu_expedited", "0")
    load_fixture("gtp_target2")


@test("a run goes on without GDB if disconnected tracing is on, and otherwise ends")
def disconnected():
    for wish, run_is, why in ("1", "T1", None), ("0", "T0", "tdisconnected"):
        with Client() as client:
            client.ok("QTDisconnected:" + wish)
            client.start((1, LEAF))
        target("call leaf 1")
        with Client() as client:
            status = client.status()
            assert status["run"] == run_is, status
            assert why is None or status["why"] == why, status
            assert bool(kprobes()) == (wish == "1")
            client.ok("QTStop")


@test("rmmod while a run goes on without GDB, under load, removes all probes")
def unload_running():
    places = symbols(*("gtp_target_" + name for name in ("leaf", "add", "obj", "irq")))
    with hammering():
        with Client() as client:
            client.ok("QTDisconnected:1")
            client.start(*((n, at, "R00ffffff") for n, at in enumerate(places.values(), 1)))
            armed = probes(client.monitor("probes"))
            assert len(armed) == 4 and all(probe.how != "not armed" for probe in armed.values()), armed
        unload()
        assert not kprobes() and not loaded()
        assert "gtp_target" not in get(TRACING + "enabled_functions")
    load("self_trace=1")


@test("printf's text reaches a waiting GDB, and ^C works during a flood of text")
def printf():
    with Client() as client:
        client.start((1, LEAF, printf_of_rdi("n=%d\n")))
        client.send("c")
        target("call leaf 42")
        assert bytes.fromhex(client.packet()[1:]) == b"n=42\n"
        target("loop leaf 100000")
        os.write(client.fd, b"\x03")
        assert client.reply() == "S02"
        lines = client.console.count("n=")
        dropped = sum(map(int, re.findall(r"\[(\d+) lines", client.console)))
        assert lines and lines + dropped <= 100000 * CPUS, (lines, dropped)
        client.ok("QTStop")


def stopped_run(client):
    client.start((1, LEAF))
    target("call leaf 1")
    client.ok("QTStop")


def save_as(client, name):
    return client.ask("QTSave:" + name.encode().hex())


@test("QTSave only creates new files in the folder of save_dir: no existing file, no path, no link")
def save():
    with Client() as client:
        client.start((1, LEAF))
        assert save_as(client, "saved").startswith("E.the run is going on"), "while it runs"
        stopped_run(client)
        assert save_as(client, "saved") == "OK"
        with open("/tmp/saved", "rb") as file:
            assert file.read(8) == b"\x7fTRACE0\n"
            assert os.fstat(file.fileno()).st_mode == 0o100600
        for name in ("/tmp/new", "/etc/shadow", "../tmp/new", "folder/new", "..", ".", "/"):
            assert "a plain name" in save_as(client, name), name
        # QTSave must not open or change an existing file. To open the FIFO would block for ever.
        os.mkfifo("/tmp/fifo")
        os.symlink("/etc/gtp-new", "/tmp/dangling")
        os.symlink("/etc/passwd", "/tmp/link")
        os.mkdir("/tmp/folder")
        before = os.stat("/etc/passwd").st_mtime_ns
        for name in ("saved", "fifo", "dangling", "link", "folder"):
            assert save_as(client, name) == "E.%s is there already; take another name" % name, name
        assert not os.path.lexists("/etc/gtp-new") and os.stat("/etc/passwd").st_mtime_ns == before


@test("without save_dir QTSave writes nothing, and names save_dir; the same if that is no folder, or is in /proc")
def save_nowhere():
    try:
        for folder, words in (("", "save_dir names no folder"), ("/nonexistent", "save_dir"), ("/etc/passwd", "save_dir"),
                              ("/proc/self", "under /proc")):
            load("self_trace=1", "save_dir=" + folder)
            with Client() as client:
                stopped_run(client)
                reply = save_as(client, "elsewhere")
                assert reply.startswith("E.") and words in reply, (folder, reply)
                if not folder:
                    assert "gtp save" in reply, reply
    finally:
        load("self_trace=1")
    assert not os.path.exists("/tmp/elsewhere") and not os.path.exists("elsewhere")


@test("probes in functions that a hit itself calls: their hits are counted as missed, the rest goes on")
def self_hits():
    self_hit_sites = symbols("ktime_get_mono_fast_ns", "copy_from_user_nofault", "irq_work_queue",
                             "__irq_work_queue_local", "irq_work_run", "mod_delayed_work_on")
    with Client() as client:
        client.define((1, LEAF, "Rfffff", "M7,0,8"), (2, SYM["gtp_target_user"], "M5,0,5"),
                      *((n, a, "Rfffff") for n, a in enumerate(self_hit_sites.values(), 3)))
        client.ok("QTBuffer:circular:1")
        client.ok("QTStart")
        for _ in range(5):
            target("loop mix 3000")
            target("call user hello")
            assert client.status()["run"] == "T1"
        client.ok("QTStop")
        assert client.hits(1, LEAF) > 0 and client.hits(2, SYM["gtp_target_user"]) == 5
        client.ok("QTBuffer:circular:0")
        # Make the calls one after another: the kernel counts missed hits without a lock, and two CPUs could lose counts.
        client.start((1, SYM["gtp_target_user"], "M5,0,5"), (2, self_hit_sites["copy_from_user_nofault"]))
        for _ in range(100):
            target("call user hello")
        client.ok("QTStop")
        # The kernel counts the missed hits inside a kprobe's hit. gdbtp counts those inside the hit of a jump or a call.
        lost = not_seen(client.monitor("status"))
        assert sum(lost) >= client.hits(1, SYM["gtp_target_user"]) == 100, lost


@test("hits on a CPU that comes up during a run are counted as missed; a CPU that goes offline keeps its frames")
def cpu_comes():
    if CPUS < 2:
        skip("one CPU only")
    path = f"/sys/devices/system/cpu/cpu{CPUS - 1}/online"

    def online(on):
        with open(path, "w", encoding="ascii") as file:
            file.write(on)

    with Client() as client:
        online("0")
        client.start((1, LEAF))
        online("1")
        target("loop leaf 1000")
        during = not_seen(client.monitor("status"))[1]
        client.ok("QTStop")
        missed = not_seen(client.monitor("status"))[1]
        assert (client.hits(1, LEAF), during, missed) == (1000 * (CPUS - 1), 1000, 1000)
        client.start((1, LEAF))
        target("loop leaf 1000")
        online("0")
        client.ok("QTStop")
        online("1")
        assert client.hits(1, LEAF) == int(client.status()["tframes"], 16) == 1000 * CPUS


main()
