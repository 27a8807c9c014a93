# SPDX-License-Identifier: GPL-2.0-only
# Questions to the module behind /proc/gtp, asked as monitor commands.
import re

import gdb

NOT_CONNECTED = "not connected to a kernel; say: target remote /proc/gtp"


def monitor(command):
    """The text that `monitor COMMAND` prints."""
    connection = gdb.selected_inferior().connection
    if connection is None or connection.type not in ("remote", "extended-remote"):
        raise gdb.GdbError(NOT_CONNECTED)
    try:
        return gdb.execute("monitor " + command, to_string=True)
    except gdb.error as error:
        raise gdb.GdbError("monitor %s: %s" % (command, error))


def build_id():
    """The running kernel's build-id in hex, or None when the module does not know it."""
    found = re.search(r"\b[0-9a-f]{32,}\b", monitor("build-id"))
    return found.group(0) if found else None


def release():
    """The running kernel's release as `uname -r` says, or None."""
    found = re.search(r"kernel\W+(?:release\W+)?(\d+\.\d+[-+.\w]*)", monitor("status"))
    return found.group(1) if found else None
