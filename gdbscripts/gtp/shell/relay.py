# SPDX-License-Identifier: GPL-2.0-only
"""Relays between GDB and /proc/gtp. This process holds /proc/gtp open, so its own tasks, which print the rows, are not
traced.

GDB connects to a socket. While GDB waits in a `continue', the relay takes the text of dprintfs out of the stream; GDB
sees only the end of the wait.
"""
import errno
import os
import re
import shutil
import socket
import tempfile

from gtp.shell.failure import Failure
from gtp.shell.ready import DEVICE

CONTINUE = re.compile(rb"\$(?:c|vCont;c)[^#$]*#[0-9a-f]{2}")
PACKET = re.compile(rb"\$([^#]*)#[0-9a-f]{2}")
PIECE = 1 << 16
INTERRUPT = b"\x03"

WHY = {errno.EBUSY: "another GDB, or another gtp, is connected to it; there is one at a time",
       errno.EPERM: "the kernel does not allow it: it is for root, and not in lockdown",
       errno.EACCES: "it is for root"}


def opened():
    try:
        return os.open(DEVICE, os.O_RDWR)
    except OSError as error:
        raise Failure("%s: %s" % (DEVICE, WHY.get(error.errno, error.strerror))) from None


def broken(error):
    return Failure("%s: the line to the kernel is broken (%s); the probes are taken out. Start the command again" %
                   (DEVICE, error.strerror))


class Relay:
    """Holds the open file /proc/gtp, the socket to which GDB connects, and GDB's connection once there is one."""

    def __init__(self, line=None):
        self.line = opened() if line is None else line
        self.folder = tempfile.mkdtemp(prefix="gtp-")
        self.path = os.path.join(self.folder, "line")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.gdb = None
        self.waiting = False
        self.sent = self.kept = b""

    def accept(self):
        self.gdb = self.listener.accept()[0]

    def from_gdb(self):
        """Pass bytes from GDB on to the module. Return False if GDB has exited."""
        try:
            data = self.gdb.recv(PIECE)
        except ConnectionError:
            data = b""
        if not data or self.line is None:
            return False
        self.sent += data
        if CONTINUE.search(self.sent):
            self.waiting = True
        self.sent = b"" if self.waiting else self.sent[max(self.sent.rfind(b"$"), 0):]
        while data:
            data = data[self.to_kernel(data):]
        return True

    def to_kernel(self, data):
        """Write DATA to the module. Return the number of bytes written."""
        try:
            return os.write(self.line, data)
        except OSError as error:
            raise broken(error) from None

    def to_gdb(self, data):
        """Send bytes to GDB. If GDB has exited, drop the bytes and close the connection; Child reports why GDB
        exited."""
        try:
            self.gdb.sendall(data)
        except ConnectionError:
            self.leave()

    def from_kernel(self):
        """Pass the module's packets on to GDB, except the dprintf text that arrives while GDB waits. Return this
        text."""
        if self.line is None:
            return b""
        try:
            data = os.read(self.line, PIECE)
        except OSError as error:
            raise broken(error) from None
        if not self.waiting:
            self.to_gdb(data)
            return b""
        self.kept += data
        text, at = [], 0
        for packet in PACKET.finditer(self.kept):
            if packet.group(1)[:1] != b"O" or packet.group(1) == b"OK":
                self.waiting = False
                self.to_gdb(self.kept[packet.start():])
                at = len(self.kept)
                break
            text.append(bytes.fromhex(packet.group(1)[1:].decode()))
            at = packet.end()
        self.kept = self.kept[at:]
        return b"".join(text)

    def interrupt(self):
        """End GDB's wait. The module answers after it has sent all text that was printed."""
        if self.waiting and self.line is not None:
            self.to_kernel(INTERRUPT)

    def leave(self):
        """Close /proc/gtp, so that GDB can open it itself."""
        if self.line is not None:
            os.close(self.line)
            self.line = None

    def close(self):
        self.leave()
        self.listener.close()
        if self.gdb:
            self.gdb.close()
        shutil.rmtree(self.folder, ignore_errors=True)
