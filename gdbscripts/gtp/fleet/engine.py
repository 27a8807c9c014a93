# SPDX-License-Identifier: GPL-2.0-only
"""Runs ClusterShell, which talks to all hosts in parallel, with an ssh for each. No other file imports ClusterShell."""
from gtp.shell.failure import Failure

NO_ENGINE = "gtp fleet needs ClusterShell for Python; Debian: apt install python3-clustershell"
TICK = 0.2

try:
    from ClusterShell.Event import EventHandler
    from ClusterShell.NodeSet import NodeSet, NodeSetException
    from ClusterShell.Task import task_self
    from ClusterShell.Worker.Ssh import SshClient, WorkerSsh
except ImportError:
    raise Failure(NO_ENGINE) from None


class Client(SshClient):
    """An ssh with output in bytes, which ^C at the terminal does not reach."""

    def _build_cmd(self):
        words, environment = super()._build_cmd()
        return ["setsid"] + words, environment

    def _handle_read(self, sname):
        data = self._read(sname)
        host = self.worker.eh.host
        if sname == self.worker.SNAME_STDERR:
            host.complained(data)
        else:
            host.answered(data)


class Worker(WorkerSsh):
    SHELL_CLASS = Client


class Line(EventHandler):
    """The line of a Host: it passes data between the Host and ClusterShell's worker."""

    def __init__(self, host):
        super().__init__()
        self.host, self.worker, self.status = host, None, None

    def write(self, data):
        self.worker.write(data)

    def close(self):
        self.worker.set_write_eof()

    def kill(self):
        self.worker.abort()

    def ev_pickup(self, worker, node):
        self.worker = worker
        self.host.start(self)

    def ev_hup(self, worker, node, rc):
        self.status = rc

    def ev_close(self, worker, timedout):
        self.host.ended(self.status)


class Ticks(EventHandler):
    """A timer that calls a function again and again."""

    def __init__(self, tick):
        super().__init__()
        self.tick = tick

    def ev_timer(self, timer):
        self.tick()


def names(words):
    """Return the hosts that node sets name, each once, in ClusterShell's order."""
    try:
        found = list(NodeSet(",".join(words)))
    except NodeSetException as error:
        raise Failure("%s: %s" % (" ".join(words), error)) from None
    for name in found:
        if name.startswith("-"):  # ssh would take a name with a leading dash for an option
            raise Failure("%s is not the name of a machine" % name)
    return found


def run(hosts, command, tick, fanout, connect_timeout, ssh_options):
    """Talk to all hosts, FANOUT at a time, until the conversation with each is over. TICK() is called while time
    passes."""
    task = task_self()
    task.set_info("fanout", fanout)
    task.set_info("connect_timeout", connect_timeout)
    task.set_info("ssh_options", ssh_options)
    for host in hosts:
        task.schedule(Worker(host.name, handler=Line(host), command=command, stderr=True))
    task.timer(TICK, Ticks(tick), interval=TICK, autoclose=True)
    try:
        task.resume()
    except KeyboardInterrupt:
        task.abort()
        raise
