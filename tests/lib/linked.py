# SPDX-License-Identifier: GPL-2.0-only
"""The link-time addresses of a program's symbols."""
import subprocess


def linked(path, *options):
    """Return {symbol: link-time address} from the file's symbol table, as nm lists it with these options."""
    lines = subprocess.run(["nm", *options, path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}
