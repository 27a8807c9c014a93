# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of compiled sessions have in common: two programs that stand for kernels, the target, both commands."""
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
import tty

from tap import check, equal

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE, OUT = os.path.join(TOP, "tests/compile"), os.path.join(TOP, "build/compile")
GTP, RUN, UNIT = (os.path.join(TOP, name) for name in ("tools/gtp", "build/tools/gtp-run", "build/unit"))
SESSION = os.path.join(HERE, "session.gdb")
GDB = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set pagination off"]


def sh(*words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
                          cwd=OUT, **more)
    check(done.returncode == 0, "%s: %s" % (words, done.stdout))
    return done.stdout


def build():
    """Two programs that differ in their build, and the target."""
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    for name, define in (("prog", "A"), ("other", "B")):
        sh("gcc", "-g", "-O2", "-fno-pie", "-no-pie", "-Wl,-Ttext-segment=0x10000000",
           "-Wl,--build-id=0x" + build_id(name), "-Wl,--defsym,_text=__executable_start", "-D" + define, "-o", name,
           TOP + "/tests/tfile/prog.c")
    sh("make", "-s", "-C", TOP + "/tests/unit", UNIT + "/libgtp.a", UNIT + "/libhelp.a")
    sh("gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror",
       "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I" + TOP, "-I" + TOP + "/tests/unit",
       "-o", "target", TOP + "/tests/tfile/target.c", "-Wl,--start-group", UNIT + "/libgtp.a", UNIT + "/libhelp.a",
       "-Wl,--end-group")
    symbols = {name: int(at, 16) for at, name in re.findall(r"^(\w+) \w (\w+)$", sh("nm", "prog"), re.M)}
    with open(OUT + "/hits", "w", encoding="ascii") as file:
        for line in ("stack %d %d" % (symbols["there"] + 2, symbols["main"] + 2), "{add} 1 9", "{add} 3 -4",
                     "{look} {first} 7", "{nothing}", "{here} 3", "{look} {second} 8"):
            file.write(line.format(**symbols) + "\n")
    return symbols


def build_id(name):
    return {"prog": "aa11", "other": "bb22"}[name] * 10


def compiled(output, *words, session=SESSION, status=0):
    """gtp compile; what it says."""
    done = subprocess.run([sys.executable, GTP, "compile", session, "-o", output, "--no-table", *words], cwd=OUT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, check=False)
    equal(done.returncode, status, done.stdout)
    return done.stdout


def of_lines(*lines):
    """A session of these lines, as a file."""
    with open(OUT + "/lines.gdb", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return "lines.gdb"


class Target:
    """The program under the shared sources, at the other end of a terminal line."""

    def __init__(self, slide=0, name="prog", hits="hits"):
        line, self.end = pty.openpty()
        tty.setraw(self.end, termios.TCSANOW)
        self.path = os.ttyname(self.end)
        self.process = subprocess.Popen(["./target", "prog", hex(slide), build_id(name), hits], cwd=OUT, stdin=line,
                                        stdout=line)
        os.close(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.end)
        self.process.kill()
        self.process.wait()


def run(*words, target=None):
    """gtp-run to its end: (status, what it printed, what it complained of)."""
    device = ["--device", target.path] if target else []
    done = subprocess.run([RUN, *device, *words], cwd=OUT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def begins(process):
    """Behind what the module says of the session's settings."""
    return any("tracing" in line for line in process.stderr)


def content(name):
    with open(os.path.join(OUT, name), "rb") as file:
        return file.read()


SYMBOLS = build()
