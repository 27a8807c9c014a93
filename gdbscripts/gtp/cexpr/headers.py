# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's headers: where they are, which of them defines a macro, and how the compiler expands the macro.

vmlinux has no macros. In a GDB session, the compiler is asked only once for each name.
"""
import contextlib
import functools
import os
import re
import subprocess
import tempfile

import gdb

from gtp.gdblib import gdbcall

FOLDERS = ("include", "arch/x86/include")
SEARCH = ("arch/x86/include", "arch/x86/include/generated", "include", "arch/x86/include/uapi",
          "arch/x86/include/generated/uapi", "include/uapi", "include/generated/uapi")
FORCED = ("include/linux/compiler-version.h", "include/linux/kconfig.h", "include/linux/compiler_types.h")
# Kbuild also defines CC_USING_FENTRY: since 7.x, compiling asm/ftrace.h fails without it.
FLAGS = ("-nostdinc", "-D__KERNEL__", '-DKBUILD_MODNAME="gtp"', '-DKBUILD_BASENAME="gtp"', "-DCC_USING_FENTRY",
         "-std=gnu11", "-fms-extensions", "-fshort-wchar", "-fno-pie", "-mcmodel=kernel", "-mno-sse", "-mno-80387",
         "-O2", "-w", "-x", "c")
MOST_TRIES = 6
SECONDS = 60
ORDER = ("include/linux/", "include/net/", "arch/x86/include/asm/", "include/uapi/linux/", "arch/x86/include/uapi/asm/",
         "include/generated/", "arch/x86/include/generated/", "include/asm-generic/", "include/uapi/asm-generic/")


class Missing(Exception):
    """The kernel's headers or the compiler are missing; the message says what to install."""


class HeadersParameter(gdb.Parameter):
    """Where the headers of the traced kernel are.

Empty means /lib/modules/RELEASE/build. The headers define the macros that an
expression names."""

    set_doc = "Set the folder of the traced kernel's headers."
    show_doc = "Show the folder of the traced kernel's headers."

    def __init__(self):
        super().__init__("gtp-headers", gdb.COMMAND_FILES, gdb.PARAM_FILENAME)
        self.value = self.before = ""

    def get_set_string(self):
        """Restore the previous value if the new folder has no headers. Return an empty text for GDB to print."""
        wanted = self.value
        if wanted and not os.path.isdir(os.path.join(wanted, "include")):
            self.value = self.before
            raise gdb.GdbError("%s has no folder include: it is not a folder with a kernel's headers" % wanted)
        self.before = wanted
        return ""

    def get_show_string(self, svalue):
        return "The kernel's headers are in %s." % (svalue or "/lib/modules/RELEASE/build")


PARAMETER = HeadersParameter()


releases = {}  # path of a vmlinux -> its release as last read. A trace frame does not contain the release.


def release():
    """Return the release of the kernel whose symbols are loaded."""
    path = gdb.current_progspace().filename
    try:
        releases[path] = gdbcall.value("init_uts_ns.name.release").string()
    except (gdb.error, UnicodeDecodeError):
        pass
    return releases.get(path)


asked = True


@contextlib.contextmanager
def unasked():
    """Context manager: do not use the headers in the block. Using them starts processes, and untrusted text must not
    start any."""
    global asked
    before, asked = asked, False
    try:
        yield
    finally:
        asked = before


def folder():
    """Return the folder of the kernel's headers."""
    if not asked:
        raise Missing("the text has been brought by a file or a target, and says all by itself")
    if PARAMETER.value:
        return PARAMETER.value
    name = release()
    if name is None:
        raise Missing("tfind none, once, or set gtp-headers FOLDER" if gdb.current_progspace().filename else
                      "load vmlinux first")
    path = "/lib/modules/%s/build" % name
    if not os.path.isdir(path + "/include"):
        raise Missing("apt install linux-headers-%s gcc (or set gtp-headers FOLDER), write the number, or enum and "
                      "variable names, which vmlinux knows" % name)
    return os.path.realpath(path)


@functools.lru_cache(None)
def roots(path):
    """Return the headers' folder PATH, and the folder to which its Makefile refers. Debian's headers and out-of-tree
    builds keep the common headers in that second folder."""
    found = [path]
    try:
        with open(path + "/Makefile", encoding="utf-8", errors="replace") as file:
            included = re.search(r"^include\s+(.*)/Makefile\s*$", file.read(), re.M)
    except OSError:
        included = None
    if included:
        other = included.group(1).replace("$(dir $(lastword $(MAKEFILE_LIST)))", path + "/")
        if not os.path.isdir(other):
            other = os.path.join(os.path.dirname(path), os.path.basename(other))
        if os.path.isdir(other):
            found.append(os.path.realpath(other))
    return found


def rank(path):
    first = next((i for i, start in enumerate(ORDER) if path.startswith(start)), len(ORDER))
    return first, path.count("/"), path


@functools.lru_cache(None)
def defining(path, name, like):
    """Return the names by which to #include the headers that define a macro, the likeliest header first. LIKE is "(" if
    the macro has parameters."""
    pattern = r"^[[:space:]]*#[[:space:]]*define[[:space:]]+%s%s" % (name, r"\(" if like else r"([[:space:]]|$)")
    found = set()
    for root in roots(path):
        folders = [f for f in FOLDERS if os.path.isdir(os.path.join(root, f))]
        done = subprocess.run(["grep", "-rlE", "--include=*.h", pattern] + folders, cwd=root, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        found.update(done.stdout.split())
    return [included(p) for p in sorted(found, key=rank)]


def included(path):
    """Return a header's path as an #include names it: net/sock.h for include/net/sock.h."""
    for start in ("include/generated/uapi/", "arch/x86/include/generated/uapi/", "arch/x86/include/generated/",
                  "arch/x86/include/", "include/"):
        if path.startswith(start):
            return path[len(start):]
    return path


def compiler(path, text, *options):
    """Return gcc's output for the source text, or None if gcc refuses it."""
    command = ["gcc"] + list(FLAGS)
    for root in roots(path):
        command += ["-I%s/%s" % (root, folder_) for folder_ in SEARCH]
    for file in FORCED:
        at = next((os.path.join(r, file) for r in roots(path) if os.path.exists(os.path.join(r, file))), None)
        command += ["-include", at] if at else []
    try:
        done = subprocess.run(command + list(options) + ["-o", "-", "-"], input=text, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, timeout=SECONDS, cwd=tempfile.gettempdir(), check=False)
    except FileNotFoundError:
        raise Missing("apt install gcc, or write the number") from None
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None
