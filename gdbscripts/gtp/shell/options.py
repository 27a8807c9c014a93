# SPDX-License-Identifier: GPL-2.0-only
"""The command line of `gtp`: subcommands, options, and their help."""
import argparse
import re

UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600}
LONGEST = 1e12  # the maximum duration, in seconds
SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30}
SIZE_LEAST = 4096  # the smallest --size that gtp record accepts for a file

ABOUT = """Trace the running Linux kernel with GDB and gdbtp, from the shell:

  sudo gtp trace 'vfs_read if count > 4096' \\
      --collect 'count, file->f_path.dentry->d_iname' --for 5s
  sudo gtp event sched:sched_switch --count 20
  sudo gtp syscall 'openat if $ret < 0'
  sudo gtp events 'sched:*'

gtp COMMAND --help describes a command. Expressions are C, with the kernel's own
types."""

TRACE = """Print a line for each hit of a function, a source line or an address.

  gtp trace 'vfs_read if count > 4096' \\
      --collect 'count, file->f_path.dentry->d_iname' --for 5s
  gtp trace 'vfs_*' --count 20
  gtp trace tcp_sendmsg -c 'sk->sk_dport, size' --csv sent.csv --for 1m
  gtp trace fs/open.c:*

LOCATION is as for GDB's gtp trace: FUNCTION (its first instruction, and every
inlined copy), 'vfs_*', FILE:*, FILE:LINE, *ADDRESS."""

EVENT = """Print a line for each hit of one of the kernel's own events.

  gtp event sched:sched_switch --count 20
  gtp event 'sched:sched_switch if next_pid == 42' -c 'prev_comm, prev_pid'
  gtp event 'sched:sched_process_*'

gtp events lists the events. Expressions can name the event's arguments, and the
fields of its record that are copies of arguments: see gtp events -v SYSTEM:EVENT."""

SYSCALL = """Print a line for each return of a system call.

  gtp syscall openat --for 10s
  gtp syscall 'openat if $ret < 0' --collect 'filename, $ret'
  gtp syscall read --enter --collect 'fd, count'

Expressions can name the call's arguments, and $ret, the return value. --enter
prints a line when the call begins instead: only then do exit and execve have
their arguments."""

COLUMNS = """A line has the time, CPU, pid and task, then a column for each expression of
--collect, titled as you typed it. Enums are printed by name, and numbers with the
sign of their type. Char arrays and the targets of char pointers are text. A format
may precede an expression: /err $ret, /ip addr, /time ns. Without --collect the
arguments are printed. Structures, arrays and $_sdata do not fit into a line. For
these, or with --at-end, hits are recorded as trace frames, which are printed when
the run ends, as by GDB's gtp table.

A run ends after --for, after --count lines, at ^C or SIGTERM, or when its output is
closed; all probes are removed by then. The last line has the number of hits, and
the number of hits that were not printed because they came too fast, or right before
the end. Exit status: 0 the trace ran, also if ^C ended it; 1 it could not run;
2 wrong usage; 130 ^C before it began."""

EVENTS = """List the kernel's own events.

  gtp events                          all events
  gtp events 'sched:*'                those that match a pattern
  gtp events -v sched:sched_switch    with arguments and fields"""

LINES = """List a function's source lines, with the kind of probe that each takes (j a jump, b a breakpoint).

  gtp lines vfs_read"""

EXPLAIN = """Say whether the probe at a place can be a jump, and why or why not.

  gtp explain vfs_read+0x20
  gtp explain 0xffffffff8134f3a0"""

CHECK = """Compare vmlinux with the running kernel."""
STATUS = """Print the module's status: the run, hits, buffers, probes."""
GDB = """Start GDB with vmlinux and all commands (help gtp), connected to the kernel.

  gtp gdb"""

ATTACH = """Show a process to GDB without stopping it.

GDB starts this command:

  gdb -ex 'target remote | sudo gtp attach PID'

GDB then shows the memory, libraries and threads of the process, which keeps
running. This needs neither the module nor the kernel's debug information: see
gtp-attach(1)."""

COMPILE = """Compile a GDB session into one file, for gtp-run on a machine without GDB and vmlinux.

  gtp compile session.gdb -o probes.gtpd --vmlinux vmlinux-6.1
  gtp compile session.gdb -o probes.gtpd --vmlinux vmlinux-6.1 --vmlinux vmlinux-6.12
  gtp compile session.gdb --cache probes

SESSION has the GDB commands that set tracepoints: gtp trace, gtp event, trace,
actions, collect, gtp count, tvariable, condition, passcount, set
trace-buffer-size. A final tstart may be left out. gtp compile needs neither root
nor the module, and the kernel need not be running here. It reports the errors that
the module would report, with the same messages, except for places that only the
running kernel can refuse: gtp-run reports these."""

CACHE = """Keep compiled sessions under names, each for one kernel or several, by build-id.

  gtp cache                          list the sessions, as gtp cache list
  gtp cache add probes.gtpd          under the name probes, unless NAME follows
  gtp cache show probes              kernels, settings, tracepoints, actions
  gtp-run --for 5s "$(gtp cache path probes)"
  ssh root@HOST gtp-run --for 5s - < "$(gtp cache path probes)"
  gtp cache remove probes            or --all

gtp compile --cache NAME compiles into the cache. If the name exists, kernels are
added to it; a different session for a kernel that the name already has requires
--force. The cache is $XDG_CACHE_HOME/gdbtp/sessions, otherwise
/var/cache/gdbtp/sessions for root and ~/.cache/gdbtp/sessions for other users."""

FLEET = """Run a compiled session on many machines, and fetch their trace files.

  gtp fleet --for 10s 'root@web[1-16]' -- probes.gtpd
  gtp fleet -o monday --vmlinux vmlinux-6.1 --for 1m @web db1 db2 -- probes.gtpd
  gtp fleet --merge monday --vmlinux vmlinux-6.1

HOSTS are node sets of ClusterShell: web[1-16], @GROUP, user@host. Each machine needs
the module, sshd and /bin/sh; ssh must not ask for a password. For the run, gtp-run
and the session are copied to the machine, over the same ssh connection. A machine
that fails is reported with its own error message, and the others go on. ^C ends the
run on all machines and fetches their frames. Exit status: 0 all machines delivered
their trace files, 3 some did, 1 none did, 2 wrong usage, 130 a second ^C."""


RECORD = """Write the frames of the current run, or of the next one, to a trace file as they come.

  gtp record                                 to gtp.tf, until ^C or the end of the run
  gtp record -o reads.tf --for 1h
  gtp record -o reads.tf --size 1G --rotate 10
  gtp record --until 1000                    the 1000th frame is the last one
  gtp record --until '2:$latency > 1000000'  ends with the first such frame of tracepoint 2

Start the run with tstart in a GDB, in another terminal, or before with set
disconnected-tracing on. If there is no run, gtp record waits for one. Frames that
have been recorded leave the module's buffers, so a run can last for hours. If gtp
record is too slow, a run with set circular-trace-buffer on loses frames, which are
counted; any other run ends. The file is a trace file at any moment, for GDB's
target tfile. Only one reader can record at a time. Exit status: 0 the file is
complete, 1 it is not, 2 wrong usage, 4 another reader has the frames, 130 ^C before
a run began."""

SNAPSHOT = """Write the frames that the current run has collected so far to a trace file.

  gtp snapshot now.tf

The run continues. Circular buffers (GDB's set circular-trace-buffer on) have the
latest frames. The frames that are written leave the buffers, so the next snapshot
begins where this one ends. Frames that arrive meanwhile are included, for a second
at most. Exit status: as of gtp record; 1 also if there is no run."""

LIVE = """Print a line for each frame of the current run, or of the next one, as it comes.

  gtp live
  gtp live --for 10s
  gtp live '2 count, $latency if count > 4096' --count 20

Start the run in GDB, as for gtp record. gtp live and gtp record read the same
frames, so only one of them works at a time, and frames that have been read, printed
or not, are no longer in the run's buffers. The arguments are the same as for GDB's gtp
table: a tracepoint's number, columns, and a condition on the contents of frames.
Lost frames are reported where they are missing. Exit status: 0 it ended with the
run, at ^C or after --for or --count; 1 it could not begin; 2 wrong usage;
4 another reader has the frames; 130 ^C before a run began."""


def duration(text):
    """Return a duration such as 5s, 500ms, 2m, 1h or 5 in seconds, as tools/run/duration.c does."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|)", text, re.A)
    seconds = float(found.group(1)) * UNITS[found.group(2)] if found else 0
    if not 0 < seconds < LONGEST:
        raise argparse.ArgumentTypeError("%r is no time; write 5s, 500ms, 2m or 1h" % text)
    return seconds


def size(text):
    """Return a size such as 500k, 64M, 2G or 5000 as a number of bytes."""
    found = re.match(r"([1-9]\d*)([kKMG]?)$", text, re.A)
    if not found:
        raise argparse.ArgumentTypeError("%r is no size; write 500k, 64M, 2G or a number of bytes" % text)
    wanted = int(found.group(1)) << SHIFTS[found.group(2).lower()]
    if not SIZE_LEAST <= wanted < 2**63:
        raise argparse.ArgumentTypeError("files of %s bytes are too small, or too large; 4k is the least" % text)
    return wanted


def positive(text):
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("%r is not a positive number" % text)
    return int(text)


def add_run(parser):
    """Add the options common to the subcommands that trace."""
    add = parser.add_argument
    add("-c", "--collect", metavar="EXPRESSIONS", help="the C expressions to print, separated by commas")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h")
    add("-n", "--count", type=positive, metavar="LINES", help="end after this number of lines")
    add("-o", "--csv", metavar="FILE", help="write CSV to FILE instead of a table; - is standard output")
    add("--at-end", action="store_true", help="record trace frames, and print them when the run ends")
    add("--limit", type=positive, default=200, metavar="N", help="refuse more than N places (200)")
    add("-m", "--modules", nargs="?", const="", metavar="FOLDER",
        help="load the symbols of all modules first, also from FOLDER; otherwise only if a name is not found")


def add_command(commands, name, text, *words):
    parser = commands.add_parser(name, help=text.splitlines()[0].rstrip("."), description=text,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    for word, settings in words:
        parser.add_argument(word, **settings)
    parser.add_argument("--vmlinux", metavar="FILE",
                        help="the kernel's debug information, if it is not in a usual place")
    return parser


def add_attach(commands):
    one = commands.add_parser("attach", help=ATTACH.splitlines()[0].rstrip("."), description=ATTACH,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("pid", metavar="PID", help="the number of the process")


def add_compile(commands):
    one = commands.add_parser("compile", help=COMPILE.splitlines()[0].rstrip("."), description=COMPILE,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("session", metavar="SESSION.gdb", help="a file of GDB commands; - is standard input")
    to = one.add_mutually_exclusive_group(required=True)
    to.add_argument("-o", "--output", metavar="FILE", help="the file to write")
    to.add_argument("--cache", metavar="NAME", help="keep the session under a name instead: see gtp cache")
    one.add_argument("--force", action="store_true", help="with --cache: replace the name's sessions for these kernels")
    one.add_argument("--vmlinux", metavar="FILE", action="append", default=[],
                     help="debug information of a kernel on which to run, once for each (the running kernel's)")
    one.add_argument("--no-table", action="store_true", help="leave out the tables of regions: a smaller file")


def add_cache(commands):
    one = commands.add_parser("cache", help=CACHE.splitlines()[0].rstrip("."), description=CACHE,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = one.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="list names, kernels, tracepoints, dates and sizes; the default")
    two = actions.add_parser("add", help="keep a file that gtp compile has written")
    two.add_argument("file", metavar="FILE.gtpd")
    two.add_argument("name", metavar="NAME", nargs="?", help="the name (the name of the file)")
    two.add_argument("--force", action="store_true", help="replace the name's sessions for the same kernels")
    for name, text in (("show", "print the same as gtp-run --info"), ("path", "print the path of the file, for gtp-run")):
        actions.add_parser(name, help=text).add_argument("name", metavar="NAME")
    two = actions.add_parser("remove", help="remove sessions")
    which = two.add_mutually_exclusive_group(required=True)
    which.add_argument("names", metavar="NAME", nargs="*", default=[])
    which.add_argument("--all", action="store_true", help="remove all sessions")


def add_record(commands):
    one = commands.add_parser("record", help=RECORD.splitlines()[0].rstrip("."), description=RECORD,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    add = one.add_argument
    add("-o", "--output", metavar="FILE", default="gtp.tf", help="the trace file (gtp.tf)")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h of a run")
    add("--until", metavar="[T:]FRAMES|EXPRESSION",
        help="end after this number of frames, or with the first frame for which a condition holds")
    add("--vmlinux", metavar="FILE", help="for such a condition: the kernel's debug information, if it is not in a usual place")
    add("--size", type=size, metavar="N", help="FILE.0001 and so on, none larger than N: 500k, 64M, 2G")
    add("--rotate", type=positive, metavar="K", help="keep only the last K of these files")
    add("--pipe", metavar="FILE", help="read this instead of /proc/gtpframe_pipe")


def add_snapshot(commands):
    one = commands.add_parser("snapshot", help=SNAPSHOT.splitlines()[0].rstrip("."), description=SNAPSHOT,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("output", metavar="FILE", help="the trace file")
    one.add_argument("--pipe", metavar="FILE", help="read this instead of /proc/gtpframe_pipe")


def add_live(commands):
    one = commands.add_parser("live", help=LIVE.splitlines()[0].rstrip("."), description=LIVE,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    add = one.add_argument
    add("asked", nargs="*", metavar="[N] [COLUMN, ...] [if EXPRESSION]", help="a tracepoint, what to print, and which frames")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h of a run")
    add("-n", "--count", type=positive, metavar="LINES", help="end after this number of lines")
    add("--vmlinux", metavar="FILE", help="the kernel's debug information, if it is not in a usual place")
    add("--pipe", metavar="FILE", help="read this instead of /proc/gtpframe_pipe")


def add_fleet(commands):
    one = commands.add_parser("fleet", help=FLEET.splitlines()[0].rstrip("."), description=FLEET,
                              formatter_class=argparse.RawDescriptionHelpFormatter,
                              usage="gtp fleet [options] HOSTS... -- SESSION.gtpd\n       gtp fleet --merge DIR [options]")
    add = one.add_argument
    add("words", nargs="*", metavar="HOSTS... -- SESSION.gtpd", help="node sets, and a file from gtp compile")
    add("--for", dest="seconds", type=duration, metavar="TIME", help="end after 5s, 500ms, 2m, 1h on each machine")
    add("-o", "--output", metavar="DIR", help="the folder for the files (SESSION.fleet)")
    add("--vmlinux", metavar="FILE", action="append", default=[],
        help="debug information of a machine's kernel, once for each kernel: merges the files")
    add("--merge", metavar="DIR", help="merge the files that an earlier run has fetched to DIR")
    add("--fanout", type=positive, metavar="N", help="run at most N machines at a time (all)")
    add("--silence", type=duration, default=30, metavar="TIME",
        help="give up a machine that shows no sign of life for this time (30s)")
    add("--connect-timeout", type=positive, default=10, metavar="SECONDS", help="the limit for each ssh (10)")
    add("--ssh-options", metavar="TEXT", help="options for each ssh, such as '-F FILE'")
    add("--run", metavar="FILE", help="copy this program instead of gtp-run")
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
            one.add_argument("--enter", action="store_true", help="print a line when the call begins, not when it returns")
    add_command(commands, "events", EVENTS, ("-v", dict(action="store_true", help="show arguments and fields")),
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
    """Return the request to GDB that corresponds to the arguments of a subcommand that traces."""
    place = " ".join(given.place)
    return {"command": "trace", "verb": given.command, "place": place, "collect": given.collect, "count": given.count,
            "limit": given.limit, "modules": given.modules, "at_end": given.at_end, "csv": given.csv,
            "enter": getattr(given, "enter", False)}
