# SPDX-License-Identifier: GPL-2.0-only
# Runs the programs of tests/program on the traced machine. Each program answers every line on its standard input with
# one line.
import contextlib
import os
import re
import subprocess

from lib import *
from linked import linked

BUILT = os.path.join(TOP, "build/program", RELEASE)
PROGRAM = os.path.join(BUILT, "program")
SOURCES = os.path.join(TOP, "tests/program")


class Process:
    """A running program. Calling the object sends the program a line, and returns the last word of the answer."""

    def __init__(self, path):
        self.process = there.popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self("pid"))

    def words(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        check(answer, "the program ended at %r" % line)
        return answer

    def __call__(self, line):
        return self.words(line)[-1]

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(), 0, "the program's status")

    def kill(self):
        shell()("kill -KILL %d" % self.pid)
        self.process.wait()


class Frames(Process):
    """A process of tests/program/frames.c."""

    def __init__(self, path):
        super().__init__(path)
        self.base = int(self("address leaf"), 16) - linked(path)["leaf"]

    def path(self, line):
        """Return the addresses that leaf() and its callers have noted, the innermost first."""
        return [int(word, 16) for word in self(line).split(",")]


@contextlib.contextmanager
def running_program(path=PROGRAM, kind=Process):
    """Context manager: run a program. At the end it must exit with status 0."""
    one = kind(path)
    try:
        yield one
    except BaseException:
        one.kill()
        raise
    one.end()


def gtp_trace(arg, *collect):
    """Set a tracepoint with gtp trace, and collect expressions there. Return its number."""
    text = cmd("gtp trace " + arg)
    num = int(matches(r"Tracepoints? (\d+)", text).group(1))
    for one in collect:
        cmd("gtp collect" + (one if one.startswith("/") else " " + one))
    return num


def line_of(remark):
    with open(os.path.join(SOURCES, "slow.c"), encoding="ascii") as source:
        return next(i for i, line in enumerate(source, 1) if "/* line: %s */" % remark in line)


def instructions(path, function):
    """Return the addresses of a function's instructions, as GNU objdump lists them, except system calls: a single step
    over one ends after the next instruction, whose uprobe would not be hit."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=" + function, path],
                          capture_output=True, text=True, check=True).stdout
    return [int(where, 16) for where, name in re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M) if name != "syscall"]


def base_of(text):
    return int(matches(r"is at (0x[0-9a-f]+)", text).group(1), 16)


def copy(name, path=PROGRAM):
    """Copy the program to a local file system of the traced machine. Return the path of the copy."""
    shell()("mkdir -p /tmp/gtp-program && cp %s /tmp/gtp-program/%s" % (path, name))
    return "/tmp/gtp-program/" + name


def code_of(one, count=64):
    """Return the first COUNT bytes of the function work() in the memory of a process, in hex."""
    return shell()("dd if=/proc/%d/mem bs=1 count=%d iflag=skip_bytes skip=$((0x%s)) status=none | od -An -v -tx1" %
                   (one.pid, count, one("address work"))).split()


def file_code(count=64):
    """Return the first COUNT bytes of the function work() in the program's file, in hex."""
    with open(PROGRAM, "rb") as file:
        file.seek(linked(PROGRAM)["work"])  # this linker leaves no gap between the file and the addresses before .data
        return ["%02x" % byte for byte in file.read(count)]
