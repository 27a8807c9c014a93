# SPDX-License-Identifier: GPL-2.0-only
"""The files that a run on many machines leaves in its folder: HOST.tf, hosts.json, and the merged ones."""
import json
import os
import re

from gtp.files import atomic
from gtp.shell.failure import Failure
from gtp.text.units import duration

NAME = "hosts.json"
MERGED = "merged"  # merged.perfetto, merged.ctf, merged.txt
# Forms of a kernel's release and build-id that are accepted, since they become parts of the paths of its vmlinux.
RELEASE, BUILD_ID = r"[\w+~-][\w.+~-]*", r"[0-9a-f]+"
MOST_NS = 1 << 62
TYPES = (("file", str), ("build_id", str), ("release", str), ("offset_ns", int), ("error_ns", int))
ONE_FILE = "%s and %s would have the same trace file, %s; give one of them another name, as Host in ssh's configuration"
NO_RUN = "%s is not a folder of gtp fleet: %s"


def trace_file(name):
    """Return the name of a host's trace file."""
    return re.sub(r"[^\w.@:-]", "_", name) + ".tf"


def refuse_one_file(hosts):
    """Raise an error if two hosts would have the same trace file."""
    taken = {}
    for host in hosts:
        other = taken.setdefault(trace_file(host), host)
        if other != host:
            raise Failure(ONE_FILE % (other, host, trace_file(host)))


def files(folder, hosts):
    """Return the files of an earlier run in the folder, and any other file whose name a trace file of HOSTS will
    need."""
    names = [NAME] + [MERGED + end for end in (".perfetto", ".ctf", ".txt")] + list(map(trace_file, hosts))
    if os.path.exists(os.path.join(folder, NAME)):
        names += [row["file"] for row in load(folder)["hosts"] if "file" in row]
    return sorted({path for name in names for path in [os.path.join(folder, os.path.basename(name))] if os.path.lexists(path)})


def save(folder, here, rows):
    """Write hosts.json. HERE is the result of offset.anchor() on this machine. All offsets are from another machine's
    clock to this machine's clock."""
    with atomic.made(os.path.join(folder, NAME)) as path, open(path, "w", encoding="utf-8") as file:
        json.dump({"time_of_day_ns": here.ns, "hosts": rows}, file, indent=1)
        file.write("\n")


def is_row(row):
    """Return true if a row's values have the types and sizes with which gtp fleet writes them."""
    return isinstance(row["host"], str) and isinstance(row["status"], str) and all(
        isinstance(row.get(name, kind()), kind) for name, kind in TYPES) and all(
        abs(row.get(name, 0)) < MOST_NS for name, kind in TYPES if kind is int)


def checked(found):
    """Return the content of hosts.json after a check: names of files and kernels must not lead out of their folders."""
    rows = found["hosts"]
    if not isinstance(found["time_of_day_ns"], int) or not abs(found["time_of_day_ns"]) < MOST_NS or not all(map(is_row, rows)):
        raise ValueError("it is not as gtp fleet writes it")
    if len({trace_file(row["host"]) for row in rows}) < len(rows):
        raise ValueError("two machines have one file")
    for row in rows:
        if "file" in row and row["file"] != trace_file(row["host"]):
            raise ValueError("%s is not the file of %s" % (ascii(row["file"]), ascii(row["host"])))
        for name, pattern, what in (("release", RELEASE, "release"), ("build_id", BUILD_ID, "build-id")):
            if name in row and not re.fullmatch(pattern, row[name]):
                raise ValueError("%s is not a kernel's %s" % (ascii(row[name]), what))
    return found


def load(folder):
    try:
        with open(os.path.join(folder, NAME), encoding="utf-8") as file:
            return checked(json.load(file))
    except (KeyError, TypeError, AttributeError):
        raise Failure(NO_RUN % (folder, NAME + ": it is not as gtp fleet writes it")) from None
    except OSError as error:
        raise Failure(NO_RUN % (folder, "%s: %s" % (NAME, error.strerror))) from None
    except ValueError as error:
        raise Failure(NO_RUN % (folder, "%s: %s" % (NAME, error))) from None


def missed(row):
    """Return gtp-run's report of missed hits, which is empty if there were none."""
    return next((line.partition(":")[2].strip() for line in row.get("said", ()) if line.startswith("not seen:")), "")


def counts(row):
    return "%s frames, %d hits" % (row["frames"] if row["frames"] is not None else "no", row["hits"])


def clock(row):
    """Return two texts: how far the machine's time of day is ahead, and the error of its frames' times."""
    if "error_ns" not in row:
        return "-", "-"
    return "%s +-%s" % (duration(row["ahead_ns"]), duration(row["ahead_error_ns"])), "+-" + duration(row["error_ns"])


def table(rows):
    """Return the rows as text, followed by a line that counts them."""
    lines = [("host", "status", "frames", "hits", "clock ahead", "frames placed", "not seen")]
    for row in rows:
        numbers = ["-" if row.get(name) is None else str(row[name]) for name in ("frames", "hits")]
        lines.append((row["host"], row["status"], *numbers, *clock(row), missed(row) or "-"))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    done = sum(row["status"] == "done" for row in rows)
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines) + (
        "\n%d of %d machines have brought their trace files" % (done, len(rows)))
