# SPDX-License-Identifier: GPL-2.0-only
"""Tests that hits count on a CPU that came online late, and in a process that has reused the pid of an ended process."""

import ctypes
import os
import struct

from fixture import child, ended, load, load_fixture, main, parameter, target, users
from kernel import CPUS, probes, put, symbols
from rsp import Client
from tap import skip, test, until

load("self_trace=1")
load_fixture()
LEAF = symbols("gtp_target_leaf")["gtp_target_leaf"]
N_IS = "260005" + "24%08x" + "1327"  # bytecode: reg rdi, const32, equal

CLONE3 = 435


@test("on a CPU that came up during the run, a false condition counts no hit as missed, a true condition each")
def late_condition():
    if CPUS < 2:
        skip("one CPU only")
    online = "/sys/devices/system/cpu/cpu%d/online" % (CPUS - 1)
    for value, missed in ((12345, 0), (0, 1)):
        with Client() as client:
            client.monitor("jumps off")
            put(online, "0")
            client.ok("QTinit")
            client.tracepoint(1, LEAF, condition=N_IS % value)
            client.ok("QTStart")
            put(online, "1")
            before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {CPUS - 1})
            for _ in range(100):
                target("call leaf 0")
            os.sched_setaffinity(0, before)
            during = probes(client.monitor("probes"))[LEAF]
            client.ok("QTStop")
            assert during.how.startswith("kprobe"), during
            assert (during.missed, client.hits(1, LEAF)) == (100 * missed, 0), during


def with_number(number, function):
    """Call FUNCTION in a new process that has the pid NUMBER, which must be free."""
    numbers = (ctypes.c_int * 1)(number)
    args = struct.pack("<11Q", 0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(numbers), 1, 0)
    pid = ctypes.CDLL(None, use_errno=True).syscall(CLONE3, args, len(args))
    if not pid:
        function()
        os._exit(0)
    assert pid == number, os.strerror(ctypes.get_errno())
    assert ended(pid) == 0


@test("a process that reuses the PID of an exited process that had opened the line is traced as any other")
def reused_number():
    parameter("self_trace", 0)
    told, tells = os.pipe()

    def heir(client, number):
        os.setsid()  # leave the opener's session, which keeps the opener's number in use
        until(lambda: not os.path.exists("/proc/%d" % number), "the opener's number to be free")
        client.start((1, LEAF))
        with_number(number, lambda: [target("call leaf 1") for _ in range(3)])
        client.ok("QTStop")
        return client.hits(1, LEAF)

    def opener():
        client = Client()
        client.start((1, LEAF))
        target("call leaf 1")
        assert client.hits(1, LEAF) == 0, "its own hits count"
        client.ok("QTStop")
        number = os.getpid()
        if not os.fork():
            words = "failed"
            try:
                words = str(heir(client, number))
            except BaseException as error:  # pass the error on as text: this process has no other output
                words = repr(error)
            finally:
                os.write(tells, words.encode())
                os._exit(0)

    try:
        assert ended(child(opener)) == 0
        said = os.read(told, 100)
        assert said == b"3", said
        until(lambda: not users(), "the heir's end")
    finally:
        parameter("self_trace", 1)


main()
