# SPDX-License-Identifier: GPL-2.0-only
"""Makes GDB's evaluator an oracle for kernel C. This file defines the macros that GDB lacks, after the kernel's headers and
without code of gdbtp.

this_cpu() and strings become functions that this file defines. NUMBERS are macros of the user-space API, which cannot
change, and some internal ones of the kernel.
"""
import re

import gdb

import kernel

NUMBERS = """
O_RDONLY 0 O_WRONLY 1 O_RDWR 2 O_ACCMODE 3 O_CREAT 0100 O_EXCL 0200 O_TRUNC 01000 O_APPEND 02000 O_NONBLOCK 04000
O_SYNC 04010000 O_DIRECT 040000 O_CLOEXEC 02000000 S_IFMT 0170000 S_IFREG 0100000 S_ISUID 04000 PAGE_SIZE 4096ul
PAGE_SHIFT 12 PAGE_MASK (~4095ul) SB_RDONLY 1 SB_ACTIVE (1<<30) MNT_READONLY 0x40 S_IMMUTABLE 8 S_APPEND 4
TASK_RUNNING 0 TASK_INTERRUPTIBLE 1 TASK_UNINTERRUPTIBLE 2 TASK_NORMAL 3 TASK_NEW 0x800 PF_KTHREAD 0x200000
PF_EXITING 4 PF_FORKNOEXEC 0x40 PF_WQ_WORKER 0x20 MAX_RT_PRIO 100 DEFAULT_PRIO 120 SCHED_NORMAL 0 SCHED_FIFO 1
SCHED_RR 2 SIGCHLD 17 SIGINT 2 SIGUSR1 10 SIGKILL 9 SIGTERM 15 RLIMIT_NOFILE 7 RLIMIT_CORE 4 RLIM_INFINITY (~0ul)
SIG_DFL 0 STACK_END_MAGIC 0x57AC6E9D AF_INET 2 AF_INET6 10 IPPROTO_TCP 6 IPPROTO_UDP 17 IPPROTO_ICMP 1
INADDR_LOOPBACK 0x7f000001 MAX_SCHEDULE_TIMEOUT 0x7fffffffffffffff SEND_SHUTDOWN 2 SOCK_SNDBUF_LOCK 1
TCP_NAGLE_OFF 1 MSG_DONTWAIT 0x40 MSG_MORE 0x8000 MSG_NOSIGNAL 0x4000 ICSK_TIME_RETRANS 1 IFF_LOOPBACK 8 IFF_UP 1
IFF_RUNNING 0x40 ARPHRD_LOOPBACK 772 ETH_P_IP 0x800 ETH_P_IPV6 0x86dd ETH_P_ARP 0x806 PACKET_HOST 0
PACKET_BROADCAST 1 PACKET_OTHERHOST 3 CHECKSUM_NONE 0 CHECKSUM_UNNECESSARY 1 CHECKSUM_COMPLETE 2 VM_READ 1
VM_WRITE 2 VM_EXEC 4 VM_SHARED 8 _PAGE_RW 2 X86_EFLAGS_IF 0x200 SA_RESTART 0x10000000 SI_USER 0 IRQF_SHARED 0x80
NULL ((void*)0) false 0 true 1 TASK_COMM_LEN 16 GFP_KERNEL 0xcc0
"""
MACROS = r"""
current ((struct task_struct *)$current_task)
offsetof(t, m) ((unsigned long)&((t *)0)->m)
container_of(p, t, m) ((t *)((char *)(p) - (unsigned long)&((t *)0)->m))
list_entry(p, t, m) ((t *)((char *)(p) - (unsigned long)&((t *)0)->m))
S_ISREG(m) (((m) & 0170000) == 0100000)
S_ISDIR(m) (((m) & 0170000) == 0040000)
S_ISCHR(m) (((m) & 0170000) == 0020000)
S_ISFIFO(m) (((m) & 0170000) == 0010000)
IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095)
IS_ERR_OR_NULL(p) ((unsigned long)(p) >= (unsigned long)-4095 || (p) == 0)
READ_ONCE(x) (x)
likely(x) (x)
unlikely(x) (x)
ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
htons(x) ((unsigned short)($_swap(x, 2)))
ntohs(x) ((unsigned short)($_swap(x, 2)))
be16_to_cpu(x) ((unsigned short)($_swap(x, 2)))
htonl(x) ((unsigned int)($_swap(x, 4)))
ntohl(x) ((unsigned int)($_swap(x, 4)))
smp_processor_id() ((int)$cpu_id)
this_cpu(x) $_percpu(&(x), $cpu_id)
per_cpu(x, n) $_percpu(&(x), n)
this_cpu_ptr(p) (&$_percpu(p, $cpu_id))
per_cpu_ptr(p, n) (&$_percpu(p, n))
sk_num __sk_common.skc_num
sk_dport __sk_common.skc_dport
sk_family __sk_common.skc_family
sk_state __sk_common.skc_state
sk_daddr __sk_common.skc_daddr
sk_rcv_saddr __sk_common.skc_rcv_saddr
sk_reuse __sk_common.skc_reuse
sk_prot __sk_common.skc_prot
inet_dport sk.__sk_common.skc_dport
inet_daddr sk.__sk_common.skc_daddr
sk_rmem_alloc sk_backlog.rmem_alloc
"""


# Members that became macros in later kernels -> (the structure that had them, the macro's text).
LATER = {"d_iname": ("struct dentry", "d_shortname.string")}


class PerCpu(gdb.Function):
    """$_percpu(pointer, cpu) returns the CPU's own copy of the static per-CPU variable at a pointer."""

    def __init__(self, link):
        super().__init__("_percpu")
        text, start = link
        self.moved = kernel.only_symbols()["_text"] - text if start == 0 else 0

    def invoke(self, pointer, cpu):
        offset = int(gdb.parse_and_eval("__per_cpu_offset[%d]" % int(cpu)))
        address = (int(pointer) - self.moved + offset) % 2**64
        return gdb.Value(address).cast(pointer.type).dereference()


class Swap(gdb.Function):
    """$_swap(number, size) returns the number with the order of its bytes reversed."""

    def __init__(self):
        super().__init__("_swap")

    def invoke(self, number, size):
        data = (int(number) % (1 << 8 * int(size))).to_bytes(int(size), "little")
        return int.from_bytes(data, "big")


class Equal(gdb.Function):
    """$_equal(a, b) returns whether two strings are equal. Unlike GDB's $_streq, it reads no byte after the first difference
    or the end."""

    def __init__(self):
        super().__init__("_equal")

    def invoke(self, left, right):
        i = 0
        while True:
            a, b = int(left[i]) % 256, int(right[i]) % 256
            if a != b or a == 0:
                return int(a == b)
            i += 1


class Prefix(gdb.Function):
    """$_strncmp3(a, b) returns whether the first three characters of two strings are the same."""

    def __init__(self):
        super().__init__("_strncmp3")

    def invoke(self, left, right):
        return int(all(int(left[i]) % 256 == int(right[i]) % 256 for i in range(3)))


def definitions():
    words = NUMBERS.split()
    for name, value in zip(words[::2], words[1::2]):
        yield "%s %s" % (name, value)
    yield from (line for line in MACROS.splitlines() if line)
    for name, (where, now) in LATER.items():
        if name not in [field.name for field in gdb.lookup_type(where).fields()]:
            yield "%s %s" % (name, now)


def begin():
    """Make GDB's evaluator read kernel C. Until end(), GDB's agent compiler reads it, too."""
    for line in definitions():
        gdb.execute("macro define " + line)


def end():
    for line in definitions():
        gdb.execute("macro undef " + re.match(r"\w+", line).group(0))


def functions(link):
    """Define the oracle's functions. LINK is the result of handed.link_addresses()."""
    PerCpu(link)
    Swap()
    Equal()
    Prefix()


def value(text):
    """Return the low 64 bits of the value that GDB's evaluator computes for a text in the selected frame."""
    return int(gdb.parse_and_eval(text)) % 2**64
