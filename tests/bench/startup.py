# SPDX-License-Identifier: GPL-2.0-only
# Measures how long it takes to arm and remove many tracepoints at once: one in each of 1 to 10000 functions of the kernel,
# at the instruction after ftrace's call at the entry, and one in each of 1 to 5000 functions of a program that runs.
#
# Run by python3 in a guest that counts instructions: guest time is the number of instructions, plus the time that the guest
# waits. This program makes the packets itself, so that GDB's own work on 5000 tracepoints is not measured.
import collections
import os
import random
import re
import subprocess
import sys
import time

import fixture
from kernel import DEBUG, RELEASE, TRACING, kallsyms, lines, probes, room
from rsp import Client

COUNTS = {
    "on": (1, 10, 100, 1000, 5000, 10000),
    "off": (1, 10, 100, 1000),  # the kernel needs minutes for 5000 kprobes
}
IN_PROGRAM = (1, 1000, 5000)
FTRACE_CALL = 5  # the size of ftrace's call, in bytes
# A condition that reads memory, as most do, and never holds: *(long *)$rsp == 0x12345678.
NEVER = "260007" "1a" "2412345678" "13" "27"
# The area for machine code has room for 5000 of these conditions. With more tracepoints, use a constant condition, FALSE.
FALSE = "2200" "27"
ROOM_FOR = 5000
MANY = os.path.join(fixture.TOP, "build/bench/user/many")
APART = 256  # bytes from one function of this program to the next one
SEED = 2
REFUSALS_MAX = 50  # each refused place costs another run


def traceable():
    """Return the name and the address of ftrace's call for each function of the kernel itself, without modules."""
    path = TRACING + "available_filter_functions"
    if os.path.exists(path + "_addrs"):
        rows = [line.split() for line in lines(path + "_addrs")]
        return [(row[1], int(row[0], 16)) for row in rows if len(row) == 2]
    # On kernels without this list of addresses, ftrace's call is the first instruction of each function.
    known = {name: addr for addr, name, module in kallsyms() if not module}
    return [(name, known[name]) for name in lines(path) if name in known]


def places():
    """Return the places for probes: functions that both ftrace and kprobes allow, always in the same order."""
    forbidden = {line.split()[-1].split()[0] for line in lines(DEBUG + "kprobes/blacklist")}
    found = [addr + FTRACE_CALL for name, addr in traceable() if name not in forbidden]
    random.Random(SEED).shuffle(found)
    return list(dict.fromkeys(found))


def mechanisms(gdb):
    """Return {mechanism: number of locations that are probed with it}."""
    return collections.Counter(probe.how for probe in probes(gdb.monitor("probes")).values())


def in_use(gdb, what):
    """Return the bytes in use by machine code or by jump pads, as `monitor WHAT` reports them."""
    return room(gdb.monitor(what))[0]


def timed(gdb, packet):
    start = time.monotonic()
    answer = gdb.ask(packet, 600)
    return answer, time.monotonic() - start


def run_with(gdb, addrs):
    """Arm and remove probes. Return (milliseconds to arm, milliseconds to remove, bytes of code, bytes of pads), and the
    mechanisms. If an address is refused, return None and this address."""
    gdb.monitor("strict on")
    gdb.ok("QTinit")
    for num, addr in enumerate(addrs, 1):
        gdb.tracepoint(num, addr, condition=NEVER if len(addrs) <= ROOM_FOR else FALSE)
    gdb.ok("QTDisconnected:0")
    answer, arm = timed(gdb, "QTStart")
    refused = re.search(r"at 0x([0-9a-f]+)", answer)
    if refused:
        return None, int(refused.group(1), 16)
    if answer != "OK":
        raise SystemExit("QTStart was answered %r" % answer)
    became = mechanisms(gdb)
    used = in_use(gdb, "jit"), in_use(gdb, "jumps")
    answer, remove = timed(gdb, "QTStop")
    if answer != "OK" or sum(became.values()) != len(addrs):
        raise SystemExit("QTStop was answered %r; %r" % (answer, became))
    return (arm * 1e3, remove * 1e3, *used), became


def measure(gdb, everywhere, count):
    """Arm and remove probes at the first COUNT places that the kernel allows. Return what run_with() returns."""
    for _ in range(REFUSALS_MAX):
        took, became = run_with(gdb, everywhere[:count])
        if took:
            return took, became
        everywhere.remove(became)
    raise SystemExit("the kernel refuses too many of the places: something is wrong with them")


def show(jumps, row, became):
    told = ", ".join("%d %s" % (n, what) for what, n in sorted(became.items()))
    print("%6d  %-6s %8.1f %8.1f %7d %7d  %s" % (became.total(), jumps, *row, told))
    sys.stdout.flush()


def in_program(gdb):
    """Arm and remove uprobes in a program that runs."""
    first = next(int(line.split()[0], 16) for line in subprocess.check_output(["nm", MANY], text=True).splitlines()
                 if line.endswith(" many"))
    base = int(gdb.ask("QGtpFile:" + MANY.encode().hex()).split(";")[0], 16)
    with subprocess.Popen([MANY]) as program:
        for count in IN_PROGRAM:
            show("-", *run_with(gdb, [base + first + n * APART for n in range(count)]))
        program.kill()


def main():
    start = time.monotonic()
    fixture.load()
    print("# loading the module: %.0f ms" % ((time.monotonic() - start) * 1e3))
    fixture.load_tables()
    gdb = Client()
    everywhere = places()
    print("# %s: milliseconds of guest time, one instruction a nanosecond; bytes of machine code, of pads" % RELEASE)
    print("%6s  %-6s %8s %8s %7s %7s  %s" % (
        "probes", "jumps", "arming", "removing", "code", "pads", "they became"))
    in_program(gdb)
    for jumps, counts in COUNTS.items():
        gdb.monitor("jumps " + jumps)
        for count in counts:
            show(jumps, *measure(gdb, everywhere, count))
    gdb.close()


main()
