# SPDX-License-Identifier: GPL-2.0-only
# Tests `gtp explain` and `gtp lines` in a real GDB, on a module's file with special characters in its name.
#
# Usage: gdb -batch -nx FILE.ko -x tests/regions/gdb.py     with GDBTP_REGIONS set; prints TAP
import os
import subprocess

import gdb

HERE = os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename))
tests = []


def said(*lines):
    try:
        return gdb.execute("\n".join(lines), to_string=True)
    except gdb.error as error:
        return "error: %s" % error


def tool(*arguments):
    return subprocess.run([os.environ["GDBTP_REGIONS"], *arguments], stdout=subprocess.PIPE,
                          text=True).stdout


def check(good, what, text=""):
    tests.append(good)
    print("%sok %d - %s" % ("" if good else "not ", len(tests), what))
    if not good:
        print("# " + text.replace("\n", "\n# "))


path = gdb.current_progspace().filename
gdb.execute("source " + os.path.join(HERE, "../../gdbscripts/gtp.py"))
name = os.environ["GTP_FUNCTION"]
check(" " in path and "'" in path, "the file's name has a blank and a quote", path)
text = said("gtp explain %s+0x8" % name)
check(text == tool("explain", path, name + "+0x8") and name in text,
      "gtp explain FUNCTION+OFFSET is the tool's own answer", text)
pc = int(gdb.parse_and_eval("(unsigned long)%s" % name))
text = said("gtp explain *%#x" % (pc + 8))
check(text == tool("explain", path, name + "+0x8"), "and so it is for an address", text)
place = gdb.find_pc_line(pc)
text = said("gtp explain %s:%d" % (place.symtab.filename, place.line))
check(name + "+0x" in text, "and for a line of the source", text)
text = said("gtp lines " + name)
check(text == tool("lines", path, name) and name + "+0x0" in text,
      "gtp lines FUNCTION is the tool's own answer", text)
check("No symbol" in said("gtp explain no_such_thing"), "an unknown name is said to be one")
check("which place" in said("gtp explain"), "no place: the usage is said")
check("takes a function" in said("gtp lines"), "no function: the usage is said")
text = said("gtp lines %s '; touch /tmp/no'" % name)
check(text == tool("lines", path, name), "a strange folder is just a folder without sources", text)
wanted = tool("explain", path, name)
del os.environ["GDBTP_REGIONS"]
os.environ["PATH"] = "/nonexistent"
text = said("gtp explain " + name)
check(text == wanted, "a checkout has the tool that was built in it", text)
from gtp.places import regions  # noqa: E402
regions.BUILT = "/nonexistent"
check("not installed" in said("gtp explain %s" % name), "without the tool it is said what to do")
gdb.execute("quit %d" % (not all(tests)))
