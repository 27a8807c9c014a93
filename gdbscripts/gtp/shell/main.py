# SPDX-License-Identifier: GPL-2.0-only
"""The main program of the shell command `gtp`: dispatches subcommands, starts GDB, returns the exit status."""
import os
import select
import sys

from gtp.shell import cache, child, compile as compiler, live, options, output, ready, record, relay, run, signals, tools
from gtp.shell.failure import FAILED, INTERRUPTED, OK, Failure, told
from gtp.shell.progress import Progress

READING = "reading the symbols of %s%s"
FIRST_TIME = " (longer this first time; %s keeps an index)"
TRACING = ("trace", "event", "syscall")


def interactive(words):
    """Replace this process with an interactive GDB that is connected to the module."""
    os.execve(words[0], words + ["-ex", "target remote " + ready.DEVICE, "-ex", "gtp check"], {**os.environ, **child.locale()})


def told_by(gdb, progress, out):
    """Print the messages of a GDB that runs a subcommand which only prints. Return GDB's error as text, or None."""
    error, told_it = None, False
    while True:
        words = wait(gdb, progress)
        if words is None:
            return error if error or told_it else gdb.silence()
        for word in words:
            if "text" in word:
                progress.end()
                out.put(word["text"])
                out.flush()
                told_it = True
            error = word.get("error", error)


def wait(gdb, progress):
    """Wait for GDB's next messages, and report long work meanwhile."""
    while not select.select([gdb], [], [], progress.tick())[0]:
        pass
    return gdb.heard()


def show(words, given, progress):
    """Run a `gtp` subcommand that only prints. Return the exit status."""
    gdb = child.Child(words, {"command": given.command, "words": options.words(given), "target": ready.DEVICE})
    try:
        error = told_by(gdb, progress, output.Output())
    finally:
        progress.end()
        gdb.end()
    if error:
        raise Failure(error)
    return OK


def trace(words, given, progress):
    """Run a `gtp` subcommand that traces. Return the exit status."""
    line = relay.Relay()
    gdb = None
    try:
        with signals.Signals() as caught:
            gdb = child.Child(words, dict(options.request(given), target=line.path))
            return run.run(gdb, line, given, progress, caught)
    finally:
        progress.end()
        line.close()
        if gdb:
            gdb.end()


def do(given):
    if given.command == "compile":
        return compiler.run(given)
    if given.command == "cache":
        return cache.run(given)
    if given.command == "record":
        return record.run(given)
    if given.command == "snapshot":
        return record.snapshot(given)
    if given.command == "live":
        return live.run(given)
    if given.command == "fleet":
        from gtp.fleet import command as fleet  # only this command needs ClusterShell
        return fleet.run(given)
    if given.command == "attach":
        path = tools.gtp_attach()
        os.execv(path, [path, given.pid])
    gdb, vmlinux, index = ready.all_of_it(given.vmlinux)
    words = child.arguments(gdb, vmlinux, index)
    if given.command == "gdb":
        interactive(words)
    first = FIRST_TIME % index if index and not os.listdir(index) else ""
    progress = Progress(READING % (vmlinux, first))
    return (trace if given.command in TRACING else show)(words, given, progress)


def keep_numbers():
    """Open /dev/null for each closed standard stream. Otherwise a file that is opened later would get the stream's
    number, and receive its output."""
    # Open descriptor 0 for writing and 1 for reading, so that reading 0 and writing 1 still fail.
    for fd, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)


def printed(arguments):
    """Call do(), and flush standard output even if do() exits, as for --help. Return the result of do()."""
    try:
        try:
            return do(options.parser().parse_args(arguments))
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes standard output again when it exits
        raise Failure(": ".join(filter(None, (error.filename, error.strerror)))) from None


def main(arguments):
    keep_numbers()
    try:
        return printed(arguments)
    except Failure as failure:
        sys.stderr.write(told(str(failure)))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
