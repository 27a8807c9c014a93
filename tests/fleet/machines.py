# SPDX-License-Identifier: GPL-2.0-only
"""Fake machines for gtp fleet. Each is an sshd that these tests start; on it, gtp-run traces a program that stands in for
the kernel.

The file NAME.env describes the machine NAME. stand-in.sh, which takes the place of gtp-run on these machines, reads it.
"""
import os
import shlex
import socket
import subprocess

import offline

HERE = os.path.dirname(os.path.abspath(__file__))
SSHD = """HostKey {out}/host-key
AuthorizedKeysFile {out}/key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
"""
SSH = """Host *
  User {user}
  IdentityFile {out}/key
  IdentitiesOnly yes
  UserKnownHostsFile {out}/known-hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  LogLevel ERROR
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def prepare(out):
    """Write the keys and configurations of the sshds."""
    for name in ("key", "host-key"):
        offline.sh(out, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)
    write(out + "/sshd_config", SSHD.format(out=out))
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    user = offline.sh(out, "id", "-un").strip()
    write(out + "/ssh_config", SSH.format(out=out, user=user))
    write(out + "/known-hosts", "")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Machine:
    """The machine NAME. MODE is a word that stand-in.sh knows; AHEAD_NS is how far its clocks are ahead of this machine's.

    SLIDE: the distance of its kernel's load address from the link address. SHELL: the user's login shell there.
    """

    def __init__(self, out, name, mode="runs", ahead_ns=0, kernel="prog", hits="hits", sshd=True,
                 slide=0, shell=None):
        self.out, self.name, self.port, self.shell = out, name, free_port(), shell
        self.target = offline.Target(out, slide, kernel, hits)
        settings = {"MODE": mode, "AHEAD": str(ahead_ns), "DEVICE": self.target.path, "OUT": out, "NAME": name,
                    "RUN": offline.TOP + "/build/tools/gtp-run", "HERE": HERE}
        write("%s/%s.env" % (out, name), "".join("%s=%s\n" % (key, shlex.quote(value))
                                                 for key, value in settings.items()))
        write("%s/%s.conf" % (out, name), "Host %s\n  HostName 127.0.0.1\n  Port %d\n  HostKeyAlias machine\n" %
              (name, self.port))
        self.sshd = self.listen() if sshd else None

    def listen(self):
        """Start the sshd of this machine. Return the process once it listens."""
        # Do not use the user's own home: the shell's startup files there may take a second at each login.
        words = ["/usr/sbin/sshd", "-D", "-e", "-f", self.out + "/sshd_config", "-o", "ListenAddress=127.0.0.1:%d" % self.port,
                 "-o", "SetEnv=FLEET_MACHINE=%s/%s.env TMPDIR=%s/there HOME=%s/there" % (self.out, self.name, self.out, self.out)]
        if self.shell:  # run it with -c, as sshd runs a login shell
            words += ["-o", 'ForceCommand exec %s -c "$SSH_ORIGINAL_COMMAND"' % self.shell]
        log = open("%s/%s.log" % (self.out, self.name), "wb")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.PIPE)
        log.close()
        seen = b""
        for line in process.stderr:
            seen += line
            if b"Server listening" in line:
                return process
        raise AssertionError("sshd does not listen: " + seen.decode())

    def end(self):
        self.target.__exit__()
        if self.sshd:
            self.sshd.terminate()
            self.sshd.stderr.close()
            self.sshd.wait()


class Machines:
    """Context manager: several machines. EACH is {name: Machine's further arguments}."""

    def __init__(self, out, each):
        self.out, self.all = out, []
        try:
            for name, how in each.items():
                self.all.append(Machine(out, name, **how))
        except BaseException:
            self.__exit__()
            raise
        with open(out + "/host-key.pub", encoding="ascii") as file:
            write(out + "/known-hosts", "machine " + file.read())
        write(out + "/config", "".join("Include %s/%s.conf\n" % (out, name) for name in each) +
              "Include %s/ssh_config\n" % out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.all:
            one.end()
