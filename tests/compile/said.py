# SPDX-License-Identifier: GPL-2.0-only
"""Tests of gtp compile's messages, input and refusals: GDB's messages, monitor lines, sessions from pipes, and places that
are typed as numbers."""
import os
import re
import subprocess
import sys

from gtp.shell import gtpd
from tap import SECONDS, check, equal, matches, test
from world import GTP, OUT, SESSION, SYMBOLS, TOP, build_id, compiled, content, of_lines, run


def compiling(*words, **more):
    """Run gtp compile without a table of regions. Return (status, output, errors)."""
    done = subprocess.run([sys.executable, GTP, "compile", "--no-table", *words], cwd=OUT, capture_output=True, text=True,
                          timeout=SECONDS, check=False, **more)
    return done.returncode, done.stdout, done.stderr


@test("GDB's messages about a session are printed once, on standard error, even if the session is then refused")
def gdb_is_heard():
    session = of_lines("gtp trace add", "echo said by echo\\n", "shell echo said by a shell", "gtp trace prog.c:* if a > 3")
    status, out, err = compiling(session, "-o", "said.gtpd", "--vmlinux", "prog")
    equal((status, out.count("\n")), (0, 1), err)
    for words in ("first instruction of add", "said by echo", "said by a shell", "not set: "):
        equal(err.count(words), 1, words + " in " + err)
    of_lines("echo said before\\n", "gtp trace nowhere")
    status, out, err = compiling(session, "-o", "never.gtpd", "--vmlinux", "prog")
    equal((status, out), (1, ""))
    matches(r"\Asaid before\ngtp: lines.gdb:2: ", err)


@test("for several kernels each message begins with its vmlinux, and has no control characters")
def kernels_are_named():
    session = of_lines("trace add", "echo \\033[2Jclear\\n")
    _, _, err = compiling(session, "-o", "said.gtpd", "--vmlinux", "prog", "--vmlinux", "other")
    for name in ("prog", "other"):
        matches(r"^%s: Tracepoint 1 at %#x" % (name, SYMBOLS["add"]), err)
        matches(r"^%s: \\033\[2Jclear$" % name, err)
    check("\033" not in err, repr(err))


def kernel_commands():
    """Return the monitor commands that only the kernel module has, from the list in its source."""
    with open(TOP + "/kernel/monitor.c", encoding="ascii") as file:
        return re.findall(r'^\t\{ "([\w-]+)", monitor_', file.read(), re.M)


@test("a wrong monitor line is refused at compile time, in the module's words; each of the kernel's commands is known")
def monitor_lines():
    for line, words in (("jitt off", "there is no such monitor command"), ("jit perhaps", "jit takes on, off or nothing"),
                        ("strict perhaps", "strict takes on, off or nothing"),
                        ("disas 1", "tracepoint 1 is not known here"), ("jumpsoff", "there is no such monitor command")):
        status, _, err = compiling(of_lines("trace add", "monitor " + line), "-o", "never.gtpd", "--vmlinux", "prog")
        equal(status, 1, line)
        matches(r"^gdbtp: %s.*\ngtp: lines.gdb:2: .*\n  the monitor command is refused" % words, err)
    names = kernel_commands()
    check({"jit", "jumps", "disas"} <= set(names), "kernel/monitor.c is read wrongly: %s" % names)
    lines = ["monitor " + (name if name == "files" else name + " 1") for name in names if name != "notrace"]
    equal(compiling(of_lines("trace add", "tstart", *lines),
                    "-o", "said.gtpd", "--vmlinux", "prog")[0], 0)
    compiled("said.gtpd", "--vmlinux", "prog", session=of_lines("trace add", "monitor jit off"))
    matches("^  monitor jit off$", run("--info", "said.gtpd")[1])


@test("a session may be a pipe, /dev/stdin, or - : the bytes are those of the file")
def streams():
    compiled("file.gtpd", "--vmlinux", "prog", "--vmlinux", "other")
    with open(SESSION, encoding="ascii") as file:
        text = file.read()
    for name in ("-", "/dev/stdin"):
        equal(compiling(name, "-o", "pipe.gtpd", "--vmlinux", "other", "--vmlinux", "prog", input=text)[0], 0, name)
        equal(content("pipe.gtpd"), content("file.gtpd"))
        os.unlink(OUT + "/pipe.gtpd")
    compiled("file.gtpd", "--vmlinux", "prog")
    with open(SESSION, encoding="ascii") as file:
        equal(compiling("/dev/stdin", "-o", "pipe.gtpd", "--vmlinux", "prog", stdin=file)[0], 0)
    equal(content("pipe.gtpd"), content("file.gtpd"))
    status, _, err = compiling("-", "-o", "never.gtpd", "--vmlinux", "prog", input="trace nowhere\n")
    equal(status, 1)
    matches("^gtp: standard input:1: ", err)
    for name, words in ((".", "Is a directory"), ("nothing.gdb", "No such file")):
        status, _, err = compiling(name, "-o", "never.gtpd", "--vmlinux", "prog")
        equal(status, 1)
        matches(words, err)
    check(not os.path.exists(OUT + "/never.gtpd"), "a file was written")


@test("a place that is typed as a number is refused with the symbol to type; other such numbers are reported once")
def typed_numbers():
    place = "%#x" % (SYMBOLS["add"] + 1)
    text = compiled("never.gtpd", "--vmlinux", "prog", session=of_lines("trace *" + place), status=1)
    matches(r"%s is typed as a number.*\(KASLR\).*: \*\(\(char \*\)&add\+1\)$" % place, text)
    compiled("said.gtpd", "--vmlinux", "prog", session=of_lines("trace *((char *)&add+1)"))
    counter = "%#x" % SYMBOLS["counter"]
    text = compiled("said.gtpd", "--vmlinux", "prog", session=of_lines(
        "trace look if *(int *) %s > 1" % counter, "actions", "collect *(int *) %s" % counter, "end"))
    equal(text.count("note: %s stands in the session as a number" % counter), 1, text)
    check("note: " not in compiled("said.gtpd", "--vmlinux", "prog", session=of_lines(
        "trace look if counter > 1", "actions", "collect counter, &counter, 0xffff", "end")), "a note for nothing")


@test("a compiled file is read as it was written, and each truncation of it is detected")
def read_again():
    compiled("file.gtpd", "--vmlinux", "prog", "--vmlinux", "other")
    data = content("file.gtpd")
    parts = gtpd.split(data)
    equal([part.build_id for part in parts], [build_id("prog"), build_id("other")])
    equal([len(part.tracepoints) for part in parts], [5, 5])
    equal(gtpd.whole([part.data for part in parts]), data)
    for length in range(len(data)):
        try:
            gtpd.split(data[:length])
        except gtpd.Damaged:
            continue
        check(False, "%d bytes of it are taken for a file" % length)
