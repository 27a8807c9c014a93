# SPDX-License-Identifier: GPL-2.0-only
"""`gtp cache`: keep compiled sessions under names.

A name can have a session for each of several kernels; the kernel's build-id selects one."""
import contextlib
import fcntl
import os
import re
import subprocess
import sys
import tempfile
import time

from gtp.shell import gtpd, ready, tools
from gtp.shell.failure import OK, Failure, told
from gtp.text import harmless

END = ".gtpd"
PART = ".part"  # the end of the name of a file that is being written; the name begins with a dot
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}", re.A)
COLUMNS = "%-*s  %-*s  %-40s  %11s  %-16s  %9s"
TITLES = "NAME", "KERNEL", "BUILD-ID", "TRACEPOINTS", "DATE", "BYTES"

WRONG_NAME = "%r is not a name for a session: letters, digits and _ . + -, at most 100, the first one a letter, a digit or _"
NO_NAME = "%s is not in the cache, %s; gtp cache lists what is there"
IS_THERE = """%s has another session for %s already;
--force puts this one in its place, gtp cache remove %s takes all of it out"""
DAMAGED = "%s is damaged: %s. gtp cache remove %s takes it out"


# Where ----------------------------------------------------------------------------------------------


def folder():
    """Return the folder of the compiled sessions: under $XDG_CACHE_HOME if set, else beside the tables of regions for
    root, and in the home folder for other users."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):
        base = os.path.join(home, "gdbtp")
    else:
        base = ready.CACHE if os.geteuid() == 0 else os.path.expanduser("~/.cache/gdbtp")
    return os.path.join(base, "sessions")


def path_of(name):
    """Return the path of the session file for a name. The file may not exist."""
    if not NAME.fullmatch(name):
        raise Failure(WRONG_NAME % name)
    return os.path.join(folder(), name + END)


def there(name):
    """Return the path of the session file for a name that exists."""
    path = path_of(name)
    if not os.path.isfile(path):
        raise Failure(NO_NAME % (name, folder()))
    return path


def names():
    """Return the names of all compiled sessions."""
    try:
        found = os.listdir(folder())
    except FileNotFoundError:
        return []
    return sorted(file[:-len(END)] for file in found if file.endswith(END) and NAME.fullmatch(file[:-len(END)]))


@contextlib.contextmanager
def writing():
    """Context manager: hold the lock of the session folder, so that only one command at a time changes its files.
    Readers always find complete files."""
    os.makedirs(os.path.dirname(folder()), exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder(), 0o700)
    with open(os.path.join(folder(), ".lock"), "w", encoding="ascii", opener=private) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def private(path, flags):
    return os.open(path, flags, 0o600)


def write(path, data):
    """Write DATA to a new file, and rename it to PATH. Remove temporary files that a killed writer has left."""
    for file in os.listdir(folder()):
        if file.startswith(".") and file.endswith(PART):
            os.unlink(os.path.join(folder(), file))
    handle, part = tempfile.mkstemp(PART, ".", folder())  # its mode is 0600
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


# The contents of a session file ----------------------------------------------------------------------


def read(path):
    with open(path, "rb") as file:
        return file.read()


def checked(path):
    """Return the bytes of a file if gtp-run accepts it. Raise gtp-run's message otherwise."""
    done = subprocess.run([tools.gtp_run(), "--info", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode:
        raise Failure(re.sub("^gtp-run: ", "", done.stderr.strip()))
    return read(path)


def kernel(part):
    return "%s (build-id %s)" % (part.release, part.build_id)


def merged(name, path, data, force):
    """Return the parts of a name's session file, with the parts of DATA added. If FORCE, a part of DATA replaces an
    existing part for the same kernel."""
    new = {part.build_id: part for part in gtpd.split(data)}
    try:
        old = {part.build_id: part for part in gtpd.split(read(path))}
    except FileNotFoundError:
        old = {}
    except gtpd.Damaged as error:
        if not force:
            raise Failure(DAMAGED % (path, error, name)) from None
        old = {}
    for build_id, part in new.items():
        if not force and build_id in old and old[build_id].data != part.data:
            raise Failure(IS_THERE % (name, kernel(part), name))
    return {**old, **new}


def keep(name, data, force):
    """Store a compiled session under a name. DATA is the bytes of the session file."""
    path = path_of(name)
    try:
        with writing():
            parts = merged(name, path, data, force)
            write(path, gtpd.whole([part.data for _, part in sorted(parts.items())]))
    except OSError as error:
        raise Failure("%s: %s" % (error.filename or path, error.strerror)) from None
    print(harmless.line("%s: %s" % (name, ", ".join(kernel(part) for _, part in sorted(parts.items())))))


# Commands -------------------------------------------------------------------------------------------


def add(given):
    name = given.name or re.sub(r"\.gtpd$", "", os.path.basename(given.file))
    path_of(name)
    if not os.path.isfile(given.file):
        raise Failure("%s is not a file" % given.file)
    keep(name, checked(given.file), given.force)


def rows(name):
    """Return the rows of one name in the list of sessions, one row for each kernel. Return no rows if another command
    has removed the name meanwhile."""
    path = path_of(name)
    try:
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(os.stat(path).st_mtime))
        parts = gtpd.split(read(path))
    except FileNotFoundError:
        return []
    except OSError as error:
        sys.stderr.write(told("%s: %s" % (path, error.strerror)))
        return []
    except gtpd.Damaged as error:
        sys.stderr.write(told(DAMAGED % (path, error, name)))
        return []
    return [(name, harmless.line(part.release), part.build_id, len(part.tracepoints), date, len(part.data))
            for part in sorted(parts, key=lambda part: (part.release, part.build_id))]


def show_all(given):
    found = [TITLES] + [row for name in names() for row in rows(name)]
    if len(found) == 1:
        print("no session is in the cache, %s" % folder())
        return
    wide = [max(len(row[column]) for row in found) for column in (0, 1)]
    for name, release, *rest in found:
        print(COLUMNS % (wide[0], name, wide[1], release, *rest))


def show(given):
    path = there(given.name)
    sys.stdout.flush()
    done = subprocess.run([tools.gtp_run(), "--info", path], check=False)
    if done.returncode:
        raise Failure("gtp-run cannot show it; gtp cache remove %s takes it out" % given.name)


def path(given):
    print(there(given.name))


def remove(given):
    found = list(given.names)
    if given.all:
        found = names()
    for name in found:
        there(name)
    if not found:
        return
    with writing():
        for name in found:
            # Another command may have removed the session file.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path_of(name))


COMMANDS = {None: show_all, "list": show_all, "add": add, "show": show, "path": path, "remove": remove}


def run(given):
    try:
        COMMANDS[given.action](given)
    except OSError as error:
        raise Failure("%s: %s" % (error.filename or folder(), error.strerror)) from None
    return OK
