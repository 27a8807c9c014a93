# SPDX-License-Identifier: GPL-2.0-only
"""Finds the programs of gdbtp that the command `gtp` runs: in a checkout, or where they are installed."""
import os
import shutil

from gtp.shell import child
from gtp.shell.failure import Failure

NO_TOOL = "there is no %s; it comes with gdbtp's tools (make tools)"


def found(name, *places):
    """Return the path of a program, or None if it is not found. PLACES are the folders to look in, relative to the
    parent of gdbscripts/."""
    top = os.path.dirname(child.SCRIPTS)
    for path in [os.path.join(top, place, name) for place in places] + [shutil.which(name)]:
        if path and os.access(path, os.X_OK):
            return path
    return None


def needed(name, *places):
    path = found(name, *places)
    if not path:
        raise Failure(NO_TOOL % name)
    return path


def gtp_attach():
    """Return the path of gtp-attach."""
    return needed("gtp-attach", "build/tools", "../../bin")


def gtp_run():
    """Return the path of gtp-run."""
    return needed("gtp-run", "build/tools", "../../bin")


def gtp_drain():
    """Return the path of gtp-drain."""
    return needed("gtp-drain", "build/tools", "../../bin")
