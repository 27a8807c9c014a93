# SPDX-License-Identifier: GPL-2.0-only
# A tracepoint's collections, by the words that were typed: GDB keeps only the text that it compiles.

# Tracepoint's number -> {the text that GDB was given: what was typed}
of_tracepoint = {}


def remember(number, texts):
    of_tracepoint.setdefault(number, {}).update(texts)


def title(number, text):
    """The words typed for a collected text, or the text itself if they are not known."""
    return of_tracepoint.get(number, {}).get(text, text)
