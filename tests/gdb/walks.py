# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: performs acts of which test_walks.py collects paths, argument vectors and memory. Prints the correct
# values as JSON.
import ctypes
import json
import mmap
import os
import random
import signal
import socket
import subprocess
import sys

BASE = 0x51000000  # the offset of the first file's seek
LIBC = ctypes.CDLL(None, use_errno=True)
BIND = 4096
PROT_NONE = 0
PAGE = mmap.PAGESIZE
HOSTILE = (b"new\nline", b"\033[31mred", b'quo"te', b"back\\slash", b"two  spaces", b"\xff\xfe", "größe".encode(), b"...", b"x (deleted)",
           b"=1+1", b"n" * 255)
LENGTHS = (0, 1, 2, 7, 8, 63, 64, 100, 127, 128, 200, 254, 255, 256, 1000)


def checked(result, what):
    if result:
        raise OSError(ctypes.get_errno(), what)


def mount(source, target, kind, flags=0):
    checked(LIBC.mount(source.encode(), target.encode(), kind.encode(), flags, None), "mount " + target)


def made(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT)


def files(top):
    """Yield open files of all kinds."""
    outer, inner, bound = (top + "/" + name for name in ("outer", "outer/in/inner", "bound"))
    for path in (outer, bound):
        os.makedirs(path)
    mount("outer", outer, "tmpfs")
    os.makedirs(inner)
    mount("inner", inner, "tmpfs")
    mount("again", inner, "tmpfs")
    os.makedirs(outer + "/a/b/c")
    mount(outer + "/a/b", bound, "", BIND)
    yield made(os.fsencode(top + "/plain"))
    yield made(os.fsencode(outer + "/on a mount"))
    yield made(os.fsencode(inner + "/x/y"))
    yield made(os.fsencode(bound + "/c/through a bind mount"))
    os.close(made(os.fsencode(outer + "/names")))
    mount("/proc/self/ns/uts", outer + "/names", "", BIND)
    for path in (bound, inner, "/", "/proc/self/status", outer + "/names"):
        yield os.open(path, os.O_RDONLY)
    for name in HOSTILE:
        yield made(os.fsencode(outer) + b"/h/" + name)
    gone = made(os.fsencode(outer + "/gone"))
    os.unlink(outer + "/gone")
    yield gone
    yield from os.pipe()
    yield socket.socket().detach()
    yield LIBC.eventfd(0, 0)
    yield os.memfd_create("mem")


def deep(top):
    """Yield an open file below ten nested folders, and one below ten nested mounts."""
    outer = top + "/outer"
    os.makedirs(outer)
    mount("outer", outer, "tmpfs")
    yield made(os.fsencode(outer + "/" + "/".join("d%d" % i for i in range(10)) + "/file"))
    path = outer
    for i in range(10):
        path += "/m%d" % i
        os.mkdir(path)
        mount("m", path, "tmpfs")
    yield made(os.fsencode(path + "/file"))


def seek(opened):
    """Seek in each file. Return the links in /proc/PID/fd as a task that is not in a chroot reads them."""
    seen = []
    for i, fd in enumerate(opened):
        LIBC.lseek(fd, ctypes.c_long(BASE + i), 0)  # fails for a pipe, but vfs_llseek() is called
        seen.append(fd)
    links = os.open("/proc/%d/fd" % os.getpid(), os.O_RDONLY)
    os.chroot("/proc/1/root")
    return [os.readlink(b"%d" % fd, dir_fd=links).hex() for fd in seen]


def named():
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write("gtp-walk")


def execute():
    """Execute a program several times, with different argument vectors. Return the arguments that each process finds in its
    own /proc/PID/cmdline."""
    named()
    found = []
    for words in ([], [b"a", b"", b"c"], list(HOSTILE), [b"%d" % i for i in range(20)], [b"x" * 300]):
        script = [b"sh", b"-c", b"cat /proc/$$/cmdline; :", *words]
        found.append(subprocess.run(script, executable="/bin/sh", stdout=subprocess.PIPE, check=True).stdout.hex())
    return found


def fail():
    """Try to execute a program with an argument string that cannot be read, and with NULL as the vector of the
    environment."""
    named()
    here = mmap.mmap(-1, PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(here))
    checked(LIBC.mprotect(ctypes.c_void_p(address), PAGE, PROT_NONE), "mprotect")
    vector = (ctypes.c_void_p * 4)(ctypes.cast(b"first", ctypes.c_void_p), address, ctypes.cast(b"last", ctypes.c_void_p), None)
    LIBC.execve(b"/bin/true", vector, None)
    return []


def write(path):
    """Write data whose last byte is directly before inaccessible memory. Return the data."""
    room = mmap.mmap(-1, 2 * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    checked(LIBC.mprotect(ctypes.c_void_p(address + PAGE), PAGE, PROT_NONE), "mprotect")
    fd, found = made(os.fsencode(path)), []
    for size in LENGTHS:
        data = random.Random(size).randbytes(size)
        room[PAGE - size:PAGE] = data
        LIBC.write(fd, ctypes.c_void_p(address + PAGE - size), ctypes.c_size_t(size))
        found.append(data.hex())
    return found


def remove(top):
    os.makedirs(top + "/outer")
    mount("outer", top + "/outer", "tmpfs")
    os.makedirs(top + "/outer/of a/mount")
    os.rmdir(top + "/outer/of a/mount")
    return []


def family(path):
    """Seek with no child, with three children, and with twelve. Return the children's names, in the order in which they were
    forked."""
    fd, found, (wait, end) = made(os.fsencode(path)), [], os.pipe()
    for count, act in enumerate((0, 3, 9)):
        for i in range(act):
            if not os.fork():
                with open("/proc/self/comm", "wb") as file:
                    file.write(b'c"%d' % len(found))
                LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
                os.write(end, b"x")
                signal.pause()
            os.read(wait, 1)
            found.append(b'c"%d' % len(found))
        LIBC.lseek(fd, ctypes.c_long(BASE + count), 0)
    return [name.hex() for name in found]


ACTS = {"family": family, "seek": lambda top: seek(files(top)), "deep": lambda top: seek(deep(top)), "execute": lambda top: execute(),
        "fail": lambda top: fail(), "write": write, "remove": remove}
signal.alarm(300)
print(json.dumps(ACTS[sys.argv[1]](sys.argv[2])))
