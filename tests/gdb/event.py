# SPDX-License-Identifier: GPL-2.0-only
# Common code of the topics of kernel tracepoints: markers, static tracepoints, records.
import ring
from lib import *


def marker_list():
    """Return {id: (address, extra)} for all markers, using raw packets. GDB itself would look up a source line for each."""
    found, packet = {}, "qTfSTM"
    while True:
        reply = matches(r'received: "(.*)"', cmd("maint packet " + packet)).group(1)
        if not reply.startswith("m"):
            return found
        for item in reply[1:].split(","):
            addr, name, extra = item.split(":")
            found[bytes.fromhex(name).decode()] = (int(addr, 16), bytes.fromhex(extra).decode())
        packet = "qTsSTM"


def strace(event, *actions, condition=""):
    """Set a static tracepoint by its marker's id. Return its number."""
    text = cmd("strace -m %s%s" % (event, " if " + condition if condition else ""))
    num = int(matches(r"tatic tracepoint (\d+) at", text).group(1))
    if actions:
        cmd("commands %d" % num, *actions, "end")
    return num


def iterators():
    return {name[len("__traceiter_"):]: addr for name, addr in kallsyms().items()
            if name.startswith("__traceiter_")}


def sdata(*fields):
    """Return {name: text} from the output of `gtp sdata` for the selected frame."""
    text = cmd("gtp sdata " + " ".join(fields))
    return dict(line.strip().split(" = ", 1) for line in text.splitlines()[1:])


def sdata_bytes():
    """Return the bytes of the fields of $_sdata in the selected frame, as GDB sees them."""
    data = value("$_sdata")
    return ring.comparable(bytes(int(data[i]) % 256 for i in range(data.type.sizeof)))
