# SPDX-License-Identifier: GPL-2.0-only
"""Per-CPU variables: the address of a CPU's own copy.

The address of a CPU's copy is the address in the file plus __per_cpu_offset[cpu]. Kernels before 6.15 link per-CPU
variables at 0, and GDB wrongly adds the KASLR offset to their addresses, as to all others. So subtract it again: write
the address in the file as a number, which stays right wherever the kernel is loaded, as `gtp compile` requires. For a
module, the kernel allocates the per-CPU section, and gtp.commands.modules makes GDB read the symbols at that address.
"""
import os
import re

import gdb

from gtp.cexpr import ctype, vmlinux
from gtp.cexpr.error import Error
from gtp.cexpr.operand import PRIMARY, UNARY, Operand, address, in_memory
from gtp.gdblib import gdbcall

SECTION = ".data..percpu"

# path of a module's file whose symbols GDB has read -> (address, size) of the module's per-CPU variables
of_modules = {}


def moved_by():
    """Return the KASLR offset: the kernel's address minus its link address."""
    text = vmlinux.sections().get(".text")
    try:
        return (int(gdbcall.value("(unsigned long)&_text")) - text[0]) % 2**64 if text else 0
    except gdb.error:
        return 0


def is_static(symbol):
    """Return whether a variable is a static per-CPU variable of the kernel or of a module."""
    file = symbol.symtab.objfile.filename
    at = int(symbol.value().address) % 2**64
    if file != gdb.current_progspace().filename:
        start, size = of_modules.get(os.path.realpath(file), (0, 0))
        return start <= at < start + size
    return is_of_kernel(at)


def is_of_kernel(address_):
    """Return whether GDB has a per-CPU variable of vmlinux at an address."""
    start, size = vmlinux.sections().get(SECTION, (0, 0))
    return start <= (address_ - moved_by()) % 2**64 < start + size


def stays():
    """Return whether the kernel's static per-CPU variables are linked at 0, so that GDB must not add the KASLR
    offset."""
    start, _ = vmlinux.sections().get(SECTION, (0, 0))
    return start < 1 << 32


def in_file(base, variable):
    """Return BASE, the text of an address in a static per-CPU variable, changed to the address in the vmlinux file."""
    if not variable or not stays():
        return base
    by = moved_by()
    at = int(gdbcall.value("(unsigned long)&" + variable)) % 2**64
    if not is_of_kernel(at):
        return base
    at = (at - by) % 2**64
    text, count = re.subn(r"&%s(?![\w.\[-])" % re.escape(variable), "%#x" % at, base)
    return text if count else "%s - %#x" % (base, by) if by else base


def shifted(base, variable, cpu):
    """Return the text of the address of a CPU's copy of a per-CPU variable, as a char pointer in parentheses."""
    return "(%s + __per_cpu_offset[%s])" % (in_file(base, variable), cpu.text)


def copy(lower, operand, cpu, node):
    """Return the Operand of a CPU's own copy of OPERAND, a static per-CPU variable or a part of one."""
    if not operand.percpu or operand.place is None:
        raise Error("this is not a per-CPU variable", node.start, "For a per-CPU pointer write per_cpu_ptr(p, n).")
    place = (shifted(address(operand.place)[0], operand.percpu, cpu), 0)
    if operand.bits:
        bit = operand.bits[0] - 8 * operand.place[1] if operand.place[1] else operand.bits[0]
        return operand.but(text="", place=place, bits=(bit, operand.bits[1]), named=False, percpu="")
    return in_memory(operand.type, place, lower.scope)


def pointer(lower, operand, cpu, node):
    """Return the Operand of the CPU's own copy of the object to which a per-CPU pointer points."""
    if not ctype.is_pointer(operand.type):
        raise Error("this is not a per-CPU pointer", node.start, "For a variable write per_cpu(x, n).")
    text = shifted("(char *)" + operand.within(UNARY), operand.percpu, cpu)
    spelled = ctype.spell(operand.type, lower.scope)
    if spelled is None:
        return Operand(operand.type, text, PRIMARY)
    return Operand(operand.type, "((%s)%s)" % (spelled, text), PRIMARY, named=True)


def refuse(operand, node):
    """Raise an Error for a per-CPU variable if the expression does not choose a CPU's copy: there is no data at the
    variable's own address."""
    if operand.percpu and operand.lvalue:
        raise Error("%s is a per-CPU variable" % operand.text, node.start,
                    "Write this_cpu(%s) or per_cpu(%s, n)." % (operand.text, operand.text))
