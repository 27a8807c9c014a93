# SPDX-License-Identifier: GPL-2.0-only
"""The processes that are patched, and the program that patches them."""
import os
import re
import subprocess

from tap import check, equal, matches

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = os.path.join(TOP, "build/inject")
REGIONS = os.path.join(TOP, "build/tools/gdbtp-regions")


class Victim:
    """A process that is patched."""

    def __init__(self, mode, number=2, program="victim", **how):
        self.path = os.path.join(BUILT, program)
        self.process = subprocess.Popen([self.path, mode, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, bufsize=1, **how)
        self.pid = int(matches(r"ready (\d+)", self.process.stdout.readline(), "its first line").group(1))
        self.before = self.state()

    def file(self, name, mode="r"):
        with open("/proc/%d/%s" % (self.pid, name), mode) as f:
            return f.read()

    def mapped(self):
        """Return the bounds of all mappings."""
        return [[int(n, 16) for n in line.split()[0].split("-")] for line in self.file("maps").splitlines()]

    def text(self):
        """Return all code of the process, by address."""
        code = {}
        with open("/proc/%d/mem" % self.pid, "rb") as f:
            for line in self.file("maps").splitlines():
                if " r-xp " in line and "[v" not in line:
                    start, end = (int(n, 16) for n in line.split()[0].split("-"))
                    f.seek(start)
                    code[start] = f.read(end - start)
        return code

    def state(self):
        return self.text(), sorted(os.listdir("/proc/%d/fd" % self.pid)), self.status("SigBlk")

    def base(self):
        return first_mapping(self.pid, self.path)

    def threads(self):
        return {int(tid) for tid in os.listdir("/proc/%d/task" % self.pid)}

    def status(self, field, tid=None):
        return matches(r"^%s:\s+(\S+)" % field, self.file("task/%d/status" % (tid or self.pid))).group(1)

    def end(self):
        """Let the process end. Return what it has counted, after checking that nothing was wrong."""
        out, err = self.process.communicate("stop\n")
        equal((self.process.returncode, err), (0, ""), "status and complaints")
        counted = {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", out, re.M)}
        equal(counted.get("wrong"), 0, "wrong results")
        return counted

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Refused(Exception):
    """The library has refused a command."""


class Driver:
    """The program that patches a process."""

    def __init__(self, victim=None, **how):
        self.process = subprocess.Popen([os.path.join(BUILT, "driver")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, **how)
        if victim:
            self.ask("attach %d" % victim.pid)

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")

    def reply(self):
        line = self.process.stdout.readline()
        check(line, "the driver has ended: %s" % self.process.poll())
        if line.startswith("error"):
            raise Refused(line.strip())
        return line.split()[1:]

    def ask(self, *words):
        self.tell(*words)
        return self.reply()

    def places(self, victim, *bounds):
        """Look for all places of the victim's program, or of those within an address range. Return their number."""
        return int(self.ask("places", table(victim.path), "%x" % victim.base(), *("%x" % n for n in bounds))[0])

    def memory(self):
        """Return the addresses of the pads and the counters."""
        return [int(n, 16) for n in self.ask("memory")]

    def stats(self):
        """Return how many threads were moved, how many of these in handlers, and how many were left in pads."""
        return [int(n) for n in self.ask("stats")]

    def counts(self):
        """Return the number of pads that have been entered, and how often."""
        return [int(n) for n in self.ask("counts")]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.process.stdin.close()
        self.process.stdout.close()


def table(path):
    """Return the table of regions of a program."""
    out = os.path.join(BUILT, os.path.basename(path) + ".table")
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(path):
        subprocess.run([REGIONS, "table", path, "-o", out], check=True, stdout=subprocess.DEVNULL)
    return out


def first_mapping(pid, path):
    """Return the address of the first byte of a file in a process, less the one it is linked to."""
    with open(path, "rb") as f:
        if f.read(20)[16] == 2:  # ET_EXEC
            return 0
    with open("/proc/%d/maps" % pid, encoding="ascii") as f:
        return min(int(line.split("-")[0], 16) for line in f if line.rstrip().endswith(path))


def symbol(path, name):
    """Return the bounds of a function, as linked."""
    text = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout
    start, size = (int(n, 16) for n in matches(r"^(\w+) (\w+) . %s$" % name, text, "symbols").groups())
    return start, start + size
