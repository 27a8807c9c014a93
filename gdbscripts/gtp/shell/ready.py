# SPDX-License-Identifier: GPL-2.0-only
"""Preconditions for starting GDB: root, the module, vmlinux, GDB, a folder for GDB's index."""
import os
import shutil
import subprocess

from gtp.files import debugfile, elf
from gtp.shell.failure import Failure

DEVICE = "/proc/gtp"
CACHE = "/var/cache/gdbtp"
NOTES = "/sys/kernel/notes"

NOT_ROOT = "tracing the kernel is for root; say: sudo gtp ..."
NOT_LOADED = "%s is not there: the module is not loaded.\nmodprobe gdbtp says: %s"
NO_VMLINUX = """there is no vmlinux with debug information of the running kernel, %s. Looked for:
  %s
Debian: apt install linux-image-%s-dbg
any distribution with a debuginfod server: gtp --vmlinux $(debuginfod-find debuginfo %s) ..."""
NO_GDB = "there is no gdb; Debian: apt install gdb"


def build_id(path=NOTES):
    """Return the running kernel's build-id in hexadecimal, or None if the kernel has no build-id."""
    try:
        with open(path, "rb") as file:
            notes = file.read()
    except OSError:
        return None
    at = notes.find(elf.BUILD_ID_NOTE)
    return notes[at + 16:at + 36].hex() if at >= 0 else None


def module():
    """Load gdbtp.ko if it is not loaded."""
    if os.path.exists(DEVICE):
        return
    try:
        done = subprocess.run(["modprobe", "gdbtp"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        said = done.stdout.strip()
    except OSError as error:
        said = str(error)
    if not os.path.exists(DEVICE):
        raise Failure(NOT_LOADED % (DEVICE, said or "nothing"))


def given(path):
    """Return the path of the user's vmlinux as an argument for GDB, changed so that a leading dash cannot begin an
    option."""
    if not os.path.isfile(path):
        raise Failure("%s is not a file" % path)
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            raise Failure("%s is not an ELF file; a vmlinux with debug information is one" % path)
    return "./" + path if path.startswith("-") else path


def vmlinux(named, release):
    """Return the path of the vmlinux with debug information: the file NAMED if given, else the first one found."""
    named = named or os.environ.get("VMLINUX")
    if named:
        return given(named)
    known = build_id()
    paths = list(debugfile.places(release, known))
    for path in paths:
        if os.path.isfile(path):
            return path
    raise Failure(NO_VMLINUX % (release, "\n  ".join(paths), release, known or "BUILD-ID"))


def cache(release):
    """Return the folder of GDB's index, beside the other files that gdbtp keeps for this kernel, or None if it cannot
    be made."""
    folder = os.path.join(CACHE, release, "gdb-index")
    try:
        os.makedirs(folder, mode=0o755, exist_ok=True)
    except OSError:
        return None
    return folder


def gdb():
    found = shutil.which("gdb")
    if not found:
        raise Failure(NO_GDB)
    return found


def all_of_it(named):
    """Check all preconditions and load the module. Return (gdb, vmlinux, folder of GDB's index or None)."""
    if os.geteuid() != 0:
        raise Failure(NOT_ROOT)
    release = os.uname().release
    found = gdb(), vmlinux(named, release)
    module()
    return (*found, cache(release))
