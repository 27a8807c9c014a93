# SPDX-License-Identifier: GPL-2.0-only
"""The command line: subcommands, options, and their help."""
import argparse
import re

UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600}
SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30}
SIZE_LEAST = 4096  # the least --size of a file of gtp record

ABOUT = """Trace the running Linux kernel with GDB and gdbtp, a line in the shell each:

  sudo gtp trace 'vfs_read if count > 4096' \\
      --collect 'count, file->f_path.dentry->d_iname' --for 5s
  sudo gtp event sched:sched_switch --count 20
  sudo gtp syscall 'openat if $ret < 0'
  sudo gtp events 'sched:*'

gtp COMMAND --help says more. Expressions are C over the kernel's own types."""

TRACE = """Print a line for each hit of a function, a source line or an address.

  gtp trace 'vfs_read if count > 4096' \\
      --collect 'count, file->f_path.dentry->d_iname' --for 5s
  gtp trace 'vfs_*' --count 20
  gtp trace tcp_sendmsg -c 'sk->sk_dport, size' --csv sent.csv --for 1m
  gtp trace fs/open.c:*

LOCATION is as for GDB's gtp trace: FUNCTION (its first instruction, and where
it is inlined), 'vfs_*', FILE:*, FILE:LINE, *ADDRESS."""

EVENT = """Print a line for each hit of one of the kernel's own events.

  gtp event sched:sched_switch --count 20
  gtp event 'sched:sched_switch if next_pid == 42' -c 'prev_comm, prev_pid'
  gtp event 'sched:sched_process_*'

gtp events lists them. In expressions the event's arguments have their names,
and so have those fields of its record that are copies of them: gtp events -v
SYSTEM:EVENT."""

SYSCALL = """Print a line for each return of a system call.

  gtp syscall openat --for 10s
  gtp syscall 'openat if $ret < 0' --collect 'filename, $ret'
  gtp syscall read --enter --collect 'fd, count'

Its arguments have their names, and $ret is what it returns. --enter prints a
line when the call begins instead: exit and execve have their arguments only
then."""

COLUMNS = """What is printed: time, CPU, pid and task, then each expression of --collect under
the words that were typed. Enums have their names, a char array and what a char
pointer leads to are text, numbers have the sign of their type. A format may stand
before an expression: /err $ret, /ip addr, /time ns. Without --collect the arguments
are printed. Structures, arrays and $_sdata do not fit into a line:
with one of them, or --at-end, hits are recorded as trace frames, and shown as
GDB's gtp table does when the run ends.

A run ends after --for, after --count lines, by ^C, by SIGTERM, or when its output
is closed; every probe is out then. The last line tells how many hits there were,
and how many were not printed: they came too fast, or right before the end. Exit
status: 0 the trace ran, however it was ended; 1 it could not; 2 wrong usage;
130 ^C before it began."""

EVENTS = """List the kernel's own events.

  gtp events                     all
  gtp events 'sched:*'           some
  gtp events -v sched:sched_switch    arguments and fields of one"""

LINES = """List a function's source lines and what a probe on each would use (j a jump, b a breakpoint).

  gtp lines vfs_read"""

EXPLAIN = """Say whether a probe somewhere can be a jump, and why.

  gtp explain vfs_read+0x20
  gtp explain 0xffffffff8134f3a0"""

CHECK = """Compare vmlinux with the running kernel."""
STATUS = """Show what the module is doing: the run, hits, buffer, probes."""
GDB = """Start GDB with vmlinux, connected, with all commands: help gtp.

  gtp gdb"""

ATTACH = """Show a process to GDB without stopping it. GDB starts this command:

  gdb -ex 'target remote | sudo gtp attach PID'

Memory, libraries and threads are the process's, and the process runs on. It
needs neither the module nor a kernel with debug information: gtp-attach(1)."""

COMPILE = """Make a file of a session of GDB's, for gtp-run on a machine without GDB and vmlinux.

  gtp compile session.gdb -o probes.gtpd --vmlinux vmlinux-6.1
  gtp compile session.gdb -o probes.gtpd --vmlinux vmlinux-6.1 --vmlinux vmlinux-6.12
  gtp compile session.gdb --cache probes

SESSION has what is typed in GDB to set tracepoints: gtp trace, gtp event, trace,
actions, collect, gtp count, tvariable, condition, passcount, set
trace-buffer-size. tstart stands at its end or is left out. It needs neither root
nor the module nor that kernel. What the module would refuse, but for places that
the running kernel itself refuses, is refused here, in the same words."""

CACHE = """Keep compiled sessions under names, each for one kernel or several, by build-id.

  gtp cache                          what is there: gtp cache list
  gtp cache add probes.gtpd          as probes; another NAME may follow
  gtp cache show probes              kernels, settings, tracepoints, actions
  gtp-run --for 5s "$(gtp cache path probes)"
  ssh root@HOST gtp-run --for 5s - < "$(gtp cache path probes)"
  gtp cache remove probes            or --all

gtp compile --cache NAME compiles into the cache. Kernels are added to a name that
is there; another session for a kernel that it has takes --force. The cache is
$XDG_CACHE_HOME/gdbtp/sessions, else root's in /var/cache/gdbtp, a user's in
~/.cache/gdbtp."""

FLEET = """Run a compiled session on many machines, and bring their trace files here.

  gtp fleet --for 10s 'root@web[1-16]' -- probes.gtpd
  gtp fleet -o monday --vmlinux vmlinux-6.1 --for 1m @web db1 db2 -- probes.gtpd
  gtp fleet --merge monday --vmlinux vmlinux-6.1

HOSTS are ClusterShell's node sets: web[1-16], @GROUP, user@host. Each machine needs
the module, sshd and /bin/sh; gtp-run and the session are copied there for the run,
over the one ssh that runs it. ssh asks for no password. A machine that fails is told,
with its own words, and the others go on. ^C ends the run everywhere and brings what
there is. Exit status: 0 all machines' files are here, 3 some, 1 none, 2 wrong usage,
130 a second ^C."""


RECORD = """Write the frames of the run that is on to a trace file, as they come.

  gtp record                                 to gtp.tf, until ^C or the run's end
  gtp record -o reads.tf --for 1h
  gtp record -o reads.tf --size 1G --rotate 10
  gtp record --until 1000                    the 1000th frame is the last one
  gtp record --until '2:$latency > 1000000'  the first of tracepoint 2 for which that holds

The run is another one's: tstart in GDB, in another terminal or before, with set
disconnected-tracing on; without one it waits for the next. Frames that are
recorded leave the module's buffers, so that a run may go on for hours: have set
circular-trace-buffer on, so that a reader that is too slow loses frames, which are
counted, and does not end the run. The file is a trace file at any moment, for
GDB's target tfile. Nothing else can record at the same time. Exit status: 0 it is
written, 1 not all of it, 2 wrong usage, 4 another one records, 130 ^C before a run
began."""

SNAPSHOT = """Write the frames that the run which is on has collected by now to a trace file.

  gtp snapshot now.tf

The run goes on. Circular buffers (GDB's set circular-trace-buffer on) have what came
last. What is written leaves the buffers, so that the next snapshot begins where this
one has ended; frames that come while it is taken are in it, for a second at most.
Exit status: as of gtp record, and 1 when no run is on."""

LIVE = """Print a line for each frame of the run that is on, while it comes.

  gtp live
  gtp live --for 10s
  gtp live '2 count, $latency if count > 4096' --count 20

The run is another one's, as for gtp record, whose frames go to a file instead: one of
both reads at a time, and what has been read, asked for or not, is not in the run's
buffers any more. What may be asked for is what GDB's gtp table takes: a tracepoint's number, columns,
and a condition on what the frames hold. Frames that came too fast are told where they
are missing. Exit status: 0 it ended by itself, with the run or by ^C; 1 it could not
begin; 2 wrong usage; 4 another one reads; 130 ^C before a run began."""


def duration(text):
    """Return the seconds that 5s, 500ms, 2m, 1h or 5 mean."""
    found = re.match(r"(\d+(?:\.\d+)?)(ms|s|m|h|)$", text)
    if not found or not float(found.group(1)):
        raise argparse.ArgumentTypeError("%r is no time; write 5s, 500ms, 2m or 1h" % text)
    return float(found.group(1)) * UNITS[found.group(2)]


def size(text):
    """Return the bytes that 500k, 64M, 2G or a number mean."""
    found = re.match(r"([1-9]\d*)([kKMG]?)$", text, re.A)
    if not found:
        raise argparse.ArgumentTypeError("%r is no size; write 500k, 64M, 2G or a number of bytes" % text)
    wanted = int(found.group(1)) << SHIFTS[found.group(2).lower()]
    if not SIZE_LEAST <= wanted < 2**63:
        raise argparse.ArgumentTypeError("files of %s bytes are too small, or too large; 4k is the least" % text)
    return wanted


def positive(text):
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("%r is no number; write 1 or more" % text)
    return int(text)


def add_run(parser):
    """Add the options common to the commands that trace."""
    add = parser.add_argument
    add("-c", "--collect", metavar="EXPRESSIONS", help="what to print, C expressions with commas between")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h")
    add("-n", "--count", type=positive, metavar="LINES", help="end after so many lines")
    add("-o", "--csv", metavar="FILE", help="write CSV to FILE instead; - is standard output")
    add("--at-end", action="store_true", help="record trace frames, show them when the run ends")
    add("--limit", type=positive, default=200, metavar="N", help="refuse more than N places (200)")
    add("-m", "--modules", nargs="?", const="", metavar="FOLDER",
        help="load the symbols of all modules first, those in FOLDER too; missing ones are loaded anyway")


def add_command(commands, name, text, *words):
    parser = commands.add_parser(name, help=text.splitlines()[0].rstrip("."), description=text,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    for word, settings in words:
        parser.add_argument(word, **settings)
    parser.add_argument("--vmlinux", metavar="FILE",
                        help="the kernel's debug information, if it is not where it usually is")
    return parser


def add_attach(commands):
    one = commands.add_parser("attach", help=ATTACH.splitlines()[0].rstrip("."), description=ATTACH,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("pid", metavar="PID", help="the process's number")


def add_compile(commands):
    one = commands.add_parser("compile", help=COMPILE.splitlines()[0].rstrip("."), description=COMPILE,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("session", metavar="SESSION.gdb", help="a file of GDB's commands; - is standard input")
    to = one.add_mutually_exclusive_group(required=True)
    to.add_argument("-o", "--output", metavar="FILE", help="the file to write")
    to.add_argument("--cache", metavar="NAME", help="keep it under a name instead: gtp cache")
    one.add_argument("--force", action="store_true", help="of --cache: replace what the name has for these kernels")
    one.add_argument("--vmlinux", metavar="FILE", action="append", default=[],
                     help="debug information of a kernel that it shall run on, one for each (the running one's)")
    one.add_argument("--no-table", action="store_true", help="leave the tables of regions out: a smaller file")


def add_cache(commands):
    one = commands.add_parser("cache", help=CACHE.splitlines()[0].rstrip("."), description=CACHE,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = one.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="names, kernels, tracepoints, dates and bytes; so does no action")
    two = actions.add_parser("add", help="keep what gtp compile has written")
    two.add_argument("file", metavar="FILE.gtpd")
    two.add_argument("name", metavar="NAME", nargs="?", help="the file's name if not said")
    two.add_argument("--force", action="store_true", help="replace what the name has for the same kernels")
    for name, text in (("show", "what gtp-run --info shows of it"), ("path", "print its file's path, for gtp-run")):
        actions.add_parser(name, help=text).add_argument("name", metavar="NAME")
    two = actions.add_parser("remove", help="take sessions out")
    which = two.add_mutually_exclusive_group(required=True)
    which.add_argument("names", metavar="NAME", nargs="*", default=[])
    which.add_argument("--all", action="store_true", help="all of them")


def add_record(commands):
    one = commands.add_parser("record", help=RECORD.splitlines()[0].rstrip("."), description=RECORD,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    add = one.add_argument
    add("-o", "--output", metavar="FILE", default="gtp.tf", help="the trace file (gtp.tf)")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h of a run")
    add("--until", metavar="[T:]FRAMES|EXPRESSION", help="end with so many frames, or one for which a condition holds")
    add("--vmlinux", metavar="FILE", help="for such a condition: the kernel's debug information, if it is not where it usually is")
    add("--size", type=size, metavar="N", help="FILE.0001 and so on, none larger than N: 500k, 64M, 2G")
    add("--rotate", type=positive, metavar="K", help="of these, keep the last K")
    add("--pipe", metavar="FILE", help="another pipe than /proc/gtpframe_pipe")


def add_snapshot(commands):
    one = commands.add_parser("snapshot", help=SNAPSHOT.splitlines()[0].rstrip("."), description=SNAPSHOT,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("output", metavar="FILE", help="the trace file")
    one.add_argument("--pipe", metavar="FILE", help="another pipe than /proc/gtpframe_pipe")


def add_live(commands):
    one = commands.add_parser("live", help=LIVE.splitlines()[0].rstrip("."), description=LIVE,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    add = one.add_argument
    add("asked", nargs="*", metavar="[N] [COLUMN, ...] [if EXPRESSION]", help="which tracepoint, what of it, which frames")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h of a run")
    add("-n", "--count", type=positive, metavar="LINES", help="end after so many lines")
    add("--vmlinux", metavar="FILE", help="the kernel's debug information, if it is not where it usually is")
    add("--pipe", metavar="FILE", help="another pipe than /proc/gtpframe_pipe")


def add_fleet(commands):
    one = commands.add_parser("fleet", help=FLEET.splitlines()[0].rstrip("."), description=FLEET,
                              formatter_class=argparse.RawDescriptionHelpFormatter,
                              usage="gtp fleet [options] HOSTS... -- SESSION.gtpd\n       gtp fleet --merge DIR [options]")
    add = one.add_argument
    add("words", nargs="*", metavar="HOSTS... -- SESSION.gtpd", help="node sets, and a file of gtp compile")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h on each machine")
    add("-o", "--output", metavar="DIR", help="where the files go; SESSION.fleet")
    add("--vmlinux", metavar="FILE", action="append", default=[],
        help="debug information of a kernel there, one for each: the files are merged then")
    add("--merge", metavar="DIR", help="merge what a run has brought to DIR")
    add("--fanout", type=positive, metavar="N", help="so many machines at a time (all of them)")
    add("--silence", type=duration, default=30, metavar="TIME",
        help="give a machine up that shows no sign of life for so long (30s)")
    add("--connect-timeout", type=positive, default=10, metavar="SECONDS", help="of each ssh (10)")
    add("--ssh-options", metavar="TEXT", help="for each ssh, as '-F FILE'")
    add("--run", metavar="FILE", help="the program that is copied instead of gtp-run")
    add("-f", "--force", action="store_true", help="replace the files of an earlier run in DIR")


def parser():
    top = argparse.ArgumentParser("gtp", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text, place in (("trace", TRACE, "LOCATION"), ("event", EVENT, "SYSTEM:EVENT"),
                              ("syscall", SYSCALL, "NAME")):
        one = add_command(commands, name, text, ("place", dict(nargs="+", metavar=place + " [if EXPRESSION]")))
        one.epilog = COLUMNS
        one.usage = "gtp %s '%s [if EXPRESSION]' [options]" % (name, place)
        add_run(one)
        if name == "syscall":
            one.add_argument("--enter", action="store_true", help="print the call when it begins, not when it returns")
    add_command(commands, "events", EVENTS, ("-v", dict(action="store_true", help="arguments and fields")),
                ("pattern", dict(nargs="?", help="SYSTEM:EVENT with * and ?")))
    add_command(commands, "lines", LINES, ("function", {}), ("folder", dict(nargs="?", help="the kernel's sources")))
    add_command(commands, "explain", EXPLAIN, ("location", dict(help="FUNCTION+OFFSET, an address, FILE:LINE")))
    add_command(commands, "check", CHECK)
    add_command(commands, "status", STATUS)
    add_command(commands, "gdb", GDB)
    add_attach(commands)
    add_cache(commands)
    add_compile(commands)
    add_fleet(commands)
    add_record(commands)
    add_snapshot(commands)
    add_live(commands)
    return top


def words(given):
    """Return the words of the GDB command for a subcommand that only prints."""
    found = [given.command]
    if given.command == "events":
        found += ["-v"] * given.v + [given.pattern] * bool(given.pattern)
    elif given.command == "lines":
        found += [given.function] + [given.folder] * bool(given.folder)
    elif given.command == "explain":
        found.append(given.location)
    return found


def request(given):
    """Return the request for GDB from a command that traces."""
    place = " ".join(given.place)
    return {"command": "trace", "verb": given.command, "place": place, "collect": given.collect, "count": given.count,
            "limit": given.limit, "modules": given.modules, "at_end": given.at_end, "csv": given.csv,
            "enter": getattr(given, "enter", False)}
