# SPDX-License-Identifier: GPL-2.0-only
"""The part of ax-from-gdb that runs inside GDB: stop, compile expressions, look at registers and memory.

Reads a JSON request from $AXGDB_IN, writes the answer to $AXGDB_OUT.
"""
import json
import os

import gdb

COMMANDS = {
    "cond": "maint agent-eval %s",
    "collect": "maint agent %s",
    "string": "maint agent /s %s",
    "string5": "maint agent /s5 %s",
    "print": "maint agent-printf %s",
}
REGISTERS = ("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 "
             "rip eflags cs ss").split()


def compile_one(kind, text):
    try:
        return {"listing": gdb.execute(COMMANDS[kind] % text, to_string=True)}
    except gdb.error as e:
        return {"refused": str(e)}


def registers():
    frame = gdb.newest_frame()
    values = {}
    for name in REGISTERS:
        values[name] = int(frame.read_register(name)) & 0xffffffffffffffff
    return values


def memory(addr, size):
    return bytes(gdb.selected_inferior().read_memory(addr, size)).hex()


def objects(names):
    found = []
    for name in names:
        value = gdb.parse_and_eval(name)
        addr = int(value.address)
        found.append([name, addr, memory(addr, value.type.sizeof)])
    return found


def stop_at(request, location):
    gdb.execute("tbreak %s" % location["break"], to_string=True)
    gdb.execute("continue", to_string=True)
    answer = {"registers": registers(), "objects": objects(request["objects"])}
    # The memory that a function may address from its stack pointer: its locals and return address.
    rsp = answer["registers"]["rsp"]
    answer["objects"].append(["stack", rsp, memory(rsp, 384)])
    answer["compiled"] = [compile_one(kind, text) for kind, text in location["expressions"]]
    return answer


def main():
    with open(os.environ["AXGDB_IN"]) as f:
        request = json.load(f)
    for line in request["setup"]:
        gdb.execute(line, to_string=True)
    answers = [stop_at(request, location) for location in request["locations"]]
    with open(os.environ["AXGDB_OUT"], "w") as f:
        json.dump(answers, f)
    gdb.execute("kill")


main()
