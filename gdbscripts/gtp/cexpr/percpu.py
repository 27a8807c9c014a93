# SPDX-License-Identifier: GPL-2.0-only
"""Per-CPU variables: where a CPU's own copy lies.

__per_cpu_offset[cpu] is added to the address in the file. Kernels before 6.15 link these variables at 0, and GDB moves
them with everything else by the KASLR offset, which has to be taken off again.
"""
import gdb

from gtp.cexpr import ctype, vmlinux
from gtp.cexpr.error import Error
from gtp.cexpr.operand import PRIMARY, UNARY, Operand, address, in_memory

SECTION = ".data..percpu"


def moved_by():
    """How far the kernel lies from where it is linked."""
    text = vmlinux.sections().get(".text")
    try:
        return (int(gdb.parse_and_eval("(unsigned long)&_text")) - text[0]) % 2**64 if text else 0
    except gdb.error:
        return 0


def is_static(symbol):
    """Whether a variable is one of the kernel's own per-CPU variables."""
    start, size = vmlinux.sections().get(SECTION, (0, 0))
    if not size or symbol.symtab.objfile.filename != gdb.current_progspace().filename:
        return False
    return start <= (int(symbol.value().address) - moved_by()) % 2**64 < start + size


def correction():
    """What is to be taken off the address that GDB has of a static per-CPU variable."""
    start, _ = vmlinux.sections().get(SECTION, (0, 0))
    return moved_by() if start < 1 << 32 else 0


def shifted(base, static, cpu):
    """The text of the address of a CPU's copy, as a char pointer in parentheses."""
    off = correction() if static else 0
    return "(%s%s + __per_cpu_offset[%s])" % (base, " - %#x" % off if off else "", cpu.text)


def copy(lower, operand, cpu, node):
    """A CPU's own x, of a static per-CPU variable or a part of it."""
    if not operand.percpu or operand.place is None:
        raise Error("this is no per-CPU variable", node.start, "For a per-CPU pointer write per_cpu_ptr(p, n).")
    place = (shifted(address(operand.place)[0], True, cpu), 0)
    if operand.bits:
        bit = operand.bits[0] - 8 * operand.place[1] if operand.place[1] else operand.bits[0]
        return operand.but(text="", place=place, bits=(bit, operand.bits[1]), named=False, percpu=False)
    return in_memory(operand.type, place, lower.scope)


def pointer(lower, operand, cpu, node):
    """A per-CPU pointer as that CPU's."""
    if not ctype.is_pointer(operand.type):
        raise Error("this is no per-CPU pointer", node.start, "For a variable write per_cpu(x, n).")
    text = shifted("(char *)" + operand.within(UNARY), operand.percpu, cpu)
    spelled = ctype.spell(operand.type, lower.scope)
    if spelled is None:
        return Operand(operand.type, text, PRIMARY)
    return Operand(operand.type, "((%s)%s)" % (spelled, text), PRIMARY, named=True)


def refuse(operand, node):
    """Not without a CPU: at its own address there is nothing."""
    if operand.percpu and operand.lvalue:
        raise Error("%s is a per-CPU variable" % operand.text, node.start,
                    "Write this_cpu(%s) or per_cpu(%s, n)." % (operand.text, operand.text))
