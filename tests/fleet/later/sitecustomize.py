# SPDX-License-Identifier: GPL-2.0-only
"""In a Python that imports this module, time.monotonic() is ahead by the number of seconds in the file FLEET_LATER, if
this file exists."""
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
