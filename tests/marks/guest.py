# SPDX-License-Identifier: GPL-2.0-only
"""Runs in a guest: checks the returns and indirect branches in generated code on this processor.

Usage: tests/lib/env python3 guest.py [BUG WORDS]

The kernel has patched its own returns and indirect branches for the processor's bugs. The code that gdbtp generates must
have the same forms, wherever it is in a cache line. If BUG is given, the file BUG under
/sys/devices/system/cpu/vulnerabilities must contain WORDS, which shows that the guest has the bug. The test reads the whole
arena of generated code, and GNU objdump disassembles it."""

import os
import re
import subprocess
import sys
import tempfile

import fixture
import tap
from kernel import Kcore, get, kallsyms, probes, symbols
from rsp import Client
from tap import check, equal, matches, test

ARENA = 0x180000
HALF = 32  # half of a cache line, in bytes
BUGS = "/sys/devices/system/cpu/vulnerabilities/"
# Functions with indirect calls that run when files are read and written.
CALLERS = ("vfs_read", "vfs_write", "vfs_open", "do_dentry_open", "__fput", "filp_close", "iterate_dir", "vfs_llseek",
           "seq_read_iter", "path_openat", "new_sync_read", "new_sync_write", "vfs_getattr_nosec", "proc_reg_read",
           "proc_reg_open", "ksys_lseek", "generic_file_llseek_size", "vfs_readlink", "may_open", "do_iter_read")
INDIRECT = r"(notrack |ds |cs )*(jmp|call)\s+\*"
ACTION = "X4,26000527"  # bytecode: reg 5; end
WANTED = sys.argv[1:]


def disassemble(data, at):
    """Return address, bytes and text of each instruction."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        out = subprocess.run(["objdump", "-D", "-z", "-b", "binary", "-m", "i386:x86-64", "-w",
                              "--adjust-vma=0x%x" % at, file.name], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", out, re.M)
    return [(int(addr, 16), bytes.fromhex(code), text.strip()) for addr, code, text in rows]


def functions(*names, module=None):
    """Return {name: instructions}, from the running kernel's memory, from each function up to the next symbol."""
    rows = sorted({(at, name) for at, name, owner in kallsyms() if owner == module})
    found = {}
    with Kcore() as core:
        for (at, name), (end, _) in zip(rows, rows[1:]):
            if name in names and name not in found and at < end < at + 0x4000:
                found[name] = disassemble(core.read(at, end - at), at)
    return found


class Code:
    """The returns and indirect branches in disassembled code."""

    def __init__(self, rows, thunks):
        self.plain = [at for at, _, text in rows if re.match(r"(repz |bnd )?ret", text)]
        jumps = ((at, re.match(r"jmp\s+(?:0x)?([0-9a-f]+)$", text)) for at, _, text in rows)
        self.by_thunk = {at: int(found[1], 16) for at, found in jumps if found and int(found[1], 16) in thunks}
        self.indirect = [(at, at + len(code) - 1, text) for at, code, text in rows if re.match(INDIRECT, text)]
        self.unfenced, self.open = [], []
        fenced = False
        for (at, _, text), (_, _, behind) in zip(rows, [*rows[1:], (0, b"", "")]):
            if at in self.plain and not behind.startswith("int3"):
                self.open.append(at)
            if re.match(INDIRECT, text) and not fenced:
                self.unfenced.append(at)
            fenced = text == "lfence" or (fenced and ("nop" in text or text == "xchg %ax,%ax"))


def return_thunks():
    """Return {address: name} of the kernel's return thunks."""
    return {at: name for at, name, owner in kallsyms() if not owner and re.search(r"return_thunk$", name)}


def arena():
    """Return the instructions in the arena of generated code. Runs of int3 separate the pieces of code."""
    begin = symbols("gtp_jit_arena")["gtp_jit_arena"]
    with Kcore() as core:
        data = core.read(begin, ARENA)
    rows = []
    for piece in re.finditer(rb"[^\xcc](?:(?!\xcc{256}).)*", data, re.S):
        at = piece.start() - piece.start() % 16  # generated code begins at such addresses
        rows += disassemble(data[at:piece.end() + 1], begin + at)  # with one int3 after the code
    return rows


class World:
    """Makes a run whose jumps displace returns and indirect branches. The test reads the generated code during the run."""

    def __init__(self):
        fixture.load()
        fixture.load_fixture()
        fixture.load_tables()
        self.thunks = return_thunks()
        self.target = functions("gtp_target_leaf", "gtp_target_add", "gtp_target_obj", "gtp_target_irq",
                                "gtp_target_fill", "gtp_target_count", "gtp_target_event_many", module="gtp_target")
        self.kernel = functions(*CALLERS)
        own = [row for rows in (*self.target.values(), *self.kernel.values()) for row in rows]
        self.own = Code(own, self.thunks)
        self.client = Client()
        entry = min(self.target["gtp_target_leaf"])[0]
        places = sorted([at for at, _, _ in self.own.indirect] + self.own.plain + list(self.own.by_thunk))
        self.client.define(*((n, at) for n, at in enumerate(places, 2)))
        self.client.tracepoint(1, entry, ACTION)
        self.client.ok("QTStart")
        self.work()
        self.probes = probes(self.client.monitor("probes"))
        self.places = places
        self.made = Code(arena(), self.thunks)

    @staticmethod
    def work():
        """Make the kernel execute the code at the places, from other processes: gdbtp does not trace this client."""
        for _ in range(20):
            fixture.must("/bin/sh", "-c", "cat /proc/gtp_target /proc/self/status; ls /proc/self/fd; echo >/dev/null")
        fixture.must("/bin/sh", "-c", "echo loop mix 2000 >/proc/gtp_target")

    def jumps(self):
        return [at for at in self.places if at in self.probes and self.probes[at].how.startswith("jump")]


world = None


def is_aligned():
    """Return whether the kernel has plain returns only in one half of a cache line."""
    return "Aligned" in get(BUGS + "indirect_target_selection") if os.path.exists(BUGS + "indirect_target_selection") \
        else False


@test("the guest's processor has the requested bug")
def bug():
    global world
    if not WANTED:
        tap.skip("none was asked for")
    matches(re.escape(WANTED[1]), get(BUGS + WANTED[0]), WANTED[0])


@test("a run with jumps over the kernel's own returns and indirect branches goes on")
def run():
    global world
    world = World()
    jumps = world.jumps()
    tap.note("%d places, %d jumps; the kernel: %d plain returns, %d by a thunk, %d indirect; generated: %d, %d, %d" %
             (len(world.places), len(jumps), len(world.own.plain), len(world.own.by_thunk), len(world.own.indirect),
              len(world.made.plain), len(world.made.by_thunk), len(world.made.indirect)))
    check(world.client.running(), "the run has ended: %s" % world.client.status())
    for returns_of in (world.own.plain, world.own.by_thunk):
        check(not returns_of or any(at in jumps for at in returns_of), "no jump displaces a return")
    hits = [world.client.hits(n, at) for n, at in enumerate(world.places, 2)]
    check(any(hits), "no place was hit")
    if is_aligned():
        check(all(at & HALF for at in world.own.plain), "plain returns in the lower half: this reads something else")
        check(world.own.plain and world.own.by_thunk, "the kernel has not both kinds of returns")


@test("returns jump to the same thunk as the kernel's, and are plain if all of the kernel's are")
def returns():
    used = set(world.own.by_thunk.values())
    if not used:
        equal(world.made.by_thunk, {}, "returns by a thunk")
        check(world.made.plain, "there are no returns")
        return
    equal([hex(at) for at in world.made.plain], [], "plain returns")
    equal({world.thunks[at] for at in world.made.by_thunk.values()}, {world.thunks[at] for at in used}, "the thunk")


@test("an int3 follows each plain return")
def behind():
    equal([hex(at) for at in world.made.open], [], "returns with something else behind them")


@test("indirect branches are in the same half of a cache line as the kernel's, and follow an lfence if the kernel's do")
def indirect():
    if not world.made.indirect:
        tap.skip("the kernel has %d here, and no jump displaces one" % len(world.own.indirect))
    if is_aligned():
        equal([text for _, last, text in world.made.indirect if not last & HALF], [], "in the lower half")
    if not world.own.unfenced:
        equal([hex(at) for at in world.made.unfenced], [], "without an lfence")


@test("monitor disas leads to code with that return")
def disas():
    text = world.client.monitor("disas 1")
    at, length = matches(r"disassemble 0x([0-9a-f]+),\+(\d+)", text).groups()
    code = bytes.fromhex(world.client.ask("m%s,%x" % (at, int(length))))
    made = Code(disassemble(code, int(at, 16)), world.thunks)
    equal(len(made.plain) + len(made.by_thunk), 1, "returns in\n%s" % text)
    equal(bool(made.by_thunk), bool(world.own.by_thunk), "by a thunk")


@test("the run ends, and the modules can be unloaded")
def end():
    world.client.ok("QTStop")
    world.client.close()
    fixture.unload("gtp_target")
    fixture.unload()


sys.exit(0 if tap.run() else 1)
