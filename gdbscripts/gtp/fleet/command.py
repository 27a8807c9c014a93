# SPDX-License-Identifier: GPL-2.0-only
"""`gtp fleet`: run one session on many machines, and collect the results."""
import os
import resource
import shutil
import sys

from gtp.fleet import host, merge, offset, remote, results
from gtp.shell import signals, tools
from gtp.shell.failure import FAILED, OK, USAGE, Failure, told
from gtp.shell.output import Output
from gtp.text import harmless

SOME = 3
NO_WORDS = "say gtp fleet HOSTS... -- SESSION.gtpd"
THERE = """%s has files of an earlier run. Say another folder with -o, or --force to replace them"""
ENDING = "the run is ended on all machines; another ^C gives up files that have not arrived by then"
LOUD = (host.TRACING, host.DONE, host.FAILED)


class Fleet:
    """The machines of a run, and the lines that are printed about them."""

    def __init__(self, names, given, files, caught):
        words = ["--for", "%dms" % max(1, round(given.seconds * 1000))] if given.seconds else []
        self.hosts = [host.Host(name, given.output, files, words, self.changed) for name in names]
        self.width = max(map(len, names))
        self.silence, self.caught, self.out = given.silence, caught, Output()
        self.here = offset.anchor()
        self.ending = False

    def changed(self, one):
        """Print a row about a machine if its new state matters to the user."""
        if one.state not in LOUD:
            return
        text = one.state
        if one.state == host.DONE:
            text += ", " + results.counts(one.row(self.here))
        elif one.state == host.FAILED:
            text += ": " + one.why.replace("\n", "\n" + " " * (self.width + 2))
        self.print("%-*s  %s" % (self.width, one.name, text))

    def print(self, text):
        self.out.put(harmless.lines(text) + "\n")
        self.out.flush()

    def tick(self):
        if self.caught.came and not self.ending:
            self.ending = True
            self.print(ENDING)
            for one in self.hosts:
                one.stop()
        for one in self.hosts:
            one.tick(self.silence)

    def rows(self):
        return [one.row(self.here) for one in self.hosts]


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Failure("%s: %s" % (path, error.strerror)) from None


def program(given):
    """Return the bytes of gtp-run, which is copied to the machines."""
    return content(given.run or tools.gtp_run())


def make_room(given, session, names):
    """Make the folder of the results, and remove files of another run from it."""
    given.output = given.output or os.path.splitext(os.path.basename(session))[0] + ".fleet"
    try:
        os.makedirs(given.output, exist_ok=True)
        old = results.files(given.output, names)
    except OSError as error:
        raise Failure("%s: %s" % (given.output, error.strerror)) from None
    if old and not given.force:
        raise Failure(THERE % given.output)
    for path in old:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def trace(given):
    """Run the session on all machines. Return the exit status."""
    from gtp.fleet import engine
    if len(given.words) < 2:
        raise Failure(NO_WORDS)
    *words, session = given.words
    files = [("gtp-run", program(given)), ("session.gtpd", content(session))]
    names = engine.names(words)
    if not names:
        raise Failure("%s: no host is in it" % " ".join(words))
    results.refuse_one_file(names)
    make_room(given, session, names)
    with signals.Signals() as caught:
        fleet = Fleet(names, given, files, caught)
        try:
            engine.run(fleet.hosts, remote.command(), fleet.tick, given.fanout or len(names), given.connect_timeout,
                       given.ssh_options)
        finally:
            results.save(given.output, fleet.here, fleet.rows())
    fleet.print(results.table(fleet.rows()))
    done = sum(one.state == host.DONE for one in fleet.hosts)
    if done and given.vmlinux:
        merge.run(given.output, given.vmlinux, fleet.print)
    return OK if done == len(names) else SOME if done else FAILED


def open_many():
    """Allow as many open files as this user may have: each machine takes three for its ssh, and one for its part of a
    timeline."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def run(given):
    open_many()
    if given.merge and given.words:
        raise Failure("--merge takes a folder and no hosts")
    if given.merge:
        out = Output()
        merge.run(given.merge, given.vmlinux, lambda text: out.put(harmless.lines(text) + "\n"))
        out.flush()
        return OK
    if not given.words:
        sys.stderr.write(told(NO_WORDS))
        return USAGE
    return trace(given)
