# SPDX-License-Identifier: GPL-2.0-only
# A GDB that has read vmlinux, and forks a fresh GDB for each client: reading vmlinux takes seconds in a guest.
#
# A client is ask.py, which runs a topic, or forked/gdb, which stands in for the GDB that the command gtp starts. It sends
# GDB commands and environment variables, and the descriptors for the output and, if it has one, for GTP_SHELL's socket.
# A child of this GDB executes the commands; the child has never been connected and has no definitions. GTP_READY is the
# path of the socket. GDB needs `maint set worker-threads 0`, because a child does not get its threads. Types that most
# topics use are looked up before the first client, because in a guest GDB needs ten seconds to find struct task_struct.
# With GTP_FRESH=1, the tests do not use ready.py, and each topic has a GDB that has looked up nothing.
import contextlib
import json
import os
import select
import signal
import socket
import traceback

import gdb

import kernel

KNOWN = "struct task_struct", "struct file", "struct sk_buff", "struct module"


def with_line(env, line):
    """Return the environment in which GTP_SHELL has the number that the socket has in this process."""
    request = dict(json.loads(env["GTP_SHELL"]), fd=line)
    return dict(env, GTP_SHELL=json.dumps(request))


def become(commands, env, fds):
    """Execute the commands, as a fresh GDB does with -x and -ex. Runs in the child of this GDB."""
    os.setsid()
    for fd, given in enumerate(fds[:2], 1):
        os.dup2(given, fd)
    os.environ.update(with_line(env, fds[2]) if len(fds) > 2 else env)
    try:
        for command in commands:
            gdb.execute(command)
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
    data, fds, _, _ = socket.recv_fds(line, 65536, 3)
    commands, env = json.loads(data)
    child = os.fork()
    if not child:
        become(commands, env, fds)
    for fd in fds:
        os.close(fd)
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
