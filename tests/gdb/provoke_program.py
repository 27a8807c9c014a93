# SPDX-License-Identifier: GPL-2.0-only
"""Provokes in the guest the events that the recipes of docs/program-recipes.md trace, and returns the result that each
recipe must have seen.

See provoking.py for how it is run. The server is tests/program/myserver.cc.
"""
import contextlib
import ctypes
import os
import pty
import socket
import sqlite3
import ssl
import subprocess
import time

from process import call, comm, named
from provoking import main, recipe

BUILT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "build/program", os.uname().release)
CLONE_NEWUTS = 0x04000000


@contextlib.contextmanager
def server():
    """Context manager: run the server. Yield a function that sends the server a line and returns the number in its
    answer, and the server's pid."""
    with subprocess.Popen([BUILT + "/myserver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def ask(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())
        ask.pid = process.pid
        yield ask
        process.stdin.close()


# Calls -------------------------------------------------------------------------------------------

@recipe("Which calls does a function get, with which arguments?")
def arguments():
    with server() as ask:
        for number, path, size in ((7, "/short", 1000), (8, "/long", 1001), (9, "/longer", 5000)):
            ask("request %d %s %d" % (number, path, size))
        return [[ask.pid, 8, 1001, "/long"], [ask.pid, 9, 5000, "/longer"]]


@recipe("What does a function return, and how long does it take?")
def returns():
    with server() as ask:
        rows = []
        for number in (20, -30):
            begins = time.monotonic_ns()
            result = ask("request %d / 100" % number)
            rows.append([number, result, time.monotonic_ns() - begins])
        return [ask.pid, rows]


@recipe("Which calls of a library's function fail, and why?")
def failures():
    with server() as ask:
        errors = [ask("config " + path) for path in ("/none/at/all", "/etc/passwd", "/etc/passwd/x")]
        return [[ask.pid, "myserver", -1, errors[0], "/none/at/all"], [ask.pid, "myserver", -1, errors[2], "/etc/passwd/x"]]


def waits():
    """Return a row for each argument: [the argument, the least and the most nanoseconds that all calls with it can have
    taken together, the number of these calls]."""
    rows = []
    with server() as ask:
        for milliseconds, times in ((3, 1), (20, 2)):
            begins = time.monotonic_ns()
            for _ in range(times):
                ask("wait %d" % milliseconds)
            rows.append([milliseconds, milliseconds * 1000000 * times, time.monotonic_ns() - begins, times])
    return rows


@recipe("How long do calls take, by an argument?")
def durations():
    return waits()


@recipe("How long do the calls of a library's function take?")
def library_durations():
    with server() as ask:
        begins = time.monotonic_ns()
        for milliseconds in (3, 20):
            ask("rest %d" % milliseconds)
        return ["rests", 2, 23000000, time.monotonic_ns() - begins]


@recipe("Which values do local variables have at a line?")
def line():
    with server() as ask:
        ask("sum 4")
        return [[ask.pid, 4, i, i * (i + 1) // 2] for i in range(1, 5)]


@recipe("Where is an inlined function run?")
def inlined():
    with server() as ask:
        ask("sell 100")
        ask("rent 200")
        ask("sell 300")
        return [ask.pid, [[100], [300]], [[200]]]


@recipe("How many calls does each thread make?")
def calls_of_threads():
    with server() as ask:
        ask("request 1 / 1")
        return [[ask.pid, 1], *([one, n] for n, one in enumerate(threads(ask, 3), 1))]


def threads(ask, count):
    """Return the numbers of threads that the server starts; the first makes one call, the next one two, and so on."""
    return [ask("clerk %d" % n) for n in range(1, count + 1)]


@recipe("Which value does a thread's own variable have?")
def threads_own():
    with server() as ask:
        ask("request 1 / 1")
        one = ask("clerk 3")
        ask("request 2 / 1")
        return [[ask.pid, 0], [one, 0], [one, 1], [one, 2], [ask.pid, 1]]


@recipe("Where does a request go, over threads?")
def request():
    with server() as ask:
        ask("request 4710 / 1")
        other = ask("pass 4711")
        ask("pass 4712")
        return [ask.pid, other, 4711]


@recipe("What happens in the kernel during a call?")
def below():
    with server() as ask:
        ask("config /etc/hostname")
        return [ask.pid, "/etc/hostname"]


@recipe("Which functions of a plug-in are called?")
def plugin():
    with server() as ask:
        ask("plugin %s/plugin.so 100" % BUILT)
        ask("plugin %s/plugin.so 200" % BUILT)
        return [[ask.pid, 100], [ask.pid, 200]]


@recipe("What does a program do in one container only?")
def container():
    with server() as ask:
        ask("request 1 / 1")
    call("unshare", CLONE_NEWUTS)
    socket.sethostname("web")
    with server() as ask:
        ask("request 2 / 1")
        return [[ask.pid, 2]]


# C++ ---------------------------------------------------------------------------------------------

@recipe("Which methods are called, with which strings?")
def strings():
    with server() as ask:
        ask("order apple 3 2")
        for name in ("fig", "plum", "tangerine", "a-name-that-is-on-the-heap"):
            ask("refund " + name)
        return [[ask.pid, 6 - 7, "tangerine"], [ask.pid, 6 - 16, "a-name-that-is-on-the-heap"]]


@recipe("What do a vector and a map contain?")
def containers():
    with server() as ask:
        ask("order apple 3 1")
        ask("order pear 5 1")
        return [ask.pid, [["apple", [10, 20, 30], 3], ["pear", [10, 20, 30, 40, 50], 5]]]


@recipe("Which class does a base pointer point to?")
def classes():
    with server() as ask:
        for kind in (1, 0, 2):
            ask("draw %d" % kind)
        return [[ask.pid, name] for name in ("6Square", "5Shape", "N5solid4CubeE")]


@recipe("Which instantiations of a template are called?")
def instantiations():
    with server() as ask:
        ask("twice 4")
        return [ask.pid, 4, ["int", "long", "short"]]


@recipe("Which exceptions are thrown?")
def exceptions():
    with server() as ask:
        for kind in (0, 1):
            ask("fail %d" % kind)
        return [[ask.pid, "myserver", "i"], [ask.pid, "myserver", "St13runtime_error"]]


# Memory, threads, locks --------------------------------------------------------------------------

@recipe("Who allocates much memory at once?")
def allocates():
    name = named("allocates")
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    for size in (100000, 300000):
        libc.free(ctypes.c_void_p(libc.malloc(size)))
    return [name, 400000]


@recipe("From where does a program allocate memory?")
def allocates_from():
    with server() as ask:
        ask("keep 4")
        return [4 * 5000, ["keep", "fill"]]


@recipe("Who starts threads?")
def starts():
    with server() as ask:
        where = ask("where")
        threads(ask, 2)
        return [[ask.pid, "myserver", where]] * 2


@recipe("Who holds a mutex that others want?")
def holds():
    with server() as ask:
        other = ask("contend 20")
        return [other, "waiter", ask("till"), ask.pid]


@recipe("How long do threads wait for a mutex?")
def waits_for():
    with server() as ask:
        begins = time.monotonic_ns()
        other = ask("contend 20")
        return [other, "waiter", ask("till"), 20000000, time.monotonic_ns() - begins]


# Programs of Debian ------------------------------------------------------------------------------

@recipe("Which commands are typed into shells?")
def typed():
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", HOME="/none", PS1="$ ")
        os.execv("/usr/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
    lines = ["echo first", "PS1='# '; echo 'second  one'", "exit 0"]
    for line in lines:
        os.write(terminal, line.encode() + b"\n")
    with contextlib.suppress(OSError):  # the terminal has been closed
        while os.read(terminal, 4096):
            pass
    os.waitpid(pid, 0)
    return [[pid, line] for line in lines]


@recipe("Which names are looked up, and how long does it take?")
def looks_up():
    name, begins = comm(), time.monotonic_ns()
    for host in ("localhost", "127.0.0.1"):
        socket.getaddrinfo(host, 80)
    return [name, ["localhost", "127.0.0.1"], time.monotonic_ns() - begins]


class Talk:
    """A TLS client and a TLS server in this process, without certificates; each reads what the other writes."""

    def __init__(self):
        ends = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.both = [self.end(ssl.PROTOCOL_TLS_CLIENT, *ends), self.end(ssl.PROTOCOL_TLS_SERVER, *reversed(ends))]
        open_, self.calls = list(self.both), 0
        while open_:
            for one in list(open_):
                self.calls += 1
                with contextlib.suppress(ssl.SSLWantReadError):
                    one.do_handshake()
                    open_.remove(one)

    @staticmethod
    def end(protocol, into, out):
        context = ssl.SSLContext(protocol)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("ADH:AECDH:@SECLEVEL=0")
        return context.wrap_bio(into, out, server_side=protocol == ssl.PROTOCOL_TLS_SERVER)

    def say(self, text):
        """Return how many bytes the server reads of what the client writes."""
        self.both[0].write(text)
        return len(self.both[1].read(1000))


SAID = ["a first secret", "another one\0"]


@recipe("What is written, before it is encrypted?")
def writes():
    name, talk = comm(), Talk()
    for text in SAID:
        talk.say(text.encode())
    return [[name, len(text), text] for text in SAID]


@recipe("What is read, after it is decrypted?")
def reads():
    name, talk = comm(), Talk()
    begins = time.monotonic_ns()
    for text in SAID:
        talk.say(text.encode())
    return [name, SAID, time.monotonic_ns() - begins]


@recipe("How long do TLS reads and writes take?")
def talks():
    name, talk = named("talks"), Talk()
    begins = time.monotonic_ns()
    for text in SAID:
        talk.say(text.encode())
    return [name, time.monotonic_ns() - begins]


@recipe("Who begins TLS connections, and how often?")
def handshakes():
    return [named("shakes hands"), sum(Talk().calls for _ in range(2))]


@recipe("Which SQL is run by SQLite?")
def queries():
    name = comm()
    statements = ["CREATE TABLE t (a, b)", "SELECT a FROM t WHERE b = 'x'"]
    database = sqlite3.connect(":memory:")
    for statement in statements:
        database.execute(statement)
    return [[name, statement] for statement in statements]


@recipe("What do Python programs do?")
def audits():
    with subprocess.Popen(["/usr/bin/python3", "-S", "-E", "-c", "import sys; sys.audit('recipe.event')"]) as process:
        return [process.pid, "recipe.event"]


if __name__ == "__main__":
    main()
