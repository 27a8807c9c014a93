# SPDX-License-Identifier: GPL-2.0-only
# Job: make a trace file with random variables and memory: unordered times, random CPUs, tasks and bytes.
#
# Usage: random_frames.py SEED FROM TO [NAME=VALUE]...     the variables NAME have a VALUE that is not random
import random
import struct
import sys

BLOCK = {0x4d: struct.Struct("<QH"), 0x56: struct.Struct("<Iq")}


def variables(head):
    """Return the variables' names by number, from the file's header."""
    lines = (line[4:].split(b":") for line in head.split(b"\n") if line.startswith(b"tsv "))
    return {int(words[0], 16): bytes.fromhex(words[3].decode()).decode() for words in lines}


FIXED = {name: int(number) for name, number in (word.split("=") for word in sys.argv[4:])}


def value(chance, name):
    if name in FIXED:
        return FIXED[name]
    if name == "clock":
        return chance.getrandbits(chance.choice((8, 20, 50)))
    if name.startswith("xtime"):
        return None
    if name == "cpu_id":
        return chance.choice((0, 1, 5, 300))
    if name == "current_task_pid":
        return chance.randrange(2**chance.choice((1, 3, 22)))
    return chance.choice((chance.getrandbits(chance.choice((6, 20, 63))), -chance.getrandbits(40), 0))


def changed(chance, data, at, end, names, register_bytes):
    while at < end:
        kind = data[at]
        if kind == 0x4d:
            size = BLOCK[kind].unpack_from(data, at + 1)[1]
            if size and chance.random() < 0.8:
                data[at + 11:at + 11 + size] = chance.randbytes(size)
            at += 11 + size
        elif kind == 0x56:
            number, _ = BLOCK[kind].unpack_from(data, at + 1)
            new = value(chance, names[number])
            if new is not None:
                struct.pack_into("<q", data, at + 5, new)
            at += 13
        else:
            at += 1 + register_bytes


def main():
    chance = random.Random(sys.argv[1])
    with open(sys.argv[2], "rb") as file:
        data = bytearray(file.read())
    at = data.index(b"\n\n") + 2
    head = bytes(data[:at])
    register_bytes = int(head.split(b"\nR ")[1].split(b"\n")[0], 16)
    while data[at] | data[at + 1] << 8:
        end = at + 6 + struct.unpack_from("<I", data, at + 2)[0]
        changed(chance, data, at + 6, end, variables(head), register_bytes)
        at = end
    with open(sys.argv[3], "wb") as file:
        file.write(data)


main()
