# SPDX-License-Identifier: GPL-2.0-only
"""Distinguishes a soak test that hangs from one that is slow: it hangs if none of the processes that it waits for uses
CPU time."""
import glob
import os
import sys
import threading
import time
import traceback

import kernel
from tap import SECONDS, note as say

LONG = 60  # an operation that takes more seconds than this may block the others
TICKS = os.sysconf("SC_CLK_TCK")


def stat(path):
    """Return the fields of a task's stat file that follow the task's name, which may contain any characters. Return an
    empty list if the task has ended."""
    try:
        with open(path, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def ticks(fields):
    return int(fields[11]) + int(fields[12]) if fields else 0


def old_children():
    """Yield (path, ticks of CPU time) of each child process that has existed for more than LONG seconds. Each child
    counts as a long operation, because one of this process's threads waits until the child ends."""
    up = time.clock_gettime(time.CLOCK_BOOTTIME)
    for path in glob.glob("/proc/[0-9]*/stat"):
        fields = stat(path)
        if fields and int(fields[1]) == os.getpid() and up - int(fields[19]) / TICKS > LONG:
            yield path, ticks(fields)


class Watch:
    """If no long operation uses CPU time any more, prints to the console which tasks wait, and where, and ends the soak."""

    def __init__(self, crowd):
        self.crowd, self.main = crowd, threading.get_native_id()
        self.what, self.ended = None, threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def round(self, what):
        self.what = what

    def cancel(self):
        self.what = None
        self.ended.set()

    def sign(self):
        """Return a value that changes while a long operation makes progress."""
        now = time.monotonic()
        slow = [member.native_id for member in self.crowd.members
                if member.began is not None and now - member.began > LONG]
        tasks = {thread: ticks(stat("/proc/self/task/%d/stat" % thread)) for thread in [self.main, *slow]}
        return self.what, tasks, dict(old_children())

    def run(self):
        seen, since = None, time.monotonic()
        while not self.ended.wait(2):
            sign = self.sign()
            if sign != seen:
                seen, since = sign, time.monotonic()
            elif self.what and time.monotonic() - since > SECONDS:
                self.bark()

    def bark(self):
        print("not ok - soak: %s shows no sign of life for %d s" % (self.what, SECONDS), flush=True)
        for thread, frame in sys._current_frames().items():
            say(thread, "".join(traceback.format_stack(frame)[-3:]))
        for key in "wl":
            kernel.put("/proc/sysrq-trigger", key)
        time.sleep(5)
        os._exit(1)
