# SPDX-License-Identifier: GPL-2.0-only
"""A client of /proc/gtp that sends single packets: for packets that GDB would never send, and for speed."""
import os
import re
import select
import socket
import time

from tap import SECONDS
from where import there

LINE = there.line

PACKET = re.compile(rb"\$([^#$]*)#([0-9a-fA-F]{2})", re.S)
CONSOLE = re.compile(r"O([0-9a-fA-F]{2})+")


class Gone(Exception):
    """The stub has closed the connection, or its answers are wrong."""


def as_bytes(text):
    return text.encode("latin1") if isinstance(text, str) else bytes(text)


def framed(text):
    """Return TEXT (a string or bytes) as a packet. Bytes with a meaning in the framing are escaped."""
    body = re.sub(rb"[#$}*]", lambda m: bytes((0x7d, m.group()[0] ^ 0x20)), as_bytes(text))
    return b"$%s#%02x" % (body, sum(body) % 256)


def unframed(body, checksum):
    """Return the content of a packet, with run lengths expanded and escapes resolved."""
    if sum(body) % 256 != int(checksum, 16):
        raise Gone("checksum %s is wrong for %r" % (checksum.decode(), body))
    body = re.sub(rb"(.)\*(.)", lambda m: m.group(1) * (m.group(2)[0] - 28), body, flags=re.S)
    return re.sub(rb"\}(.)", lambda m: bytes((m.group(1)[0] ^ 0x20,)), body, flags=re.S)


def opened(flags, path):
    """Open the file PATH, or without a PATH the connection to the tested kernel. Outside of the guest, this connection is a
    socket."""
    if path or there.here:
        # If the connection became this process's controlling terminal, a hangup could kill the process.
        return os.open(path or there.line, flags | os.O_NOCTTY)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(there.line)
        return line.detach()


class Client:
    """One connection to the stub. It uses acknowledgements only if ACKS is true. Packet contents are strings with one
    character for each byte."""

    def __init__(self, acks=False, flags=os.O_RDWR, path=None):
        self.fd = opened(flags, path)
        self.received = b""
        self.console = ""  # what the stub printed before the last reply
        self.on_console = lambda text: None  # called with each piece of console text
        self.acks = True
        self.write(b"+")
        if not acks:
            self.ok("QStartNoAckMode")
            self.acks = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    # Packets ---------------------------------------------------------------------------------

    def write(self, data):
        """Write bytes to the stub, all of them and unchanged."""
        while data:
            data = data[os.write(self.fd, data):]

    def send(self, text):
        """Send one packet, without waiting for its reply."""
        self.write(framed(text))

    def arrived(self, seconds):
        """Return the next packet's content, console text included. Return None if none arrives in time."""
        deadline = time.monotonic() + seconds
        while True:
            found = PACKET.search(self.received)
            if found:
                self.received = self.received[found.end():]
                if self.acks:
                    self.write(b"+")
                return unframed(*found.groups()).decode("latin1")
            if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            data = os.read(self.fd, 65536)
            if not data:
                raise Gone("end of file")
            self.received += data

    def packet(self, seconds=SECONDS):
        """Return the next packet's content, which must arrive in time."""
        text = self.arrived(seconds)
        if text is None:
            raise Gone("no packet in %d s, only %r" % (seconds, self.received[:60]))
        return text

    def reply(self, seconds=SECONDS):
        """Return the next packet that is not console text. Keep the text before it."""
        self.console = ""
        while True:
            text = self.packet(seconds)
            if not CONSOLE.fullmatch(text):
                return text
            text = bytes.fromhex(text[1:]).decode(errors="replace")
            self.console += text
            self.on_console(text)

    def ask(self, text, seconds=SECONDS):
        """Send a packet. Return its reply."""
        self.send(text)
        return self.reply(seconds)

    def ok(self, text):
        answer = self.ask(text)
        assert answer == "OK", "%s was answered %r" % (text, answer)

    def resync(self):
        """Recover after garbage was sent: end any partial packet, drop queued replies, and wait for a known answer."""
        self.write(b"#00\x03")
        self.send("qAttached")
        for _ in range(100000):
            if self.reply() == "1":
                return
        raise Gone("no end of replies after garbage")

    # GDB's use of them -------------------------------------------------------------------

    def monitor(self, command):
        self.ok("qRcmd," + command.encode().hex())
        return self.console

    def status(self):
        """Return qTStatus as a dictionary. "run" is T0 or T1, "why" is the stop reason."""
        run, *fields = self.ask("qTStatus").split(";")
        pairs = [field.split(":", 1) for field in fields]
        return {**dict(pairs), "run": run, "why": pairs[0][0]}

    def running(self):
        return self.status()["run"] == "T1"

    def variables(self, names):
        """Define trace state variables. NAMES is {number: name}."""
        for number, name in names.items():
            self.ok("QTDV:%x:0:0:%s" % (number, name.encode().hex()))

    def tracepoint(self, number, address, *actions, condition="", passcount=0):
        """Define another tracepoint. CONDITION is bytecode in hex, ACTIONS are those of QTDP."""
        condition = ":X%x,%s" % (len(condition) // 2, condition) if condition else ""
        self.ok("QTDP:%x:%x:E:0:%x%s%s" % (number, address, passcount, condition, "-" if actions else ""))
        for i, action in enumerate(actions, 1):
            self.ok("QTDP:-%x:%x:%s%s" % (number, address, action, "-" if i < len(actions) else ""))

    def define(self, *definitions):
        """Define these tracepoints, after removing all others. Each is (number, address) or (number, address, actions)."""
        self.ok("QTinit")
        for definition in definitions:
            self.tracepoint(*definition)

    def start(self, *definitions):
        self.define(*definitions)
        self.ok("QTStart")

    def hits(self, number, address):
        return int(self.ask("qTP:%x:%x" % (number, address))[1:].split(":")[0], 16)
