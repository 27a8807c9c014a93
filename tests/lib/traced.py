# SPDX-License-Identifier: GPL-2.0-only
"""The program of tests/program in a guest: its processes, and packets for tracepoints in it."""
import os
import subprocess

from fixture import TOP

PROGRAM = os.path.join(TOP, "build/program", os.uname().release, "program")


class Traced:
    """A process of tests/program/program.c. Calling the object sends the program a line, and returns the last word of
    the answer."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def __call__(self, line):
        self.send(line)
        return self.process.stdout.readline().split()[-1]

    def end(self):
        """Let it exit. Return its status."""
        self.process.stdin.close()
        return self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


def disassembled():
    """Yield (function, address, text) for each instruction of the program, from the disassembler."""
    name = None
    for line in subprocess.run(["objdump", "-d", "--no-show-raw-insn", PROGRAM], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        if line.endswith(">:"):
            name = line.split("<")[1][:-2]
        elif ":\t" in line:
            at, text = line.split(":\t", 1)
            yield name, int(at, 16), text


def returns(function):
    """Return the list of a function's returns, in the form of QGtpExits."""
    return ",".join("r%x" % at for name, at, text in disassembled() if name == function and text.split()[0] == "ret")


def hexed(path):
    return os.fsencode(path).hex()


def base_of(answer):
    """Return the address at which a file's space begins, from the reply to QGtpFile."""
    return int(answer.partition(";")[0], 16)
