# SPDX-License-Identifier: GPL-2.0-only
"""The current activity of processes: the states of their threads, and unread input."""
import fcntl
import os
import struct
import termios


def state(task):
    """Of a process's first thread, or of another one by its own number: R, S, D, Z ..., as ps has it."""
    with open("/proc/%d/stat" % task, encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def states(pid):
    """Of all its threads."""
    return {state(int(thread)) for thread in os.listdir("/proc/%d/task" % pid)}


def unread(pipe):
    """Bytes in a pipe, a FIFO or a socket that nobody has read; either end of a pipe will do."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
