# SPDX-License-Identifier: GPL-2.0-only
# Remembers the text that the user typed for each expression a tracepoint collects. GDB keeps only the texts that it
# compiles.

# tracepoint's number -> {the text that GDB was given: the text that was typed}
of_tracepoint = {}

# tracepoint's number -> {the text that GDB was given: the variable for which it is collected, as print and table name it}
variables = {}

# tracepoint's number -> {the text that GDB was given: the view.forms.Form that the user gave with it}
asked = {}


def remember(number, texts, forms=None):
    variables.setdefault(number, {}).update((str(text), text.called) for text in texts if hasattr(text, "called"))
    of_tracepoint.setdefault(number, {}).update(texts)
    asked.setdefault(number, {}).update(forms or {})


def form(number, text):
    """Return the Form that the user gave for a collected text, or None."""
    return asked.get(number, {}).get(text)


def title(number, text):
    """Return the text that was typed for a collected text, or the collected text itself if that is not known."""
    return of_tracepoint.get(number, {}).get(text, text)


def variable(number, text):
    """Return the variable for which a text (a register, say) was collected. Return the text itself if there is none."""
    return variables.get(number, {}).get(text, text)
