# SPDX-License-Identifier: GPL-2.0-only
"""Tests the messages of gtp-drain and gtp record: refusals, errors, the output on a terminal. Also tests what gtp record
adds to gtp-drain."""
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys

from pipe import DRAIN, END, GTP, HEADER, OUT, Drain, content, drained, frames_in, hit, path, refused
from tap import SECONDS, check, equal, matches, skip, test, until


@test("a file that is not regular stays as it is, and no link is followed")
def not_ordinary():
    os.mkdir(path("folder"))
    os.mkfifo(path("other"))
    with open(path("precious"), "w", encoding="ascii") as file:
        file.write("precious\n")
    os.symlink("precious", path("link"))
    os.symlink("nothing", path("dangling"))
    for name in ("folder", "other", "link", "dangling", "/dev/null"):
        for more in ((), ("--size", "64k")):
            matches("%s is no ordinary file, and would be replaced by one" % name, refused("-o", name, *more, "-p", "/dev/null"))
    for name in ("-", "folder/", ""):
        matches("'%s' is no name of a file" % name, refused("-o", name, "-p", "/dev/null"))
    matches("nothing/x cannot be written: No such file or directory", refused("-o", "nothing/x", "-p", "/dev/null"))
    equal(content("precious"), b"precious\n")
    check(os.readlink(path("link")) == "precious" and os.path.islink(path("dangling")), "a link has changed")
    check(stat.S_ISFIFO(os.stat(path("other")).st_mode), "the FIFO has changed")
    equal(sorted(os.listdir(OUT)), ["dangling", "folder", "link", "other", "precious"])


# The command that runs gtp-drain as on a file system that does not support O_TMPFILE.
UNSUPPORTED = ("strace", "-f", "-o", "/dev/null", "-P", ".", "-e", "trace=open,openat", "-e", "inject=open,openat:error=EOPNOTSUPP", DRAIN)


@test("an existing file is replaced, and no other file: the user's own FILE.part stays; on any file system")
def replaced():
    programs = ((DRAIN,), UNSUPPORTED) if shutil.which("strace") else ((DRAIN,),)
    for program in programs:
        for name in ("new.tf", "new.tf.part", "new.tf.0001.part"):
            with open(path(name), "w", encoding="ascii") as file:
                file.write(name)
        drained(HEADER + hit(0), "-o", "new.tf", program=program)
        equal(frames_in("new.tf"), [hit(0)])
        equal(os.stat(path("new.tf")).st_mode & 0o777, 0o600)
        drained(HEADER + hit(1), "-o", "new.tf", "--size", "1M", program=program)
        equal(frames_in("new.tf.0001"), [hit(1)])
        for name in ("new.tf.part", "new.tf.0001.part"):
            equal(content(name), name.encode())
        equal(sorted(os.listdir(OUT)), ["fifo", "new.tf", "new.tf.0001", "new.tf.0001.part", "new.tf.part"])
        os.unlink(path("new.tf.0001"))
    if len(programs) < 2:
        skip("strace is not installed: only the usual way is tested")


@test("a recording that ends before its file has a header leaves no file: SIGTERM, SIGKILL, a pipe with other data")
def nothing_left():
    for number in (signal.SIGTERM, signal.SIGKILL):
        drain = Drain("-o", "early.tf")
        drain.written(HEADER[:-1])
        drain.send(number)
        drain.wait(130 if number == signal.SIGTERM else -number)
        equal(os.listdir(OUT), ["fifo"])
    for program in ((DRAIN,), UNSUPPORTED) if shutil.which("strace") else ((DRAIN,),):
        matches("has no trace file", drained(b"something else\n\n", "-o", "else.tf", status=1, program=program))
        equal(os.listdir(OUT), ["fifo"])


@test("wrong usage exits with 2 and says what to write; a missing pipe exits with 1")
def usage():
    for words, why in ((("--for", "1d"), "is no time; write 5s, 500ms, 2m or 1h"), (("--size", "12x"), "is no size"),
                       (("--size", "0"), "is no size"), (("--size", "-1"), "is no size"), (("--size", "9999999999G"), "is no size"),
                       (("--size", "1kk"), "is no size"), (("--size", "4095"), "too small"), (("--rotate", "3"), "needs --size"),
                       (("--size", "1M", "--rotate", "0"), "is no number of files"), (("file",), "Usage|Too many")):
        matches(why, refused(*words, status=2))
    matches("nothing: No such file or directory", refused("-p", "nothing"))
    if not os.path.exists("/proc/gtpframe_pipe"):
        matches("load the module first, modprobe gdbtp", refused())


def with_error(call, error, *words, status=1, only=None):
    """Run gtp-drain under strace so that a system call fails with an error. ONLY names the files for which it fails, by
    default the last word. Return the messages."""
    only = ["-P", words[-1]] if only is None else only
    try:
        done = subprocess.run(["strace", "-f", "-o", "/dev/null", *only, "-e", "trace=" + call, "-e",
                               "inject=%s:error=%s" % (call, error), DRAIN, *words], cwd=OUT, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        skip("strace is not installed")
    equal(done.returncode, status, done.stderr)
    return done.stderr


@test("another reader, a user who is not root, a run without its frames: each gets a message")
def errors_of_the_pipe():
    with open(path("data"), "wb") as file:
        file.write(HEADER + hit(0) + END)
    matches("data: somebody else records; there is one at a time", with_error("open,openat", "EBUSY", "-p", "data", status=4))
    matches("data: Permission denied; recording is for root", with_error("open,openat", "EACCES", "-p", "data"))
    matches("a new run, or a reset, has dropped the frames", with_error("read", "ESTALE", "-p", path("data")))
    equal(os.listdir(OUT), ["data"])
    # ESTALE is not an error once the end of the run has been read: the next run may already have begun.
    with_error("read", "ESTALE:when=2", "-p", path("data"), status=0)
    equal(frames_in("gtp.tf"), [hit(0)])
    with open(path("data"), "wb") as file:
        file.write(HEADER + hit(1) + hit(2)[:7])
    matches("a new run, or a reset", with_error("read", "ESTALE:when=2", "-p", path("data")))
    equal(frames_in("gtp.tf"), [hit(1)])


@test("a failing disk is reported, and the file has only what is on the disk")
def disk_fails():
    with open(path("data"), "wb") as file:
        file.write(HEADER + hit(0) + hit(1) + END)
    matches("gtp.tf: Input/output error", with_error("fdatasync", "EIO:when=1", "-p", path("data"), only=()))
    equal(os.listdir(OUT), ["data"])
    text = with_error("fdatasync", "EIO:when=2", "-p", path("data"), only=())
    matches("gtp.tf: Input/output error\n.*^gtp-drain: 0 frames, .*^gtp-drain: 2 frames more were read, and could not", text)
    equal(frames_in("gtp.tf", whole=False), [])


@test("a file that may not grow any more ends it with all frames that fitted, and it says that the run goes on")
def full():
    drain = Drain("-o", "full.tf", program=("prlimit", "--fsize=%d" % (100 << 10), DRAIN))
    drain.in_background(HEADER + b"".join(hit(i, 1000) for i in range(2000)))
    text = drain.wait(1)
    matches("full.tf: File too large\n.*frames more were read, and could not be written\n"
            "gtp-drain: the run continues without a reader\n\\Z", text)
    found = frames_in("full.tf", whole=False)
    check(90 < len(found) <= 102, "%d frames of 1000 bytes in 100 KiB" % len(found))


@test("without a terminal it prints only a first and a last line; on a terminal a line of numbers")
def silent():
    text = drained(HEADER + hit(0), "-o", "quiet.tf")
    matches(r"\A(gtp-drain: no run is on[^\n]*\n)?gtp-drain: recording to quiet.tf[^\n]*\ngtp-drain: 1 frames[^\n]*\n\Z", text)
    line, end = pty.openpty()
    drain = Drain("-o", "loud.tf", stderr=end)
    os.close(end)
    drain.written(HEADER + hit(0) + hit(1))
    text = [""]

    def has_come():
        text[0] += os.read(line, 4096).decode()
        return re.search(r"\r\x1b\[K\d+ s, 2 frames, 0\.0 MB", text[0])
    until(has_come, "the line of numbers")
    drain.send(signal.SIGTERM)
    drain.wait()
    os.close(line)


def record(*words, **more):
    return subprocess.run([sys.executable, GTP, "record", *words], cwd=OUT, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=SECONDS, check=False, **more)


@test("gtp record passes its options on, and its pid, signals and exit status are gtp-drain's")
def passes_on():
    program = (sys.executable, GTP, "record")
    drained(HEADER + b"".join(map(hit, range(500))), "-o", "turn.tf", "--size", "4k", "--rotate", "2", program=program)
    equal(len([name for name in os.listdir(OUT) if name.startswith("turn.tf.")]), 2)
    drain = Drain("--for", "0.1s", program=program)
    drain.written(HEADER + hit(0))
    drain.wait()
    equal(frames_in("gtp.tf"), [hit(0)])
    drain = Drain(program=program)
    drain.written(HEADER + hit(1))
    drain.send(signal.SIGTERM)
    drain.wait()
    equal(frames_in("gtp.tf"), [hit(1)])


@test("gtp record says what is missing: root, the module, --size")
def missing():
    done = record("--rotate", "2")
    equal(done.returncode, 2)
    matches("--rotate needs --size", done.stderr)
    for size in ("1", "4095", "1T", "k", "1.5M"):
        done = record("--size", size)
        equal(done.returncode, 2)
        matches("is no size; write 500k, 64M, 2G|4k is the least", done.stderr)
    if os.path.exists("/proc/gtp"):
        skip("the module is loaded here")
    done = record(env={**os.environ, "PATH": os.environ["PATH"]})
    equal(done.returncode, 1)
    matches("not there: the module is not loaded" if os.geteuid() == 0 else "tracing the kernel is for root", done.stderr)
