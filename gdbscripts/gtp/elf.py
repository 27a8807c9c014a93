# SPDX-License-Identifier: GPL-2.0-only
# Module files as GDB can place them: an object file whose sections have no address yet.
import atexit
import os
import shutil
import struct
import tempfile

ET_REL = 1

scratch = None
copies = {}


def section_headers(data):
    """The offset of every section header; nothing when this is no 64-bit object file."""
    if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01":
        return
    if struct.unpack_from("<H", data, 16)[0] != ET_REL:
        return
    start, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if size < 64 or start + size * count > len(data):
        return
    for i in range(count):
        yield start + i * size


def addressed(data):
    """The section headers that already carry an address."""
    return [h for h in section_headers(data) if struct.unpack_from("<Q", data, h + 16)[0]]


def copy_without_addresses(path, data, headers):
    global scratch
    if scratch is None:
        scratch = tempfile.mkdtemp(prefix="gtp-modules-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    for header in headers:
        struct.pack_into("<Q", data, header + 16, 0)
    copy = os.path.join(scratch, os.path.basename(path))
    with open(copy, "wb") as out:
        out.write(data)
    return copy


def placeable(path):
    """PATH, or a copy of it that GDB can place.

    Kernels since about 6.10 link .data of modules behind what comes before it. GDB then gives up
    placing the file's sections one by one, and shows all of its variables relative to .text.
    """
    key = (path, os.stat(path).st_mtime_ns)
    if key not in copies:
        with open(path, "rb") as file:
            data = bytearray(file.read())
        headers = addressed(data)
        copies[key] = copy_without_addresses(path, data, headers) if headers else path
    return copies[key]
