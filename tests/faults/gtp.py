# SPDX-License-Identifier: GPL-2.0-only
"""A client of /proc/gtp, the fixture module, and TAP: what the fault tests share."""

import os
import random
import re
import select
import subprocess
import sys
import time
import traceback

MODULE = os.environ["GTP_MODULE"]
KMOD = os.environ["GTP_KMOD"]
LINE = "/proc/gtp"
SECONDS = 60  # nothing here takes as long; who waits longer waits for ever


class Client:
    """A GDB that says what it is told to."""

    def __init__(self):
        self.fd = os.open(LINE, os.O_RDWR)
        self.received = b""
        self.console = ""
        os.write(self.fd, b"+")
        self.ok("QStartNoAckMode")
        os.write(self.fd, b"+")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def send(self, text):
        """One packet, without waiting for its reply."""
        data = packet(text)
        while data:
            data = data[os.write(self.fd, data):]

    def packet(self, seconds=SECONDS):
        """The next packet from the stub."""
        deadline = time.monotonic() + seconds
        while True:
            match = re.match(rb"[+]*\$([^#]*)#..", self.received, re.S)
            if match:
                self.received = self.received[match.end():]
                return match.group(1).decode("latin1")
            if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no packet in {seconds} s, only {self.received[:60]}")
            data = os.read(self.fd, 8192)
            assert data, "read returned 0"
            self.received += data

    def reply(self):
        """The next packet that is not console text; the text before it is kept."""
        self.console = ""
        while True:
            text = self.packet()
            if not text.startswith("O") or text == "OK":
                return text
            self.console += bytes.fromhex(text[1:]).decode()

    def ask(self, text):
        self.send(text)
        return self.reply()

    def ok(self, text):
        reply = self.ask(text)
        assert reply == "OK", f"{text}: {reply}"

    def monitor(self, command):
        self.ok("qRcmd," + command.encode().hex())
        return self.console

    def status(self):
        """qTStatus as a dictionary; "run" is T0 or T1, "why" the stop reason."""
        run, *fields = self.ask("qTStatus").split(";")
        pairs = [f.split(":", 1) for f in fields]
        known = dict(pairs)
        known["run"] = run
        known["why"] = pairs[0][0]
        return known

    def define(self, *definitions):
        """QTinit, then (number, address) or (number, address, actions) each."""
        self.ok("QTinit")
        for number, address, *actions in definitions:
            more = "-" if actions else ""
            self.ok(f"QTDP:{number:x}:{address:x}:E:0:0{more}")
            for i, action in enumerate(actions, 1):
                more = "-" if i < len(actions) else ""
                self.ok(f"QTDP:-{number:x}:{address:x}:{action}{more}")

    def start(self, *definitions):
        self.define(*definitions)
        self.ok("QTStart")

    def hits(self, number, address):
        return int(self.ask(f"qTP:{number:x}:{address:x}")[1:].split(":")[0], 16)


def packet(text):
    data = text.encode()
    return b"$%s#%02x" % (data, sum(data) & 255)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def load(*parameters):
    unload()
    done = run("insmod", MODULE, *parameters)
    assert done.returncode == 0, done.stderr


def loaded(module="gdbtp"):
    return os.path.exists(f"/sys/module/{module}")


def users(module="gdbtp"):
    """How many hold the module."""
    with open(f"/sys/module/{module}/refcnt", encoding="ascii") as file:
        return int(file.read())


def unload(module="gdbtp"):
    if loaded(module):
        done = run("rmmod", module)
        assert done.returncode == 0, done.stderr


def load_fixture(name="gtp_target"):
    if not loaded(name):
        done = run("insmod", f"{KMOD}/{name}.ko")
        assert done.returncode == 0, done.stderr


def target(line):
    """Make the fixture module call its functions; returns when it has."""
    fd = os.open("/proc/gtp_target", os.O_WRONLY)
    try:
        os.write(fd, (line + "\n").encode())
    finally:
        os.close(fd)


def counted(function):
    with open("/proc/gtp_target", encoding="ascii") as file:
        return int(re.search(rf"^count {function} (\d+)$", file.read(), re.M).group(1))


def symbols(*names):
    """Addresses by name; what the kernel does not have is missing."""
    found = {}
    with open("/proc/kallsyms", encoding="ascii") as file:
        for line in file:
            address, _, name = line.split()[:3]
            if name in names:
                found.setdefault(name, int(address, 16))
    return found


def armed():
    """The kernel's own list of kprobes."""
    with open("/sys/kernel/debug/kprobes/list", encoding="ascii") as file:
        return file.read().splitlines()


def parameter(name, value=None):
    path = f"/sys/module/gdbtp/parameters/{name}"
    with open(path, "r" if value is None else "w", encoding="ascii") as file:
        return file.read().strip() if value is None else file.write(str(value))


def until(what, seconds=SECONDS):
    """Ask again and again until WHAT() is true; the answer."""
    deadline = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"never came true in {seconds} s"
        time.sleep(0.02)


def seeded():
    seed = int(os.environ.get("FAULTS_SEED", time.time_ns() & 0xffffffff))
    print(f"# FAULTS_SEED={seed}")
    return random.Random(seed)


tests = []


def test(function):
    """Decorator: the docstring is the test's name."""
    tests.append(function)
    return function


def main():
    """Run the tests of the calling file in order; a failure does not stop the rest."""
    failed = 0
    print(f"1..{len(tests)}")
    for function in tests:
        name = function.__doc__.splitlines()[0]
        try:
            function()
            print("ok -", name, flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("not ok -", name)
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
    try:
        unload()
    except AssertionError as problem:
        print("not ok - the module unloads at the end:", problem)
        failed += 1
    sys.exit(1 if failed else 0)
