# SPDX-License-Identifier: GPL-2.0-only
"""Threads that make the kernel change its code while gdbtp's jumps are in it."""
import collections
import errno
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

from fixture import KMOD, command, load_table, must
from kernel import DEBUG, TRACING, get, put
from stream import PIPE
from tap import SECONDS

PREEMPT = DEBUG + "sched/preempt"
HERE = os.path.dirname(os.path.abspath(__file__))

# Scheduler features, without those that make the kernel warn or the guest very slow.
FEATURES = ("GENTLE_FAIR_SLEEPERS", "START_DEBIT", "NEXT_BUDDY", "LAST_BUDDY", "CACHE_HOT_BUDDY", "WAKEUP_PREEMPTION",
            "NONTASK_CAPACITY", "TTWU_QUEUE", "SIS_PROP", "SIS_UTIL", "LB_MIN", "ATTACH_AGE_LOAD", "WA_IDLE",
            "WA_WEIGHT", "WA_BIAS", "UTIL_EST", "UTIL_EST_FASTUP", "ALT_PERIOD")
SYSCTLS = ("kernel/sched_schedstats", "kernel/bpf_stats_enabled", "kernel/task_delayacct", "kernel/timer_migration",
           "vm/numa_stat")
SO_TIMESTAMP = 29  # Python has no name for this constant
EVENTS = ("sched", "irq", "timer", "net", "sock", "skb", "tcp", "napi", "signal", "task", "kmem", "filemap",
          "workqueue", "rcu", "writeback", "block", "syscalls", "raw_syscalls", "irq_vectors", "exceptions", "tlb", "mmap",
          "page_isolation", "fib", "cpuhp", "module", "ipi", "percpu", "msr", "x86_fpu")
FILTERS = ("", "kmem*", "tcp_*", "ip_*", "vfs_*", "*lock*", "sched*", "do_*", "*page*")
MODULES = ("net/ipv4/tcp_bic", "net/ipv4/tcp_vegas", "net/ipv4/tcp_htcp", "drivers/net/dummy")


class Crowd:
    """All threads that disturb the run. While all of them pause, everything that they changed is restored."""

    def __init__(self, seed):
        self.seed = seed
        self.go, self.end = threading.Event(), threading.Event()
        self.done = collections.Counter()
        self.failure = None
        self.members = []

    def start(self, kinds):
        self.members = [Member(self, kind) for kind in kinds]
        self.go.set()
        for member in self.members:
            member.start()

    def pause(self):
        """Wait without a time limit: watch.py notices a hang."""
        self.go.clear()
        for member in self.members:
            member.idle.wait()
        self.check()

    def resume(self):
        for member in self.members:
            member.idle.clear()
        self.go.set()

    def stop(self):
        self.pause()
        self.end.set()
        self.go.set()

    def check(self):
        if self.failure:
            raise AssertionError(self.failure)


class Member(threading.Thread):
    def __init__(self, crowd, kind):
        super().__init__(name=kind.__name__, daemon=True)
        self.crowd, self.kind = crowd, kind
        self.rng = random.Random("%s %s" % (crowd.seed, kind.__name__))
        self.idle = threading.Event()
        self.began = None  # when the thread's present operation began, or None while it rests

    def rest(self, seconds):
        """Sleep for a random time up to SECONDS. Return earlier if all threads are asked to pause."""
        deadline = time.monotonic() + self.rng.uniform(0, seconds)
        while self.crowd.go.is_set() and time.monotonic() < deadline:
            time.sleep(0.02)

    def run(self):
        while not self.crowd.end.is_set():
            if not self.crowd.go.is_set():
                self.idle.set()
                self.crowd.go.wait()
                continue
            try:
                self.began = time.monotonic()
                self.kind(self)
                self.began = None
                self.crowd.done[self.name] += 1
            except Exception:
                self.crowd.failure = self.name + ": " + traceback.format_exc()
                self.idle.set()
                return
            self.rest(3)


# Kinds -------------------------------------------------------------------------------------------

def features(me):
    """Switch jump labels of the scheduler."""
    now = get(DEBUG + "sched/features").split()
    chosen = me.rng.sample([f for f in now if f.replace("NO_", "") in FEATURES], me.rng.randint(1, 6))
    for name in chosen:
        put(DEBUG + "sched/features", name[3:] if name.startswith("NO_") else "NO_" + name)
    me.rest(0.5)
    for name in chosen:
        put(DEBUG + "sched/features", name)


def keys(me):
    """Switch other jump labels and static calls: for statistics, time stamps, and the kind of preemption."""
    there = [name for name in SYSCTLS if os.path.exists("/proc/sys/" + name)]
    name = me.rng.choice(there + ["stamps", "stamps", "preempt"])
    if name == "stamps":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
            me.rest(0.5)
        return
    if name == "preempt":
        kinds, first = preemption()
        put(PREEMPT, me.rng.choice(kinds))
        path = PREEMPT
    else:
        path = "/proc/sys/" + name
        first = get(path).strip()
        put(path, str(int(not int(first))))
    me.rest(0.5)
    put(path, first)


def preemption():
    """Return the kinds of preemption that can be chosen, and the one that is on."""
    kinds = get(PREEMPT)  # "none voluntary (full)"; 7.3: "full (lazy)"
    first = kinds.split("(")[1].split(")")[0]
    return [kind for kind in kinds.replace("(", " ").replace(")", " ").split() if kind != "voluntary"], first


def every_preemption():
    """Switch to each kind of preemption once, then back to the first one. So the kernel patches all static calls again: at
    boot it may write a return for a static call without a target before it has chosen the form of returns for this
    processor, and a later patch would write different bytes."""
    kinds, first = preemption()
    for kind in [kind for kind in kinds if kind != first] + [first]:
        put(PREEMPT, kind)


def events(me):
    """Switch some of the kernel's own tracepoints on and off."""
    chosen = me.rng.sample(EVENTS, me.rng.randint(1, 3))
    paths = [TRACING + "events/%s/enable" % name for name in chosen]
    paths = [path for path in paths if os.path.exists(path)]
    for path in paths:
        put(path, "1")
    me.rest(0.5)
    for path in paths:
        put(path, "0")


def tracer(me):
    """Run the function tracer on some functions or on all."""
    put(TRACING + "set_ftrace_filter", me.rng.choice(FILTERS), os.O_TRUNC)
    chosen = me.rng.choice(["function", "function", "function", "function_graph"])
    graph = chosen == "function_graph"
    if graph:
        put("/dev/kmsg", "<3>gtp: function_graph on\n")  # for tests/vm/judge
    put(TRACING + "current_tracer", chosen)
    me.rest(0.7)
    put(TRACING + "current_tracer", "nop")
    if graph:
        put("/dev/kmsg", "<3>gtp: function_graph off\n")
    put(TRACING + "set_ftrace_filter", "", os.O_TRUNC)


cpus_lock = threading.Lock()  # held by a thread that needs all CPUs online


def cpus(me):
    """Take one CPU offline and online again."""
    path = "/sys/devices/system/cpu/cpu%d/online" % me.rng.randint(1, os.cpu_count() - 1)
    with cpus_lock:
        put(path, "0")
        me.rest(0.7)
        put(path, "1")
    me.rest(4)


modules_lock = threading.Lock()  # held by a thread that needs a module to stay


def of_the_kernel(name):
    """Return the path of the file of a kernel's module, which may be compressed."""
    path = "%s/kernel/%s.ko" % (os.environ["GTP_MODULES"], name)
    return path if os.path.exists(path) else path + ".xz"


def unload(name):
    """Unload a module. The kernel holds a module while someone registers a kprobe in it. gdbtp may do that in any module, since
    a tracepoint keeps its address when gtp_target2 has gone, and the next module may be there. So try again for a while."""
    end = time.monotonic() + SECONDS
    done = command("rmmod", name)
    while done.returncode != 0 and time.monotonic() < end:
        time.sleep(0.1)
        done = command("rmmod", name)
    assert done.returncode == 0, "rmmod %s: %s" % (name, done.stdout + done.stderr)


def modules(me):
    """Load a module, perhaps with its table of regions, and unload it."""
    path = of_the_kernel(me.rng.choice(MODULES))
    if me.rng.random() < 0.6:
        path = KMOD + "/gtp_target2.ko"
    name = os.path.basename(path).split(".")[0]
    must("insmod", path)
    if name == "gtp_target2":
        if me.rng.random() < 0.8:
            load_table(name)
        for _ in range(me.rng.randint(1, 60)):
            put("/sys/module/gtp_target2/parameters/call", "5")
            me.rest(0.3)
    me.rest(3)
    with modules_lock:
        unload(name)


class Kprobes:
    """Set kprobe events at and near the places of gdbtp's tracepoints, before, during and after a run. The soak sets
    `places` in each round."""

    __name__ = "kprobes"

    def __init__(self):
        self.places, self.refused, self.number = [], collections.Counter(), 0

    def __call__(self, me):
        made = []
        for place in me.rng.sample(self.places, min(len(self.places), me.rng.randint(1, 6))):
            addr, offset = place.addr, int(place.name.rsplit("+", 1)[1], 16)
            where = me.rng.random()
            if where < 0.4:
                addr -= offset
            elif where < 0.6:  # often in the middle of an instruction or of a jump, where the kernel refuses a kprobe
                addr += me.rng.randint(1, 8)
            self.number += 1
            name = "soak/e%d" % self.number
            try:
                put(TRACING + "kprobe_events", "p:%s 0x%x" % (name, addr), os.O_APPEND)
            except OSError as error:  # the kernel refuses the address, as in the middle of a jump
                self.refused[errno.errorcode[error.errno]] += 1
                continue
            made.append(name)
        me.rest(0.3)
        on = [name for name in made if me.rng.random() < 0.8 and self.enable(name)]
        me.rest(2)
        for name in on:
            put(TRACING + "events/%s/enable" % name, "0")
        me.rest(0.3)
        for name in made:
            put(TRACING + "kprobe_events", "-:" + name, os.O_APPEND)

    def enable(self, name):
        try:
            put(TRACING + "events/%s/enable" % name, "1")
            return True
        except OSError as error:  # gdbtp has just written an int3 of its own at the place
            self.refused["enable " + errno.errorcode[error.errno]] += 1
            return False


def load(me):
    """Run load.py, which makes the kernel work with files, processes, the network and modules."""
    module = of_the_kernel("net/ipv4/tcp_lp")
    done = subprocess.run([sys.executable, "-B", HERE + "/load.py", "2", module],
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    assert not done.returncode, done.stdout + done.stderr


def reader(me):
    """Open /proc/gtpframe_pipe, read frames of the run for some time, and close it. There must be a header and whole
    frames."""
    fd = os.open(PIPE, os.O_RDONLY | os.O_NONBLOCK)
    data, end = b"", time.monotonic() + me.rng.uniform(0, 4)
    try:
        while me.crowd.go.is_set() and time.monotonic() < end and len(data) < 4 << 20:
            try:
                piece = os.read(fd, 1 << me.rng.randint(3, 18))
            except BlockingIOError:
                time.sleep(0.02)
                continue
            if not piece:
                break
            data += piece
    except OSError as error:
        if error.errno != errno.ESTALE:  # ESTALE: another run has begun
            raise
    finally:
        os.close(fd)
    walk(data)


def walk(data):
    """Check every block of every frame in the data of a trace file. The last frame may be incomplete."""
    if b"\n\n" not in data:
        return
    assert data.startswith(b"\x7fTRACE0\n"), "no header"
    at = data.index(b"\n\n") + 2
    while at + 6 <= len(data):
        number, size = struct.unpack_from("<HI", data, at)
        if not number:
            assert not any(data[at:]), "something behind the end"
            return
        at, end = at + 6, at + 6 + size
        while at < end and end <= len(data):
            kind = data[at:at + 1]
            at += {b"V": 13, b"R": 165}.get(kind) or 11 + struct.unpack_from("<H", data, at + 9)[0]
            assert kind in b"VRM", "a block of kind %r in a frame of tracepoint %d" % (kind, number)
        assert end > len(data) or at == end, "a frame of tracepoint %d is not whole" % number
        at = end
