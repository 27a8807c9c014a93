# SPDX-License-Identifier: GPL-2.0-only
"""The current activity of processes: the states of their threads, and unread input."""
import fcntl
import os
import struct
import termios


def state(task):
    """Return the state of a thread: R, S, D, Z and so on, as in ps. The argument is the thread's own number. The number of a
    process stands for its first thread."""
    with open("/proc/%d/stat" % task, encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def states(pid):
    """Return the states of all threads of a process."""
    return {state(int(thread)) for thread in os.listdir("/proc/%d/task" % pid)}


def unread(pipe):
    """Return the number of unread bytes in a pipe, a FIFO or a socket. Either end of a pipe will do."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
