# SPDX-License-Identifier: GPL-2.0-only
"""Sets tracepoints in a program, in the same runs as jumps in the kernel, while the program's processes are killed, fork and
exec."""
import traced
from guest import STACK_WORD, IS_MAGIC, END
from linked import linked
from traced import Traced, base_of

FIRST = 50000  # the number of the first tracepoint in the program
FUNCTIONS = ("work", "depth", "pushed")
MINE = "2c000424%08x1327"  # $current_task_pid == a number
TEXT = "X8,2600042300c82f27"  # collects up to 200 bytes of the string to which the second argument points
RET = "X4,2c000527"
NEVER = STACK_WORD + IS_MAGIC + END  # a false condition: a word of the program's stack equals a number that is not there
ENTRY, RETURN, ALL, ALL_RETURNS, DEPTH, NONE = range(FIRST, FIRST + 6)


class Programs:
    """The tracepoints in a program, which each run of the soak has, and a process of the program whose calls are counted."""

    def __init__(self):
        self.symbols = linked(traced.PROGRAM)
        self.returns = {name: traced.returns(name) for name in FUNCTIONS}
        self.one = Traced()
        self.base = None
        self.before = self.code()

    def code(self):
        """Return the machine code of the traced functions, read from the memory of the process."""
        loaded = int(self.one("address work"), 16) - self.symbols["work"]
        with open("/proc/%d/mem" % self.one.pid, "rb", 0) as memory:
            found = []
            for name in FUNCTIONS:
                memory.seek(loaded + self.symbols[name])
                found.append(memory.read(64))
            return found

    def at(self, name):
        return self.base + self.symbols[name]

    def define(self, client):
        self.base = base_of(client.ask("QGtpFile:" + traced.hexed(traced.PROGRAM)))
        work, depth = self.at("work"), self.at("depth")
        for name in ("work", "depth"):
            client.ok("QGtpExits:%x:0:%s" % (self.at(name), self.returns[name]))
        client.tracepoint(ENTRY, work, TEXT, condition=MINE % self.one.pid)
        client.tracepoint(RETURN, work, RET, condition=MINE % self.one.pid)
        client.tracepoint(ALL, work, TEXT)
        client.tracepoint(ALL_RETURNS, work, RET, TEXT)
        client.tracepoint(DEPTH, depth, RET)
        client.tracepoint(NONE, self.at("pushed"), condition=NEVER)

    def hits(self, client):
        """Return the hits of the two tracepoints whose conditions hold only for self.one: at entries, and at returns."""
        return client.hits(ENTRY, self.at("work")), client.hits(RETURN, self.at("work"))

    def counted(self, client, rng):
        """Let the program make calls. Check that each call is a hit at its entry and at its return. Return the number
        of calls."""
        before, calls = self.hits(client), rng.randint(1, 100)
        self.one("call 0 %d" % calls)
        found = tuple(now - then for now, then in zip(self.hits(client), before))
        assert found == (calls, calls), "%d calls, hits at entries and returns: %s" % (calls, found)
        self.one("pushed %d" % calls)
        assert not client.hits(NONE, self.at("pushed")), "a condition that never holds did"
        return calls

    def unchanged(self):
        assert self.code() == self.before, "the program's code is not what it was"


def processes(me):
    """Run a process of the program, in one of several ways, some of which end it in the middle of hits."""
    one, way = Traced(), me.rng.choice(("killed", "fork", "exec", "crowd", "deep", "crowd killed"))
    if "crowd" in way:
        one("crowd %d %d" % (me.rng.randint(1, 40), me.rng.randint(1, 30)))
    if "killed" in way:
        one("forever")
        me.rest(1)
        one.kill()
        return
    if way == "exec":
        one.send("exec")
    one({"fork": "fork 100", "exec": "call 0 100", "crowd": "crowd_goes", "deep": "deep 300"}[way])
    status = one.end()
    assert not status, "%s: the program's status is %s" % (way, status)
