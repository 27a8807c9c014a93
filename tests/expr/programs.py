# SPDX-License-Identifier: GPL-2.0-only
# Tests how GDB reads the files of programs: stripped files with a separate debug file, two files with the same path, markers
# whose names are not text. GDB runs on tests/expr/units. This file makes up the module's answers about a file.
import os
import re
import shutil
import subprocess
import sys
import tempfile

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/lib"), os.path.join(TOP, "gdbscripts")]
gdb.execute("source " + os.path.join(TOP, "gdbscripts/gtp.py"))

import tap
from gtp.commands import lib
from gtp.formats import space
from gtp.gdblib import define
from gtp.places import functions, infile
from gtp.run import aggtypes, tail

BUILT = os.path.join(TOP, "build/expr")
STRIPPED = os.path.join(BUILT, "stripped.so")
BOTH = ["only_exported", "only_in_debug_file"]


def build_id(path):
    text = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", text).group(1)


def loaded(path, number, there=None):
    """Return the Program of a file, as if the module had given the file's space this number."""
    usual = lib.packet
    lib.packet = lambda _: ((space.TAG << space.TAG_SHIFT) + number * space.SIZE, build_id(path))
    try:
        return lib.known(path, there)
    finally:
        lib.packet = usual


def matching(one, pattern):
    with define.Definitions() as definitions:
        found = [target.name for target in infile.targets(one, pattern, 200, definitions)]
        tap.equal(definitions.refused, [])
    return found


@tap.test("a pattern matches the functions of a stripped file that its debug file has, and those for the dynamic linker")
def stripped():
    tap.equal(matching(loaded(STRIPPED, 1), "only_*"), BOTH)
    with tempfile.TemporaryDirectory() as folder:
        bare = shutil.copy(STRIPPED, folder + "/bare.so")
        subprocess.run(["objcopy", "--remove-section", ".gnu_debuglink", bare], check=True)
        tap.equal(matching(loaded(bare, 2), "only_*"), BOTH[:1])


@tap.test("functions of a program are not the kernel's, whether its file or its debug file has them")
def apart():
    loaded(STRIPPED, 1)
    tap.equal(functions.matching("only_*"), [])
    tap.check(functions.matching("in_values"), "no functions at all")


@tap.test("two files of one path, as a container's and the machine's, are two")
def same_path():
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(STRIPPED, folder + "/one")
        first = loaded(path, 3)
        subprocess.run(["gcc", "-shared", "-g", "-o", path, os.path.join(HERE, "units/stripped.c")], check=True)
        second = loaded(path, 4, "/proc/1/exe")
        tap.equal(second.objfile().build_id, build_id(path))
        tap.equal(first.objfile().build_id, build_id(STRIPPED))
        tap.equal(matching(second, "only_*"), BOTH)


@tap.test("--limit is taken before -x and -p, as help gtp trace shows it for places of the kernel")
def limit():
    for text, wanted in (("--limit 300 -x /x 'f*' if a", ("/x", None, "--limit 300 'f*' if a")),
                         ("-x /x --limit=300 f", ("/x", None, "--limit=300 f")), ("--limit 3 vfs_*", (None, None, "--limit 3 vfs_*")),
                         ("-x /x --limit 3 -p 7 f", ("/x", 7, "--limit 3 f"))):
        path, pid, rest = infile.options(text)
        tap.equal((path, pid, " ".join(rest.split())), wanted, text)


@tap.test("an aggregation at a marker whose name is no text is saved")
def titles():
    aggtypes.variables["count_x"] = aggtypes.Variable("na\udcffme", None, ("prov:na\udcffme", ()))
    try:
        data = tail.tail("count_x", {}, ())
    finally:
        del aggtypes.variables["count_x"]
    tap.check(b"\tna\\377me\tprov:na\\377me\n" in data, str(data))


def main():
    gdb.execute("set confirm off")
    good = tap.run()
    gdb.execute("quit %d" % (0 if good else 1))


main()
