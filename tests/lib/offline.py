# SPDX-License-Identifier: GPL-2.0-only
"""A fake traced machine: the program of tests/tfile, which contains the module's shared sources, at the other end of a
pseudoterminal."""
import os
import pty
import re
import shutil
import subprocess
import termios
import tty

from tap import SECONDS

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNIT = os.path.join(TOP, "build/unit")
# GDB finds a cached index by the build-id, so the two programs need different build-ids.
BUILD_IDS = {"prog": "aa12" * 10, "other": "bb23" * 10}


def sh(out, *words, **more):
    """Run a command that must succeed, in the folder OUT. Return its output."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
                          cwd=out, **more)
    if done.returncode:
        raise AssertionError("%s: %s" % (words, done.stdout))
    return done.stdout


def build(out):
    """Build in the new folder OUT two programs with different build-ids, and the fake machine. Return the symbols of
    the program `prog`."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for name, define in (("prog", "A"), ("other", "B")):
        sh(out, "gcc", "-g", "-O2", "-fno-pie", "-no-pie", "-Wl,-Ttext-segment=0x10000000",
           "-Wl,--build-id=0x" + BUILD_IDS[name], "-Wl,--defsym,_text=__executable_start", "-D" + define, "-o", name,
           TOP + "/tests/tfile/prog.c")
    sh(out, "make", "-s", "-C", TOP + "/tests/unit", UNIT + "/libgtp.a", UNIT + "/libhelp.a")
    sh(out, "gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror",
       "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I" + TOP, "-I" + TOP + "/tests/unit",
       "-o", "target", TOP + "/tests/tfile/target.c", "-Wl,--start-group", UNIT + "/libgtp.a", UNIT + "/libhelp.a",
       "-Wl,--end-group")
    return {name: int(at, 16) for at, name in re.findall(r"^(\w+) \w (\w+)$", sh(out, "nm", "prog"), re.M)}


def write_hits(path, symbols, *lines):
    """Write the file with the hits that the fake machine makes in a run. {NAME} in a line stands for a symbol's
    address."""
    with open(path, "w", encoding="ascii") as file:
        for line in lines:
            file.write(line.format(**symbols) + "\n")


class Target:
    """The fake machine's process, and the pseudoterminal by which GDB connects to it."""

    def __init__(self, out, slide=0, name="prog", hits="hits"):
        line, self.end = pty.openpty()
        tty.setraw(self.end, termios.TCSANOW)
        self.path = os.ttyname(self.end)
        self.process = subprocess.Popen(["./target", "prog", hex(slide), BUILD_IDS[name], hits], cwd=out, stdin=line,
                                        stdout=line)
        os.close(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.end)
        self.process.kill()
        self.process.wait()
