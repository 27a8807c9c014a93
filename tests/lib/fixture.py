# SPDX-License-Identifier: GPL-2.0-only
"""The module under test and the fixture modules: loading, facts, calls, and other work."""
import contextlib
import os
import signal
import sys

import tap
from tap import SECONDS
from where import there

LIB = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(LIB))
MODULE = os.environ["GTP_MODULE"]
KMOD = os.environ["GTP_KMOD"]
TABLES = os.environ["GTP_TABLES"]
TARGET = "/proc/gtp_target"
REGIONS = "/proc/gtpregions"


def command(*words):
    return there.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)


def must(*words):
    """Run a command that must succeed. Return its output."""
    done = command(*words)
    assert done.returncode == 0, "%s: %s" % (" ".join(words), done.stdout + done.stderr)
    return done.stdout


# Modules -----------------------------------------------------------------------------------------

def loaded(module="gdbtp"):
    return there.exists("/sys/module/%s/initstate" % module)


def users(module="gdbtp"):
    """Return the reference count of a kernel module."""
    with there.open("/sys/module/%s/refcnt" % module, encoding="ascii") as file:
        return int(file.read())


def unload(module="gdbtp"):
    if loaded(module):
        must("rmmod", module)


def load(*parameters):
    """Load the module under test, after unloading it. Allow probes in functions that the function tracer cannot trace, such
    as two of the fixture's. Files of tsave -r go to /tmp."""
    unload()
    must("insmod", MODULE, "allow_notrace=1", "save_dir=/tmp", *parameters)


def load_fixture(name="gtp_target"):
    if not loaded(name):
        must("insmod", "%s/%s.ko" % (KMOD, name))


def parameter(name, value=None):
    path = "/sys/module/gdbtp/parameters/" + name
    with there.open(path, "r" if value is None else "w", encoding="ascii") as file:
        return file.read().strip() if value is None else file.write(str(value))


# Tables of regions -------------------------------------------------------------------------------

def load_tables():
    """Load the tables of the kernel and of the loaded modules."""
    must(TOP + "/tools/gdbtp-tables", "load", TABLES)


def table(name):
    """Return the table of regions of a module or of the kernel, as the table's file contains it."""
    with open("%s/%s.rgn" % (TABLES, name), "rb") as file:
        return file.read()


def put_table(*pieces):
    """Pass the pieces of a table of regions to gdbtp, each by a separate write. Return 0, or the errno of the last
    write."""
    with there.handle(REGIONS, os.O_WRONLY) as file:
        try:
            for piece in pieces:
                while piece:
                    piece = piece[file.write(piece):]
        except OSError as error:
            return error.errno
    return 0


def load_table(module):
    """Load the table of regions for one module."""
    error = put_table(b"module %s\n" % module.encode() + table(module))
    assert error == 0, "%s: %s" % (module, os.strerror(error))


# The fixture -------------------------------------------------------------------------------------

def facts():
    """Return the fixture's report: counts, values and addresses by name."""
    with there.open(TARGET, encoding="ascii") as file:
        rows = [line.split() for line in file if not line.startswith("stack ")]
    return {"value " + name if kind == "value" else name: int(text, 16 if kind == "addr" else 10)
            for kind, name, text in rows}


def counted(function):
    """Return the number of calls of one of the fixture's functions so far."""
    return facts()[function]


def target(line):
    """Give the fixture an order, such as `call add 1 2`, from this process. Return when it has made the calls."""
    with there.open(TARGET, "w", encoding="ascii") as file:
        file.write(line)


def child(function):
    """Call FUNCTION in a separate process, which is not part of the caller's session. Return its pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        function()
        status = 0
    except BaseException:  # after any exception, this process must not continue the caller's work
        tap.note("in a child:", tap.traceback.format_exc())
    os._exit(status)


def ended(pid):
    """Wait for a child. Return its status as waitpid reports it."""
    return os.waitpid(pid, 0)[1]


def kill(pid, how=signal.SIGKILL):
    """Kill a child. Fail if the child had already ended by itself."""
    os.kill(pid, how)
    status = ended(pid)
    assert status == how, "it ended by itself: status %d" % status


def target_aside(line):
    """Give the fixture an order from a separate process, because the tasks of a connected client are not traced."""
    assert ended(child(lambda: target(line))) == 0, line


def forever(line):
    while True:
        target(line)


@contextlib.contextmanager
def hammering(line="loop mix 2000"):
    """Context manager: in a separate process, have the fixture make calls on all CPUs again and again."""
    pid = child(lambda: forever(line))
    try:
        yield
    finally:
        kill(pid)


# All of it ---------------------------------------------------------------------------------------

def main():
    """Run the calling file's tests; at the end the module must unload."""
    good = tap.run()
    try:
        unload()
    except AssertionError as problem:
        print("not ok - the module unloads at the end")
        tap.note(problem)
        good = False
    sys.exit(not good)
