# SPDX-License-Identifier: GPL-2.0-only
# A tracepoint's collections, by the words that were typed: GDB keeps only the text that it compiles.

# Tracepoint's number -> {the text that GDB was given: what was typed}
of_tracepoint = {}

# Tracepoint's number -> {the text that GDB was given: the variable that it is collected for, which print and table show}
variables = {}

# Tracepoint's number -> {the text that GDB was given: the view.forms.Form that was asked for with it}
asked = {}


def remember(number, texts, forms=None):
    variables.setdefault(number, {}).update((str(text), text.called) for text in texts if hasattr(text, "called"))
    of_tracepoint.setdefault(number, {}).update(texts)
    asked.setdefault(number, {}).update(forms or {})


def form(number, text):
    """Return the form that was asked for with a collected text, or None."""
    return asked.get(number, {}).get(text)


def title(number, text):
    """Return the text that was typed for a collected text, or the collected text itself if that is not known."""
    return of_tracepoint.get(number, {}).get(text, text)


def variable(number, text):
    """Return the variable for which a text (a register, say) was collected. Return the text itself if there is none."""
    return variables.get(number, {}).get(text, text)
