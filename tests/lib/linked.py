# SPDX-License-Identifier: GPL-2.0-only
"""The addresses of a program's symbols in its file."""
import subprocess


def linked(path):
    """Return the file's symbols from the linker's own table."""
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}
