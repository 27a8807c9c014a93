# SPDX-License-Identifier: GPL-2.0-only
# The list of formats that `gtp export` knows; each format's Python file adds its format when it is loaded.
import collections

from gtp.run import outfile

# name: as it is typed. about: a line for `help gtp export`. takes: what may follow FILE, for help and errors.
# write(path, arg): makes the file, or the folder, at PATH, which does not exist yet; ARG is the text after FILE. The
# returned text says what was written, as in "2 stacks, 4 hits". If write() raises gdb.GdbError or OSError, no file is
# left.
Format = collections.namedtuple("Format", "name about takes write")

formats = {}  # name -> Format


def add(name, about, takes, write):
    formats[name] = Format(name, about, takes, write)


def usage(name):
    """Return the usage of a format, for an error in the arguments after FILE."""
    return " ".join(("gtp export %s FILE %s" % (name, formats[name].takes)).split())


def export(name, path, arg):
    """Write the run to PATH in the format NAME. Return a sentence about the written file."""
    with outfile.whole(path) as part:
        return "%s: %s\n" % (path, formats[name].write(part, arg))
