#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Job: make up the data of a report: 100,000 frames of three places, from tasks that sleep and work, with aggregations,
# stacks, and strings that contain HTML.
#
# Usage: tests/page/sample.py FILE.html [FRAMES [SEED]]
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gdbscripts"))

from gtp.export import flamegraph  # noqa: the path is set above
from gtp.report import pack, page  # noqa

HOSTILE = "</script><img src=x onerror=alert(1)>"
COMMS = ["postgres", "nginx", "kworker/2:1", "dd", "sshd", "containerd", "jbd2/sda1-8", HOSTILE[:15], "sh"]
FILES = ["/var/lib/postgresql/16/main/base/16384/2619", "access.log", "zero", "authorized_keys", HOSTILE,
         "<!--<script>", "a \"quoted\" \\ name"]
STACKS = [["vfs_read", "ksys_read", "__x64_sys_read", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"],
          ["vfs_read", "__do_sys_pread64", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"],
          ["vfs_read", "kernel_read", "load_elf_binary", "bprm_execve", "do_execveat_common", "__x64_sys_execve",
           "do_syscall_64"]]


class Event:
    """Stands in for an Event of gtp.export.frames."""

    def __init__(self, index, place, time, **more):
        self.index, self.place, self.time_ns = index, place, time
        self.begin_ns = self.latency_ns = self.cpu = self.pid = self.comm = self.stack = None
        self.values = []
        self.__dict__.update(more)


class Place:
    def __init__(self, number, name, columns):
        self.number, self.name, self.columns = number, name, columns


class Column:
    def __init__(self, title):
        self.title = title


PLACES = [Place(1, "vfs_read", [Column("count"), Column("file->f_path.dentry->d_name.name"), Column("$ret")]),
          Place(2, "sched:sched_switch", [Column("prev_state"), Column("next_comm")]),
          Place(3, "kmem_cache_alloc", [Column("s->name"), Column("gfpflags")])]


def event(index, time, draw):
    """Return one frame. About half of the frames are reads with a duration; the others have no duration."""
    task = min(int(draw.expovariate(0.12)), 59)
    place = draw.choices(PLACES, (5, 3, 2))[0]
    more = {"cpu": (task + draw.choice((0, 0, 0, 1))) % 4, "pid": 400 + 37 * task, "comm": COMMS[task % len(COMMS)]}
    if place is PLACES[0]:
        more["latency_ns"] = int(draw.lognormvariate(8.6, 1.6))
        more["begin_ns"] = time - more["latency_ns"]
        more["stack"] = 1 + task % len(STACKS)
        size = 1 << draw.randrange(6, 18)
        more["values"] = [size, draw.choice(FILES), size if draw.random() < 0.97 else -11]
    elif place is PLACES[1]:
        more["values"] = [draw.choice((0, 1, 2, 128)), draw.choice(COMMS)]
    else:
        cache = draw.choice(("kmalloc-64", "dentry", "filp", "skbuff_head_cache"))
        more["values"] = [cache, "GFP_KERNEL" if draw.random() < 0.8 else None]
    return Event(index, place, time, **more)


def events(n, draw):
    """Return N events that come in bursts, like those of a real workload."""
    time, found = 4748220019336, []
    for index in range(n):
        time += int(draw.expovariate(1 / 9000)) if draw.random() < 0.9995 else int(draw.expovariate(1 / 30e6))
        found.append(event(index, time, draw))
    return found


def key(text, order=None):
    return {"text": text, "order": text if order is None else order}


def entry(keys, n, summary=(), buckets=()):
    return {"keys": [key(one) for one in keys], "count": n, "summary": list(summary), "buckets": list(buckets)}


def aggregation(name, title, kind, keys, entries, **more):
    return {"name": name, "title": title, "kind": kind, "keys": keys, "entries": entries, "unit": None, "bounds": None,
            "noroom": 0, **more}


def histogram(keys, buckets, mean, least, most):
    n = sum(k for _, k in buckets)
    return entry(keys, n, (n * mean, least, most), buckets)


def aggregations(draw):
    """Return aggregations as gtp.report.data makes them: a count, a histogram by task, a linear histogram, statistics."""
    tasks = [name for name in COMMS if name != "dd"]
    counts = [entry([name], draw.randrange(1, 90000)) for name in tasks]
    hills = [[[b, int(900 * 2.7 ** -abs(b - 13)) + draw.randrange(1, 20)] for b in range(9, 22) if b != 19]
             for _ in tasks]
    latencies = [histogram([name], hill, 5200, 300, 900000) for name, hill in zip(tasks[:4], hills)]
    steps = [[b, draw.randrange(1, 300)] for b in range(12)]
    stats = [entry([name], 50 + k, ((50 + k) * 4096 * k, 1, 131072)) for k, name in enumerate(tasks)]
    by_task = ["current->comm"]
    return [aggregation("count_vfs_read", "count at vfs_read", "count", by_task, counts, noroom=12),
            aggregation("hist_latency", "hist of $latency at vfs_read", "hist", by_task, latencies, unit="ns"),
            aggregation("lhist_prio_100_140_4", "lhist of prev->prio at sched:sched_switch", "lhist", [],
                        [histogram([], steps, 120, 98, 139)], bounds=[100, 140, 4]),
            aggregation("stats_count", "stats of count at vfs_read", "stats", by_task, stats)]


def flame(draw):
    rows = [(list(reversed(stack)), draw.randrange(100, 9000)) for stack in STACKS]
    rows.append((["entry_SYSCALL_64_after_hwframe", HOSTILE], 700))
    return flamegraph.svg(rows, "count by $kstack at vfs_read " + HOSTILE)


def sample(n=100000, seed=1):
    """Return the data of a page."""
    draw = random.Random(seed)
    data = pack.frames(PLACES, events(n, draw), lambda number: STACKS[number - 1])
    data.update({
        "title": "vfs_read, sched:sched_switch, kmem_cache_alloc", "made": "2026-03-02 14:08:51 +0100",
        "source": "/proc/gtp, Linux 6.1.0-28-amd64",
        "hits": n + 4211, "missing": 213, "flames": [flame(draw)], "aggregations": aggregations(draw),
        "missed": ["201 hits came inside of other hits and were not handled",
                   "12 hits were missed by the kernel's own probes"],
        "facts": [["ended", "stopped by tstop"], ["began", "2026-03-02 14:07:40 +0100"], ["took", "1.42 s"],
                  ["buffers", "11.8 MiB of 64 MiB used"], ["kernel", "6.1.0-28-amd64"], ["GDB", "16.3"]]})
    return data


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page.page(sample(*map(int, sys.argv[2:]))))
