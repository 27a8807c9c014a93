# SPDX-License-Identifier: GPL-2.0-only
"""The main part of a script that runs in the guest, and provokes the events of a page of recipes.

`python3 SCRIPT NUMBER...` runs the provocations with these numbers, each in a separate process. It prints a line of
JSON for each: the pid, and the result of its function. GDB itself does not run the script, because GDB's own tasks are
not traced.
"""
import json
import os
import sys

import tap
from process import scratch

provocations = {}  # question -> the function that provokes the recipe's event


def registering(functions):
    """Return a decorator that takes a name. It stores the decorated function in the dictionary FUNCTIONS under this name."""
    def named(name):
        def mark(function):
            functions[name] = function
            return function
        return mark
    return named


# A decorator for functions that provoke the event of a recipe. Its argument is the recipe's question. The decorated function
# returns the facts with which GDB's results are compared.
recipe = registering(provocations)


def said(function):
    """Run a provocation in a separate process. Return its pid, and its result or the text of its error."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            result = [function(), None]
        except BaseException:  # report any exception of a provocation
            result = [None, tap.traceback.format_exc()]
        os.write(into, json.dumps(result).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as file:
        text = file.read()
    os.waitpid(pid, 0)
    return pid, text


def main(end=lambda: None, functions=provocations):
    """Run the chosen provocations, and then END."""
    names = list(functions)
    scratch()
    for word in sys.argv[1:]:
        pid, text = said(functions[names[int(word)]])
        result, error = json.loads(text)
        print(json.dumps([int(word), pid, result, error]), flush=True)
    end()
