# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside GDB for a `gtp` command that only asks it for one answer. The environment names the files of the request
and the answer."""
import json
import os

import gdb

from gtp.formats.error import Damaged
from gtp.gdblib import gdbcall


def answer(settings, do):
    """Write the dict returned by DO(request) to the answer file. If DO raises an error, write its message."""
    paths = json.loads(os.environ.pop("GTP_SHELL"))
    with open(paths["request"], encoding="utf-8") as file:
        request = json.load(file)
    try:
        for setting in settings:
            gdbcall.execute("set " + setting)
        found = do(request)
    except (gdb.GdbError, Damaged, OSError, RuntimeError) as error:  # includes gdb.error
        found = {"error": str(error)}
    with open(paths["answer"], "w", encoding="utf-8") as file:
        json.dump(found, file)
