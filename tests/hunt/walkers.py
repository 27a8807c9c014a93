# SPDX-License-Identifier: GPL-2.0-only
"""Walkers: other users of the probe-handling code. Each is a context manager that is on inside the `with`."""
import ctypes
import glob
import mmap
import os
import struct
import time

from fixture import KMOD, must
from kernel import DEBUG, TRACING, KprobeEvent, get, put, symbols
from tap import until

SECONDS = 0.7  # how long a walker that works by itself stays on, in seconds of the guest's clock


class Walker:
    """A context manager, inside which the walker is on. lacks() returns why this kernel lacks the walker, or None."""

    name = ""

    def __enter__(self):
        self.on()
        return self

    def __exit__(self, *_):
        self.off()

    def lacks(self):
        return None

    def walk(self):
        time.sleep(SECONDS)


class Switch(Walker):
    """A walker that is switched by writing a word to a file: one for on, one for off."""

    def __init__(self, name, path, on="1", off="0", lacks=None):
        self.name, self.path, self.words, self.missing = name, path, (on, off), lacks

    def lacks(self):
        return self.missing or (None if os.path.exists(self.path) else "this kernel has no " + self.path)

    def on(self):
        put(self.path, self.words[0])

    def off(self):
        put(self.path, self.words[1])


def tracer(name):
    there = get(TRACING + "available_tracers").split()
    return Switch(name, TRACING + "current_tracer", name, "nop",
                  None if name in there else "this kernel has no tracer " + name)


class Events(Walker):
    """All events of some systems, each with a stack trace."""

    def __init__(self, *systems):
        self.name = "events " + " ".join(systems)
        self.paths = [path for path in (TRACING + "events/%s/enable" % system for system in systems)
                      if os.path.exists(path)]

    def lacks(self):
        return None if self.paths else "this kernel has none of them"

    def on(self):
        put(TRACING + "options/stacktrace", "1")
        for path in self.paths:
            put(path, "1")

    def off(self):
        for path in self.paths:
            put(path, "0")
        put(TRACING + "options/stacktrace", "0")


# perf --------------------------------------------------------------------------------------------

PERF_EVENT_OPEN, BPF = 298, 321
SOFTWARE, TRACEPOINT, BREAKPOINT = 1, 2, 5
CPU_CLOCK, CONTEXT_SWITCHES = 0, 3
IP_TID_TIME_CALLCHAIN = 1 | 2 | 4 | 1 << 5
FREQUENCY = 1 << 10
BREAKPOINT_WRITE, BREAKPOINT_EXECUTE = 2, 4
SET_BPF, ENABLE = 0x40042408, 0x2400
PAGES = 9
libc = ctypes.CDLL(None, use_errno=True)


def syscall(*words):
    result = libc.syscall(*(ctypes.c_long(word) for word in words))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def perf_event(cpu, kind, config, period, flags=0, sample=IP_TID_TIME_CALLCHAIN, where=(0, 0, 0)):
    """Return a struct perf_event_attr. WHERE is the breakpoint's kind, address and length."""
    attr = struct.pack("<IIQQQQQIIQQ", kind, 128, config, period, sample, 0, flags, 0, *where).ljust(128, b"\0")
    room = ctypes.create_string_buffer(attr, 128)
    return syscall(PERF_EVENT_OPEN, ctypes.addressof(room), -1, cpu, -1, 0)


class Perf(Walker):
    """perf events on every CPU. No process reads their rings."""

    def __init__(self, name, *events):
        self.name, self.events, self.open = name, events, []

    def on(self):
        for cpu in sorted(os.sched_getaffinity(0)):
            for event in self.events:
                fd = perf_event(cpu, **event)
                self.open.append((fd, mmap.mmap(fd, PAGES * mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ)))

    def off(self):
        while self.open:
            fd, ring = self.open.pop()
            ring.close()
            os.close(fd)


class Program(Walker):
    """A BPF program that calls bpf_trace_printk() at events of the scheduler, of timers and of system calls."""

    name = "bpf_trace_printk"
    events = ("sched/sched_switch", "irq_vectors/local_timer_entry", "raw_syscalls/sys_enter")
    code = b"".join(struct.pack("<BBhi", *insn) for insn in (
        (0x62, 10, -8, int.from_bytes(b"hi\n\0", "little")),  # *(u32 *)(r10 - 8) = "hi\n"
        (0xbf, 0xa1, 0, 0), (0x07, 1, 0, -8),                 # r1 = r10 - 8
        (0xb7, 2, 0, 4), (0x85, 0, 0, 6),                     # r2 = 4; bpf_trace_printk()
        (0xb7, 0, 0, 0), (0x95, 0, 0, 0)))                    # return 0

    def __init__(self):
        self.open = []

    def load(self):
        code, licence = ctypes.create_string_buffer(self.code, len(self.code)), ctypes.create_string_buffer(b"GPL")
        attr = struct.pack("<IIQQ", 5, len(self.code) // 8, ctypes.addressof(code), ctypes.addressof(licence))
        room = ctypes.create_string_buffer(attr.ljust(128, b"\0"), 128)
        return syscall(BPF, 5, ctypes.addressof(room), 128)

    def on(self):
        program = self.load()
        self.open.append(program)
        for event in self.events:
            number = int(get(TRACING + "events/%s/id" % event))
            fd = perf_event(0, TRACEPOINT, number, 1, sample=0)
            self.open.append(fd)
            syscall(16, fd, SET_BPF, program)
            syscall(16, fd, ENABLE, 0)

    def off(self):
        while self.open:
            os.close(self.open.pop())


# Others' probes ----------------------------------------------------------------------------------

class Probes(Walker):
    """Kprobe events of ftrace at functions' entries or returns, set before gdbtp's probes."""

    def __init__(self, name, kind, places):
        self.name, self.kind = name, kind
        self.entries = [p.addr - int(p.name.rsplit("+", 1)[1], 16) for p in places]
        self.made = []

    def on(self):
        # Probe thirty other functions each time.
        chosen, self.entries = self.entries[:30], self.entries[30:] + self.entries[:30]
        for i, addr in enumerate(chosen):
            try:
                self.made.append(KprobeEvent(addr, "e%d" % i, kind=self.kind))
            except OSError:  # the kernel refuses probes at some functions
                continue
        for event in self.made:
            event.enable()

    def off(self):
        while self.made:
            self.made.pop().remove()


class Uprobe(Walker):
    """A uprobe in libc. When its breakpoint is hit, the kernel calls the die notifiers."""

    name = "uprobe"

    @staticmethod
    def place():
        addr = ctypes.cast(libc.getppid, ctypes.c_void_p).value
        with open("/proc/self/maps", encoding="ascii") as file:
            for line in file:
                span, _, offset, _, _, *path = line.split()
                start, end = (int(word, 16) for word in span.split("-"))
                if start <= addr < end:
                    return "%s:0x%x" % (path[0], addr - start + int(offset, 16))
        raise LookupError("libc is mapped nowhere")

    def on(self):
        put(TRACING + "uprobe_events", "p:hunt/up " + self.place(), os.O_APPEND)
        put(TRACING + "events/hunt/up/enable", "1")

    def walk(self):
        for _ in range(300):
            libc.getppid()

    def off(self):
        put(TRACING + "events/hunt/up/enable", "0")
        put(TRACING + "uprobe_events", "-:hunt/up", os.O_APPEND)


# The machine -------------------------------------------------------------------------------------

class SysRq(Walker):
    """Uses SysRq to print backtraces of all CPUs by NMI, the tasks, and the memory. The console does not print messages
    of this priority."""

    name = "SysRq"

    def on(self):
        put("/proc/sys/kernel/sysrq", "1")

    def walk(self):
        for key in "lmw":
            put("/proc/sysrq-trigger", key)

    def off(self):
        pass


class Hotplug(Walker):
    """Takes the last CPU offline and online again."""

    name = "CPU hotplug"
    path = "/sys/devices/system/cpu/cpu%d/online" % (os.cpu_count() - 1)

    def lacks(self):
        return None if os.path.exists(self.path) else "there is one CPU"

    def on(self):
        put(self.path, "0")

    def off(self):
        put(self.path, "1")


class LivePatch(Walker):
    """A live patch of the function that shows /proc/cmdline. Until every task has left the old version, the kernel checks
    all tasks' stacks again and again."""

    name = "live patch"
    file = "/sys/kernel/livepatch/gtp_livepatch/"

    def lacks(self):
        if not os.path.isdir("/sys/kernel/livepatch"):
            return "this kernel has no live patches"
        return None if glob.glob(KMOD + "/gtp_livepatch.ko") else "gtp_livepatch.ko is not built"

    def settled(self):
        until(lambda: get(self.file + "transition").strip() == "0", "the transition")

    def on(self):
        must("insmod", KMOD + "/gtp_livepatch.ko")
        self.settled()
        assert "patched" in get("/proc/cmdline")

    def off(self):
        self.settled()
        put(self.file + "enabled", "0")
        until(lambda: not os.path.exists(self.file), "the way back")
        must("rmmod", "gtp_livepatch")


def kgdb():
    """Return a Switch that gives kgdb a console. While kgdb has a console, its notifiers are registered."""
    return Switch("kgdb", "/sys/module/kgdboc/parameters/kgdboc", "ttyS0", "")


def all_of(places):
    at = symbols("jiffies_64", "vfs_read", "vfs_write")
    words = [dict(kind=BREAKPOINT, config=0, period=1, where=(BREAKPOINT_WRITE, at["jiffies_64"], 8)),
             dict(kind=BREAKPOINT, config=0, period=1, where=(BREAKPOINT_EXECUTE, at["vfs_read"], 8)),
             dict(kind=BREAKPOINT, config=0, period=1, where=(BREAKPOINT_EXECUTE, at["vfs_write"], 8))]
    return [
        tracer("function"), tracer("function_graph"), tracer("irqsoff"), tracer("preemptoff"), tracer("wakeup"),
        Switch("function profile", TRACING + "function_profile_enabled"),
        Switch("stack tracer", "/proc/sys/kernel/stack_tracer_enabled"),
        Events("preemptirq"), Events("exceptions", "irq_vectors", "irq", "timer", "nmi"), Events("rcu", "notifier"),
        Events("sched", "lock", "signal"), Events("kmem", "syscalls", "bpf_trace", "printk", "error_report"),
        Perf("perf sampling", dict(kind=SOFTWARE, config=CPU_CLOCK, period=2000, flags=FREQUENCY),
             dict(kind=SOFTWARE, config=CONTEXT_SWITCHES, period=1)),
        Perf("perf breakpoints", *words), Program(), Probes("kprobe events", "p", places),
        Probes("kretprobe events", "r", places), Uprobe(), SysRq(), Hotplug(), LivePatch(), kgdb(),
        Switch("kprobes/enabled", DEBUG + "kprobes/enabled", "0", "1"),
    ]
