# SPDX-License-Identifier: GPL-2.0-only
# Asks the module behind /proc/gtp by monitor commands.
import re

import gdb

from gtp.gdblib import gdbcall

DEVICE = "/proc/gtp"
NOT_CONNECTED = "not connected to a kernel; say: target remote /proc/gtp"


# The last connection for which is_gtp() was computed, and the result.
known = None, False


def is_remote(connection):
    return connection is not None and connection.type in ("remote", "extended-remote")


def is_connected():
    """Return whether the selected inferior's target is remote, neither a file nor missing."""
    return is_remote(gdb.selected_inferior().connection)


def is_gtp():
    """Return whether the selected inferior's target is gdbtp. Another target gets one packet that it does not know."""
    global known
    connection = gdb.selected_inferior().connection
    if not is_remote(connection):
        return False
    if connection is not known[0]:
        known = connection, bool(connection.send_packet(b"qXfer:gtpframe:read::1,0"))
    return known[1]


def may_be_gtp():
    """Return is_gtp(), for checks that the user has not asked for. Send a packet only if gdbtp's trace state variables
    exist, because connecting to gdbtp defines them."""
    connection = gdb.selected_inferior().connection
    if not is_remote(connection):
        return False
    if connection is not known[0] and "$current_task_pid" not in gdbcall.execute("info tvariables"):
        return False
    return is_gtp()


def monitor(command):
    """Return the text that `monitor COMMAND` prints."""
    connection = gdb.selected_inferior().connection
    if not is_remote(connection):
        raise gdb.GdbError(NOT_CONNECTED)
    try:
        return gdbcall.execute("monitor " + command)
    except gdb.error as error:
        raise gdb.GdbError("monitor %s: %s" % (command, error))


def build_id():
    """Return the running kernel's build-id in hex, or None when the module does not know it."""
    found = re.search(r"\b[0-9a-f]{32,}\b", monitor("build-id"))
    return found.group(0) if found else None


def release():
    """Return the running kernel's release as `uname -r` says, or None."""
    found = re.search(r"kernel\W+(?:release\W+)?(\d+\.\d+[-+.\w]*)", monitor("status"))
    return found.group(1) if found else None
