# SPDX-License-Identifier: GPL-2.0-only
# A GDB that has read vmlinux, and forks a fresh GDB for each topic: reading vmlinux takes seconds in a guest.
#
# ask.py sends the name of a topic, and the file descriptor for the topic's output. A child of this GDB runs the topic;
# the child has never been connected and has no definitions. GTP_READY is the path of the socket. GDB needs `maint set
# worker-threads 0`, because a child does not get its threads. Types that most topics use are looked up before the first
# topic, because in a guest GDB needs ten seconds to find struct task_struct. With GTP_FRESH=1, tests/gdb/run does not use
# ready.py, and each topic has a GDB that has looked up nothing.
import contextlib
import os
import select
import signal
import socket
import traceback

import gdb

import kernel

KNOWN = "struct task_struct", "struct file", "struct sk_buff"


def become(topic, only, out):
    """Source the topic, as a fresh GDB does with -x. Runs in the child of this GDB."""
    os.setsid()
    for fd in (1, 2):
        os.dup2(out, fd)
    os.environ.update(GTP_ONLY=only)
    try:
        gdb.execute("source " + topic)
    except BaseException:  # pylint: disable=broad-exception-caught # a topic that ends by itself never comes here
        traceback.print_exc()
    gdb.execute("quit 1")


def watch(child, line):
    """Return the child's exit status. End the child when its client ends."""
    pidfd = os.pidfd_open(child)
    if line in select.select([pidfd, line], [], [])[0]:
        os.killpg(child, signal.SIGKILL)
    os.close(pidfd)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def answer(line):
    data, fds, _, _ = socket.recv_fds(line, 65536, 1)
    topic, only = data.decode().split("\0")
    child = os.fork()
    if not child:
        become(topic, only, fds[0])
    os.close(fds[0])
    with contextlib.suppress(BrokenPipeError):  # the client has ended because the topic fell silent
        line.sendall(b"%d" % watch(child, line))


def serve(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(path + ".new")
        door.listen()
        os.rename(path + ".new", path)
        while True:
            line, _ = door.accept()
            with line:
                answer(line)


for name in KNOWN:
    gdb.lookup_type(name)
kernel.core_symbols()
serve(os.environ["GTP_READY"])
