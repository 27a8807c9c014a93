# SPDX-License-Identifier: GPL-2.0-only
"""Tests of gtp cache, which stores compiled sessions under names and merges a name's sessions for several kernels. Also
tests damaged files, concurrent commands and refusals."""
import os
import re
import shutil
import stat
import subprocess
import sys

from gtp.shell import gtpd
from tap import SECONDS, check, equal, matches, test
from world import GTP, OUT, Target, build_id, compiled, content, of_lines, run

HOME = os.path.join(OUT, "home")
SESSIONS = os.path.join(HOME, "gdbtp/sessions")
SAID = dict(cwd=OUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, XDG_CACHE_HOME=HOME))


def gtp(*words):
    """Run the command gtp with the test's own cache. Return (status, output, errors)."""
    done = subprocess.run([sys.executable, GTP, *words], timeout=SECONDS, check=False, **SAID)
    return done.returncode, done.stdout, done.stderr


def cache(*words):
    """Run a gtp cache command that must succeed. Return its output."""
    status, out, err = gtp("cache", *words)
    equal((status, err), (0, ""), out)
    return out


def fresh():
    """Empty the cache. On the first call, compile a session for each of two kernels, and another session for the first
    kernel."""
    shutil.rmtree(HOME, ignore_errors=True)
    if os.path.exists(OUT + "/another.gtpd"):
        return
    for name in ("prog", "other"):
        compiled("for-%s.gtpd" % name, "--vmlinux", name)
    compiled("another.gtpd", "--vmlinux", "prog", session=of_lines("trace add", "trace look"))


def kept():
    """Return the names of the files in the cache's folder, including those that a killed writer has left."""
    return sorted(os.listdir(SESSIONS))


def rows():
    """Return (name, build-id, tracepoints, bytes) for each row that gtp cache lists."""
    lines = [line.split() for line in cache().splitlines()]
    return [(line[0], line[2], line[3], line[-1]) for line in lines[1:]]


@test("gtp cache add, list, show, path and remove: the file is the added one, only its owner can read it, and it runs")
def one_session():
    fresh()
    matches("^no session is in the cache, " + SESSIONS, cache())
    matches(r"^for-prog: unknown \(build-id %s\)$" % build_id("prog"), cache("add", "for-prog.gtpd"))
    cache("add", "for-prog.gtpd", "reads")
    part, = gtpd.split(content("for-prog.gtpd"))
    equal(rows(), [(name, build_id("prog"), "5", str(len(part.data))) for name in ("for-prog", "reads")])
    equal(cache("list"), cache())
    equal(cache("show", "reads"), run("--info", "for-prog.gtpd")[1])
    path = cache("path", "reads").rstrip("\n")
    equal(content(path), content("for-prog.gtpd"))
    equal([stat.S_IMODE(os.stat(p).st_mode) for p in (path, SESSIONS)], [0o600, 0o700])
    with Target() as target:
        status, out, err = run(path, "--for", "100ms", target=target)
    equal(status, 0, err)
    matches(r"^reads.tf: \d+ bytes$", out)
    cache("remove", "reads")
    equal(kept(), [".lock", "for-prog.gtpd"])
    cache("remove", "--all")
    equal(kept(), [".lock"])
    cache("remove", "--all")


@test("kernels are added to a name, and the file is what gtp compile makes for all of them at once")
def kernels_are_merged():
    fresh()
    cache("add", "for-prog.gtpd", "reads")
    cache("add", "for-other.gtpd", "reads")
    compiled("both.gtpd", "--vmlinux", "prog", "--vmlinux", "other")
    equal(content(SESSIONS + "/reads.gtpd"), content("both.gtpd"))
    equal([row[:2] for row in rows()], [("reads", build_id("prog")), ("reads", build_id("other"))])
    cache("add", "both.gtpd", "reads")
    equal(content(SESSIONS + "/reads.gtpd"), content("both.gtpd"))


@test("another session for a kernel that a name already has needs --force, and the other kernel's stays")
def replaced_by_force():
    fresh()
    cache("add", "for-prog.gtpd", "reads")
    cache("add", "for-other.gtpd", "reads")
    before = content(SESSIONS + "/reads.gtpd")
    status, out, err = gtp("cache", "add", "another.gtpd", "reads")
    equal((status, out), (1, ""))
    matches("^gtp: reads has another session for .*%s.* already;\n  --force puts this one in its place" % build_id("prog"), err)
    equal(content(SESSIONS + "/reads.gtpd"), before)
    cache("add", "another.gtpd", "reads", "--force")
    equal([row[:3] for row in rows()], [("reads", build_id("prog"), "2"), ("reads", build_id("other"), "5")])


@test("gtp compile --cache compiles into the cache; an invalid name, or -o as well, is refused before it begins")
def compiled_into():
    fresh()
    status, out, err = gtp("compile", "lines.gdb", "--no-table", "--cache", "twice", "--vmlinux", "prog")
    equal(status, 0, err)
    matches(r"^twice: unknown \(build-id %s\)$" % build_id("prog"), out)
    equal(content(SESSIONS + "/twice.gtpd"), content("another.gtpd"))
    status, _, err = gtp("compile", "nothing.gdb", "--cache", "../twice", "--vmlinux", "nothing")
    equal(status, 1)
    matches("'../twice' is not a name for a session", err)
    equal(gtp("compile", "lines.gdb", "--cache", "a", "-o", "b", "--vmlinux", "prog")[0], 2)
    matches("--force is of --cache", gtp("compile", "lines.gdb", "-o", "b", "--force", "--vmlinux", "prog")[2])


@test("names that could be paths, options or hidden files are refused; so are wrong files and wrong usage")
def refused():
    fresh()
    for name in ("", ".", "..", ".hidden", "a/b", "../a", "/a", "a b", "a\n", "-a", "\u00e4", "a" * 101):
        for words in (("add", "for-prog.gtpd", "--", name), ("show", "--", name), ("path", "--", name), ("remove", "--", name)):
            if name or words[0] != "add":
                status, out, err = gtp("cache", *words)
                equal((status, out), (1, ""), "%r %r: %s" % (words, name, err))
                matches("is not a name for a session: letters, digits", err)
    for name in ("prog", "hits"):
        status, _, err = gtp("cache", "add", name)
        equal(status, 1)
        matches("^gtp: %s is no session to run: " % name, err)
    matches("is not a file", gtp("cache", "add", "nothing.gtpd")[2])
    for words in (("show", "nothing"), ("path", "nothing"), ("remove", "nothing")):
        status, _, err = gtp("cache", *words)
        equal(status, 1)
        matches("^gtp: nothing is not in the cache, ", err)
    for words in (("remove",), ("remove", "--all", "x"), ("show",), ("add",), ("nothing",)):
        equal(gtp("cache", *words)[0], 2, words)
    check(not os.path.exists(SESSIONS), "something is kept")


@test("a damaged file is reported, and the others are listed; it can be removed, and replaced only with --force")
def damaged():
    fresh()
    whole = content("for-prog.gtpd")
    cache("add", "for-prog.gtpd", "whole")
    for name, data in (("cut", whole[:-1]), ("empty", b""), ("flipped", whole[:50] + b"?" + whole[51:]), ("text", b"x" * 99)):
        with open("%s/%s.gtpd" % (SESSIONS, name), "wb") as file:
            file.write(data)
    os.mkdir(SESSIONS + "/folder.gtpd")
    status, out, err = gtp("cache")
    equal((status, len(out.splitlines())), (0, 2))
    matches("^whole ", out)
    for name in ("cut", "empty", "flipped", "text"):
        matches(r"^gtp: \S+/%s.gtpd is damaged: [^\n]*\. gtp cache remove %s takes it out$" % (name, name), err)
    equal(gtp("cache", "show", "cut")[0], 1)
    status, _, err = gtp("cache", "add", "for-other.gtpd", "cut")
    equal(status, 1)
    matches("is damaged", err)
    equal(content(SESSIONS + "/cut.gtpd"), whole[:-1])
    cache("add", "for-prog.gtpd", "cut", "--force")
    equal(content(SESSIONS + "/cut.gtpd"), whole)
    cache("remove", "empty", "flipped", "text")
    equal(kept(), [".lock", "cut.gtpd", "folder.gtpd", "whole.gtpd"])


@test("several commands that add at once lose nothing, and files of a killed writer are removed")
def at_once():
    fresh()
    cache("add", "for-prog.gtpd", "first")
    with open(SESSIONS + "/.left.part", "wb") as file:
        file.write(b"half")
    part, = gtpd.split(content("for-prog.gtpd"))
    count = 8
    for n in range(count):
        with open("%s/k%d.gtpd" % (OUT, n), "wb") as file:
            file.write(gtpd.whole([part.data.replace(bytes.fromhex(build_id("prog")), bytes([n + 1]) * 20, 1)]))
    all_of_them = [subprocess.Popen([sys.executable, GTP, "cache", "add", "k%d.gtpd" % n, "all"], **SAID) for n in range(count)]
    for process in all_of_them:
        _, err = process.communicate(timeout=SECONDS)
        equal(process.returncode, 0, err)
    equal([row[1] for row in rows() if row[0] == "all"], ["%02x" % (n + 1) * 20 for n in range(count)])
    equal(kept(), [".lock", "all.gtpd", "first.gtpd"])


@test("the cache is under $XDG_CACHE_HOME if that is a path, else root's in /var/cache, else the user's in ~/.cache")
def where():
    script = "import os, sys; sys.path[:0] = [%r]; from gtp.shell import cache; os.geteuid = lambda: int(sys.argv[1]); " \
             "print(cache.folder())" % os.path.join(os.path.dirname(GTP), "../gdbscripts")
    for user, more, wanted in (("0", {}, "/var/cache/gdbtp/sessions"), ("1000", {}, "/home/x/.cache/gdbtp/sessions"),
                               ("1000", {"XDG_CACHE_HOME": "relative"}, "/home/x/.cache/gdbtp/sessions"),
                               ("0", {"XDG_CACHE_HOME": "/y"}, "/y/gdbtp/sessions")):
        done = subprocess.run([sys.executable, "-B", "-c", script, user], text=True, capture_output=True, check=False,
                              env={"HOME": "/home/x", "PATH": os.environ["PATH"], **more})
        equal(done.stdout, wanted + "\n", done.stderr)


def kept_by(script):
    """Run a script that clears /var/cache/gdbtp, with a folder of the test in place of /var/cache/gdbtp. Return the names
    that remain in the folder."""
    folder = OUT + "/var"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("6.1.0-x", "sessions"):
        os.makedirs(os.path.join(folder, name))
        with open(os.path.join(folder, name, "file"), "w", encoding="ascii"):
            pass
    done = subprocess.run(["sh", "-ec", script.replace("/var/cache/gdbtp", folder)], check=False, capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)
    return os.listdir(folder)


@test("an upgrade of the package, and make uninstall, remove the tables and keep root's sessions")
def upgrades():
    top = os.path.dirname(os.path.dirname(GTP))
    with open(top + "/debian/gdbtp.postinst", encoding="ascii") as file:
        script = "set -- configure 0.1; " + file.read()
    equal(kept_by(script), ["sessions"])
    with open(top + "/scripts/install", encoding="ascii") as file:
        function = re.search(r"^remove_tables\(\) \{\n.*?^\}\n", file.read(), re.M | re.S).group()
    equal(kept_by(function + "remove_tables /var/cache/gdbtp"), ["sessions"])
