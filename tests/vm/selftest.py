# SPDX-License-Identifier: GPL-2.0-only
# Runs outside of a guest: tests that access to the guest's files and processes works as in a program inside the guest,
# including every errno.
import errno
import os
import signal
import subprocess

from tap import equal
from where import matching, there

PATH = "/tmp/gtp-selftest"


def refused(function, *args):
    """Call a function that must raise an OSError. Return its errno."""
    try:
        function(*args)
    except OSError as error:
        return error.errno
    raise AssertionError("not refused: %s" % (args,))


def files():
    text = "".join("%d\n" % i for i in range(1 << 19))  # so long that reading it takes several requests
    with there.open(PATH, "w") as file:
        file.write(text)
    with there.open(PATH) as file:
        equal(file.read() == text, True, "what was written")
    equal(int(there.run(["wc", "-c", PATH], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0]), len(text))
    with there.handle(PATH, os.O_RDWR) as file:
        equal((file.get(4, 4), file.get(2), file.write(b"xy", 0), file.get(2, 0)), (b"2\n3\n", b"0\n", 2, b"xy"))
    equal(refused(there.open, PATH + "/below"), errno.ENOTDIR)
    equal(refused(there.open, "/no/such"), errno.ENOENT)
    with there.handle("/proc/version", os.O_WRONLY) as file:
        equal(refused(file.write, b"x"), errno.EIO)


def folders():
    there.mkdir(PATH + ".d")
    equal((there.exists(PATH + ".d"), there.isdir(PATH + ".d"), there.listdir(PATH + ".d")), (True, True, []))
    equal(refused(there.mkdir, PATH + ".d"), errno.EEXIST)
    equal(matching("/tmp/gtp-self*.d"), [PATH + ".d"])
    there.rmdir(PATH + ".d")
    equal((there.exists(PATH + ".d"), refused(there.rmdir, PATH + ".d")), (False, errno.ENOENT))
    equal(refused(there.listdir, PATH), errno.ENOTDIR)


def processes():
    going = there.popen(["sleep", "1000"])
    equal(going.poll(), None)
    going.kill()
    equal(going.wait(), -signal.SIGKILL)
    caught = there.popen(["sh", "-c", "trap 'echo got; exit 5' INT; echo up; while :; do sleep 0.1; done"],
                         stdout=subprocess.PIPE, text=True)
    equal(caught.stdout.readline(), "up\n")
    caught.send_signal(signal.SIGINT)
    equal((caught.communicate()[0], caught.returncode), ("got\n", 5))
    apart = there.run(["sh", "-c", "echo out; echo err >&2"], capture_output=True, text=True, check=True)
    equal((apart.stdout, apart.stderr), ("out\n", "err\n"))
    equal(there.run(["/no/such"], capture_output=True, check=False).returncode, 127)


def killed():
    """Check that a killed process is gone when wait() has returned."""
    for _ in range(20):
        going = there.popen(["sleep", "1000.25"])
        there.run(["true"], check=True)
        going.kill()
        going.wait()
        equal(there.run(["pgrep", "-f", "^sleep 1000.25"], stdout=subprocess.DEVNULL, check=False).returncode, 1)


def itself():
    equal(there.release, there.run(["uname", "-r"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
    equal(there.cpus, [0])
    before = there.clock_ns()
    uptime = float(there.run(["cat", "/proc/uptime"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0])
    equal(before <= uptime * 1e9 + 1e7 <= there.clock_ns() + 1e9, True, "clocks")
    with there.open("/proc/%d/comm" % there.pid) as file:
        equal(file.read(), "agent\n")


for test in (files, folders, processes, killed, itself):
    test()
print("all as it must be")
