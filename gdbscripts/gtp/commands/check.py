# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp check`: are GDB's symbols those of the running kernel?
import os

import gdb

from gtp.files import debugfile
from gtp.gdblib import gdbcall, remote, screen
from gtp.gdblib.command import Command

WRONG = """{file} is not of the running kernel; what GDB shows would be wrong.
  running kernel: {release}, build-id {live}
  loaded symbols: build-id {loaded}
{advice}"""

ADVICE_FOUND = """The right file is on this machine. Connect again with it:
  (gdb) disconnect
  (gdb) file {path}
  (gdb) target remote /proc/gtp"""

ADVICE_GET = """Get the right one:
  Debian: apt install linux-image-{release}-dbg, then file /usr/lib/debug/boot/vmlinux-{release}
  any distribution with a debuginfod server: file $(debuginfod-find debuginfo {live})
Load it before you connect."""

MISPLACED = """{file} is of the running kernel, but its symbols are not where the kernel lies.
The kernel is moved at boot (KASLR), and GDB asks where to only when it connects:
  (gdb) disconnect
  (gdb) target remote /proc/gtp"""


def main_objfile():
    name = gdb.current_progspace().filename
    if name is None:
        raise gdb.GdbError("no vmlinux is loaded; say file vmlinux, then target remote /proc/gtp")
    return gdb.lookup_objfile(name)


def advice(release, build_id):
    for path in debugfile.places(release, build_id):
        if os.path.exists(path):
            return ADVICE_FOUND.format(path=path)
    return ADVICE_GET.format(release=release, live=build_id)


def banner_is_there():
    """Return whether the kernel has its linux_banner at the address that GDB's symbols give."""
    try:
        address = gdbcall.value("(long)&linux_banner")
        text = gdb.selected_inferior().read_memory(int(address) % 2**64, 14).tobytes()
    except gdb.error:
        return False
    return text == b"Linux version "


class GtpCheck(Command):
    """Compare the loaded vmlinux with the running kernel.

gtp check
Their build-ids must be the same, and the symbols must be at the kernel's
addresses. Says what to do if they are not."""

    def __init__(self):
        super().__init__("gtp check", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        if arg:
            raise gdb.GdbError("gtp check takes no argument")
        objfile = main_objfile()
        live = remote.build_id()
        if live is None:
            raise gdb.GdbError("the module does not know the running kernel's build-id")
        if objfile.build_id != live:
            release = remote.release() or "of unknown release"
            raise gdb.GdbError(WRONG.format(file=objfile.filename, release=release, live=live,
                                            loaded=objfile.build_id or "none",
                                            advice=advice(release, live)))
        if not banner_is_there():
            raise gdb.GdbError(MISPLACED.format(file=objfile.filename))
        screen.say("%s is of the running kernel (build-id %s)." % (objfile.filename, live))


GtpCheck()
