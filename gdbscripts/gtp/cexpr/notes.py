# SPDX-License-Identifier: GPL-2.0-only
"""Notes about choices that were made for the user: each once until the next prompt."""
import gdb

from gtp import screen

told = set()


def tell(text):
    if text not in told:
        told.add(text)
        screen.say("note: " + text)


gdb.events.before_prompt.connect(told.clear)
