# SPDX-License-Identifier: GPL-2.0-only
# Job: inside GDB, run every gtp command that reads a trace file on many files, and watch the actions of GDB and Python.
#
# `watched FOLDER FROM [TO]` reads the files FOLDER/N.tf for N from FROM to TO, or to the last one. It prints each fault as
# "N: description". If GDB ends early, the last line is the number "N" of the file. Faults are:
# - a command or an expression for GDB that is not in the lists below;
# - a file that is written outside of FOLDER/out, or a process that is started;
# - an expression that calls a function of GDB;
# - an error message that is not a sentence;
# - a printed control character.
import os
import re
import sys
import unicodedata

import gdb

# The commands that scripts may give to GDB; @ stands for an expression, % for a number, & for a path in the folder.
COMMANDS = (
    "info symbol %", "info files", "info tracepoints", "info tracepoints %", "with width 0 -- info tracepoints",
    "with width 0 -- info tracepoints %", "info tvariables", "maint info sections -all-objects",
    "maint info sections -all-objects .text", "maint agent-eval @", "maint agent-eval -at NAME, @", "maint agent -at NAME, @",
    "set language WORD", "tfind none", "tfind %", "set trace-commands WORD", "show remote install-in-trace-packet",
    "set remote install-in-trace-packet WORD", "trace *%", "delete %", "tstatus", "symbol-file -o % &", "target tfile &",
    "print $_gtp_value", "commands %\ncollect @\nend")
PARTS = {"%": r"-?(?:0x[0-9a-f]+|\d+)", "@": r"(?P<expression>.*)", "&": r"[\w./-]+", "NAME": r"[\w./:-]+", "WORD": r"[\w-]+"}
ALLOWED = [re.compile("".join(PARTS.get(part, re.escape(part)) for part in re.split(r"(%|@|&|NAME|WORD)", line)))
           for line in COMMANDS]
# If one of these words precedes a parenthesis, it is not a function call.
HARMLESS = r"sizeof|_Alignof|typeof|__typeof__|int|char|long|short|unsigned|signed|void|struct|union|enum|const|volatile"
CALLS = re.compile(r"\$\w*\s*\(|\b(?!(?:%s)\b)[A-Za-z_]\w*\s*\(|\)\s*\(\s*\"" % HARMLESS)
ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--(?=\s*[A-Za-z_$])|(?<=[\w\])])\s*--")
FUNCTIONS = ("_shell", "_gdb_setting", "_gdb_setting_str", "_gdb_maint_setting", "_gdb_maint_setting_str", "_as_string",
             "_strlen", "_streq", "_regex", "_memeq", "_cimag", "_creal", "_isvoid", "_caller_is")
PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn", "socket.connect")
EVENTS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
          "shutil.rmtree", "shutil.move", "shutil.copyfile")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
TOOK_LONG = 20  # the time limit of a command, in seconds

faults = []
watching = False
out = None
FORMATS = ("folded", "speedscope", "flamegraph", "perfetto", "ctf", "ctf2", "csv")


def commands():
    yield from ("gtp table", "gtp show", "gtp stacks", "gtp stacks 1", "gtp sdata", "gtp table 1 if 1", "gtp stacks --folded",
                "gtp merge %s", "tfind 0", "gtp print 1")
    yield "gtp table 1 --csv %s/table.csv" % out
    yield "gtp report %s/report.html" % out
    yield "gtp save %s/saved" % out
    for name in FORMATS:
        yield "gtp export %s %s/export.%s" % (name, out, name)


def fault(text):
    if watching:
        faults.append(text)


def judge_expression(text):
    if CALLS.search(text) or ASSIGNS.search(text) or '"' in text or re.search(r"[\x00-\x1f\x7f]", text):
        fault("GDB evaluates %r" % text)


def judge_command(text):
    found = next(filter(None, (one.fullmatch(text) for one in ALLOWED)), None)
    if found is None:
        fault("GDB is given the command %r" % text)
    elif "expression" in found.groupdict():
        judge_expression(re.sub(r"^\((.*)\)$", r"\1", found.group("expression")))


class Trip(gdb.Function):
    """A GDB function that reports a fault if an expression calls it."""

    def invoke(self, *arguments):
        fault("an expression calls a function of GDB's")
        return 0


def stand_between():
    """Wrap the functions of the module gdb that take a string, so that each string is checked first."""
    for name, judge in (("execute", judge_command), ("parse_and_eval", judge_expression), ("decode_line", judge_expression)):
        def passed(text="", *more, own=getattr(gdb, name), judge=judge, **named):
            judge(text)
            return own(text, *more, **named)
        setattr(gdb, name, passed)


def is_ours(path):
    return isinstance(path, (str, bytes)) and os.path.abspath(os.fsdecode(path)).startswith(out)


def heard(event, arguments):
    """Check an event that Python's audit hook reports."""
    if not watching:
        return
    if event in PROCESSES:
        fault("a process: %s %r" % (event, arguments[:1]))
    elif event == "open" and arguments[2] & WRITES and not is_ours(arguments[0]):
        fault("%r is written" % (arguments[0],))
    # A path that is relative to an open folder is harmless.
    elif event in EVENTS and not is_ours(arguments[0]) and arguments[-1] in (None, -1):
        fault("%s %r" % (event, arguments[0]))


def unseen(text):
    """Return the first character that controls a terminal, or that is invisible."""
    return next((c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")), None)


def judge_text(command, text):
    c = "\t" if "\t" in text and command.startswith("gtp table") else unseen(text)
    if c:
        fault("%s: %r is printed: %r" % (command, c, text[max(0, text.index(c) - 40):][:90]))


def judge_files():
    """Check the written files as the programs that read them would."""
    for base, _, names in os.walk(out):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                data = file.read()
            if name.endswith(".csv"):
                judge_csv(name, data.decode())
            elif name.endswith((".html", ".flamegraph")) and (b"<script>alert" in data or b"</title></title>" in data):
                fault("%s has what a name has brought as HTML" % name)
            os.unlink(path)
    for base, _, _ in list(os.walk(out, topdown=False)):
        if base != out:
            os.rmdir(base)


def judge_csv(name, text):
    import csv
    for row in csv.reader(text.splitlines()):
        for cell in row:
            if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not re.fullmatch(r"[-+]?[\d.]+", cell):
                fault("%s: a spreadsheet computes the cell %r" % (name, cell))
            if unseen(cell):
                fault("%s: %r" % (name, cell))


def one(command):
    """Run a command. Report a fault if its output is not harmless, or its error message is not a sentence."""
    global watching
    run = stand_between.execute
    watching = True
    try:
        text = run(command, to_string=True)
        if command.startswith("gtp"):
            judge_text(command, text)
    except gdb.error as error:
        text = str(error)
        if re.search("in Python|bug of gdbtp|Traceback", text) or not text.strip():
            fault("%s: %s" % (command, text))
        if command.startswith("gtp"):
            judge_text(command, text)
    finally:
        watching = False


def read(path):
    """Read the trace file PATH with every command that reads trace files."""
    global watching
    try:
        watching = True
        stand_between.execute("target tfile " + path, to_string=True)
    except gdb.error:
        pass  # GDB itself refuses the file; even then each command must end with a sentence
    finally:
        watching = False
    for command in commands():
        one(command % path if "%s" in command else command)
    judge_files()


class Watched(gdb.Command):
    """watched FOLDER FROM [TO]"""

    def __init__(self):
        super().__init__("watched", gdb.COMMAND_OBSCURE)

    def invoke(self, arg, from_tty):
        global out
        folder, first, *last = arg.split()
        out = os.path.join(os.path.abspath(folder), "out")
        os.makedirs(out, exist_ok=True)
        names = sorted((int(name[:-3]) for name in os.listdir(folder) if name.endswith(".tf")))
        for number in names:
            if number < int(first) or (last and number > int(last[0])):
                continue
            print("%d" % number, file=sys.__stdout__, flush=True)
            faults.clear()
            read(os.path.join(folder, "%d.tf" % number))
            for text in dict.fromkeys(faults):
                print("%d: %s" % (number, text), file=sys.__stdout__, flush=True)
        print("done", file=sys.__stdout__, flush=True)


stand_between.execute = gdb.execute
sys.addaudithook(heard)
for name_ in FUNCTIONS:
    Trip(name_)
Watched()
