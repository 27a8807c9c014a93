# SPDX-License-Identifier: GPL-2.0-only
"""Tests that scripts/prose reports each violation with its line, and does not report good text, code or questions."""
import os
import subprocess
import tempfile

PROSE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/prose")
WHAT, TOLD, ANEW, BUT = "begins with What", '"is told"', '"anew"', '"but for"'
BEHIND, WIDE, LONG = '"behind"', "columns", "a paragraph"
# file -> (its text, the findings as LINE, words)
FILES = {
    "good.md": ("# Is it?\n\nWhat does it cost? Wait until you are told to.\n\n    What is this code for, %s\n\n| %s |\n"
                % ("x" * 100, "x" * 100), []),
    "what.md": ("One.\n\n- Whatever it is.\n", [(3, WHAT)]),
    "words.md": ("It is told anew.\nAll but for one, behind the run.\n", [(1, ANEW), (1, TOLD), (2, BEHIND), (2, BUT)]),
    "wide.md": ("word " * 21 + "\n", [(1, WIDE)]),
    "long.md": ("one line\n" * 7, [(1, LONG)]),
    "list.md": ("- one line\n" * 4 + "\n" + "1. one line\n" * 4, []),
    "fence.md": ("```\n" + "What is typed.\n" * 9 + "```\n", []),
    "docs/man/page.1": (".Sh NAME\nIt is told anew.\n%s\n.It %s\n" % ("x" * 101, "x" * 101), [(2, ANEW), (2, TOLD), (3, WIDE)]),
    "code.c": ('char *s = "What is /* told";\n/*\n * What it is.\n */\nint x; // begun anew\n', [(3, WHAT), (5, ANEW)]),
    "code.py": ('"""What it is."""\ns = "What"  # but for s\n\n\ndef f():\n    """Whatever."""\n',
                [(1, WHAT), (2, BUT), (6, WHAT)]),
    "script": ("#!/bin/sh\n# What it does.\necho What # no comment line\n", [(2, WHAT)]),
    "data.txt": ("What is this?\nanew\n", []),
}


def results():
    with tempfile.TemporaryDirectory() as root:
        for name, (text, _) in FILES.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        command = [PROSE] + [os.path.join(root, name) for name in FILES]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        for name, (_, wanted) in FILES.items():
            of = [line.split(name + ":", 1)[1] for line in said if line.startswith(os.path.join(root, name) + ":")]
            yield f"scripts/prose: {name}", differences(of, wanted)


def differences(found, wanted):
    """Yield a line for each finding that differs from the wanted one at the same position."""
    if len(found) != len(wanted):
        yield f"wanted {wanted}, got {found}"
        return
    for line, (number, words) in zip(found, wanted):
        if not line.startswith(f"{number}: ") or words not in line:
            yield f"wanted {number}: {words}, got {line}"
