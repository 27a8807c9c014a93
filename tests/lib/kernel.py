# SPDX-License-Identifier: GPL-2.0-only
"""Reads the kernel's own files, and the module's output of `monitor status` and `monitor probes`."""
import collections
import functools
import os
import re
import struct

from where import there

RELEASE = there.release
CPUS = len(there.cpus)
TRACING = "/sys/kernel/tracing/"
DEBUG = "/sys/kernel/debug/"


# Files -------------------------------------------------------------------------------------------

def get(path):
    with there.open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def lines(path):
    return get(path).splitlines()


def put(path, text, more=0):
    """Write a text in one write, as the kernel's files require."""
    with there.handle(path, os.O_WRONLY | more) as file:
        file.write(text.encode())


def mount_tracing():
    if not there.isdir(TRACING + "instances"):
        there.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)


# Symbols -----------------------------------------------------------------------------------------

def kallsyms_text():
    with there.open("/proc/kallsyms", "rb") as file:
        return file.read()


def split_kallsyms():
    """Return two parts of /proc/kallsyms: the symbols of the kernel itself, and those of modules."""
    data = kallsyms_text()
    module = data.find(b"\t[")
    end = data.rfind(b"\n", 0, module) + 1 if module >= 0 else len(data)
    return data[:end], data[end:]


def parsed(data):
    """Yield (address, name, module or None) for each symbol."""
    for line in data.decode("ascii").splitlines():
        at, _, name, *module = line.split()
        yield int(at, 16), name, module[0][1:-1] if module else None


def kallsyms():
    yield from parsed(kallsyms_text())


def first_of(data, name):
    """Return the first line with this name, or None. In a guest, splitting all lines would take seconds."""
    ends = [data.find(b" %s%s" % (name.encode(), end)) for end in (b"\n", b"\t")]
    at = min((end for end in ends if end >= 0), default=None)
    return None if at is None else data[data.rfind(b"\n", 0, at) + 1:data.find(b"\n", at)]


def symbols(*names):
    """Return {name: address}. If a name has several addresses, take the first one. Names that the kernel does not have are
    missing."""
    data, found = kallsyms_text(), {}
    for name in names:
        line = first_of(data, name)
        if line:
            found[name] = int(line.split()[0], 16)
    return found


def add_symbols(found, data):
    for at, name, _ in parsed(data):
        found[name] = 0 if name in found else at
    return found


@functools.lru_cache(None)
def core_symbols():
    """Return the symbols of the kernel itself, which do not change, so they are read only once."""
    return add_symbols({}, split_kallsyms()[0])


@functools.lru_cache(None)
def only_symbols():
    """Return {name: address} for all symbols at the time of the first call. A name that occurs twice has the address 0."""
    return add_symbols(dict(core_symbols()), split_kallsyms()[1])


# Text --------------------------------------------------------------------------------------------

class Kcore:
    """Reads the kernel's memory through /proc/kcore, an ELF file with memory as its segments."""

    def __enter__(self):
        self.file = there.handle("/proc/kcore", os.O_RDONLY)
        head = self.file.get(64, 0)
        offset, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        table = self.file.get(size * count, offset)
        rows = [struct.unpack_from("<IIQQQQ", table, i * size) for i in range(count)]
        self.segments = [(at, length, where) for kind, _, where, at, _, length in rows if kind == 1]
        return self

    def __exit__(self, *_):
        self.file.close()

    def read(self, addr, count):
        for at, length, where in self.segments:
            if at <= addr < at + length:
                return self.all_of(where + addr - at, count)
        raise ValueError("0x%x is in no segment" % addr)

    def all_of(self, offset, count):
        data = b""
        while len(data) < count:
            piece = self.file.get(min(count - len(data), 1 << 19), offset + len(data))
            if not piece:
                raise ValueError("/proc/kcore ends at 0x%x" % (offset + len(data)))
            data += piece
        return data


# Kprobes -----------------------------------------------------------------------------------------

def kprobes():
    """Return the lines of the kernel's list of kprobes."""
    return lines(DEBUG + "kprobes/list")


def optimized():
    """Return the addresses of kprobes that the kernel has turned into jumps."""
    return {int(line.split()[0], 16) for line in kprobes() if "[OPTIMIZED]" in line}


class KprobeEvent:
    """A kprobe or kretprobe ("r") of another user: an event of ftrace. The probe is registered, but disabled until enable()
    is called. count() returns the number of its hits."""

    def __init__(self, where, name="other", write=put, kind="p"):
        self.name, self.write = name, write
        self.define("%s:gtptest/%s 0x%x" % (kind, name, where))

    def define(self, text):
        self.write(TRACING + "kprobe_events", text + "\n", os.O_APPEND)

    def enable(self, on=True):
        self.write("%sevents/gtptest/%s/enable" % (TRACING, self.name), "1" if on else "0")

    def count(self):
        return sum(int(line.split()[1]) for line in lines(TRACING + "kprobe_profile") if line.split()[0] == self.name)

    def remove(self):
        self.enable(False)
        self.define("-:gtptest/" + self.name)


# Output of monitor commands ------------------------------------------------------------------------------

Probe = collections.namedtuple("Probe", "how missed tracepoints no_jump")
PROBE = re.compile(r"0x([0-9a-f]+)  (.*?), (\d+) missed, tracepoints((?: (?:\d+|dprintf))*)(?:; (?:no jump|refused): (.*))?")


def probes(text):
    """Return {address: Probe} from the output of `monitor probes`. The stub may print other lines between those of
    probes."""
    found = {}
    for line in text.splitlines():
        match = PROBE.fullmatch(line)
        assert match or not line.startswith("0x"), "not understood: " + line
        if match:
            addr, how, missed, numbers, why = match.groups()
            found[int(addr, 16)] = Probe(how, int(missed), [int(n) for n in numbers.split() if n != "dprintf"], why)
    return found


def not_seen(text):
    """Return two numbers from `monitor status`: how many hits were inside another hit, and how many the kernel
    missed."""
    return tuple(map(int, re.search(r"not seen: +(\d+) hits inside another hit, (\d+) missed", text).groups()))


def room(text):
    """Return two numbers from `monitor jit` or `monitor jumps`: the bytes in use, and all bytes of the area."""
    return tuple(map(int, re.search(r"(\d+) of (\d+) bytes", text).groups()))
