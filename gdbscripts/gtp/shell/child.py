# SPDX-License-Identifier: GPL-2.0-only
"""A GDB in batch mode that does the work of a `gtp` command: its start, its messages, its end."""
import json
import os
import socket
import subprocess
import tempfile

from gtp.shell.failure import Failure

SCRIPTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAIN = "python import {0}; {0}.main()"


def arguments(gdb, vmlinux, index):
    """Return GDB's command line without any -ex options, for an interactive or a batch GDB."""
    words = [gdb, "-q", "-nx", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off"]
    if index:
        words += ["-iex", "set index-cache directory " + index, "-iex", "set index-cache enabled on"]
    return words + [vmlinux, "-ex", "source %s/gtp.py" % SCRIPTS]


def locale():
    """Return environment variables with which GDB's Python can read file names that are not ASCII. In the C locale it
    cannot."""
    chosen = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    return {"LC_ALL": "C.UTF-8"} if chosen in ("C", "POSIX") else {}


def environment(request):
    """Return the environment for a GDB, with the request in GTP_SHELL."""
    return dict(os.environ, GTP_SHELL=json.dumps(request), PYTHONDONTWRITEBYTECODE="1", **locale())


def silence(printed):
    """Return an error message for a GDB that ended without sending one. It includes the end of GDB's output."""
    return "GDB has ended without a word\n" + printed.decode(errors="replace").strip()[-2000:]


def answer(words, module, request, ended=lambda: None):
    """Run MODULE's main() in a GDB with gtp.inside.reply, and return its reply to the request, a dict. Call ENDED() before
    any failure is raised."""
    with tempfile.TemporaryDirectory(prefix="gtp-") as folder:
        # Use files, because a fleet's request may exceed the 128 KiB that a string in the environment can have.
        paths = {name: os.path.join(folder, name) for name in ("request", "answer")}
        with open(paths["request"], "w", encoding="utf-8") as file:
            json.dump(request, file)
        done = subprocess.run([*words, "-batch", "-ex", MAIN.format(module)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env=environment(paths))
        ended()
        text = ""
        if os.path.exists(paths["answer"]):
            with open(paths["answer"], encoding="utf-8") as file:
                text = file.read()
    if not text:
        raise Failure(silence(done.stdout))
    found = json.loads(text)
    if "error" in found:
        raise Failure(found["error"])
    return found


class Child:
    """A GDB at work on one request. It runs in a session of its own, so that ^C at the terminal reaches only the `gtp`
    command."""

    def __init__(self, words, request):
        self.ours, theirs = socket.socketpair()
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*words, "-batch", "-ex", MAIN.format("gtp.inside.session")],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        pass_fds=[theirs.fileno()], start_new_session=True,
                                        env=environment(dict(request, fd=theirs.fileno())))
        theirs.close()
        self.rest = b""

    def fileno(self):
        return self.ours.fileno()

    def heard(self):
        """Return the messages that have arrived from GDB, each as a dict. Return None when GDB has ended."""
        try:
            data = self.ours.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            return None
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def say(self, word):
        """Send GDB a word. If GDB has ended, do nothing; heard() will report that."""
        try:
            self.ours.sendall(json.dumps(word).encode() + b"\n")
        except ConnectionError:
            pass

    def tasks(self):
        """Return the pids of GDB's threads."""
        return set(map(int, os.listdir("/proc/%d/task" % self.process.pid)))

    def silence(self):
        self.log.seek(0)
        return silence(self.log.read())

    def end(self):
        """Kill GDB, whatever GDB is doing. The module removes every probe when the connection closes."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.ours.close()
        self.log.close()
