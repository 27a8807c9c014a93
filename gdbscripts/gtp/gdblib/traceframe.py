# SPDX-License-Identifier: GPL-2.0-only
# The trace frame that GDB has selected.
import gdb

from gtp.gdblib import gdbcall


def number():
    """Return the selected frame's number, or -1 if no frame is selected. Before the first tfind $trace_frame is void."""
    value = gdbcall.value("$trace_frame")
    return -1 if value.type.code == gdb.TYPE_CODE_VOID else int(value)


def select(frame):
    """Select the frame with this number. If it is negative, deselect the frame."""
    gdbcall.execute("tfind none" if frame < 0 else "tfind %d" % frame)


class Kept:
    """Context manager: select the current frame again at the end."""

    def __enter__(self):
        self.frame = number()

    def __exit__(self, *_):
        if number() != self.frame:
            select(self.frame)
