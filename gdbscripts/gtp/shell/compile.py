# SPDX-License-Identifier: GPL-2.0-only
"""`gtp compile`: turns a file of GDB commands into a file for gtp-run, for a machine that has neither GDB nor
vmlinux."""
import os
import subprocess
import sys
import tempfile

from gtp.files import atomic
from gtp.shell import cache, child, gtpd, ready, tools
from gtp.shell.failure import OK, Failure
from gtp.text import harmless

RECORD = "build/tools", "../../libexec/gdbtp"
SLIDE = 0x12600000  # any offset that KASLR may choose: a multiple of 2 MiB below 1 GiB
TYPED = """note: %#x stands in the session as a number, and is in the kernel where vmlinux was linked. The number stays as it is
where the kernel lies elsewhere, as it does after each boot (KASLR): what is meant of the kernel, say by its symbol"""
TWICE = "%s and %s are of the same kernel (build-id %s); one is enough"


def said(path):
    """Return the messages that GDB wrote to the file PATH. Return an empty text if GDB failed before it made the
    file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def play(session, vmlinux, slide, folder, say=lambda text: None):
    """Compile the session in a separate GDB. Return the result of gtp.inside.compile, and the recorded packets. SAY is called
    with GDB's messages."""
    path = os.path.join(folder, "%x" % slide)
    request = {"session": session, "record": tools.needed("gdbtp-record", *RECORD), "slide": slide,
               "markers": path + ".markers", "packets": path + ".packets", "said": path + ".said"}
    words = child.arguments(ready.gdb(), vmlinux, None) + ["-iex", "set index-cache enabled on"]
    if os.environ.get("GTP_GDB_INDEX"):
        words += ["-iex", "set index-cache directory " + os.environ["GTP_GDB_INDEX"]]
    found = child.answer(words, "gtp.inside.compile", request, lambda: say(said(request["said"])))
    return found, gtpd.recorded(request["packets"])


def table(vmlinux, folder):
    """Return the table of regions of a vmlinux as bytes, or None if gdbtp-tables is missing or fails."""
    maker = tools.found("gdbtp-tables", "tools", "../../bin")
    if not maker:
        return None
    done = subprocess.run([maker, "make", folder, vmlinux], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    try:
        with open(os.path.join(folder, "vmlinux.rgn"), "rb") as file:
            return file.read()
    except OSError:
        sys.stderr.write(harmless.lines("gtp: no table of regions for %s: where none is loaded, probes are breakpoints\n%s" %
                                        (vmlinux, done.stdout)))
        return None


def part(session, vmlinux, with_table, say):
    """Return (build-id, records) of the session for one vmlinux. SAY is called once with each message of GDB or of
    gdbtp about this kernel."""
    with tempfile.TemporaryDirectory(prefix="gtp-compile-") as folder:
        found, here = play(session, vmlinux, 0, folder, say)
        _, there = play(session, vmlinux, SLIDE, folder)
        packets = gtpd.moved(here, there, SLIDE)
        for number in gtpd.typed(here, there, found["text"], found["end"]):
            say(TYPED % number)
        return found["build_id"], b"".join(gtpd.part(found, packets, table(vmlinux, folder) if with_table else None))


def sayer(prefix):
    """Return a function that prints messages on standard error, each line with the PREFIX."""
    def say(text):
        sys.stderr.write("".join("%s%s\n" % (prefix, harmless.lines(line)) for line in text.splitlines()))
        sys.stderr.flush()
    return say


def parts(session, given):
    """Return the session's records for every kernel, in the order of the build-ids."""
    found, files = {}, {}
    for vmlinux in map(ready.given, given.vmlinux):
        say = sayer(vmlinux + ": " if len(given.vmlinux) > 1 else "")
        build_id, data = part(session, vmlinux, not given.no_table, say)
        if build_id in found:
            raise Failure(TWICE % (files[build_id], vmlinux, build_id))
        found[build_id], files[build_id] = data, vmlinux
    return [data for _, data in sorted(found.items())]


def is_stream(path):
    """Return whether the session's file can be read only once, such as a pipe, or would be a different file in GDB,
    such as /dev/stdin."""
    return path.startswith(("/dev/", "/proc/")) or not os.path.isfile(path)


def copied(path, folder):
    """Copy the data of a pipe to a file, which can be read again for each kernel. Return the file's path."""
    copy = os.path.join(folder, "session.gdb")
    with open(os.dup(0) if path == "-" else path, "rb") as source, open(copy, "wb") as file:
        file.write(source.read())
    return copy


def compiled(given):
    """Compile a session for each kernel. Return the bytes of the compiled file."""
    if given.session != "-" and not is_stream(given.session):
        return gtpd.whole(parts(given.session, given))
    with tempfile.TemporaryDirectory(prefix="gtp-compile-") as folder:
        try:
            copy = copied(given.session, folder)
        except OSError as error:
            raise Failure("%s: %s" % (given.session, error.strerror)) from None
        name = "standard input" if given.session == "-" else given.session
        try:
            return gtpd.whole(parts(copy, given))
        except Failure as failure:
            raise Failure(str(failure).replace(copy, name)) from None


def write(path, data):
    """Write the compiled session to the output file. An existing file stays until the new one is complete."""
    try:
        with atomic.made(path) as made, open(made, "wb") as file:
            file.write(data)
    except OSError as error:
        raise Failure("%s: %s" % (path, error.strerror)) from None


def spare(output, read):
    """Refuse an output file that is also one of the input files."""
    for path in read:
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise Failure("%s is the input; name another file with -o" % output)


def run(given):
    if given.force and not given.cache:
        raise Failure("--force is of --cache; what -o names is replaced anyway")
    if given.output and os.path.exists(given.output) and not os.path.isfile(given.output):
        raise Failure("%s is no ordinary file, and would be replaced by one" % given.output)
    if given.cache:
        cache.path_of(given.cache)
    if given.output:
        spare(given.output, [given.session, *(given.vmlinux or ())])
    if not given.vmlinux:
        given.vmlinux = [ready.vmlinux(None, os.uname().release)]
    data = compiled(given)
    if given.cache:
        cache.keep(given.cache, data, given.force)
        return OK
    write(given.output, data)
    print("%s: %d bytes for %d kernel%s" % (given.output, len(data), len(given.vmlinux), "s"[len(given.vmlinux) == 1:]))
    return OK
