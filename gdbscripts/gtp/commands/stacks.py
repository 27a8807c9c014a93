# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp stacks`: shows hits by their stacks, from an aggregation that has $kstack or $ustack as a key, or one
# stack by its number.
import collections
import os

import gdb

from gtp.commands import show
from gtp.export import registry
from gtp.formats import ustack
from gtp.gdblib import gdbcall, screen, words
from gtp.gdblib.command import Command
from gtp.run import aggregations, kstack, outfile
from gtp.text import harmless

TOP = 20
USAGE = "gtp stacks [NAME] [--by KEY] [--top N] [--folded [FILE]] [--svg FILE], or gtp stacks NUMBER"


def summed(one, entry):
    """Return the sum of an entry. Raise an error if the sum may have wrapped."""
    found = show.sum_of(one, entry)
    if found is None:
        raise gdb.GdbError("$%s has a sum that may have wrapped at 2^64: it cannot be added up by stacks; gtp show prints it" % one.name)
    return found


def weight(one, entry):
    """Return the weight that an entry adds to its stack."""
    if one.kind == "sum":
        return summed(one, entry)
    if one.kind in ("min", "max"):
        raise gdb.GdbError("$%s cannot be added up by stacks; gtp show prints it" % one.name)
    return entry.count


def chosen(reading, name, stack_keys):
    """Return the aggregation with this name, or the only one with stacks if NAME is None."""
    found = [one for one in show.chosen(reading, name) if stack_keys & set(one.keys)]
    if not found:
        raise gdb.GdbError("no tracepoint that is defined now sets a key of these to $kstack or $ustack; "
                           "say gtp count by $kstack at LOCATION, and tstart")
    if len(found) > 1:
        raise gdb.GdbError("say which: %s" % words.few("$" + one.name for one in found))
    return found[0]


def by_key(one, text):
    """Return the name of the key that the text after --by names."""
    for name in one.keys:
        if text == show.key_title(name) or text.lstrip("$") in (name, name.partition("_")[2]):
            return name
    raise gdb.GdbError("$%s has no key %s, but %s" % (one.name, text, words.few(map(show.key_title, one.keys))))


def sums(one, stack_keys, by, weigh=None):
    """Return {(words of KEY, numbers of the stacks): weight}. WEIGH, or else weight(), gives the weight of an entry."""
    stacks = [name for name in one.keys if name in stack_keys]
    total = collections.Counter()
    for entry in one.entries:
        part = dict(show.parts(one.keys, entry.keys))
        total[tuple(part[by]) if by else (), tuple(part[stack][0] for stack in stacks)] += weigh(entry) if weigh else weight(one, entry)
    return total


def by_functions(total, stacks, by):
    """Return [(text of KEY or None, names, weight)], those with the most first. Stacks of the same functions share one
    line."""
    merged = collections.Counter()
    for (key, numbers), n in total.items():
        text = show.key_texts([by], list(key))[0] if by else None
        merged[text, tuple(stacks.joined(numbers, None))] += n
    return sorted(((key, names, n) for (key, names), n in merged.items()), key=lambda row: (-row[2], str(row[:2])))


def folded_line(names, n):
    """Return a stack and its weight as a line for flame graph tools, the outermost function first."""
    return "%s %d\n" % (";".join(harmless.line(name).replace(";", ":") for name in names), n)


def folded(one, rows):
    """Yield a line for each stack, and a line for the hits whose keys did not fit into the aggregation."""
    for key, names, n in rows:
        yield folded_line(([] if key is None else [key]) + list(reversed(names)), n)
    for entry in one.noroom:
        yield folded_line(["[no room for the keys]"], weight(one, entry))


def listed(one, rows, top, by):
    """Yield the stacks as text, the innermost function first."""
    yield show.title(one) + ("" if one.kind in ("count", "sum") else "; how often each stack was met")
    if not rows:
        yield "nothing yet"
    for key, names, n in rows[:top]:
        yield ""
        yield "%d" % n if key is None else "%d  %s %s" % (n, show.key_title(by), key)
        yield from ("    " + name for name in names)
    if len(rows) > top:
        yield ""
        yield "and %d stacks more; --top N shows N" % (len(rows) - top)
    for entry in one.noroom:
        yield "no room for the keys of %d more: monitor aggregate-keys N, before tstart" % entry.count


class Options:
    """The arguments of gtp stacks."""

    def __init__(self, arg):
        rest, found = words.options(arg, USAGE, ("--by", "--top", "--svg"), may=("--folded",))
        self.name = words.name_of(rest, USAGE)
        self.by, self.top = found.get("--by"), words.top_of(found, TOP)
        self.folded, file = "--folded" in found, found.get("--folded")
        self.file, self.svg = file and os.path.expanduser(file), found.get("--svg")
        if self.svg and {"--folded", "--top"} & set(found):
            raise gdb.GdbError("--svg FILE is the whole picture: leave --folded and --top out")

    def check_file(self, reading):
        """Refuse a FILE that is the name of an aggregation: the name must precede --folded."""
        names = [name for one in reading.all for name in (one.name, one.name.partition("_")[2])]
        if self.file and self.file.lstrip("$") in names:
            raise gdb.GdbError("--folded takes a file; say gtp stacks %s --folded [FILE]" % self.file.lstrip("$"))

    def picture(self):
        """Return the arguments of `gtp export flamegraph` after the file, for the same picture."""
        said = [self.name] * bool(self.name) + ["--by", self.by or ""] * bool(self.by)
        return " ".join(map(words.quoted, said))

    def number(self):
        """Return the number of a stack, if the argument is one, or None if it names an aggregation."""
        if self.name is None or not (self.name.isdecimal() or "$" + self.name in kstack.VARIABLES):
            return None
        if self.name.isdecimal():
            return int(self.name)
        try:
            return int(gdbcall.value("$" + self.name))
        except gdb.error:
            raise gdb.GdbError("no trace frame that has $%s is selected; collect $%s, and say tfind" %
                               (self.name, self.name)) from None


def one_stack(number):
    """Return the lines that show the stack with a number."""
    if number == kstack.NO_ROOM:
        return ["this stack found no room in the table of stacks: module parameter stacks_kb, before tstart"]
    stack, symbols = kstack.addresses(number), kstack.Symbols(True)
    names = symbols.names(stack)
    found, whose = ustack.parted(stack)
    if whose is None:
        return ["%#x %s" % pair for pair in zip(found, names)] + list(symbols.hint())
    if not ustack.pid(whose):
        return names
    lines = [name if name.startswith("[") else "%#x %s" % (address, name) for address, name in zip(found, names)]
    return [*lines, "of process %d" % ustack.pid(whose)]


class GtpStacks(Command):
    """Show how often each stack was hit.

gtp stacks [NAME] [--by KEY] [--top N] [--folded [FILE]] [--svg FILE]
gtp stacks NUMBER
Shows an aggregation that has $kstack, $ustack or both as keys, during the run or
after it:
  gtp count by $kstack at kmem_cache_alloc
  gtp sum size by $kstack, current->comm at __kmalloc
  gtp count by $kstack, $ustack at vfs_write
If both are keys, the kernel's stack is on top of the program's. Entries that
differ only in keys other than KEY are added up. Shows the 20 stacks with the
most hits, or N. --folded prints a line for each stack for flame graph tools, or
writes it to FILE: the outermost function first, and the number of hits; hits
that found no room have a line, too. --svg FILE draws the stacks, as
gtp export flamegraph FILE does. With a NUMBER, or with $kstack or $ustack in a
trace frame that has collected it, prints the addresses of that stack."""

    def __init__(self):
        super().__init__("gtp stacks", gdb.COMMAND_STATUS)

    def invoke(self, arg, from_tty):
        options = Options(arg)
        number = options.number()
        if number is not None:
            screen.put("\n".join(one_stack(number)) + "\n")
            return
        if options.svg:
            screen.put(registry.export("flamegraph", options.svg, options.picture()))
            return
        stacks, reading = show.known_stacks(), aggregations.read()
        options.check_file(reading)
        one = chosen(reading, options.name, stacks.keys)
        by = by_key(one, options.by) if options.by else None
        rows = by_functions(sums(one, stacks.keys, by), stacks, by)
        if options.folded:
            text = "".join(folded(one, rows))
        else:
            text = "".join(line + "\n" for line in [*listed(one, rows, options.top, by), *stacks.symbols.hint(),
                                                        *reading.unseen()])
        if options.file is None:
            screen.put(text)
        else:
            self.put(text, options.file)
            told = ["%s: %d stacks are written" % (options.file, len(rows))]
            screen.put("; ".join([*told, *reading.unseen()]) + "\n")

    @staticmethod
    def put(text, path):
        with outfile.whole(path) as part, open(part, "w", encoding="utf-8") as file:
            file.write(text)


GtpStacks()
