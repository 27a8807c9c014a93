# SPDX-License-Identifier: GPL-2.0-only
"""Passes results from the tests on vmlinux to those in a guest, where the same work takes twenty times as long.

The results are in a JSON file at GTP_TRANSLATIONS, with an object file beside it. GDB looks up the name after `struct`
first as a variable, then as a source file, which it compares with all files of the kernel, and only then as a tag. The
object file has a typedef for each name, which ends the search before the files.
"""
import json
import os
import re
import subprocess

import gdb

PATH = os.environ["GTP_TRANSLATIONS"]
TAGS = os.path.splitext(PATH)[0] + ".o"
TAG = re.compile(r"\bstruct (\w+)")


def link_addresses():
    """Use readelf to return the link addresses of vmlinux's text and of its per-CPU variables."""
    out = subprocess.run(["readelf", "-sW", gdb.current_progspace().filename], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return [int(re.search(r"^.* ([0-9a-f]{16})\s.* %s$" % name, out, re.M).group(1), 16)
            for name in ("_text", "__per_cpu_start")]


def known():
    """Return the results that the JSON file has so far."""
    if not os.path.exists(PATH):
        return {"translations": {}}
    with open(PATH, encoding="utf-8") as file:
        return json.load(file)


def make_tags(texts):
    """Make the object file with a typedef for each tag that the texts name."""
    names = {tag for text in texts for tag in TAG.findall(text)}
    source = "".join("typedef struct {0} {0};\n{0} *gtp_{0};\n".format(name) for name in sorted(names))
    subprocess.run(["gcc", "-g", "-x", "c", "-c", "-o", TAGS, "-"], input=source, text=True, check=True)


def load_tags():
    """Load the typedefs into this GDB."""
    gdb.execute("with confirm off -- add-symbol-file %s 0" % TAGS, to_string=True)


def write(translations, texts):
    """Add {"FUNCTION EXPRESSION": (text for GDB, whether it can be an action)} to the results, and the tags that
    further TEXTS name.

    The results of earlier GDBs stay in the file.
    """
    translations = {**known()["translations"], **translations}
    make_tags([text for text, _ in translations.values()] + texts)
    with open(PATH, "w", encoding="utf-8") as file:
        json.dump({"translations": translations, "link": link_addresses()}, file, indent=0)


def read():
    """Load the typedefs into this GDB. Return (translations, link addresses)."""
    load_tags()
    found = known()
    return found["translations"], found["link"]
