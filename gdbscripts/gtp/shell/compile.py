# SPDX-License-Identifier: GPL-2.0-only
"""`gtp compile`: a session of GDB's as a file for gtp-run, for a machine that has neither GDB nor vmlinux."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from gtp.shell import child, gtpd, ready
from gtp.shell.failure import OK, Failure

MAIN = "python import gtp.offline; gtp.offline.main()"
SLIDE = 0x12600000  # any multiple of 2 MiB below 1 GiB: the kernel may be there
NO_TOOL = "there is no %s; it comes with gdbtp's tools (make tools)"
TWICE = "%s and %s are of the same kernel (build-id %s); one is enough"


def tool(name, *places):
    """A program of ours: in a checkout, or where it is installed."""
    top = os.path.dirname(child.SCRIPTS)
    for path in [os.path.join(top, place, name) for place in places] + [shutil.which(name)]:
        if path and os.access(path, os.X_OK):
            return path
    return None


def record_tool():
    found = tool("gdbtp-record", "build/tools", "../../libexec/gdbtp")
    if not found:
        raise Failure(NO_TOOL % "gdbtp-record")
    return found


def play(session, vmlinux, slide, folder):
    """What a GDB of its own makes of the session: what gtp.offline tells, and the packets."""
    path = os.path.join(folder, "%x" % slide)
    request = {"session": session, "record": record_tool(), "slide": slide, "markers": path + ".markers",
               "packets": path + ".packets", "found": path + ".found"}
    words = child.arguments(ready.gdb(), vmlinux, None) + ["-iex", "set index-cache enabled on"]
    if os.environ.get("GTP_GDB_INDEX"):
        words += ["-iex", "set index-cache directory " + os.environ["GTP_GDB_INDEX"]]
    done = subprocess.run(words + ["-batch", "-ex", MAIN], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env=dict(os.environ, GTP_COMPILE=json.dumps(request), PYTHONDONTWRITEBYTECODE="1"))
    try:
        with open(request["found"], encoding="utf-8") as file:
            found = json.load(file)
    except OSError:
        raise Failure("GDB has ended without a word\n" + done.stdout.strip()[-2000:]) from None
    if "error" in found:
        raise Failure(found["error"])
    return found, gtpd.recorded(request["packets"])


def table(vmlinux, folder):
    """The bytes of the kernel's table of regions; None when it cannot be made here."""
    maker = tool("gdbtp-tables", "tools", "../../bin")
    if not maker:
        return None
    done = subprocess.run([maker, "make", folder, vmlinux], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    try:
        with open(os.path.join(folder, "vmlinux.rgn"), "rb") as file:
            return file.read()
    except OSError:
        sys.stderr.write("gtp: no table of regions for %s: where none is loaded, probes are breakpoints\n%s" %
                         (vmlinux, done.stdout))
        return None


def part(session, vmlinux, with_table):
    """(build-id, records) of a kernel."""
    with tempfile.TemporaryDirectory(prefix="gtp-compile-") as folder:
        found, here = play(session, vmlinux, 0, folder)
        _, there = play(session, vmlinux, SLIDE, folder)
        packets = gtpd.moved(here, there, SLIDE)
        return found["build_id"], b"".join(gtpd.part(found, packets, table(vmlinux, folder) if with_table else None))


def parts(given):
    """The records of every kernel, in the order of their build-ids."""
    found, files = {}, {}
    for vmlinux in given.vmlinux:
        if not os.path.isfile(vmlinux):
            raise Failure("%s is no file" % vmlinux)
        build_id, data = part(given.session, vmlinux, not given.no_table)
        if build_id in found:
            raise Failure(TWICE % (files[build_id], vmlinux, build_id))
        found[build_id], files[build_id] = data, vmlinux
    return [data for _, data in sorted(found.items())]


def run(given):
    if not os.path.isfile(given.session):
        raise Failure("%s is no file" % given.session)
    if os.path.exists(given.output) and not os.path.isfile(given.output):
        raise Failure("%s is no ordinary file, and would be replaced by one" % given.output)
    if not given.vmlinux:
        given.vmlinux = [ready.vmlinux(None, os.uname().release)]
    data = gtpd.whole(parts(given))
    part_path = given.output + ".part"
    try:
        with open(part_path, "wb") as file:
            file.write(data)
        os.replace(part_path, given.output)
    except OSError as error:
        raise Failure("%s: %s" % (given.output, error.strerror)) from None
    print("%s: %d bytes for %d kernel%s" % (given.output, len(data), len(given.vmlinux), "s"[len(given.vmlinux) == 1:]))
    return OK
