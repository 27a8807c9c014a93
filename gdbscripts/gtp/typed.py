# SPDX-License-Identifier: GPL-2.0-only
# What a tracepoint collects, by the words that were typed: GDB keeps only the text that it compiles.

# Tracepoint's number -> {the text that GDB was given: what was typed}
of_tracepoint = {}


def remember(number, texts):
    of_tracepoint.setdefault(number, {}).update(texts)


def title(number, text):
    """What was typed for a collected text, and the text itself where that is not known."""
    return of_tracepoint.get(number, {}).get(text, text)
