# SPDX-License-Identifier: GPL-2.0-only
"""Notes about choices that gdbtp made for the user, such as one of several types with the same name. Each note is
printed once until the next prompt."""
import gdb

from gtp.gdblib import screen

told = set()


def tell(text):
    if text not in told:
        told.add(text)
        screen.say("note: " + text)


gdb.events.before_prompt.connect(told.clear)
