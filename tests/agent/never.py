# SPDX-License-Identifier: GPL-2.0-only
"""Mounts a FUSE file system with one file, and never answers a read of this file. Needs root."""
import contextlib
import ctypes
import os
import struct
import tempfile
import threading

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 18, 25, 26
IN, OUT = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
DIRECTORY, FILE, SIZE = 0o40755, 0o100644, 4096
ENOSYS, FORCE_AND_DETACH = 38, 3


def attributes(node):
    return struct.pack("<6Q10I", node, SIZE, 8, 0, 0, 0, 0, 0, 0, DIRECTORY if node == 1 else FILE, 1, 0, 0, 0, SIZE, 0)


def reply(opcode, node):
    """Return the data of the reply to a FUSE request, or None if the reply is an error."""
    if opcode == INIT:
        return struct.pack("<4IHHIIHH8I", 7, 31, 0, 0, 1, 1, SIZE, 1, 1, 0, *[0] * 8)
    if opcode == LOOKUP:
        return struct.pack("<4QII", 2, 0, 3600, 3600, 0, 0) + attributes(2)
    if opcode == GETATTR:
        return struct.pack("<QII", 3600, 0, 0) + attributes(node)
    return struct.pack("<QII", 0, 0, 0) if opcode == OPEN else b"" if opcode in (RELEASE, FLUSH) else None


def serve(device, reads):
    """Answer the kernel's requests until the file system is unmounted. Leave reads unanswered, and set the event READS when
    the first one arrives."""
    while True:
        try:
            request = os.read(device, 1 << 18)
        except OSError:
            return
        _, opcode, unique, node = IN.unpack_from(request)[:4]
        if opcode == READ:
            reads.set()
        if opcode in (FORGET, READ):
            continue
        data = reply(opcode, node)
        os.write(device, OUT.pack(OUT.size + len(data or b""), -ENOSYS if data is None else 0, unique) + (data or b""))


@contextlib.contextmanager
def file():
    """Context manager: mount the file system. Yield the path of its file, and a threading.Event that is set when a read
    waits. Raise an OSError without the right to mount."""
    libc, reads = ctypes.CDLL(None, use_errno=True), threading.Event()
    device = os.open("/dev/fuse", os.O_RDWR)
    folder = tempfile.mkdtemp()
    how = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device
    server = threading.Thread(target=serve, args=(device, reads), daemon=True)
    try:
        if libc.mount(b"never", folder.encode(), b"fuse", 6, how):
            raise OSError(ctypes.get_errno(), "mount")
        server.start()
        try:
            yield os.path.join(folder, "file"), reads
        finally:
            libc.umount2(folder.encode(), FORCE_AND_DETACH)
            server.join()
    finally:
        os.close(device)
        os.rmdir(folder)
