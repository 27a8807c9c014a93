# SPDX-License-Identifier: GPL-2.0-only
# Tests how values are shown to people: by GDB's print, by gtp print, and by gtp table, gtp live and gtp report on a trace
# file. The types are those of vmlinux.
#
# Runs in a GDB with vmlinux and no kernel. This file makes the frames itself. It compares the names of values with those in
# the kernel's headers, which the tested code does not read.
import csv
import ipaddress
import json
import os
import re
import struct
import sys
import tempfile

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]

import tap

gdb.execute("source %s/gdbscripts/gtp.py" % TOP)
gdb.execute("set gtp-headers " + os.environ["GTP_HEADERS"])

from gtp.cexpr import headers
from gtp.inside import values
from gtp.places import names as of_places
from gtp.shell import decode
from gtp.text import spell
from gtp.view import columns, image

AT = 0xffff888000000000  # the address of the memory in the frames
REGISTERS = 0xa4  # the size of a frame's registers, in bytes
RIP = 16
HEADER = 700  # the size of each trace file's header, in bytes: more than the header needs
RET, CLOCK = 0x20, 0x21  # the numbers of the variables $ret and $clock
FOLDER = tempfile.mkdtemp(prefix="gtp-views-")
# The memory: bytes by offset.
SIN = struct.pack("<H", 2) + struct.pack(">H", 443) + bytes((10, 1, 2, 3)) + bytes(8)
V6 = ipaddress.ip_address("2001:db8::7").packed
SIN6 = struct.pack("<H", 10) + struct.pack(">H", 53) + bytes(4) + V6 + struct.pack("<I", 3)
NETLINK = struct.pack("<H", 16) + bytes(14)
CONTENT = {0x000: bytes((192, 168, 0, 9)), 0x010: V6, 0x020: SIN, 0x040: SIN6, 0x060: NETLINK,
           0x080: struct.pack("<I", 8 << 20 | 17), 0x084: struct.pack("<I", 1000), 0x088: struct.pack("<q", 1500),
           0x090: struct.pack(">H", 8080), 0x098: struct.pack("<I", 0xcc0), 0x0a0: struct.pack("<i", -2),
           0x0a4: struct.pack("<i", -4000), 0x0a8: struct.pack("<q", -512), 0x0b0: struct.pack("<Q", 2**64 - 12),
           0x0b8: struct.pack("<I", 7), 0x0c0: bytes.fromhex("525400123456"), 0x0c8: struct.pack("<Q", AT + 0xc0),
           0x0d0: struct.pack("<Q", AT + 0x20), 0x0d8: struct.pack("<Q", 65536), 0x0e0: struct.pack("<Q", 0x1000)}


def same(what, got, wanted):
    tap.equal(got, wanted, what)


def finds(what, text, pattern):
    tap.matches(pattern, text, what)


def at(kind, offset):
    return "*(%s *)%#x" % (kind, AT + offset)


def printed(command):
    """Return the output of a command like print, without "$1 = "."""
    return gdb.execute(command, to_string=True).rstrip("\n").partition(" = ")[2]


def refused(command):
    try:
        gdb.execute(command, to_string=True)
    except gdb.error as error:
        return str(error)
    raise tap.Failure("%s is not refused" % command)


def address(function):
    return int(gdb.parse_and_eval("(unsigned long)%s" % function))


def write(path, functions, returns, clock, lines):
    """Write a trace file with a frame for each value of $ret. All frames have the same memory. The places of the frames are
    the functions, in turn; each has these lines of actions."""
    places = [address(function) for function in functions.split()]
    head = ("\x7fTRACE0\nR %x\nstatus 0;tstop::0;tframes:%x;tcreated:%x;tfree:100;tsize:1000;circular:0;disconn:0\n"
            "tsv %x:0:1:%s\ntsv %x:0:1:%s\n%s\n" % (
                REGISTERS, len(returns), len(returns), RET, b"ret".hex(), CLOCK, b"clock".hex(), "".join(
                    "tp T1:%x:E:0:0\ntp A1:%x:R%x\n" % (pc, pc, 1 << RIP) +
                    "".join("tp Z1:%x:cmd:0:%x:%s\n" % (pc, len(line), line.encode().hex()) for line in lines)
                    for pc in places))).encode()
    # When GDB opens a file, it reads at the offset of the previous file's frame. So all files have frames at the same
    # offset.
    head = head.replace(b"tfree:", b"tfree:" + b"0" * (HEADER - len(head)))
    memory = bytearray(0x100)
    for offset, data in CONTENT.items():
        memory[offset:offset + len(data)] = data
    with open(path, "wb") as file:
        file.write(head)
        for i, value in enumerate(returns):
            registers = bytearray(REGISTERS)
            struct.pack_into("<Q", registers, 8 * RIP, places[i % len(places)])
            blocks = b"R" + registers + b"M" + struct.pack("<QH", AT, len(memory)) + memory + b"V" + struct.pack("<Iq", RET, value)
            blocks += b"V" + struct.pack("<Iq", CLOCK, 10**9 + i) if clock else b""
            file.write(struct.pack("<HI", 1, len(blocks)) + blocks)
        file.write(b"\0\0")
    return path


def opened(function="vfs_open", returns=(0, -2, -512, -1000, 7), clock=False, lines=("collect $ret",)):
    path = write(FOLDER + "/%s.tf" % function.replace(" ", "-"), function, returns, clock, lines)
    gdb.execute("target tfile " + path, to_string=True)


def screen(columns):
    """Return the rows of gtp table on the screen, without the frame's number."""
    return screen_of("1 " + columns)


def screen_of(asked):
    lines = gdb.execute("gtp table %s" % asked, to_string=True).splitlines()
    return [re.split(r"\s{2,}", line.strip())[1:] for line in lines if re.match(r"\s*\d", line)]


def in_file(columns):
    path = FOLDER + "/t.csv"
    gdb.execute("gtp table 1 %s --csv %s" % (columns, path), to_string=True)
    with open(path, newline="", encoding="utf-8") as file:
        return [row[1:] for row in csv.reader(file)][1:]


# Without a frame ----------------------------------------------------------------------------------


@tap.test("print shows addresses, ports, devices, times, users and flags by their types")
def by_type():
    for text, wanted in (("(dev_t)0x800011", "8:17"), ("init_cred.uid", "0"), ("(gfp_t)0xdc0", "GFP_KERNEL|__GFP_ZERO"),
                         ("(gfp_t)0", "0"), ("(__be16)0x901f", "8080"), ("(ktime_t)1500", "1.5 us"), ("(ktime_t)-1", "-1 ns"),
                         ("(ktime_t)1000000000", "1 s"), ("in6addr_loopback", "::1"), ("in6addr_any", "::"),
                         ("init_task.thread_pid", "%#x (0)" % int(gdb.parse_and_eval("(unsigned long)&init_struct_pid")))):
        same(text, printed("print " + text), wanted)


@tap.test("print/x, print/d and print -raw show the number")
def by_number():
    for command, wanted in (("print/x (dev_t)0x800011", "0x800011"), ("print/d (__be16)0x901f", "-28641"),
                            ("print/u (__be16)0x901f", "36895"), ("print/x init_cred.uid", "{val = 0x0}"),
                            ("print -raw -- init_cred.uid", "{val = 0}"), ("print/d (ktime_t)1500", "1500"), ("output/x (gfp_t)0xcc0", None)):
        if wanted is not None:
            same(command, printed(command), wanted)
    same("output/x", gdb.execute("output/x (gfp_t)0xcc0", to_string=True), "0xcc0")
    same("a number in an expression", printed("print (dev_t)8 + 1"), "9")


@tap.test("a value of GDB's history is shown as it was")
def history():
    gdb.execute("print init_cred.uid", to_string=True)
    same("$", printed("print $"), "0")
    gdb.execute("print init_cred", to_string=True)
    same("a member", printed("print $.euid"), "0")


@tap.test("disable pretty-printer ends it, and sourcing gtp.py again does not make a second one")
def ends():
    gdb.execute("source %s/gdbscripts/gtp.py" % TOP)
    same("how many", sum(getattr(one, "name", "") == "gdbtp" for one in gdb.pretty_printers), 1)
    gdb.execute("disable pretty-printer global gdbtp", to_string=True)
    try:
        same("disabled", printed("print (dev_t)0x800011"), "8388625")
    finally:
        gdb.execute("enable pretty-printer global gdbtp", to_string=True)
    same("enabled", printed("print (dev_t)0x800011"), "8:17")


def of_headers(header, names):
    """Let the compiler expand the macros of a header. Return {name: number}."""
    lines = "".join('asm volatile("\\n->%s %%c0" : : "i"((long)(%s)));\n' % (name, name) for name in names)
    out = headers.compiler(headers.folder(), "#include <%s>\nvoid f(void);\nvoid f(void)\n{\n%s}\n" % (header, lines), "-S")
    return {name: int(number) for name, number in re.findall(r"^->(\w+) \$?(-?\d+)$", out or "", re.M)}


@tap.test("all errors have the names that the kernel's headers give them")
def errors():
    names = image.errors()
    same("names", {name: number for number, name in names.items()}, of_headers("linux/errno.h", names.values()))
    tap.check(len(names) > 140, "there are %d" % len(names))
    for number, name in ((2, "ENOENT"), (512, "ERESTARTSYS"), (517, "EPROBE_DEFER"), (133, "EHWPOISON"), (95, "EOPNOTSUPP")):
        same("%d" % number, names.get(number), name)


@tap.test("flags of memory have the values that the kernel's headers give them")
def gfp():
    table = image.table("gfpflag_names")
    names = {name: mask for mask, name in table if not name.startswith("___")}
    tap.check(len(names) > 25, "there are %d" % len(names))
    same("masks", names, of_headers("linux/gfp.h", names))


@tap.test("gtp print/FORMAT")
def forms():
    for command, wanted in (("gtp print/err -2", "-2 (ENOENT)"), ("gtp print/err 2", "2"), ("gtp print/err -1000", "-1000"),
                            ("gtp print/err (void *)-12", "0xfffffffffffffff4 (ENOMEM)"), ("gtp print/ip 0x0100007f", "127.0.0.1"),
                            ("gtp print/port (unsigned short)0x3500", "53"), ("gtp print/time 61000000001ul", "61.000000001 s"),
                            ("gtp print/bytes 1536", "1.50 KiB"), ("gtp print/bytes 100", "100 B"), ("gtp print/bytes 4096", "4 KiB"),
                            ("gtp print/dev 0x10300000", "259:0"), ("gtp print/flags:gfp 0xcc0", "GFP_KERNEL"),
                            ("gtp print/flags:TCP_ESTABLISHED 10", "TCP_LISTEN"), ("gtp print/flags:pid_type 1", "PIDTYPE_TGID"),
                            ("gtp print/flags:TCPF_ESTABLISHED 6", "TCPF_ESTABLISHED|TCPF_SYN_SENT"),
                            ("gtp print/flags:TCP_ESTABLISHED 99", "99"),
                            ("gtp print/sym (unsigned long)vfs_read + 5", "vfs_read+0x5"), ("gtp print/sym vfs_read", "vfs_read"), ("gtp print/sym &vfs_read", "vfs_read"),
                            ("gtp print/sym 5ul", "5"), ("gtp print/x 255", "0xff"), ("gtp print 255", "255"),
                            ("gtp print/mac 1", "1"), ("gtp print/ip 1ul", "1")):
        same(command, printed(command), wanted)
    finds("no such format", refused("gtp print/nosuch 1"), r"there is no format /nosuch; there are /argv, /bytes, .*/time")
    finds("no names", refused("gtp print/flags:no_such_enum 1"), "vmlinux has no enum, no constant of one")
    finds("no type", refused("gtp print/flags 1"), "does not say which flags")
    finds("no argument", refused("gtp print/ip:4 1"), "/ip takes nothing after a colon")


@tap.test("texts: times, sizes, addresses, flags with bits that have no name")
def pure():
    for function, argument, wanted in (
            (spell.time, 0, "0 ns"), (spell.time, 999, "999 ns"), (spell.time, 1000, "1 us"), (spell.time, -1000000, "-1 ms"),
            (spell.time, 2**63 - 1, "9223372036.854775807 s"), (spell.size, 0, "0 B"), (spell.size, -4096, "-4 KiB"),
            (spell.size, 1023, "1023 B"), (spell.size, 123456789, "118 MiB"),
            (spell.size, (1 << 20) - 1, "1.00 MiB"), (spell.size, 1 - (1 << 30), "-1.00 GiB"), (spell.size, (1 << 20) - 600, "1023 KiB"),
            (spell.size, 10238, "10.0 KiB"), (spell.size, 10234, "9.99 KiB"), (spell.size, 102399, "100 KiB"), (spell.size, 1024, "1 KiB"), (spell.size, 2**64 - 1, "16.0 EiB"),
            (spell.ip, bytes(15) + b"\1", "::1"), (spell.ip, bytes(10) + b"\xff\xff\1\2\3\4", "::ffff:1.2.3.4"),
            (spell.endpoint, SIN, "10.1.2.3:443"), (spell.endpoint, SIN6, "[2001:db8::7%3]:53"), (spell.endpoint, NETLINK, None),
            (spell.endpoint, SIN[:7], None), (spell.endpoint, b"", None)):
        same("%s(%r)" % (function.__name__, argument), function(argument), wanted)
    table = [(6, "BOTH"), (2, "TWO"), (4, "FOUR"), (0, "NONE")]
    for number, wanted in ((6, "BOTH"), (2, "TWO"), (7, "BOTH|0x1"), (12, "FOUR|0x8"), (0, "NONE"), (8, None)):
        same("flags %d" % number, spell.flags(number, table), wanted)


@tap.test("flags that are macros: open, mmap, clone, TCP's, and others by one of them; their values are the headers'")
def macros():
    numbers = {}
    for header, names in (("linux/fcntl.h", "O_WRONLY O_CREAT O_TRUNC O_CLOEXEC O_SYNC O_DSYNC O_ACCMODE O_TMPFILE O_NONBLOCK"),
                          ("linux/mman.h", "MAP_PRIVATE MAP_SHARED MAP_SHARED_VALIDATE MAP_ANONYMOUS MAP_FIXED PROT_READ PROT_EXEC"),
                          ("linux/sched.h", "CLONE_VM CLONE_FS CLONE_THREAD CLONE_CHILD_SETTID"),
                          ("net/tcp.h", "TCPHDR_SYN TCPHDR_ACK"), ("linux/fs.h", "SB_NODEV SB_I_NODEV FMODE_READ FMODE_LSEEK")):
        numbers.update(of_headers(header, names.split()))
    same("of the headers", len(numbers), 26)

    def shown(family, *names, rest=0):
        value = sum(numbers[name] for name in names) | rest
        text = printed("gtp print/flags:%s %d" % (family, value))
        same("%s %#x" % (family, value), sorted(text.split("|")), sorted([*names, *(["%#x" % rest] if rest else [])]))
    shown("open", "O_WRONLY", "O_CREAT", "O_TRUNC", "O_CLOEXEC")
    shown("open", "O_SYNC", "O_WRONLY")
    shown("open", "O_DSYNC", "O_NONBLOCK", rest=1 << 30)
    shown("O_TRUNC", "O_TMPFILE")
    shown("mmap", "MAP_PRIVATE", "MAP_ANONYMOUS", "MAP_FIXED")
    shown("mmap", "MAP_SHARED_VALIDATE", "MAP_FIXED")  # must not be shown as MAP_SHARED | MAP_PRIVATE
    shown("prot", "PROT_READ", "PROT_EXEC")
    shown("clone", "CLONE_VM", "CLONE_FS", "CLONE_THREAD")
    shown("clone", "CLONE_CHILD_SETTID", rest=17)  # the low bits are the signal's number, which has no name here
    shown("tcp", "TCPHDR_SYN", "TCPHDR_ACK")
    shown("FMODE_READ", "FMODE_READ", "FMODE_LSEEK")
    same("a bit with two names", (numbers["SB_NODEV"], printed("gtp print/flags:SB_RDONLY 4")), (numbers["SB_I_NODEV"], "4"))
    same("nothing", printed("gtp print/flags:open 0"), "O_RDONLY")
    same("several bits", [printed("gtp print/flags:mmap %d" % n) for n in (5, 0xf)], ["5", "MAP_TYPE"])
    finds("no macro", refused("gtp print/flags:NO_SUCH_FLAG 1"), "and the kernel's headers have no macro")
    with headers.unasked():
        finds("not asked", refused("gtp print/flags:MSG_PEEK 1"), "the text has been brought by a file or a target")


# In frames ----------------------------------------------------------------------------------------

ASKED = (("/ip " + at("unsigned int", 0), "192.168.0.9", "151038144"), ("/mac " + at("unsigned char *", 0xc8), "52:54:00:12:34:56", None),
         ("/err " + at("int", 0xa0), "-2 (ENOENT)", "-2"), ("/err " + at("long", 0xa8), "-512 (ERESTARTSYS)", "-512"),
         ("/err " + at("void *", 0xb0), "0xfffffffffffffff4 (ENOMEM)", "0xfffffffffffffff4"), ("/err " + at("int", 0xa4), "-4000", "-4000"),
         ("/ip " + at("struct sockaddr *", 0xd0), "10.1.2.3:443", None), ("/bytes " + at("long", 0xd8), "64 KiB", "65536"),
         ("/x " + at("unsigned int", 0xb8), "0x7", "7"), ("/flags:TCP_ESTABLISHED " + at("unsigned int", 0xb8), "TCP_CLOSE", "7"),
         ("/time " + at("long", 0xe0), "4.096 us", "4096"))
BY_TYPE = (("struct in_addr", 0, "192.168.0.9", None), ("struct in6_addr", 0x10, "2001:db8::7", None),
           ("struct sockaddr_in", 0x20, "10.1.2.3:443", None), ("struct sockaddr_in6", 0x40, "[2001:db8::7%3]:53", None),
           ("struct sockaddr", 0x20, "10.1.2.3:443", None), ("dev_t", 0x80, "8:17", "8388625"), ("kuid_t", 0x84, "1000", "{val = 1000}"),
           ("ktime_t", 0x88, "1.5 us", "1500"), ("__be16", 0x90, "8080", "36895"), ("gfp_t", 0x98, "GFP_KERNEL", "3264"))


@tap.test("gtp table shows values by their types, and a file for programs has the numbers")
def table_by_type():
    opened()
    for kind, offset, text, number in BY_TYPE:
        same(kind, screen(at(kind, offset))[0], [text])
        if number:
            same(kind + " for programs", in_file(at(kind, offset))[0], [number])
    tap.check("sin_port = 47873" in in_file(at("struct sockaddr_in", 0x20))[0][0], "the structure for programs")


@tap.test("another family of addresses is shown as it is")
def netlink():
    opened()
    finds("AF_NETLINK", screen(at("struct sockaddr", 0x60))[0][0], r"\{sa_family = 16, ")


@tap.test("gtp table /FORMAT EXPRESSION, on the screen and in a file")
def table_asked():
    opened()
    for column, text, number in ASKED:
        same(column, screen(column)[0], [text])
        same(column + " in a file", in_file(column)[0][0].lstrip("'"), text)
        if number:
            same("without " + column, in_file(column.partition(" ")[2])[0], [number])
    both = "%s, /x %s" % (at("unsigned int", 0xb8), at("unsigned int", 0xb8))
    same("twice", in_file(both)[0], ["7", "0x7"])
    same("/d of a type with a text", screen("/d " + at("dev_t", 0x80))[0], ["8388625"])


@tap.test("an integer that a function returns has its error's name, in a file for programs only if that is asked for")
def returned():
    opened()
    wanted = ["0", "-2 (ENOENT)", "-512 (ERESTARTSYS)", "-1000", "7"]
    same("vfs_open", [row[0] for row in screen("$ret")], wanted)
    same("collected", [row[0] for row in screen("")], wanted)
    same("numbers", [row[0] for row in in_file("$ret")], ["0", "-2", "-512", "-1000", "7"])
    # The apostrophe is what keeps a spreadsheet from computing a text that begins with a minus.
    same("asked", [row[0].lstrip("'") for row in in_file("/err $ret")], wanted)
    same("conditions have the number", [row[0] for row in screen("$ret if $ret == -2")], ["-2 (ENOENT)"])
    gdb.execute("tfind 1", to_string=True)
    same("gtp print $ret", printed("gtp print $ret"), "-2 (ENOENT)")
    same("gtp print/d $ret", printed("gtp print/d $ret"), "-2")
    gdb.execute("tfind none", to_string=True)


@tap.test("a pointer that a function returns has its error's name")
def returned_pointer():
    opened("filp_open", (-2, AT - 2**64))
    same("filp_open", [row[0] for row in screen("$ret")], ["0x%x (ENOENT)" % (2**64 - 2), "%#x" % AT])


@tap.test("members of a structure are shown by their types")
def members():
    opened()
    finds("uid", screen(at("struct cred", 0))[0][0], r" uid = \d+, gid = \d+, suid = \d+")
    finds("uid of memory that the frame lacks", screen(at("struct cred", 0x1000))[0][0], r" uid = \{\.\.\.\}, gid = ")


@tap.test("gtp report has the numbers, and beside them the texts that differ; gtp export has the numbers")
def report():
    opened("vfs_open", (0, -2, -512, -1000, 7, -2))
    path = FOLDER + "/r.html"
    columns = "$ret, %s, %s, %s" % (at("dev_t", 0x80), at("kuid_t", 0x84), at("gfp_t", 0x98))
    gdb.execute("gtp report -o %s 1 %s" % (path, columns), to_string=True)
    with open(path, encoding="utf-8") as file:
        data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', file.read(), re.S).group(1))
    found = data["places"][0]["columns"]
    same("$ret", found[0], {"n": [0, -2, -512, -1000, 7, -2], "t": {"-2": "-2 (ENOENT)", "-512": "-512 (ERESTARTSYS)"}})
    same("dev_t", found[1], {"n": [8 << 20 | 17] * 6, "t": {str(8 << 20 | 17): "8:17"}})
    same("kuid_t", found[2], {"d": ["1000"], "c": [0] * 6})
    same("gfp_t", found[3], {"n": [0xcc0] * 6, "t": {str(0xcc0): "GFP_KERNEL"}})
    gdb.execute("gtp export csv %s/e.csv 1 %s" % (FOLDER, columns), to_string=True)
    with open(FOLDER + "/e.csv", newline="", encoding="utf-8") as file:
        same("csv", list(csv.reader(file))[2], ["1", "-2", "8388625", "{val = 1000}", "3264"])
    opened(clock=True)
    gdb.execute("gtp export ctf2 %s/ctf 1 $ret, /err $ret" % FOLDER, to_string=True)
    with open(FOLDER + "/ctf/metadata", encoding="utf-8") as file:
        text = file.read()
    finds("a number", text, r'"name": "ret",\s+"field-class": \{\s+"type": "fixed-length-signed-integer"')
    finds("a text", text, r'"name": "err_ret",\s+"field-class": \{\s+"type": "null-terminated-string"')


@tap.test("names that only gdbtp knows at a place, such as a marker's arg1, mean in columns and conditions what they mean there")
def at_place():
    meant = {address("vfs_open"): {"arg1": "((int)$ret)"}, address("vfs_read"): {"arg1": "((int)$ret + 100)"}}
    provider = of_places.providers[:]
    of_places.providers.append(lambda pc: of_places.Names("the place", meant[pc]) if pc in meant else None)
    try:
        opened("vfs_open vfs_read", (1, 2, 3, 4))
        same("columns", screen("arg1, arg1 * 2"), [["1", "2"], ["102", "204"], ["3", "6"], ["104", "208"]])
        same("titles", gdb.execute("gtp table 1 arg1", to_string=True).split()[:2], ["frame", "arg1"])
        same("a condition", screen("$ret if arg1 > 2 && arg1 < 104"), [["2"], ["3"]])
        same("a file", in_file("arg1"), [["1"], ["102"], ["3"], ["104"]])
        finds("missing", refused("gtp table 1 arg2"), "No symbol .arg2|no variable")
        del meant[address("vfs_read")]
        meant[address("vfs_read")] = {}
        opened("vfs_open vfs_read", (1, 2))
        same("a place without the name", screen("arg1"), [["1"], [columns.NO_SYMBOL]])
    finally:
        of_places.providers[:] = provider


@tap.test("a wrong format, or one without an expression, is refused")
def table_refused():
    opened()
    finds("unknown", refused("gtp table 1 /nosuch $ret"), "there is no format /nosuch")
    finds("alone", refused("gtp table 1 /ip"), "an expression follows the format")


def line(text, number, viewed=True):
    """Return the title and the cell that the shell command `gtp` makes from a number that the kernel prints."""
    gdb.execute("tvariable $ret", to_string=True)
    pc = int(gdb.parse_and_eval("(unsigned long)vfs_open"))
    found, = values.typed(text, 1, pc, viewed)
    return found.title, decode.cell(json.loads(json.dumps(found.kind)))(b"%x" % (number % 2**64))


@tap.test("live rows: formats that were asked for, and those of types; a CSV file has numbers")
def lines():
    for text, number, wanted, plain in (
            ("$ret", -2, "-2 (ENOENT)", "-2"), ("$ret", 5, "5", "5"), ("/err $ret", -512, "-512 (ERESTARTSYS)", None),
            (at("dev_t", 0), 0x800011, "8:17", "8388625"), (at("__be16", 0), 0x901f, "8080", "36895"),
            (at("ktime_t", 0), 1500, "1.5 us", "1500"), (at("gfp_t", 0), 0xdc0, "GFP_KERNEL|__GFP_ZERO", "3520"),
            ("/ip " + at("__be32", 0), 0x0900a8c0, "192.168.0.9", None), ("/ip *((unsigned char *)%d)@4" % AT, 0x0900a8c0, "192.168.0.9", None),
            ("/mac *((unsigned char *)%d)@6" % AT, 0x563412005452, "52:54:00:12:34:56", None), ("/x " + at("int", 0), -1, "0xffffffff", None),
            ("/err " + at("void *", 0), -12, "0xfffffffffffffff4 (ENOMEM)", None), ("/err " + at("char *", 0), 4096, "0x1000", None),
            ("/flags:TCP_ESTABLISHED " + at("int", 0), 10, "TCP_LISTEN", None), ("/bytes " + at("long", 0), -4096, "-4 KiB", None),
            ("/flags:TCP_ESTABLISHED " + at("int", 0), 99, "99", None), ("/d " + at("dev_t", 0), 17, "17", None)):
        same(text, line(text, number), (text.partition(" ")[2] if text.startswith("/") else text, wanted))
        if plain:
            same(text + " for programs", line(text, number, False)[1], plain)
    for text in ("/ip path", "/nosuch $ret"):
        try:
            line(text, 0)
        except gdb.GdbError as error:
            finds(text, str(error), "/ip of path|there is no format /nosuch")
        else:
            raise tap.Failure("%s is not refused" % text)


@tap.test("gtp collect /FORMAT: GDB collects the value, and gtp table shows it so")
def collected():
    gdb.execute("delete")  # tracepoints of the files that were opened so far
    gdb.execute("trace *vfs_open", to_string=True)
    number = int(gdb.parse_and_eval("$tpnum"))
    gdb.execute("tvariable $ret", to_string=True)
    try:
        gdb.execute("gtp collect %d /err $ret, /x %s, %s" % (number, at("unsigned int", 0xb8), at("__be16", 0x90)), to_string=True)
        lines = re.findall(r"^ +(collect .*)", gdb.execute("info tracepoints %d" % number, to_string=True), re.M)
        same("actions", lines, ["collect (int)$ret", "collect " + at("unsigned int", 0xb8), "collect " + at("__be16", 0x90)])
        opened(returns=(-2, 3), lines=lines)
        same("table", screen_of(number), [["-2 (ENOENT)", "0x7", "8080"], ["3", "0x7", "8080"]])
        for text in ("gtp collect /nosuch $ret", "gtp collect /err", "gtp collect /err 1 +"):
            refused(text)
        finds("the place of an error", refused("gtp collect /err $ret, /ip file->nosuch"), r"\n  file->nosuch\n +\^")
        finds("/s needs a target", refused("gtp collect/s %d path->dentry->d_name.name" % number), "not connected to a kernel")
    finally:
        gdb.execute("delete")


tap.run()
