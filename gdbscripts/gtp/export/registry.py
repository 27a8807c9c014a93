# SPDX-License-Identifier: GPL-2.0-only
# The formats that `gtp export` knows; each file of a format adds its own when it is loaded.
import collections
import contextlib
import os
import shutil

import gdb

# name: as it is typed. about: a line for `help gtp export`. takes: what may stand behind FILE, for help and errors.
# write(path, arg): makes the file, or the folder, at PATH, which is not there yet; ARG is the text behind FILE. What it
# returns says what was written, as in "2 stacks, 4 hits"; a gdb.GdbError or an OSError leaves nothing.
Format = collections.namedtuple("Format", "name about takes write")

formats = {}  # name -> Format


def add(name, about, takes, write):
    formats[name] = Format(name, about, takes, write)


def usage(name):
    """What to write for a format, for an error in what stands behind FILE."""
    return " ".join(("gtp export %s FILE %s" % (name, formats[name].takes)).split())


def remove(path):
    """A file, a folder, or nothing, is there no more."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


@contextlib.contextmanager
def whole(path):
    """A path beside PATH to write at: what was there stays until the new one is whole, or for good after an error."""
    part = path + ".part"
    if os.path.isdir(part):
        raise gdb.GdbError("%s is in the way: a folder, maybe of an export that was killed; remove it" % part)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise gdb.GdbError("%s is no ordinary file, and would be replaced by one" % path)
    try:
        remove(part)
        yield part
        os.replace(part, path)
    except OSError as error:
        raise gdb.GdbError("%s: %s" % (path, error.strerror)) from None
    finally:
        remove(part)


def export(name, path, arg):
    """Write PATH in the format of that name; the sentence that says so."""
    path = os.path.expanduser(path)
    with whole(path) as part:
        return "%s: %s\n" % (path, formats[name].write(part, arg))
