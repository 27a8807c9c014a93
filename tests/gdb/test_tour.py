# SPDX-License-Identifier: GPL-2.0-only
# GDB inside the guest: the tour is typed on the traced machine.
# One kernel is enough: what this shows is the user's side.
# A distribution's kernel: the page shows the names of errors (CONFIG_SYMBOLIC_ERRNAME).
# docs/tour.md is typed from its first line to its last: GDB and the shell must print the document's lines. Also: help gtp.
import glob

import fixture as modules
from inner import Typed
from lib import *

DOCUMENT = os.path.join(TOP, "docs/tour.md")
INSTALLED = "/usr/share/gdbtp/gdbscripts/gtp.py"
# Parts that differ each time: times and process numbers all begin with 47 in the document.
OTHERS = (
    (r"/usr/lib/debug/boot/vmlinux\S*", r"\S+vmlinux\S*"),
    (r"\b[0-9a-f]{40}\b", r"[0-9a-f]{40}"),
    (r"0x[0-9a-f]+", r"0x[0-9a-f]+"),
    (r"(?<=line )\d+", r"\d+"),
    (r"(?<=tf: )\d+ (?:bytes|KiB)$", r"\d+ (?:bytes|KiB)"),
    (r"^ +\d+ +(?=47\d\d\.)", r" *\d+ +"),
    (r"\b47\d\d\.\d{9}", r"\d+\.\d{9}"),
    (r"\b47\d\d\b", r"\d+"),
    (r" +", r" +"),
)

session = []  # the Typed GDB in which the tour is typed, once it has started
failures = {}  # section -> its failure, or None if its output was right


class Step:
    """One line to type, and the lines of output below it."""

    def __init__(self, line):
        self.prompt, self.text = line.split(" ", 1) if " " in line else (line, "")
        self.output = []


def document():
    """Return {section: its steps, in order}."""
    found, section, inside = {}, None, False
    with open(DOCUMENT, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line == "```":
                inside = not inside
            elif not inside and line.startswith("## "):
                section = line[3:]
            elif inside and line.startswith(("(gdb) ", "$ ", "^C")):
                found.setdefault(section, []).append(Step(line))
            elif inside:
                found[section][-1].output.append(line)
    return found


SECTIONS = document()


def pattern(line):
    """Return a regular expression for a line of the document. Parts that differ each time match any text of their
    kind."""
    for kind, (is_like, _) in enumerate(OTHERS):
        line = re.sub(is_like, chr(0xe000 + kind), line)
    line = re.escape(line)
    for kind, (_, any_text) in enumerate(OTHERS):
        line = line.replace(chr(0xe000 + kind), any_text)
    return line


def compare(typed, lines, text):
    """Check that the text matches the document's lines. A line `...` stands for any number of lines."""
    wanted = "".join(r"(?:.*\n)*?" if line == "..." else pattern(line) + r" *\n" for line in lines)
    check(re.fullmatch(wanted, text), "%s: wanted\n%s\ngot\n%s" % (typed, "\n".join(lines), text))


def type_shell(line):
    """Run a command as in a second terminal. If the command fails, it prints its error, but does not fail the test."""
    return shell()("{ %s\n} || true" % line)


def start():
    vmlinux = gdb.current_progspace().filename
    session.append(Typed("-iex", "set index-cache directory " + os.environ.get("GTP_GDB_INDEX", ""),
                         "-iex", "set index-cache enabled on", vmlinux))
    session[0].marked()


def type_section(steps):
    """Type all lines of a section, and compare the output. Between `continue' and ^C all output belongs to GDB."""
    mine, waiting = session[0], None
    for step in steps:
        line = step.text.replace(INSTALLED, os.path.join(TOP, "gdbscripts/gtp.py"))
        if step.text == "continue":
            waiting = ["continue", list(step.output), mine.wait()]
        elif step.prompt == "^C":
            compare(waiting[0], waiting[1] + step.output, waiting[2].replace("(gdb) ", "") + mine.interrupt())
            waiting = None
        elif waiting:
            waiting[1] += step.output
            type_shell(line)
        else:
            compare(step.text, step.output, type_shell(line) if step.prompt == "$" else mine.say(line))


def typed(section):
    """Type all sections up to this one, if that is not done yet. Raise this section's failure."""
    if not session:
        start()
    for name, steps in SECTIONS.items():
        if name not in failures:
            try:
                failures[name] = None
                type_section(steps)
            except Failure as failure:
                failures[name] = failure
        if name == section:
            break
    if failures[section]:
        raise failures[section]


def of_section(name):
    return lambda: typed(name)


for one in SECTIONS:
    test("the tour: " + one)(of_section(one))


@test("help gtp has a line for each command, and the help of each command begins with its usage")
def helps():
    cmd("source " + os.path.join(TOP, "gdbscripts/gtp.py"))
    text = cmd("help gtp")
    listed = dict(re.findall(r"^gtp (\w+)(?:, \S+)* -- (\S.*\.)$", text, re.M))
    made = set()
    for file in glob.glob(os.path.join(TOP, "gdbscripts/gtp/**/*.py"), recursive=True):
        source = kernel.get(file)
        # Find the commands that have a class of their own, and the commands that share a class and pass their names to it.
        made.update(re.findall(r'super\(\).__init__\("gtp (\w+)"', source))
        made.update(re.findall(r'^Gtp\w+\("(\w+)"\)', source, re.M))
    equal(set(listed), made)
    for name in made:
        matches(r"\A%s\n\ngtp %s( |\n|\[)" % (re.escape(listed[name]), name), cmd("help gtp " + name))


@test("the manual page has every command")
def manual():
    text = kernel.get(os.path.join(TOP, "docs/man/gdbtp.7"))
    listed = re.findall(r"^gtp (\w+)", cmd("help gtp"), re.M)
    equal([name for name in listed if ".It Ic gtp %s" % name not in text], [])


def end():
    """Undo the tour's changes, and remove what a failed tour has left."""
    if session and session[0].process.poll() is None:
        session[0].kill()
    if not modules.loaded():
        modules.load()
        modules.load_tables()


test("the module loads again after the tour")(end)
run(symbols=False, before=lambda: None)
