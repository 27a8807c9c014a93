# SPDX-License-Identifier: GPL-2.0-only
# Reads from the running kernel which modules are loaded, and where their code and sections are.
import gdb

from gtp.gdblib import gdbcall

MODULE_STATE_LIVE = 0
PER_CPU = ".data..percpu"


def kernel_symbol(expression):
    try:
        return gdbcall.value(expression)
    except gdb.error as error:
        raise gdb.GdbError("the kernel's own symbols are needed (%s); load vmlinux, then connect" %
                           error)


def all_of_them():
    """Yield the struct module of every module that is alive, in the kernel's order."""
    head = kernel_symbol("&modules")
    module = gdb.lookup_type("struct module")
    offset = next(f.bitpos // 8 for f in module.fields() if f.name == "list")
    node = head["next"]
    while node != head:
        address = int(node) % 2**64 - offset
        mod = gdb.Value(address).cast(module.pointer()).dereference()
        if int(mod["state"]) == MODULE_STATE_LIVE:
            yield mod
        node = node["next"]


def code(mod):
    """Return the bounds of a module's code: its first address, and the address after its last byte."""
    if "mem" in [f.name for f in mod.type.fields()]:
        memory = mod["mem"][0]  # MOD_TEXT; struct module has mem[] since 6.4
        base, size = memory["base"], memory["size"]
    else:
        base, size = mod["core_layout"]["base"], mod["core_layout"]["text_size"]
    return int(base) % 2**64, int(base) % 2**64 + int(size)


def section_attributes(attrs):
    """Yield the attribute of each section, in a module's struct module_sect_attrs."""
    if "nsections" in [f.name for f in attrs.type.target().fields()]:
        for i in range(int(attrs["nsections"])):
            yield attrs["attrs"][i]
        return
    # Since 6.14 there is no count: the group's array of pointers ends with a NULL.
    pointer = attrs["grp"]["bin_attrs"]
    while int(pointer.dereference()) != 0:
        yield pointer.dereference().dereference()
        pointer += 1


def section(attr, members):
    """Return the name and the address of a section. MEMBERS are the names of its attribute's members."""
    attr.fetch_lazy()  # with one packet, instead of one for each member
    name = (attr["battr"] if "battr" in members else attr)["attr"]["name"].string(errors="replace")
    return name, int(attr["address"] if "address" in members else attr["private"]) % 2**64


def per_cpu(mod):
    """Return (address, size) of a module's per-CPU variables. The list of the module's sections lacks this address, to
    which __per_cpu_offset[] is added."""
    names = [f.name for f in mod.type.fields()]
    if "percpu_size" not in names:  # the kernel was built without SMP
        return 0, 0
    return int(mod["percpu"]) % 2**64, int(mod["percpu_size"])


def sections(mod):
    """Return the module's section addresses by name."""
    attrs = mod["sect_attrs"]
    if int(attrs) == 0:
        return {}
    found, members = {}, None
    for attr in section_attributes(attrs):
        members = members or [f.name for f in attr.type.fields()]
        name, address = section(attr, members)
        found[name] = address
    start, size = per_cpu(mod)
    if size:
        found[PER_CPU] = start
    return found


def inventory():
    """Return the structure, name and address of each module. The result changes when a module is loaded or unloaded."""
    return [(int(mod.address), mod["name"].string(errors="replace"), code(mod)[0]) for mod in all_of_them()]


def live_build_id(addresses):
    """Return the build-id of the module as it is loaded, in hex, or None."""
    address = addresses.get(".note.gnu.build-id")
    if address is None:
        return None
    try:
        note = gdb.selected_inferior().read_memory(address, 36).tobytes()
    except gdb.MemoryError:
        return None
    return note[16:36].hex()
