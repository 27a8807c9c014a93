# SPDX-License-Identifier: GPL-2.0-only
# Sourced in a GDB that has the scripts. Has the scripts read damaged ELF files. ELF is the file to damage,
# FOLDER the folder for the damaged copies. A copy that ends a reader by an exception stays there.
#
# Each file is a copy of the program with one to three changed fields of its headers, or words of the sections that are
# read. A reader may find nothing, or something wrong, in such a file, but must not end by an exception.
import os
import random
import struct

from gtp.cexpr import threadlocal
from gtp.places import exits, fde, functions, markers

COUNT = 2000
ODD = (0, 1, 7, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 63, (1 << 64) - 1)
READ = (".symtab", ".strtab", ".shstrtab", ".eh_frame", ".eh_frame_hdr", ".rela.dyn", ".dynamic", ".note.stapsdt")


def fields(data):
    """Return the (offset, format) of the fields in the headers, and of words in the sections that are read."""
    found = [(at, "<Q") for at in (32, 40)] + [(at, "<H") for at in (16, 54, 56, 58, 60, 62)]
    programs, = struct.unpack_from("<Q", data, 32)
    each, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        found += [(programs + i * each, "<I")] + [(programs + i * each + at, "<Q") for at in range(8, 56, 8)]
    elf = functions.Elf(data)
    start, = struct.unpack_from("<Q", data, 40)
    for i, section in enumerate(elf.sections):
        at = start + 64 * i
        found += [(at + n, "<I") for n in (0, 4, 40, 44)] + [(at + n, "<Q") for n in (8, 16, 24, 32, 48, 56)]
        if elf.name(i) in READ:
            found += [(n, "<I") for n in range(section[4], section[4] + section[5] - 3, 4)][:200]
    return found


def damaged(data, places, rng):
    data = bytearray(data)
    for at, form in rng.sample(places, rng.randint(1, 3)):
        struct.pack_into(form, data, at, rng.choice(ODD) & ((1 << 8 * struct.calcsize(form)) - 1))
    return data[:rng.choice((len(data), len(data), rng.randrange(len(data))))]


def look(path, number):
    """Have each reader read a file. NUMBER distinguishes the files of one path in the readers' caches."""
    functions.Table(path)
    found = fde.ranges(path, number)
    if found is not None:
        for address in found.begins[:50]:
            found.at(address)
            found.section(address)
    threadlocal.variables(path, number)
    try:
        exits.is_go(path, number)
    except exits.Refused:
        pass
    elf = markers.opened(path)
    if elf is not None:
        elf.code(0x401000)


def main(program, folder, seed):
    rng, failed = random.Random(seed), 0
    with open(program, "rb") as file:
        data = file.read()
    places = fields(data)
    path = os.path.join(folder, "damaged.elf")
    for number in range(COUNT):
        with open(path, "wb") as file:
            file.write(damaged(data, places, rng))
        try:
            look(path, number)
        except Exception as error:
            failed += 1
            os.replace(path, "%s.%d" % (path, failed))
            print("# file %d: %s: %s" % (number, type(error).__name__, error))
    print("%d files, %d exceptions" % (COUNT, failed))


main(os.environ["ELF"], os.environ["FOLDER"], 1)
