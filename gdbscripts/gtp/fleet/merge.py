# SPDX-License-Identifier: GPL-2.0-only
"""Merges the trace files of many machines: one GDB for each kernel reads the files of that kernel, and merge.py joins
the parts."""
import heapq
import os
import shutil
import struct
import tempfile

from gtp.files import debugfile
from gtp.fleet import results
from gtp.shell import child, ready
from gtp.shell.failure import Failure
from gtp.text import harmless

HEAD = struct.Struct("<QI")  # precedes each packet of a part: the packet's time and size
NEEDED = ("file", "build_id", "release", "offset_ns", "error_ns")
NOTHING = "%s: no machine has brought a trace file"
NO_VMLINUX = "nothing is merged: there is no vmlinux of these machines' kernels. Say --vmlinux FILE; the kernels are\n  %s"


def kernels(rows):
    """Return {build-id: release}, in the order of the rows."""
    return {row["build_id"]: row["release"] for row in rows}


def vmlinuxes(rows, given):
    """Return the files with debug information: the given ones, else those in the usual places."""
    if given:
        return [ready.given(path) for path in given]
    return [path for build_id, release in kernels(rows).items()
            for path in [next(filter(os.path.isfile, debugfile.places(release, build_id)), None)] if path]


def read(files, folder, scratch, found):
    """Have a GDB for each of the files with debug information merge the trace files of its kernel. Return the answers.

    Two of the files may be of the same kernel. Only the first one is used, because each trace file counts once.
    """
    answers, over = [], set()
    for vmlinux in files:
        request = {"folder": folder, "scratch": scratch, "time_of_day_ns": found["time_of_day_ns"], "hosts": found["hosts"],
                   "over": sorted(over)}
        answers.append(child.answer(child.arguments(ready.gdb(), vmlinux, None), "gtp.inside.fleet", request))
        over |= {*answers[-1]["hosts"], *answers[-1]["left"]}
    return answers


def packets(path):
    """Yield (time, bytes) of a part, in the order of time."""
    with open(path, "rb") as file:
        while head := file.read(HEAD.size):
            time, size = HEAD.unpack(head)
            yield time, file.read(size)


def timeline(path, parts):
    """Write one timeline file with the packets of all parts, in the order of time. Packets of one machine stay in their
    order."""
    with open(path, "wb") as file:
        for _, packet in heapq.merge(*map(packets, parts), key=lambda packet: packet[0]):
            file.write(packet)


def place(scratch, folder, name):
    """Move complete files from SCRATCH to the results' folder."""
    target = os.path.join(folder, name)
    if os.path.isdir(target):
        shutil.rmtree(target)
    os.replace(os.path.join(scratch, name), target)


def run(folder, given, put):
    """Merge the results of a run. Call PUT(text) to report to the user."""
    found = results.load(folder)
    found["hosts"] = [row for row in found["hosts"] if row["status"] == "done"]
    if not found["hosts"]:
        raise Failure(NOTHING % folder)
    done = found["hosts"]
    # A machine that does not identify its kernel in the expected form is left out.
    found["hosts"] = [row for row in done if all(name in row for name in NEEDED)]
    files = vmlinuxes(found["hosts"], given)
    with tempfile.TemporaryDirectory(prefix=results.MERGED + ".", dir=folder) as scratch:
        answers = read(files, folder, scratch, found)
        hosts = [name for answer in answers for name in answer["hosts"]]
        reasons = {name: why for answer in answers for name, why in answer["left"].items()}
        if not hosts and reasons:
            raise Failure("nothing is merged\n" + "\n".join("%s: %s" % one for one in reasons.items()))
        if not hosts:
            raise Failure(NO_VMLINUX % "\n  ".join("%s (build-id %s)" % (release, build_id)
                                                   for build_id, release in kernels(found["hosts"]).items()))
        written = compose(scratch, answers)
        for name in written:
            place(scratch, folder, name)
    told = [text for answer in answers for text in (*answer["notes"], answer["text"].rstrip()) if text]
    told += ["%s: not merged, %s" % (row["host"], reasons.get(row["host"], "no --vmlinux is of its kernel"))
             for row in done if row["host"] not in hosts]
    put("\n".join(told + ["%s: %s of %d machines" % (folder, ", ".join(written), len(hosts))]))


def compose(scratch, answers):
    """Put the merged files together in SCRATCH. Return their names."""
    written = []
    parts = [os.path.join(scratch, name) for answer in answers for name in answer["parts"]]
    if parts:
        timeline(os.path.join(scratch, results.MERGED + ".perfetto"), parts)
        written += [results.MERGED + ".perfetto", results.MERGED + ".ctf"]
    texts = [answer["text"] for answer in answers if answer["text"]]
    if texts:
        with open(os.path.join(scratch, results.MERGED + ".txt"), "w", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(map(harmless.lines, texts)))
        written.append(results.MERGED + ".txt")
    return written
