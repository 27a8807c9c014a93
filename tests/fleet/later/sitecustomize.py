# SPDX-License-Identifier: GPL-2.0-only
"""time.monotonic() of a Python that finds this first: ahead by as many seconds as the file FLEET_LATER says, if it is there."""
import os
import time

real = time.monotonic


def monotonic():
    try:
        with open(os.environ["FLEET_LATER"], encoding="ascii") as file:
            return real() + float(file.read())
    except FileNotFoundError:
        return real()


time.monotonic = monotonic
