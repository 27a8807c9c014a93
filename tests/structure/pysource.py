# SPDX-License-Identifier: GPL-2.0-only
"""Checks the syntax trees of GDB's Python scripts: which files pass strings to GDB, to Python itself or to a shell, which
folders may import gdb, and how modules are named."""
import ast
import os
import re

SCRIPTS = "gdbscripts/"
PACKAGE = SCRIPTS + "gtp/"
# Folders whose files run in a Python without GDB, too. They may import only each other.
PLAIN = ("files", "fleet", "formats", "shell", "text")
# A module is named after what it contains or does. A past participle (known, kept, asked) does not say either.
PARTICIPLE = re.compile(r"(\w{2,}[^e]ed|kept|known|found|said|told|made|written|chosen|taken|given|shown|seen|held|sent)$")
# Functions that take a string with a command, an expression or a location for GDB. Only the file DOOR may call these
# functions.
FOR_GDB = {"execute", "parse_and_eval", "decode_line", "Breakpoint", "FinishBreakpoint"}
DOOR = "gdbcall.py"
# Printed text can contain untrusted names. Only the file TERMINAL may print in GDB; the shell command has its own functions,
# which make text safe: told(), Screen, Csv.
TERMINAL = "screen.py"
SHELL_SIDE = ("gdbscripts/gtp/shell/", "gdbscripts/gtp/fleet/")
# The file with the base class of all commands. Without this base class, GDB would report a command's errors as Python
# errors.
COMMAND = "command.py"
# Functions that take a string with Python code. They are allowed where the string has only numbers and our own words.
CODE = {"eval", "exec", "compile", "__import__"}
MAKES_CODE = {"bytecode.py": {"eval"}}


def of_gdb(node):
    """Return NAME if a node is `gdb.NAME`, else None."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gdb":
        return node.attr
    return None


def faults(node, file):
    """Yield a line for each fault of a node."""
    name = of_gdb(node)
    if name in FOR_GDB and file != DOOR:
        yield f"gdb.{name}: strings for GDB go through {DOOR}"
    if name == "write" and file != TERMINAL:
        yield f"gdb.write: text for the terminal goes through {TERMINAL}"
    if isinstance(node, ast.ImportFrom) and node.module == "gdb":
        yield "from gdb import: what is called must be seen"
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Name) and called.id in CODE - MAKES_CODE.get(file, set()):
            yield f"{called.id}() of a string"
        if isinstance(called, ast.Name) and called.id == "getattr" and node.args[:1] and \
                isinstance(node.args[0], ast.Name) and node.args[0].id == "gdb":
            yield "getattr(gdb, ...): what is called must be seen"
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "os" and \
                called.attr in ("system", "popen"):
            yield f"os.{called.attr}(): a shell reads it"
        if any(key.arg == "shell" for key in node.keywords):
            yield "shell=: a shell reads it"
    if isinstance(node, ast.ClassDef) and file != COMMAND and "Command" in map(of_gdb, node.bases) and \
            any(isinstance(part, ast.FunctionDef) and part.name == "invoke" for part in node.body):
        yield f"class {node.name}: gdb.Command, not that of {COMMAND}, whose errors are sentences"


def prints(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def scripts(tree, folder):
    return (path for path in tree.files if path.startswith(folder) and path.endswith(".py"))


def strings(tree):
    """Yield a line for each fault in the scripts."""
    for path in scripts(tree, SCRIPTS):
        for node in ast.walk(ast.parse(tree.text(path))):
            yield from (f"{path}:{node.lineno}: {what}" for what in faults(node, os.path.basename(path)))
            if prints(node) and not path.startswith(SHELL_SIDE):
                yield f"{path}:{node.lineno}: print(): text for the terminal goes through {TERMINAL}"


def imports(node):
    """Return the names of the modules that a node imports. `from gtp.x import y` may import the module gtp.x.y."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.module != "gtp" else ["gtp." + one.name for one in node.names]
    return []


def depends_on_gdb(name):
    own, _, rest = name.partition(".")
    return own == "gdb" or own == "gtp" and rest.split(".")[0] not in PLAIN


def rooms(tree):
    """Yield a line for each import by which a file in a folder without GDB depends on GDB."""
    for folder in PLAIN:
        for path in scripts(tree, PACKAGE + folder + "/"):
            for node in ast.walk(ast.parse(tree.text(path))):
                yield from (f"{path}:{node.lineno}: imports {name}, but {folder}/ runs without GDB"
                            for name in imports(node) if depends_on_gdb(name))


def names(tree):
    """Yield a line for each module whose name is a past participle."""
    for path in scripts(tree, PACKAGE):
        name = os.path.basename(path)[:-len(".py")]
        if PARTICIPLE.match(name):
            yield f"{path}: {name} is a participle; name what the module contains or does"
