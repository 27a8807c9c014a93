# SPDX-License-Identifier: GPL-2.0-only
# Finds the functions that a function calls, directly and indirectly, by the call instructions in their code.
#
# A call through a pointer names no function, so what it leads to is not found.
import re

import gdb

from gtp.gdblib import blocks, gdbcall, progress

# A call, or a jump to the beginning of another function, which is a call in the end.
CALL = re.compile(r"\t(?:call|jmp|j[a-z]+)\s+(0x[0-9a-f]+) <([\w.]+)>", re.A)
# Functions that the kernel runs for each kprobe that it registers, thousands of times. Where the list of kprobes in debugfs
# cannot be read, gdbtp registers kprobes while it puts jumps into the text and removes them.
OF_PROBES = re.compile(r"(__fentry__|insn_|__insn_|inat_|arch_jump_entry_|jump_label_|jump_entry_|__jump_label_)", re.A)
FIRST_MODULE = 0xffffffffc0000000  # the kernel's own code is before that address, and as in its file
TRUST = "trust-readonly-sections"


def is_function(pc, name):
    """Return whether a function of that name begins at an address, of which the debug information knows the arguments."""
    block = next(iter(blocks.functions(pc)), None)
    return not OF_PROBES.match(name) and block is not None and block.function.name == name and gdb.find_pc_line(pc).pc == pc


def called(pc):
    """Return {address: name} of the functions that the one at an address calls. They are in the order of the code."""
    trusted = pc < FIRST_MODULE and not gdb.parameter(TRUST)
    if trusted:
        gdbcall.execute("set %s on" % TRUST)
    try:
        text = gdbcall.execute("disassemble %#x" % pc)
    except gdb.error:
        return {}
    finally:
        if trusted:
            gdbcall.execute("set %s off" % TRUST)
    return {int(at, 16): name for at, name in CALL.findall(text) if is_function(int(at, 16), name)}


def functions(pc, limit):
    """Return {address: name} of at most LIMIT functions below the one at an address, the nearest first, and whether there
    are more."""
    found, level = {}, [pc]
    while level:
        following = {}
        for one in progress.over(level, "looking for calls"):
            for at, name in called(one).items():
                if at != pc and at not in found and at not in following:
                    following[at] = name
        for at, name in following.items():
            if len(found) == limit:
                return found, True
            found[at] = name
        level = list(following)
    return found, False
