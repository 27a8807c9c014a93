# SPDX-License-Identifier: GPL-2.0-only
"""Provokes in the guest the events that the lines of docs/tools-*.md trace, and returns the result that each line must have
seen.

See provoking.py for how it is run, and toolbox.py for the results.
"""
import os

import tools_files  # noqa: F401  each adds its provocations
import tools_network  # noqa: F401
import tools_tasks  # noqa: F401
from process import call
from provoking import main
from toolbox import EXT4, provocations


def unmount():
    """Unmount the file system of the test's disk. The disk itself stays, see no_dummies() in provoke.py."""
    if os.path.ismount(EXT4):
        call("umount", EXT4.encode())


if __name__ == "__main__":
    main(unmount, provocations)
