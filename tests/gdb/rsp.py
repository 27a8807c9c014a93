# SPDX-License-Identifier: GPL-2.0-only
# A small client of /proc/gtp: packets by hand, for what GDB would never send and for what must be quick.
import errno
import os
import re
import select

PIPE = "/proc/gtp"


class Gone(Exception):
    """The other end does not answer as it must."""


def framed(data):
    """DATA as a packet; bytes that mean something to the framing are escaped."""
    body = bytearray()
    for byte in data:
        body += bytes((0x7d, byte ^ 0x20)) if byte in b"#$}*" else bytes((byte,))
    return b"$%s#%02x" % (bytes(body), sum(body) % 256)


class Client:
    """One connection. Acknowledges what it gets; console texts are kept apart from replies."""

    def __init__(self, path=PIPE):
        self.fd = os.open(path, os.O_RDWR)
        self.pending = b""
        self.console = ""

    def close(self):
        os.close(self.fd)

    def send(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def read(self, seconds):
        """Some bytes, or none when nothing comes in time."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return b""
        data = os.read(self.fd, 65536)
        if not data:
            raise Gone("end of file")
        return data

    def reply(self, seconds=60):
        """The next packet's content, console packets skipped; None when none comes in time."""
        while True:
            found = re.search(rb"\$([^#$]*)#[0-9a-fA-F]{2}", self.pending, re.S)
            if not found:
                data = self.read(seconds)
                if not data:
                    return None
                self.pending += data
                continue
            self.pending = self.pending[found.end():]
            self.send(b"+")
            body = re.sub(rb"\}(.)", lambda m: bytes((m.group(1)[0] ^ 0x20,)), found.group(1),
                          flags=re.S)
            if re.fullmatch(rb"O([0-9a-f]{2})+", body):
                self.console += bytes.fromhex(body[1:].decode()).decode(errors="replace")
                continue
            return body.decode(errors="replace")

    def ask(self, text, seconds=60):
        """Send a packet, return its reply."""
        self.send(framed(text.encode() if isinstance(text, str) else text))
        answer = self.reply(seconds)
        if answer is None:
            raise Gone("no reply to %r in %d s" % (text, seconds))
        return answer

    def must(self, text, wanted="OK"):
        answer = self.ask(text)
        if answer != wanted:
            raise Gone("%s was answered %r, not %r" % (text, answer, wanted))

    def resync(self):
        """After garbage: leave any half packet, drop what is queued, and have a known answer again."""
        self.send(b"#00\x03" + framed(b"qAttached"))
        for _ in range(100000):
            answer = self.reply(60)
            if answer is None:
                raise Gone("no reply after garbage")
            if answer == "1":
                return
        raise Gone("no end of replies after garbage")

    def monitor(self, command):
        self.console = ""
        self.ask("qRcmd," + command.encode().hex())
        return self.console

    # Runs ------------------------------------------------------------------------------------

    def define(self, num, addr, actions=(), condition="", passcount=0):
        cond = ":X%x,%s" % (len(condition) // 2, condition) if condition else ""
        self.must("QTDP:%x:%016x:E:0:%x%s%s" % (num, addr, passcount, cond, "-" if actions else ""))
        for i, action in enumerate(actions):
            self.must("QTDP:-%x:%016x:%s%s" % (num, addr, action, "-" if i + 1 < len(actions) else ""))

    def start(self, disconnected=False, circular=True):
        self.must("QTDisconnected:%d" % disconnected)
        self.must("QTBuffer:circular:%d" % circular)
        self.must("QTStart")

    def hits(self, num, addr):
        answer = self.ask("qTP:%x:%x" % (num, addr))
        return int(answer[1:].split(":")[0], 16)

    def running(self):
        return self.ask("qTStatus").startswith("T1")


def connect(seconds=60):
    """A connection, also when whoever had the last one is about to let it go."""
    try:
        return Client()
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise Gone("busy: the last connection is still there")
        raise
