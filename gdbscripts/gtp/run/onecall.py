# SPDX-License-Identifier: GPL-2.0-only
# One tracepoint that marks the calls of a function that are wanted, for the commands gtp path and gtp calls; and the frames
# that other tracepoints have left inside these calls.
#
# The mark is a variable $task_NAME, which has a value for each task (docs/inside.md): the stack pointer at the call's entry.
# The condition sets it, and the actions, which run when the call returns, remove it. A call that begins inside a marked one,
# for instance a recursive one, sets nothing. If the return of a marked call was missed, the task keeps the mark. A later call
# whose stack pointer is not below the mark, on the same stack, shows this, because the marked call cannot be active then. It
# replaces the mark.
import bisect
import re

import gdb

from gtp import cexpr
from gtp.cexpr import variables
from gtp.formats.tracefile import TraceFile, Unavailable
from gtp.gdblib import gdbcall, remote, screen, traceframe, words
from gtp.places import places
from gtp.run import bytecode, source
from gtp.text import units
from gtp.view import bytype, cells, columns, kinds

LATE = re.compile(r"\$(?:k?ret|latency)\b", re.A)
# Each tracepoint collects this about the hit itself.
HIT = "$clock, $cpu_id, $current_task, $irq_count"
CALL = HIT + ", $current_task_pid, $entry_clock, $latency, $ret"
STACK = "$rsp"
STACK_BITS = 14  # the kernel aligns the stack of a task to its size, which is at least 2^14 bytes
# The bits of $irq_count that say that an interrupt, a softirq or an NMI runs. Bits 9 to 15 count how often the code has
# disabled softirqs. Interrupts and NMIs have bits above those: which ones differs between kernels.
IN_INTERRUPT = ~0xfe00
UNSEEN = re.compile(r"not seen: +(\d+) hits inside another hit, (\d+) missed")
LONGEST = 60  # the longest text of a value
CALLS = 5  # how many calls are printed if nothing else is said


def entry(name):
    """Return the address of the first instruction of a function."""
    found = [p for p in places.function(name, name.rpartition(":")[2]).places or () if p.inside is None]
    if len(found) != 1:
        raise gdb.GdbError("%s: %s" % (name, "there are %d functions of that name: FILE:FUNCTION says which" % len(found) if found
                                       else "it is inlined everywhere, or no function"))
    return found[0]


def variable(function):
    """Define a variable of tasks, and return its name."""
    known = set(re.findall(r"^\$(\w+)", gdbcall.execute("info tvariables"), re.M))
    base = name = "task_" + re.sub(r"\W", "_", function, flags=re.A)[:40]
    number = 1
    while name in known:
        number += 1
        name = "%s_%d" % (base, number)
    gdbcall.execute("tvariable $" + name)
    return name


class Wanted:
    """The calls that a command wants. number: the tracepoint at the function; its frames are those of the calls. late: the
    condition that chooses the calls that are shown, or None. titles: {tracepoint's number: [(title, expression)]}."""

    def __init__(self, definitions, name, condition):
        self.place = entry(name)
        pc, self.function = self.place.pc, self.place.function
        self.late = condition if condition and LATE.search(condition) else None
        meant = cexpr.condition(condition, pc) if condition else None  # raises an error before anything is set
        self.variable = variable(self.function)
        mark = "(${v} == 0 || (${v} <= (long){sp} && ((${v} ^ (long){sp}) >> {bits}) == 0)) && (${v} = (long){sp})".format(
            v=self.variable, sp=STACK, bits=STACK_BITS)
        early = "(%s) && " % meant if condition and not self.late else ""
        self.titles = {}
        self.number = definitions.add(places.address(pc), early + mark)
        texts = {"current->comm": cexpr.pieces("current->comm", pc)[0][0][0]}
        names = plain_names(variables.symbols(pc, True)) + (values_of(condition) if self.late else [])
        texts.update((name, name) for name in names)
        self.collect(self.number, "%s, %s" % (CALL, STACK), texts, "teval $%s = 0" % self.variable)

    def at(self, pc):
        """Return the text for GDB's `trace' at an address in the function."""
        base = places.address(self.place.pc)[1:]
        return "*%#x" % pc if base.startswith("0x") else "*((char *)%s+%d)" % (base, pc - self.place.pc)

    def inside(self):
        """Return the condition that holds inside a wanted call."""
        return "$" + self.variable

    def collect(self, number, always, texts, *more):
        """Make a tracepoint collect those texts that have a value there. TEXTS is {title: text}."""
        kept = accepted(number, always, texts, more)
        gdbcall.block("commands %d" % number, *lines(always, kept, more), "end")
        self.titles[number] = list(kept.items())


def plain_names(names):
    """Return those names from debug information that are valid in C. GDB takes any other for an expression."""
    return [name for name in names if gdbcall.WORD.fullmatch(name) and name[0] != "$"]


def lines(always, texts, more):
    """Return the actions of a tracepoint."""
    return ["collect " + always, *("collect " + text for text in texts.values()), *more]


def accepted(number, always, texts, more):
    """Return those of the texts that GDB collects at the tracepoint's place: GDB looks at each when it gets the actions."""
    try:
        gdbcall.block("commands %d" % number, *lines(always, texts, more), "end")
        return texts
    except gdb.error:
        pass
    kept = {}
    for title, text in texts.items():
        try:
            gdbcall.block("commands %d" % number, "collect " + text, "end")
            kept[title] = text
        except gdb.error:
            continue  # it is optimized out there, or GDB cannot collect it
    return kept


def values_of(condition):
    """Return the names of variables in a condition that is evaluated when the calls are shown."""
    return list(dict.fromkeys(re.findall(r"(?<![\w$.>])[A-Za-z_]\w*(?![\w(])", condition, re.A)))


class Call:
    """A wanted call that has returned. frames: the Frames of other tracepoints inside it."""

    def __init__(self, frame, run):
        self.frame, self.frames = frame, []
        self.begin, self.end = run.of(frame, "entry_clock"), run.of(frame, "clock")
        self.context = run.of(frame, "irq_count") & IN_INTERRUPT


class Run:
    """The frames of a run, as far as they are about wanted calls."""

    def __init__(self, wanted, others):
        self.trace = TraceFile(source.whole(), cells.constants())
        self.formats = bytype.Shown()
        self.wanted, self.views = wanted, {}
        numbers = self.numbers()
        own, others = numbers.get(wanted.number), {numbers[n]: n for n in others if n in numbers}
        self.own = {number: n for n, number in numbers.items()}
        self.calls = [Call(frame, self) for frame in self.trace.frames(*[own] if own is not None else [])]
        self.outside = 0
        self.sort(self.trace.frames(*others))
        self.unseen, self.unknown = unseen(wanted.variable), 0
        if wanted.late:
            self.calls = [call for call in self.calls if self.is_shown(call)]

    def numbers(self):
        """Return {GDB's number of a tracepoint: the target's}."""
        found = {}
        for number, (_, first) in self.trace.counts().items():
            traceframe.select(first)
            found[int(gdbcall.value("$tracepoint"))] = number
        return found

    def sort(self, frames):
        """Give each frame to the call in which it is."""
        tasks = {}
        for call in self.calls:
            tasks.setdefault(self.of(call.frame, "current_task"), []).append(call)
        for some in tasks.values():
            some.sort(key=lambda call: call.begin)
        begins = {task: [call.begin for call in some] for task, some in tasks.items()}
        for frame in frames:
            task, when = self.of(frame, "current_task"), self.of(frame, "clock")
            at = bisect.bisect_right(begins.get(task, ()), when) - 1
            if at < 0 or when > tasks[task][at].end:
                self.outside += 1
            else:
                tasks[task][at].frames.append(frame)

    def of(self, frame, name):
        """Return the value of a trace state variable in a frame."""
        return frame.var(self.trace.variables[name])

    def number(self, frame):
        """Return GDB's number of the tracepoint of a frame."""
        return self.own[frame.number]

    def is_shown(self, call):
        traceframe.select(call.frame.index)
        try:
            return columns.condition_of(self.wanted.late)(call.frame)
        except (Unavailable, bytecode.Failure):
            self.unknown += 1
            return False

    def view(self, frame):
        """Return [(title, Cell)] for the values that frames of this place have."""
        key = frame.number, frame.location.address
        if key not in self.views:
            traceframe.select(frame.index)
            self.views[key] = [(title, self.cell(title, expression))
                               for title, expression in self.wanted.titles.get(self.number(frame), [])]
        return self.views[key]

    def cell(self, title, expression):
        try:
            column = columns.Column(title, str(expression))
            column.foreign = title == expression and title != "$ret"  # a name from debug information
            return columns.cell_of(column, self.trace.variables, self.formats)
        except (gdb.error, gdb.GdbError) as error:
            return kinds.words(columns.words_of(error))

    def values(self, frame):
        """Return [(title, text)] of a frame."""
        found = []
        for title, cell in self.view(frame):
            try:
                text = cell.text(frame)
            except Unavailable:
                text = cells.UNAVAILABLE
            found.append((title, text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."))
        return found

    def returned(self, frame):
        """Return the text of the return value in a call's frame."""
        key = "$ret", frame.location.address
        if key not in self.views:
            traceframe.select(frame.index)
            self.views[key] = self.cell("$ret", "$ret")
        return self.views[key].text(frame)

    def described(self, frame, name):
        """Return the line of a call: arguments, return value, time."""
        some = [(title, text) for title, text in self.values(frame) if title != "current->comm"]
        return "%s(%s) = %s  %s" % (name, ", ".join("%s=%s" % one for one in some), self.returned(frame),
                                    units.duration(self.of(frame, "latency")))

    def task(self, frame):
        """Return who made a call, and where."""
        comm = dict(self.values(frame)).get("current->comm", "?")
        return "%s/%d on CPU %d" % (comm, self.of(frame, "current_task_pid"), self.of(frame, "cpu_id"))

    def in_interrupt(self, call, frame):
        """Return whether an interrupt made a hit, while the call itself was not in one."""
        return self.of(frame, "irq_count") & IN_INTERRUPT != call.context


def asked_to_show(place, condition, known, usage, what):
    """Return (the last one of KNOWN, how many calls to print) if a command's argument is `show [--calls N]', else None. WHAT
    says what is not there if KNOWN is empty."""
    if place.split()[:1] != ["show"] or condition is not None:
        return None
    rest, found = words.options(place, usage, valued=("--calls",))
    most = found.get("--calls", str(CALLS))
    if len(rest) != 1 or not most.isdecimal():
        raise gdb.GdbError("say %s" % usage)
    if not known:
        raise gdb.GdbError("%s; say %s" % (what, usage))
    return known[-1], int(most)


def say_rest(run, most, command, outside):
    """Print what follows the calls: how many there are, and what is missing."""
    if len(run.calls) > most:
        screen.put("%d more calls: %s --calls %d\n" % (len(run.calls) - most, command, len(run.calls)))
    rest = [outside % run.outside] if run.outside else []
    rest += ["%d lack a value that the condition needs" % run.unknown] if run.unknown else []
    screen.put("; ".join(["%d calls of %s" % (len(run.calls), run.wanted.function)] + rest) + "\n")
    if run.unseen:
        screen.put("note: %s\n" % run.unseen)


def unseen(variable_name):
    """Return a sentence about the hits and marks of the run that are missing, or None. A trace file does not have the
    numbers."""
    if source.is_trace_file():
        return None
    status = remote.monitor("status")
    found = UNSEEN.search(status)
    some = [(int(n), what) for n, what in zip(found.groups(), ("hits were inside another hit", "hits were missed"))] if found else []
    found = re.search(r"\$%s was set .*; no room for (\d+);" % variable_name, status)
    some += [(int(found.group(1)), "calls found no room for a mark")] if found else []
    text = ", ".join("%d %s" % one for one in some if one[0])
    return text and text + ": what they would show is not there"


def stack_pointer():
    """Return a function that takes a frame and returns the value of the stack pointer."""
    return bytecode.compiled(STACK)
