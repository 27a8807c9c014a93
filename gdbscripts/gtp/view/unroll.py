# SPDX-License-Identifier: GPL-2.0-only
# Values that no single expression of bytecode collects: the path of a file, an argument vector, the entries of a list,
# memory of a length that is known only at the hit.
#
# Bytecode has no loops, so the loop is unrolled: each step is one `teval`, which moves a CPU's own variables ahead by one
# element, and one `collect` at the new place. GDB compiles these lines like lines that a user types. The steps that
# remain at the end of a path or vector stay at its last element. gtp.view.walks reads the value from the frame's memory.
#
# The first line is `collect ($p_gtp_path, EXPRESSION)`. A table recognises the column by this line, also in a trace
# file.
import re
from typing import NamedTuple

import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.gdblib import gdbcall

MARK = re.compile(r"\(\$p_gtp_(path|argv), (.*)\)", re.S)
LIST_MARK = re.compile(r"\(\$p_gtp_list, \((.*)\), sizeof\(\(\((\w[\w ]*) \*\)0\)->([\w.]+)\), sizeof\(\(\(\w[\w ]* \*\)0\)->([\w.]+)\)\)",
                       re.S)
MEMORY_MARK = re.compile(r"\(\$p_gtp_mem, \((.*)\), \((.*)\)\)", re.S)
PART = re.compile(r"\$p_gtp_(?:path|argv|mem|list)\w*\b")
MOST = 64  # steps
MOUNTS = 8  # the maximum number of mounts that are collected for a path, see Path.mounts()
NAME_BYTES = 256  # NAME_MAX, and the NUL
ARGUMENT_BYTES = 128
MEMORY_BYTES = 255  # the maximum number of bytes that /mem collects: one less than a power of 2
ENTRY_BYTES = 64  # the maximum size of the member that is collected of each list entry
WORD = 8


class Item(str):
    """A collected value as a column's text, such as "/path EXPRESSION", and its parts."""

    def __new__(cls, name, argument, expression):
        self = super().__new__(cls, "/%s%s %s" % (name, ":(%s)" % argument if argument else "", expression))
        self.name, self.argument, self.expression = name, argument, expression
        return self


def column(item):
    """Return the column for a collected text: an Item if it is the first text of a value, None if it is a further text
    of a value, and otherwise the text itself."""
    first = MARK.fullmatch(item)
    if first:
        return Item(first.group(1), None, first.group(2))
    first = MEMORY_MARK.fullmatch(item)
    if first:
        return Item("mem", *first.groups())
    first = LIST_MARK.fullmatch(item)
    if first:
        return Item("list", ", ".join(first.groups()[1:]), first.group(1))
    return None if PART.search(item) else item


class Plan(NamedTuple):
    """The action lines that collect a value, and the names of the variables that they use."""
    lines: tuple
    variables: tuple


def number(text, pc):
    """Return an expression as GDB compiles it, for the value of a variable."""
    return "(long)(%s)" % cexpr.number(text, pc)[0]


def steps(name, argument, usual):
    """Return the number of steps that `/path:N` asks for."""
    if argument is None:
        return usual
    if not argument.isdecimal() or not 0 < int(argument) <= MOST:
        raise gdb.GdbError("/%s:%s: the number of steps is 1 to %d" % (name, argument, MOST))
    return int(argument)


def bytes_of(kind, *names):
    """Return (offset, number of words) of the smallest range of a structure that has the members."""
    found = [ctype.member(kind, name) for name in names]
    first = min(member.bit for member in found) // 8
    end = max(member.bit // 8 + member.type.sizeof for member in found)
    return first, -(first - end) // WORD


def offset(kind, name):
    return ctype.member(kind, name).bit // 8


class Layout:
    """The offsets of the members that a path needs."""

    def __init__(self):
        dentry, mount = gdb.lookup_type("struct dentry"), gdb.lookup_type("struct mount")
        qstr = gdb.lookup_type("struct qstr")
        self.parent, self.inode, self.operations = (offset(dentry, name) for name in ("d_parent", "d_inode", "d_op"))
        self.hashed = offset(dentry, "d_hash") + offset(gdb.lookup_type("struct hlist_bl_node"), "pprev")
        self.length, self.name = (offset(dentry, "d_name") + offset(qstr, name) for name in ("len", "name"))
        self.up, self.mountpoint, self.mnt = (offset(mount, name) for name in ("mnt_parent", "mnt_mountpoint", "mnt"))
        self.root = self.mnt + offset(gdb.lookup_type("struct vfsmount"), "mnt_root")
        self.number = offset(gdb.lookup_type("struct inode"), "i_ino")
        self.dname = offset(gdb.lookup_type("struct dentry_operations"), "d_dname")
        path = gdb.lookup_type("struct path")
        self.of_path = offset(path, "mnt"), offset(path, "dentry")


def pointed(kind):
    """Return the plain type that a pointer points to, or the plain type itself if it is no pointer."""
    kind = ctype.plain(kind)
    return ctype.plain(kind.target()) if ctype.is_pointer(kind) else kind


def with_path(kind):
    """Return the type of the struct file, path or dentry that a type points to, or of the struct path that it is. Return
    None for other types, which have no path."""
    target = pointed(kind)
    tags = ("file", "path", "dentry") if ctype.is_pointer(kind) else ("path",)
    return target if target.code == gdb.TYPE_CODE_STRUCT and target.tag in tags else None


def is_vector(kind):
    """Return whether a type is an argument vector: an array of pointers to characters, or the address of such a pointer."""
    inner = ctype.plain(ctype.plain(kind).target()) if ctype.is_address(kind) else None
    return inner is not None and ctype.is_pointer(inner) and ctype.may_be_text(inner.target())


def is_list(kind):
    """Return whether a type is a struct list_head or a pointer to one."""
    target = pointed(kind)
    return target.code == gdb.TYPE_CODE_STRUCT and target.tag == "list_head"


def load(address):
    """Return the expression for the word at an address. The outer cast is needed where a variable is set to this
    expression alone: GDB 13 and 18 would store the address instead of the word."""
    return "(long)*(long *)(%s)" % address


def words(address, count):
    """Return the expression for COUNT words of memory. It contains no name of a type that may be unknown at a place."""
    return "*(long (*)[%d])(%s)" % (count, address)


class Path:
    """Collects a path, step by step. $p_gtp_path_d is the current dentry, $p_gtp_path_m its mount, and $p_gtp_path_n
    the address of its name. $p_gtp_path_p is the address of the struct path, and $p_gtp_path_x a value that is needed
    only once."""

    USUAL = 20

    def __init__(self, steps_):
        self.steps, self.layout = steps_, Layout()

    def lines(self, text, pc):
        kind = ctype.plain(cexpr.type_at(text, pc))
        target = with_path(kind)
        if target is None:
            raise gdb.GdbError("/path %s: its type is %s; a struct file *, a struct path or a struct dentry * has a path" % (
                text, ctype.describe(kind)))
        if target.tag == "dentry":
            return ["teval $p_gtp_path_d = " + number(text, pc), *self.first(), *self.names(False)]
        if target.tag == "file":
            text = "&(%s)->f_path" % text
        elif not ctype.is_pointer(kind):
            text = "&(%s)" % text
        mnt, dentry = self.layout.of_path
        start = "$p_gtp_path_m = %s - %d" % (load("$p_gtp_path_p + %d" % mnt), self.layout.mnt)
        return ["teval $p_gtp_path_p = " + number(text, pc),
                "collect " + words("$p_gtp_path_p", gdb.lookup_type("struct path").sizeof // WORD),
                "teval " + start, *self.mounts(), "teval " + start,
                "teval $p_gtp_path_d = " + load("$p_gtp_path_p + %d" % dentry), *self.first(), *self.names(True)]

    def mounts(self):
        """Return the lines that collect the mount and those around it."""
        first, count = self.mount_words()
        step = ["collect " + words("$p_gtp_path_m + %d" % first, count),
                "teval $p_gtp_path_m = " + load("$p_gtp_path_m + %d" % self.layout.up)]
        return step * MOUNTS

    def mount_words(self):
        places = self.layout.up, self.layout.mountpoint, self.layout.root
        return min(places), (max(places) - min(places)) // WORD + 1

    def first(self):
        """Return the lines that collect more of the path's first dentry: d_hash shows whether the file was removed, and
        the inode's number and d_dname give the computed name of a file of pipefs and the like. If a pointer is NULL, a
        word of the dentry is collected instead of the pointer's target."""
        layout = self.layout
        first, count = bytes_of(gdb.lookup_type("struct dentry"), "d_hash", "d_inode", "d_op")
        found = ["collect " + words("$p_gtp_path_d + %d" % first, count)]
        for member, at in ((layout.inode, layout.number), (layout.operations, layout.dname)):
            pointer = load("$p_gtp_path_d + %d" % member)
            found += ["teval $p_gtp_path_x = %s ? %s : $p_gtp_path_d" % (pointer, pointer),
                      "collect " + words("$p_gtp_path_x + %d" % at, 1)]
        return found

    def names(self, with_mounts):
        """Return the lines that collect the names, from the last one up to the root. Each step goes from a dentry to
        its parent, or from a mount's root to the directory where it is mounted."""
        d, m = "$p_gtp_path_d", "$p_gtp_path_m"
        layout = self.layout
        up, root, at, around = (load("%s + %d" % place) for place in (
            (d, layout.parent), (m, layout.root), (m, layout.mountpoint), (m, layout.up)))
        first, count = bytes_of(gdb.lookup_type("struct dentry"), "d_parent", "d_name")
        name = "($p_gtp_path_n = %s)" % load("%s + %d" % (d, layout.name))
        ahead = ["(%s = %s)" % (d, up), name]
        if with_mounts:
            ahead = ["($p_gtp_path_x = %s == %s)" % (d, root), "(%s = $p_gtp_path_x ? %s : %s)" % (d, at, up),
                     "(%s = $p_gtp_path_x ? %s : %s)" % (m, around, m), name]
        step = ["collect/s%d (%s, (char *)$p_gtp_path_n)" % (NAME_BYTES, words("%s + %d" % (d, first), count)),
                "teval (%s)" % ", ".join(ahead)]
        return ["teval " + name, *(step * self.steps)]


class Argv:
    """Collects an argument vector. $p_gtp_argv_a is the address of the current pointer, $p_gtp_argv_s is the pointer,
    and $p_gtp_argv_n the string that is collected. If the pointer is NULL, $p_gtp_argv_n is the pointer's own address,
    where the hit reads zeros."""

    USUAL = 16

    def __init__(self, steps_):
        self.steps = steps_

    def lines(self, text, pc):
        kind = ctype.plain(cexpr.type_at(text, pc))
        if not is_vector(kind):
            raise gdb.GdbError("/argv %s: its type is %s; an argument vector is a char **" % (text, ctype.describe(kind)))
        there = ["($p_gtp_argv_s = %s)" % load("$p_gtp_argv_a"),
                 "($p_gtp_argv_n = $p_gtp_argv_s ? $p_gtp_argv_s : $p_gtp_argv_a)"]
        ahead = "($p_gtp_argv_a = $p_gtp_argv_s ? $p_gtp_argv_a + %d : $p_gtp_argv_a)" % WORD
        step = ["collect/s%d (*(long *)$p_gtp_argv_a, (char *)$p_gtp_argv_n)" % ARGUMENT_BYTES,
                "teval (%s)" % ", ".join([ahead, *there])]
        return ["teval $p_gtp_argv_a = " + number(text, pc), "teval (%s)" % ", ".join(there), *(step * self.steps)]


class Memory:
    """Collects memory of a length that is known only at the hit. The length in a `collect` is a constant, so collect
    pieces of 128, 64, 32 ... bytes, which add up to the length. $p_gtp_mem_a is the address of the rest, $p_gtp_mem_l
    the length, and $p_gtp_mem_p the address of the piece. If a piece is not needed, collect the start of init_task
    instead, which any hit can read."""

    def __init__(self, length):
        self.length = length

    def lines(self, text, pc):
        kind = ctype.plain(cexpr.type_at(text, pc))
        if not ctype.is_address(kind):
            raise gdb.GdbError("/mem %s: its type is %s; an address is needed" % (text, ctype.describe(kind)))
        found = ["teval $p_gtp_mem_a = " + number(text, pc), "teval $p_gtp_mem_l = " + number(self.length, pc),
                 "teval $p_gtp_mem_l = (unsigned long)$p_gtp_mem_l > %d ? %d : $p_gtp_mem_l" % (MEMORY_BYTES, MEMORY_BYTES)]
        size = (MEMORY_BYTES + 1) // 2
        while size:
            found += ["teval $p_gtp_mem_p = $p_gtp_mem_l & %d ? $p_gtp_mem_a : (long)&init_task" % size,
                      "collect *(char (*)[%d])$p_gtp_mem_p" % size,
                      "teval $p_gtp_mem_a = $p_gtp_mem_a + ($p_gtp_mem_l & %d)" % size]
            size //= 2
        return found


class Entries(NamedTuple):
    """The parsed argument of /list. type: of the entries. link: the member that is the struct list_head. member: the
    member to show. steps: the number of entries to collect. offset, at: the offsets of `link' and of `member'. shown:
    the type of `member'."""
    type: str
    link: str
    member: str
    steps: int
    offset: int
    at: int
    shown: gdb.Type


def place_of(kind, path):
    """Return (offset, type) of a member a.b of a structure."""
    at = 0
    for name in path.split("."):
        found = ctype.member(kind, name) if ctype.is_aggregate(kind) else None
        if found is None or found.bits:
            raise gdb.GdbError("/list: there is no member %s%s" % (path, " of whole bytes" if found else ""))
        at, kind = at + found.bit // 8, found.type
    return at, kind


def entries(argument, pc):
    """Return the Entries of `/list:(TYPE, MEMBER, SHOWN[, N])`."""
    words_ = [word.strip() for word in (argument or "").split(",")]
    if len(words_) not in (3, 4) or not all(re.fullmatch(r"[\w.]+|\w[\w ]*", word) for word in words_):
        raise gdb.GdbError("/list takes a type, its list_head and a member, as in "
                           "/list:(struct task_struct, sibling, pid) &current->children")
    kind = cexpr.type_at("*(%s *)0" % words_[0], pc)
    link, of_link = place_of(kind, words_[1])
    at, shown = place_of(kind, words_[2])
    if ctype.plain(of_link).tag != "list_head":
        raise gdb.GdbError("/list: %s is %s, not a struct list_head" % (words_[1], ctype.describe(of_link)))
    if not 0 < shown.sizeof <= ENTRY_BYTES:
        raise gdb.GdbError("/list: %s has %d bytes; 1 to %d are collected" % (words_[2], shown.sizeof, ENTRY_BYTES))
    return Entries(*words_[:3], steps("list", words_[3] if words_[3:] else None, List.USUAL), link, at, shown)


class List:
    """Collects a member of each of a list's first entries. $p_gtp_list_h is the address of the list's head.
    $p_gtp_list_e is the address of the current struct list_head; after the last entry it is the head's address.
    $p_gtp_list_q is the address of the current entry; after the last entry it does not change any more. If the list is
    empty, $p_gtp_list_q is the address of init_task, which any hit can read."""

    USUAL = 8

    def __init__(self, of):
        self.of = of

    def lines(self, text, pc):
        kind = ctype.plain(cexpr.type_at(text, pc))
        if not is_list(kind):
            raise gdb.GdbError("/list %s: its type is %s; a struct list_head is needed, or its address" % (
                text, ctype.describe(kind)))
        e, h, q = "$p_gtp_list_e", "$p_gtp_list_h", "$p_gtp_list_q"
        entry = "%s - %d" % (e, self.of.offset)
        step = ["collect (*(long *)%s, *(char (*)[%d])(%s + %d))" % (e, self.of.shown.sizeof, q, self.of.at),
                "teval ((%s = %s == %s ? %s : %s), (%s = %s == %s ? %s : %s))" % (e, e, h, e, load(e), q, e, h, q, entry)]
        return ["teval %s = %s" % (h, number(text if ctype.is_pointer(kind) else "&(%s)" % text, pc)), "collect " + words(h, 1),
                "teval %s = %s" % (e, load(h)), "teval %s = %s == %s ? (long)&init_task : %s" % (q, e, h, entry),
                *(step * self.of.steps)]


KINDS = {"path": Path, "argv": Argv, "mem": Memory, "list": List}


def memory(length, text, taken, pc):
    """Return the Memory for /mem:LENGTH, and the expression of its first `collect`, by which a table recognises the
    column."""
    if length is None:
        raise gdb.GdbError("/mem %s: a length is needed, as in /mem:count buf or /mem:(2 * n) p" % text)
    found = cexpr.pieces(length, pc)
    if len(found) != 1 or len(found[0][0]) != 1:
        raise gdb.GdbError("/mem:(%s): one number is needed" % length)
    return Memory(length), "($p_gtp_mem, (%s), (%s))" % (found[0][0][0], taken)


def plan(name, argument, text, taken, pc):
    """Return the Plan that collects a value at an address. TEXT is the expression as C, and TAKEN is the text that
    GDB's `collect` accepts for it."""
    if name == "mem":
        made, mark = memory(argument, text, taken, pc)
    elif name == "list":
        made = List(entries(argument, pc))
        mark = "($p_gtp_list, (%s), %s)" % (taken, ", ".join("sizeof(((%s *)0)->%s)" % (made.of.type, member)
                                                            for member in (made.of.link, made.of.member)))
    else:
        made = KINDS[name](steps(name, argument, KINDS[name].USUAL))
        mark = "($p_gtp_%s, %s)" % (name, taken)
    lines = ["collect " + mark, *made.lines(text, pc)]
    return Plan(tuple(lines), tuple(sorted({found for line in lines for found in PART.findall(line)})))


def define(variables):
    """Define the variables that GDB does not have yet."""
    there = set(re.findall(r"^(\$\w+)", gdbcall.execute("info tvariables"), re.M))
    for name in variables:
        if name not in there:
            gdbcall.execute("tvariable " + name)
