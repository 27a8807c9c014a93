# SPDX-License-Identifier: GPL-2.0-only
"""Makes time.monotonic() of a Python that imports this run ahead by the seconds in the file FLEET_LATER, if it
exists."""
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
