# SPDX-License-Identifier: GPL-2.0-only
"""Tests of gtp-run with a fake module: where gtp-run reads its session from, durations, interrupts, and sessions that
gtp-run refuses before it changes anything in the module."""
import os
import pty
import signal
import subprocess
import termios
import tty

from gtp.shell import gtpd
from rsp import PACKET, Client, framed, unframed
from tap import SECONDS, check, equal, matches, test
from world import OUT, RUN, SYMBOLS, TOP, Target, build_id, content, run


@test("a session may come from standard input, from a pipe or a file there; all of it is read")
def streams():
    data = content("a.gtpd")
    info = run("--info", "a.gtpd")[1]
    for name in ("-", "/dev/stdin"):
        done = subprocess.run([RUN, "--info", name], input=data, capture_output=True, cwd=OUT, check=False, timeout=SECONDS)
        equal((done.returncode, done.stdout.decode()), (0, info), done.stderr)
        with open(OUT + "/a.gtpd", "rb") as file:
            done = subprocess.run([RUN, "--info", name], stdin=file, capture_output=True, cwd=OUT, check=False, timeout=SECONDS)
        equal((done.returncode, done.stdout.decode()), (0, info), done.stderr)
    with Target() as target:
        done = subprocess.run([RUN, "--device", target.path, "--for", "100ms", "-"], input=data, capture_output=True,
                              cwd=OUT, check=False, timeout=SECONDS)
    equal(done.returncode, 0, done.stderr)
    matches(r"^stdin.tf: \d+ bytes$", done.stdout.decode())
    check(content("stdin.tf"), "nothing is saved")


@test("standard input that is no session, too long, or a terminal is refused with a sentence")
def no_session():
    for data, status, words in ((b"", 3, "standard input is no session to run: it is too short"),
                                (content("a.gtpd") + b"x", 3, "something is behind it"),
                                (bytes((256 << 20) + 1), 3, "standard input: it is too long")):
        done = subprocess.run([RUN, "--info", "-"], input=data, capture_output=True, cwd=OUT, check=False, timeout=SECONDS)
        equal(done.returncode, status, words)
        matches(words, done.stderr.decode())
    ours, theirs = pty.openpty()
    done = subprocess.run([RUN, "-"], stdin=theirs, capture_output=True, cwd=OUT, check=False, timeout=SECONDS)
    os.close(ours)
    os.close(theirs)
    equal(done.returncode, 2)
    matches("standard input is a terminal", done.stderr.decode())
    status, _, err = run("--info", ".")
    equal(status, 1)
    matches("Is a directory", err)


@test("durations are those of gtp: a number and ms, s, m or h, and no other form of a number")
def durations():
    for text in ("", "s", "0", "0s", "0.0s", "5x", "-1s", "+1s", " 1s", "5 s", "1m30s", "inf", "nan", "1e3", "1e-1s", "0x5s",
                 ".5s", "5.s", "1,5s"):
        status, _, err = run("--for=" + text, "a.gtpd")
        equal(status, 2, text)
        matches("is no time; write 5s, 500ms, 2m or 1h", err)
    for text in ("1ms", "0.1ms", "0.05s", "00.001", "0.001m", "0.00001h"):
        with Target() as target:
            equal(run("--for=" + text, "-o", "run.tf", "a.gtpd", target=target)[0], 0, text)


class Module:
    """A fake module. It answers each packet with ON_PACKET(module, text), or with OK."""

    def __init__(self, on_packet):
        self.line, self.theirs = pty.openpty()
        tty.setraw(self.theirs, termios.TCSANOW)
        self.on_packet, self.packets = on_packet, []
        self.process = subprocess.Popen([RUN, "--device", os.ttyname(self.theirs), "-o", "never.tf", "a.gtpd"], cwd=OUT,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def answer(self, text):
        said = self.on_packet(self, text)
        if said:
            return [said]
        if text.startswith("qRcmd,"):
            console = {"build-id": build_id("prog") + "\n"}.get(bytes.fromhex(text[6:]).decode(), "")
            return [("O" + console.encode().hex()) * bool(console), "OK"]
        fixed = {"qTStatus": "T0;tnotrun:0", "qOffsets": "TextSeg=%x" % SYMBOLS["_text"]}
        return [fixed.get(text, "OK")]

    def talk(self):
        """Wait until gtp-run has ended. Return (status, its error messages)."""
        received = os.read(self.line, 65536)
        # From now on only gtp-run has the terminal open, so reading ends when it exits.
        os.close(self.theirs)
        while True:
            for found in PACKET.finditer(received):
                received = received[received.index(found.group()) + len(found.group()):]
                text = unframed(*found.groups()).decode("latin1")
                self.packets.append(text)
                for answer in filter(None, self.answer(text)):
                    os.write(self.line, b"+" + framed(answer))
            try:
                received += os.read(self.line, 65536)
            except OSError:
                break
        os.close(self.line)
        _, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, err


def interrupted(at, number, answer="OK"):
    """Send the signal NUMBER to gtp-run while the first packet that begins with AT is being answered. Return that packet and
    all later packets, and gtp-run's messages."""
    def on_packet(module, text):
        if text.startswith(at) and not sent:
            sent.append(len(module.packets))
            module.process.send_signal(number)
            return answer
        return None

    sent = []
    module = Module(on_packet)
    status, err = module.talk()
    equal(status, 130, err)
    check(not os.path.exists(OUT + "/never.tf") and not os.path.exists(OUT + "/never.tf.part"), "a file was written")
    return module.packets[sent[0]:], err


@test("^C while the session is being defined ends it at once: nothing starts, and nothing stays defined")
def interrupted_definitions():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        rest, err = interrupted("QTDP:2:", number)
        equal(rest, ["QTinit"])
        matches("interrupted before the run began; nothing is defined", err)


@test("^C before anything is defined leaves existing definitions alone")
def interrupted_settings():
    rest, err = interrupted("qRcmd," + b"strict".hex(), signal.SIGINT, "OK")
    equal(rest, [])
    matches("interrupted before the run began; nothing is changed", err)


@test("^C while probes are being armed: whether the start fails or not, the run is over and nothing stays defined")
def interrupted_start():
    rest, _ = interrupted("QTStart", signal.SIGINT, "E.interrupted: nothing is armed")
    equal(rest, ["QTinit"])
    rest, _ = interrupted("QTStart", signal.SIGINT, "OK")
    equal(rest, ["QTStop", "QTinit"])


@test("a session that cannot be moved to the kernel's address is refused before the previous run is lost")
def does_not_fit():
    part, = gtpd.split(content("a.gtpd"))
    kernel = next(gtpd.record(kind, data) for kind, data in gtpd.records(gtpd.whole([part.data])))
    packets = gtpd.packet_record("QTinit", []) + gtpd.packet_record("QTDP:1:ff:E:0:0", [gtpd.Field("7:2:n")])
    with open(OUT + "/narrow.gtpd", "wb") as file:
        file.write(gtpd.whole([kernel + packets]))
    with Target(slide=0x200000) as target:
        equal(run("a.gtpd", "-o", "run.tf", "--for", "100ms", target=target)[0], 0)
        with Client(path=target.path) as client:
            before = client.ask("qTStatus"), client.ask("qTfP")
        status, _, err = run("narrow.gtpd", "-o", "never.tf", target=target)
        with Client(path=target.path) as client:
            equal((client.ask("qTStatus"), client.ask("qTfP")), before)
    equal(status, 3, err)
    check(before[1] != "l", "nothing was defined before")
    matches("does not fit where the kernel lies now; nothing was changed", err)
    check(not os.path.exists(OUT + "/never.tf"), "a file was written")


def made(*words):
    """Build gtp-run with a compiler that has no static C library. Return (status, output, path of the program)."""
    folder = OUT + "/made"
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/cc", "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nfor w; do [ "$w" != -static ] || { echo "cannot find -lc" >&2; exit 1; }; done\nexec gcc "$@"\n')
    os.chmod(folder + "/cc", 0o755)
    done = subprocess.run(["make", "-s", "-C", TOP + "/tools", "out=" + folder, "CC=%s/cc" % folder, *words,
                           folder + "/gtp-run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout, folder + "/gtp-run"


@test("without a static C library gtp-run is built for this machine, and the build says so; for a package it is not built")
def no_static_library():
    status, text, path = made("RUN_STATIC=yes")
    check(status != 0 and not os.path.exists(path), "gtp-run is built without a static library: " + text)
    status, text, path = made()
    equal(status, 0, text)
    matches("gtp-run needs the C library of this machine", text)
    done = subprocess.run([path, "--info", "a.gtpd"], cwd=OUT, capture_output=True, text=True, check=False)
    equal(done.stdout, run("--info", "a.gtpd")[1])
    with open(TOP + "/debian/rules", encoding="ascii") as file:
        matches(r"^\t\$\(MAKE\) tools RUN_STATIC=yes$", file.read())
