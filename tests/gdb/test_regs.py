# SPDX-License-Identifier: GPL-2.0-only
# Compares all registers at a hit with the values that the fixture's assembly has loaded. A hit must not change a register.
from event import strace
from fixture import load_tables, put_table
from lib import *
from others import *

NAMES = ["$" + r for r in "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 eflags".split()]
RSP, RBP, R11, FLAGS = 4, 5, 11, 16
CALLEE_SAVED = (3, 5, 12, 13, 14, 15)
GPRS = [n for n in range(16) if n != RSP]
STATUS = 0x8d5       # the flags carry, parity, adjust, zero, sign, overflow
ANY = STATUS | 0x40400  # also the flags direction and alignment check
IN, BACK = 0, 32     # the n of known() for the first register: at the call, and at the return
FOLLOWED = "jump, follows the call"


def known(seed, n):
    return (seed * 256 + n + 1) * 0x9e3779b97f4a7c15 % 2**64


def wanted(seed, mask):
    """Return the register values with which the fixture makes its call."""
    row = {n: known(seed, IN + n) for n in GPRS}
    row[FLAGS] = known(seed, IN + FLAGS) & mask
    return row


def shown(mask):
    """Return the values of the registers in the selected frame."""
    row = {n: address(NAMES[n]) for n in GPRS}
    row[FLAGS] = number("$eflags") & mask
    return row


def named(row, some):
    return {NAMES[n]: hex(row[n]) for n in some}


class Way:
    """A mechanism, a place, the fixture's call that reaches it, and the registers that have known values there."""

    def __init__(self, how, call, place, jumps="on", flags=STATUS, table=True):
        self.how, self.call, self.place = how, call, place
        self.jumps, self.flags, self.table = jumps, flags, table
        self.returns = how in (FOLLOWED, "kretprobe")
        self.event = how == "static"
        self.defined = GPRS + [FLAGS]
        if self.event:  # before a probe is called, the kernel's own code changes the other registers
            self.defined = [2, 1, 6, 8, 9] + list(CALLEE_SAVED)

    def __str__(self):
        return "%s, %s" % (self.how, self.call)

    def set(self, *actions, condition=""):
        if self.event:
            return strace("gtp_target:gtp_target_count", *actions, condition=condition)
        return trace(self.place() + (" if " + condition if condition else ""), *actions)

    def prepare(self):
        if self.table:
            load_table("gtp_target")
        else:
            equal(put_table(b"forget\n"), 0)
        cmd("monitor jumps " + self.jumps)

    def armed(self, num):
        if not self.event:
            check(mechanism(num) == self.how, "not %s:\n%s" % (self.how, cmd("monitor probes")))

    def inside(self, hit):
        """Return two masks: of the registers that may differ inside the function, and of those that must. Framed calls have
        their own rbp, followed calls their own flags, and the function tracer's common code does not keep r11."""
        if self.how == FOLLOWED:
            return 1 << FLAGS, 1 << RBP if hit and self.call == "entry" else 0
        return 1 << R11 if self.how in ("kprobe on ftrace", "kretprobe") else 0, 0

    def one_call(self, seed, hit=True):
        """Make one call, and return its rsp. Check that the function and, after it, the caller see the right registers, with
        or without a hit."""
        target("call regs %d %s" % (seed, self.call))
        facts = fixture()
        after, (may, must) = facts["value regs_after"], self.inside(hit)
        if self.event:
            after &= ~sum(1 << n for n in GPRS + [FLAGS] if n not in CALLEE_SAVED)
        else:
            equal(hex(facts["value regs_inside"] & ~may), hex(must), "%s: what the function sees" % self)
        equal(hex(after), hex(0), "%s: what its caller sees" % self)
        return facts["value regs_rsp"] % 2**64


def entry():
    return "*gtp_target_regs"


def body():
    return "*0x%x" % fixture()["gtp_target_regs_body"]


WAYS = [
    Way("jump", "body", body, flags=ANY),
    Way("kprobe", "body", body, jumps="off", flags=ANY),
    Way("jump after the function tracer's site", "entry", entry),
    Way("ftrace call", "entry", entry, table=False),
    Way("kprobe on ftrace", "entry", entry, jumps="off"),
    Way(FOLLOWED, "entry", entry),
    Way(FOLLOWED, "deep", entry),
    Way("kretprobe", "entry", entry, jumps="off"),
    Way("static", "event", None),
]


def each_way(name, some=lambda way: True):
    """Make a test for each of the WAYS that SOME accepts."""
    def for_each(function):
        for way in filter(some, WAYS):
            def turn(way=way):
                way.prepare()
                try:
                    function(way)
                finally:
                    cmd("monitor jumps on")
                    if not way.table:
                        load_tables()
            test("%s: %s" % (way, name))(turn)
    return for_each


def registers(way):
    actions = ["collect $regs"] + (["collect $ret"] if way.returns else [])
    num = way.set(*actions, condition="(unsigned long)$r9 != %dUL" % known(2, IN + 9))
    cmd("tstart")
    way.armed(num)
    rsp = {seed: way.one_call(seed, hit=seed != 2) for seed in (1, 2, 3)}
    cmd("tstop")
    equal(hits(num), 2)
    seeds = iter((1, 3))
    for _ in frames():
        seed = next(seeds)
        row = wanted(seed, way.flags)
        equal(named(shown(way.flags), way.defined), named(row, way.defined), "%s, seed %d" % (way, seed))
        if not way.event:
            equal(hex(address("$rsp")), hex(rsp[seed]), "rsp")
        if way.returns:
            equal(hex(address("$ret")), hex(known(seed, BACK)), "the value that is returned")
    equal(next(seeds, None), None, "a frame is missing")


@each_way("all registers are the known ones, and those of a call whose condition is false are left alone")
def all_registers(way):
    registers(way)


# A pad writes the frame itself only for compiled code, so switch the compiler off.
@each_way("the same where C writes the frame", lambda way: "kprobe" not in way.how and way.how != "kretprobe")
def by_c(way):
    cmd("monitor jit off")
    try:
        registers(way)
    finally:
        cmd("monitor jit on")


@each_way("a frame of a memory's bytes and no register: all are left alone",
          lambda way: way.how in ("jump", "jump after the function tracer's site", "ftrace call", "static"))
def frame_of_memory(way):
    num = way.set("collect *(unsigned char (*)[16])$rsp" if way.event else "collect/s gtp_target_banner")
    cmd("tstart")
    way.armed(num)
    for seed in 4, 5:
        way.one_call(seed)
    cmd("tstop")
    equal(hits(num), 2)


run()
