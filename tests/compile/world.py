# SPDX-License-Identifier: GPL-2.0-only
"""Common code of the tests of compiled sessions: two programs that stand in for kernels, the target, `gtp compile` and
gtp-run."""
import os
import subprocess
import sys

import offline
from tap import SECONDS, equal

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE, OUT = os.path.join(TOP, "tests/compile"), os.path.join(TOP, "build/compile")
GTP, RUN = (os.path.join(TOP, name) for name in ("tools/gtp", "build/tools/gtp-run"))
SESSION = os.path.join(HERE, "session.gdb")
# GDB repeats a packet after two seconds without an answer. If this happens on a busy machine, GDB and the stub are out of
# step from then on.
GDB = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set pagination off",
       "-iex", "set remotetimeout 600"]


def sh(*words, **more):
    return offline.sh(OUT, *words, **more)


def build():
    symbols = offline.build(OUT)
    offline.write_hits(OUT + "/hits", symbols, "stack %d %d" % (symbols["there"] + 2, symbols["main"] + 2), "{add} 1 9",
                       "{add} 3 -4", "{look} {first} 7", "{nothing}", "{here} 3", "{look} {second} 8")
    return symbols


def build_id(name):
    return offline.BUILD_IDS[name]


def compiled(output, *words, session=SESSION, status=0):
    """Run gtp compile. Return its messages."""
    done = subprocess.run([sys.executable, GTP, "compile", session, "-o", output, "--no-table", *words], cwd=OUT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS, check=False)
    equal(done.returncode, status, done.stdout)
    return done.stdout


def of_lines(*lines):
    """Write a session with these lines to a file. Return the file's name."""
    with open(OUT + "/lines.gdb", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return "lines.gdb"


class Target(offline.Target):
    """A target in the folder of these tests."""

    def __init__(self, slide=0, name="prog", hits="hits"):
        super().__init__(OUT, slide, name, hits)


def run(*words, target=None):
    """Run gtp-run to its end. Return (status, output, errors)."""
    device = ["--device", target.path] if target else []
    done = subprocess.run([RUN, *device, *words], cwd=OUT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def begins(process):
    """Read gtp-run's messages until one reports that the run has begun. Return False if gtp-run ends before that."""
    return any("tracing" in line for line in process.stderr)


def content(name):
    with open(os.path.join(OUT, name), "rb") as file:
        return file.read()


SYMBOLS = build()
