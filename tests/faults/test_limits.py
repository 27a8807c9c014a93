# SPDX-License-Identifier: GPL-2.0-only
"""Sends requests that could run without end. gdbtp must end them."""

import os
import re

from fixture import counted, load, load_fixture, main, target
from kernel import symbols
from rsp import Client
from tap import test, until

load_fixture()
SYM = symbols("irq_work_run_list", "gtp_target_leaf")
# bytecode: const8 0, const8 0, printf of "x" without arguments, end
PRINT_X = "X0000000C,2200220034000003780a0027"

load("self_trace=1")


@test("printf in the code that carries its text to GDB does not call itself for ever")
def printf_in_its_own_way():
    address = SYM["irq_work_run_list"]
    with Client() as client:
        client.ok("QTBuffer:circular:1")
        client.start((1, address, PRINT_X), (2, SYM["gtp_target_leaf"], PRINT_X))
        # Each call of the fixture prints text. To send the text, gdbtp wakes its worker through the traced function, which
        # may cause a few more hits. If each of these hits caused another one, this loop would cause a hundred thousand hits.
        for _ in range(200):
            client.ok("QTNotes:user:78;")
            target("call leaf 1")
        until(lambda: client.hits(1, address) > 0, "a hit in the code that wakes the worker")
        client.ok("QTStop")
        hits = client.hits(1, address)
        client.ok("QTBuffer:circular:0")
    assert hits < 5000, hits


@test("every line of a flood of printf is shown or reported as dropped, once GDB reads again")
def printf_all_of_it():
    with Client() as client:
        client.start((1, SYM["gtp_target_leaf"], PRINT_X))
        client.send("c")
        before = counted("leaf")
        target("loop leaf 30000")
        calls = counted("leaf") - before
        shown = ""
        told = 0
        while told != calls:
            shown += bytes.fromhex(client.packet(10)[1:]).decode()
            told = shown.count("x") + sum(map(int, re.findall(r"\[(\d+) lines", shown)))
            assert told <= calls, (told, calls)
        os.write(client.fd, b"\x03")
        assert client.reply() == "S02"
        client.ok("QTStop")


@test("700 tracepoints can join a run, and 64 at one address: each further one is reported")
def added_by_the_hundred():
    leaf = SYM["gtp_target_leaf"]
    with Client() as client:
        client.ok("QTinit")
        client.ok("QTStart")
        told = 0
        for number in range(1, 701):
            client.tracepoint(number, leaf)
            told += f"tracepoint {number} is not armed" in client.console
            assert ("64 tracepoints are there already" in client.console) == (number > 64), (number, client.console)
        assert told == 700 - 64, told
        target("call leaf 1")
        hits = [client.hits(number, leaf) for number in range(1, 701)]
        assert hits == [1] * 64 + [0] * (700 - 64), hits
        client.ok("QTStop")
        assert client.status()["tframes"] == "40", client.status()


main()
