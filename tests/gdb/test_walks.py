# SPDX-License-Identifier: GPL-2.0-only
# Tests paths and argument vectors, which gdbtp collects by unrolled loops. Compares them with /proc/PID/fd and with the
# arguments that a program got.
import json

import cells
from lib import *
from places import defined

BASE = 0x51000000
SCRATCH = scratch()
FOLDER = "/tmp/gtp-walks"
ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 27: "\\033", 34: '\\"', 92: "\\\\"}


def shown(data):
    """Return bytes as a quoted string, in the form that docs/values.md describes."""
    return '"%s"' % "".join(ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else "\\%03o" % c) for c in data)


def cell(path):
    """Return the cell that `gtp table` should show for the text of a link in /proc/PID/fd."""
    if not path.startswith(b"/"):
        return path.decode("ascii")
    gone = path.endswith(b" (deleted)") and b"/x (deleted)" not in path
    path = path[:-len(b" (deleted)")] if gone else path
    return shown(path) + (" (deleted)" if gone else "")


def mounts():
    shell()("umount -R %s/outer %s/bound 2>/dev/null; rm -rf %s" % (FOLDER, FOLDER, FOLDER))


def act(name, word=FOLDER):
    """Make a run during which walks.py performs an act. Return the list of bytes objects that walks.py prints."""
    mounts()
    cmd("tstart")
    told = [bytes.fromhex(one) for one in json.loads(shell()("python3 %s/tests/gdb/walks.py %s %s" % (TOP, name, word)))]
    cmd("tstop")
    return told


def stopped():
    equal(cmd("monitor run"), "the trace was stopped by tstop\n")


def seeks(columns, name="seek"):
    """Trace the seeks of walks.py. Return (the rows of `gtp table`, the texts of the files' links in /proc/PID/fd)."""
    fresh()
    cmd("gtp trace vfs_llseek if offset >= %d && offset < %d" % (BASE, BASE + 100))
    cmd("gtp collect " + columns)
    links = act(name)
    stopped()
    rows = texts()
    equal([int(row["offset"]) for row in rows], list(range(BASE, BASE + len(links))))
    return rows, links


def frame_bytes():
    size, free = matches(r"Trace buffer has (\d+) bytes of (\d+) bytes free", cmd("tstatus")).groups()
    return int(free) - int(size)


def texts(number_=""):
    """Return the rows of `gtp table` with all characters of each cell, quotes too."""
    import gtp.commands.table  # pylint: disable=import-outside-toplevel
    from gtp.formats.tracefile import TraceFile  # pylint: disable=import-outside-toplevel
    from gtp.run import source  # pylint: disable=import-outside-toplevel
    from gtp.view import bytype, cells as gtp_cells  # pylint: disable=import-outside-toplevel
    request = gtp.commands.table.Request(str(number_))
    trace_ = TraceFile(source.whole(), gtp_cells.constants())
    (own, num, _), *_ = gtp.commands.table.choice(trace_, request)
    table = gtp.commands.table.Table(trace_, bytype.Shown(), request, own, num)
    rows = list(table.rows())
    return [dict(zip(table.titles(), row)) for row in rows]


def pairs(rows, links, column="file"):
    equal([row[column] for row in rows], [cell(link) for link in links])


@test("gtp collect /path file: the paths of /proc/PID/fd: over mounts, removed files, hostile names, pipes, sockets")
def paths():
    rows, links = seeks("/path file, offset")
    pairs(rows, links)
    note("%d bytes for each of %d frames" % (frame_bytes() // len(links), len(links)))
    check(b"/tmp/gtp-walks/outer/in/inner/x/y" in links[2] and b"(deleted)" in b"".join(links), str(links))


@test("the same paths from the struct path and its address, by gtp print, in a saved file, and exported")
def elsewhere():
    rows, links = seeks("/path file->f_path, offset, /path &file->f_path")
    pairs(rows, links, "file->f_path")
    pairs(rows, links, "&file->f_path")
    printed = []
    for _ in frames():
        printed.append(cmd("gtp print/path file->f_path").partition(" = ")[2].rstrip("\n"))
    equal(printed, [cell(link) for link in links])
    cmd("gtp table --csv %s/table.csv" % SCRATCH)
    cmd("gtp export csv %s/exported.csv" % SCRATCH)
    for file in ("/table.csv", "/exported.csv"):
        with open(SCRATCH + file, encoding="ascii") as sheet:
            equal([row["file->f_path"] for row in cells.sheet.rows(sheet)], [cells.plain(cell(link)) for link in links])
    # The titles are the translated texts, which on 7.3 are not the typed ones.
    equal([list(row.values()) for row in from_file()], [list(row.values()) for row in rows])


def from_file():
    """Save the run, and make this GDB forget what the user has typed. Return the rows that it reads from the file, as
    another GDB would."""
    from gtp.run import usertext  # pylint: disable=import-outside-toplevel # the scripts are sourced by then
    cmd("gtp save %s/walks.tf" % SCRATCH)
    for known in (usertext.of_tracepoint, usertext.variables, usertext.asked):
        known.clear()
    disconnect()
    cmd("target tfile %s/walks.tf" % SCRATCH)
    try:
        return texts()
    finally:
        connect()


@test("a path of more names or mounts than are collected begins with three dots in front of the quotes")
def bounded():
    rows, links = seeks("/path:3 file, offset", "deep")
    equal(rows[0]["file"], '..."/d8/d9/file"')
    check(links[0].endswith(b"/d7/d8/d9/file"), str(links))
    rows, links = seeks("/path:64 file, offset", "deep")
    equal(rows[0]["file"], shown(links[0]))
    equal(rows[1]["file"], '..."/%s/file"' % "/".join("m%d" % i for i in range(3, 10)))


@test("gtp collect /path dentry: the path within its file system")
def of_dentry():
    fresh()
    cmd("gtp trace vfs_rmdir if dentry->d_name.name == \"mount\"")
    cmd("gtp collect /path dentry")
    act("remove")
    stopped()
    equal([row["dentry"] for row in texts()], ['"/of a/mount"'])


def vector(words, most=16):
    """Return the cell that `gtp table` should show for an argument vector of which MOST strings are collected, and 128 bytes
    of each string."""
    found = [shown(word[:128]) + ("..." if len(word) > 127 else "") for word in words]
    return ", ".join(found[:most] + (["..."] if len(found) >= most else []))


def programs():
    """Return the argument vectors of the programs that walks.py executes, as /proc/PID/cmdline shows them."""
    return [line.split(b"\0")[:-1] for line in act("execute")]


@test("gtp collect /argv argv at execve: the arguments of /proc/PID/cmdline")
def at_call():
    fresh()
    cmd("gtp syscall execve if current->comm == \"gtp-walk\"")
    enter, _ = defined()
    cmd("gtp collect %d /argv argv" % enter)
    vectors = programs()
    stopped()
    equal([row["argv"] for row in texts(enter)], [vector(words) for words in vectors])


@test("gtp collect /argv at sched:sched_process_exec: the same, from the new program's stack")
def at_event():
    fresh()
    cmd("gtp event sched:sched_process_exec if current->real_parent->comm == \"gtp-walk\"")
    cmd("gtp collect /argv:24 (char **)(current->mm->start_stack + 8)")
    vectors = programs()
    stopped()
    rows = texts()
    equal([row["(char **)(current->mm->start_stack + 8)"] for row in rows], [vector(words, 24) for words in vectors])
    note("%d bytes for each of %d frames" % (frame_bytes() // len(rows), len(rows)))


@test("an argument that cannot be read is an error, or <unavailable> after monitor stop-on-error off")
def unreadable():
    for stop in ("on", "off"):
        fresh()
        cmd("gtp syscall execve if current->comm == \"gtp-walk\"")
        enter, _ = defined()
        cmd("gtp collect %d /argv argv" % enter)
        cmd("monitor stop-on-error " + stop)
        try:
            act("fail")
            if stop == "on":
                matches("the trace stopped by an error: tracepoint %d, action .*cannot read memory" % enter, cmd("monitor run"))
            else:
                stopped()
                equal([row["argv"] for row in texts(enter)], ['"first", <unavailable>, "last"'])
        finally:
            cmd("monitor stop-on-error on")


def memory(data):
    text = "".join("\\000" if c == 0 else ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else "\\%03o" % c) for c in data[:255])
    return '"%s"' % text + ("..." if len(data) > 255 else "")


@test("gtp collect /mem:count buf: the bytes that a program writes, and no byte after them")
def of_length():
    fresh()
    cmd("gtp trace vfs_write if file->f_path.dentry->d_name.name == \"gtp-mem\"")
    cmd("gtp collect /mem:count buf, /mem:(count / 2) buf, count")
    written = act("write", FOLDER + "/gtp-mem")
    stopped()
    rows = texts()
    equal([int(row["count"]) for row in rows], [len(data) for data in written])
    equal([row["buf"] for row in rows], [memory(data) for data in written])
    equal([row["/mem:(count / 2) buf"] for row in rows], [memory(data[:len(data) // 2]) for data in written])
    for i, _ in enumerate(frames()):
        matches(re.escape("= " + memory(written[i])) + "$", cmd("gtp print/mem:count buf"))
        matches(re.escape("= " + memory(written[i][:len(written[i]) // 2])) + "$", cmd("gtp print/mem:(count / 2) buf"))
    note("%d bytes for each of %d frames" % (frame_bytes() // len(rows), len(rows)))


@test("gtp collect /list: a member of the first entries of a list: none, a few, more than are collected")
def lists():
    fresh()
    cmd("gtp trace vfs_llseek if offset >= %d && offset < %d" % (BASE, BASE + 100))
    cmd("gtp collect /list:(struct task_struct, sibling, comm, 10) &current->children,"
        " /list:(struct task_struct, sibling, pid) current->children, current->tgid")
    names = ["%s" % shown(name) for name in act("family", FOLDER + "/family")]
    stopped()
    rows = texts()
    equal([row["&current->children"] for row in rows],
          ["{%s}" % ", ".join(names[:0]), "{%s}" % ", ".join(names[:3]), "{%s, ...}" % ", ".join(names[:10])])
    pids = [[int(pid) for pid in re.findall(r"\d+", row["current->children"])] for row in rows]
    equal([len(some) for some in pids], [0, 3, 8])
    equal(pids[2][:3], pids[1])
    check(pids[2] == sorted(set(pids[2])) and pids[2][0] > int(rows[0]["current->tgid"]), str(pids))
    check([row["current->children"].endswith(", ...}") for row in rows] == [False, False, True], str(rows))


@test("values of other types, and too many steps, are refused with a sentence, and nothing is collected")
def refusals():
    fresh()
    cmd("gtp trace vfs_write")
    num, = defined()
    for text, words in {
            "/path count": "/path count: its type is unsigned long; a struct file *, a struct path or a struct dentry * has a path",
            "/path:65 file": "/path:65: the number of steps is 1 to 64",
            "/path:x file": "/path:x: the number of steps is 1 to 64",
            "/argv file": "file *; an argument vector is a char **",
            "/mem buf": "/mem buf: a length is needed, as in /mem:count buf or /mem:(2 * n) p",
            "/mem:count count": "/mem count: its type is unsigned long; an address is needed",
            "/mem:nosuch buf": "nosuch",
            "/list:sibling &current->children": "/list takes a type, its list_head and a member, as in /list:(struct",
            "/list:(struct task_struct, nosuch, pid) &current->children": "/list: there is no member nosuch",
            "/list:(struct task_struct, comm, pid) &current->children": "not a struct list_head",
            "/list:(struct task_struct, sibling, thread) &current->children": "1 to 64 are collected",
            "/list:(struct task_struct, sibling, pid) file": "a struct list_head is needed, or its address",
            "/s /path file": "gtp collect/s takes no other format"}.items():
        check(words in refused("gtp collect " + text), text + ": " + refused("gtp collect " + text))
    check("collect" not in cmd("info tracepoints %d" % num), cmd("info tracepoints %d" % num))


run()
