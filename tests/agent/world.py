# SPDX-License-Identifier: GPL-2.0-only
"""The processes, GDBs and connections of the tests of gtp-attach."""
import os
import re
import select
import signal
import subprocess

from tap import check, equal, matches

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ATTACH = os.path.join(TOP, "build/tools/gtp-attach")
GTP = os.path.join(TOP, "tools/gtp")
BUILT = os.path.join(TOP, "build/agent")
NOBODY = 65534
SECONDS = 60


class Victim:
    """A process to which gtp-attach attaches. It answers lines on its standard input."""

    def __init__(self, path=os.path.join(BUILT, "victim"), **how):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        self.pid = int(matches(r"ready (\d+)", self.line(), "its first line").group(1))

    def line(self):
        return self.process.stdout.readline().decode()

    def tell(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, text):
        self.tell(text)
        return self.line().strip()

    def file(self, name):
        with open("/proc/%d/%s" % (self.pid, name), "rb") as f:
            return f.read()

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Gdb:
    """A GDB that gets its commands line by line; ask() returns their output."""

    def __init__(self, victim, stub=None, words=()):
        self.process = subprocess.Popen(
            ["gdb", "-nx", "-q", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, env={**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""})
        self.count = 0
        self.heard = b""
        self.ask("set pagination off", "set confirm off", "set width 0", "set sysroot target:",
                 "set debug-file-directory /nowhere")  # reading the debug information of libc takes GDB seconds
        pid = victim if isinstance(victim, int) else victim.pid
        self.hello = self.ask("target remote | %s %d" % (stub or ATTACH, pid))
        check('Remote debugging using' in self.hello and 'error' not in self.hello, self.hello)

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, pattern):
        """Return GDB's output up to a match of the pattern."""
        while True:
            found = re.search(pattern, self.heard, re.S)
            if found:
                text, self.heard = self.heard[:found.end()], self.heard[found.end():]
                return text.decode(errors="replace")
            check(select.select([self.process.stdout], [], [], SECONDS)[0],
                  "GDB says nothing any more; so far: %r" % self.heard)
            piece = os.read(self.process.stdout.fileno(), 65536)
            check(piece, "GDB has ended: %r" % self.heard)
            self.heard += piece

    def ask(self, *commands):
        self.count += 1
        mark = "<%d done>" % self.count
        for command in commands:
            self.say(command)
        self.say("echo %s\\n" % mark)
        return self.until(re.escape(mark.encode())).rsplit(mark, 1)[0]

    def value(self, expression):
        return matches(r"\$\d+ = (.*?)\n", self.ask("print " + expression)).group(1)

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)  # to GDB and all processes it has started, as a terminal does at ^C

    def stub(self):
        """Return the pid of gtp-attach."""
        with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid), encoding="ascii") as f:
            children = f.read().split()
        while children:
            pid = int(children.pop())
            with open("/proc/%d/comm" % pid, encoding="ascii") as f:
                if f.read().strip() == "gtp-attach":
                    return pid
            with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
                children += f.read().split()
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Packets:
    """A gtp-attach without a GDB: the test sends packets and reads the answers."""

    def __init__(self, victim):
        self.process = subprocess.Popen([ATTACH, str(victim.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.heard = b""
        self.send("QStartNoAckMode")
        equal(self.answer(), b"OK")

    def send(self, text):
        self.process.stdin.write(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 0xff))
        self.process.stdin.flush()

    def answer(self):
        """Return the data of the next packet from gtp-attach, without escapes."""
        while True:
            found = re.search(rb"\$([^#]*)#..", self.heard, re.S)
            if found:
                break
            check(select.select([self.process.stdout], [], [], SECONDS)[0], "gtp-attach says nothing any more")
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            check(piece, "gtp-attach has ended: %r" % self.heard)
            self.heard += piece
        self.heard = self.heard[found.end():]
        data = found.group(1)
        for byte in b"#$*}":
            data = data.replace(bytes([ord("}"), byte ^ 0x20]), bytes([byte]))
        return data

    def object(self, name):
        """Return a text that GDB reads in pieces (qXfer). For an error, return the answer itself."""
        text = b""
        while True:
            self.send("qXfer:%s:read::%x,f000" % (name, len(text)))
            piece = self.answer()
            if piece[:1] == b"E":
                return piece
            text += piece[1:]
            check(len(text) < 5 << 20, "%s has more than 5 MiB" % name)
            if piece[:1] == b"l":
                return text

    def status(self, field):
        """Return a field of gtp-attach's /proc/PID/status, in KiB."""
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as f:
            return int(matches(r"%s:\s+(\d+)" % field, f.read()).group(1))

    def seconds(self):
        """Return the CPU time that gtp-attach has used so far."""
        with open("/proc/%d/stat" % self.process.pid, encoding="ascii") as f:
            return sum(int(n) for n in f.read().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """End the connection. Return the messages of gtp-attach on standard error."""
        self.process.stdin.close()
        said = self.process.stderr.read().decode()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        return said


def attach(pid, **how):
    """Run gtp-attach where it cannot attach. Return its exit status and its messages."""
    done = subprocess.run([ATTACH, str(pid)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **how)
    return done.returncode, done.stderr


def first_mapping(victim, name):
    return next(int(line.split(b"-")[0], 16) for line in victim.file("maps").splitlines() if name.encode() in line)


def marks(victim):
    """Return the mappings, code and open files of the process, which gtp-attach must leave as they were."""
    maps = victim.file("maps")
    code = []
    with open("/proc/%d/mem" % victim.pid, "rb", buffering=0) as mem:
        for line in maps.decode().splitlines():
            if " r-xp " in line and "[v" not in line:
                start, end = (int(x, 16) for x in line.split()[0].split("-"))
                code.append(os.pread(mem.fileno(), end - start, start))
    return maps, code, sorted(os.listdir("/proc/%d/fd" % victim.pid))
