# SPDX-License-Identifier: GPL-2.0-only
# The programs of tests/program on the traced machine: each answers a line with a line.
import contextlib
import os
import subprocess

from lib import *

BUILT = os.path.join(TOP, "build/program", RELEASE)


class Process:
    """A program that runs; a call sends it a line, and returns the last word of its answer."""

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


@contextlib.contextmanager
def running_program(path, kind=Process):
    """Run a program for a `with`; at the end it must exit with status 0."""
    one = kind(path)
    try:
        yield one
    except BaseException:
        one.kill()
        raise
    one.end()


def linked(path):
    """Return the file's symbols from the linker's own table."""
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}
