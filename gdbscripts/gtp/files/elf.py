# SPDX-License-Identifier: GPL-2.0-only
# Makes copies of module files in which no section has an address: GDB places only such files section by section.
import atexit
import os
import shutil
import struct
import tempfile

ET_REL = 1
SHT_NOTE = 7
# The head of a build-id's note: an owner's name of 4 bytes, a description of 20 bytes, type 3.
BUILD_ID_NOTE = struct.pack("<III4s", 4, 20, 3, b"GNU\0")

scratch = None
files = {}


def section_headers(data):
    """Yield the offset of every section header. Yield nothing if this is not a 64-bit object file."""
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


def build_id(data):
    """Return the build-id of an object file in hex, or None."""
    for header in section_headers(data):
        kind, = struct.unpack_from("<I", data, header + 4)
        offset, size = struct.unpack_from("<QQ", data, header + 24)
        note = bytes(data[offset:offset + size])
        if kind == SHT_NOTE and note[:16] == BUILD_ID_NOTE:
            return note[16:36].hex()
    return None


def addressed(data):
    """Return the section headers that already carry an address."""
    return [h for h in section_headers(data) if struct.unpack_from("<Q", data, h + 16)[0]]


def copy_without_addresses(path, data, headers):
    global scratch
    if scratch is None:
        scratch = tempfile.mkdtemp(prefix="gtp-modules-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    for header in headers:
        struct.pack_into("<Q", data, header + 16, 0)
    copy = os.path.join(tempfile.mkdtemp(dir=scratch), os.path.basename(path))
    with open(copy, "wb") as out:
        out.write(data)
    return copy


class File:
    """A module file: its build-id, and a path that GDB can place, which is the file's own or that of a copy.

    Since about 6.10 the kernel links a module's .data at an address after the preceding sections. GDB then does not
    place the file's sections one by one, and shows all of its variables relative to .text.
    """

    def __init__(self, path):
        with open(path, "rb") as file:
            data = bytearray(file.read())
        self.build_id = build_id(data)
        headers = addressed(data)
        self.path = copy_without_addresses(path, data, headers) if headers else path


def read(path):
    """Return the File of a path, read again only when it has changed."""
    key = (path, os.stat(path).st_mtime_ns)
    if key not in files:
        files[key] = File(path)
    return files[key]
