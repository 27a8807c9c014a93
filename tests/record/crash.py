# SPDX-License-Identifier: GPL-2.0-only
"""Simulates a crash of the machine during gtp-drain, from strace's output. Any subset of the writes since the last sync may
be on the disk."""
import re
import shutil

from pipe import END, HEADER, DRAIN, Drain, content, frames_of, hits, path, shown
from tap import check, equal, note, seeded, skip, test, until

SECTOR = 512
CALLS = "pwrite64,pwritev,fdatasync,openat,rename,ftruncate"
CHANCE = seeded()


def unescaped(text):
    """Return the bytes of a string that strace -xx has printed."""
    return bytes.fromhex(text.replace("\\x", ""))


class Disk:
    """The state of one file on the disk: data that is certainly on the disk, and data that may be."""

    def __init__(self):
        self.sure, self.maybe = bytearray(), []  # maybe: writes as (offset, bytes)
        self.named = False
        self.syncing = {}  # thread -> how many of the writes in `maybe' its sync includes

    def write(self, at, data):
        self.maybe.append((at, data))

    def sync_begins(self, pid):
        self.syncing[pid] = len(self.maybe)

    def sync_ends(self, pid):
        """Record that all data written before the sync began is on the disk now."""
        count = self.syncing.pop(pid)
        for at, data in self.maybe[:count]:
            put(self.sure, at, data)
        del self.maybe[:count]
        self.syncing = {other: max(0, n - count) for other, n in self.syncing.items()}

    def crashed(self):
        """Return contents that the file may have after a crash: a random subset of the sectors written since the last sync,
        and a random length."""
        found = bytearray(self.sure)
        whole = bytearray(self.sure)
        for at, data in self.maybe:
            put(whole, at, data)
        length = CHANCE.choice((len(self.sure), len(whole), CHANCE.randrange(len(self.sure), len(whole) + 1)))
        found += bytes(len(whole) - len(found))
        likely = CHANCE.choice((0.1, 0.5, 0.9, 1))
        for at, data in self.maybe:
            first = at
            while first < at + len(data):
                end = min((first // SECTOR + 1) * SECTOR, at + len(data))
                if CHANCE.random() < likely:
                    found[first:end] = data[first - at:end - at]
                first = end
        return bytes(found[:length])


def put(to, at, data):
    to.extend(bytes(max(0, at + len(data) - len(to))))
    to[at:at + len(data)] = data


def replay(lines, file, judge):
    """Replay the system calls of strace's LINES on the file. Once the file has its name, call JUDGE with the disk after each
    system call."""
    disk = Disk()
    for line in lines:
        pid, call = line.split(None, 1)
        opened = re.search(r"openat\(.*(?:O_CREAT|O_TMPFILE).*= (\d+)$", call)
        if opened:
            file = opened.group(1)
        elif re.match(r"pwritev\(%s, " % file, call):
            data = b"".join(unescaped(one) for one in re.findall(r'iov_base="([^"]*)"', call))
            disk.write(int(re.search(r"\], \d+, (\d+)", call).group(1)), data)
        elif re.match(r"pwrite64\(%s, " % file, call):
            found = re.match(r'pwrite64\(\d+, "([^"]*)", \d+, (\d+)', call)
            disk.write(int(found.group(2)), unescaped(found.group(1)))
        elif re.match(r"fdatasync\(%s" % file, call):
            disk.sync_begins(pid)
            if "unfinished" not in call:
                disk.sync_ends(pid)
        elif "fdatasync resumed" in call:
            disk.sync_ends(pid)
        elif call.startswith("rename("):
            disk.named = True
        if disk.named:
            judge(disk)
    return disk


@test("whatever part of the last writes is on the disk at a crash, the file is a trace file with all synced frames")
def crash():
    if not shutil.which("strace"):
        skip("strace is not installed")
    sent = hits(CHANCE, 900)
    tracing = ("strace", "-f", "-xx", "-s", "10000000", "-o", path("calls"), "-e", "trace=" + CALLS, DRAIN)
    drain = Drain("-o", "crash.tf", program=tracing)
    drain.written(HEADER + b"".join(sent[:300]))
    for at in range(300, 900, 100):
        drain.pieces(CHANCE, b"".join(sent[at:at + 100]))
        # Sometimes wait until earlier frames are in the file, so that the next ones arrive while gtp-drain writes.
        if CHANCE.random() < 0.5:
            until(lambda at=at: shown("crash.tf") >= at, "the frames before")
    drain.write(END)
    drain.wait()
    seen = {"least": 0, "files": 0}

    def judge(disk):
        found = [len(check_first(disk.crashed(), sent)) for _ in range(20)]
        check(min(found) >= seen["least"], "%d frames were there, and now %d" % (seen["least"], min(found)))
        seen["least"] = len(check_first(bytes(disk.sure), sent))
        seen["files"] += len(found)
    with open(path("calls"), encoding="ascii") as file:
        disk = replay(file, None, judge)
    equal(bytes(disk.sure), content("crash.tf"), "what the calls came to")
    note("%d crashes, of which all left a trace file" % seen["files"])


def check_first(data, sent):
    found = frames_of(data, whole=False)
    check(found == sent[:len(found)], "other frames than the first")
    return found
