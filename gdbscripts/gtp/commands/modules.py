# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp modules`: symbols for the modules that the running kernel has loaded.
import os

import gdb

from gtp.cexpr import percpu
from gtp.files import elf
from gtp.gdblib import gdbcall, remote, runstate, screen, traceframe
from gtp.gdblib.command import Command
from gtp.places import lsmod, points

# The kernel has freed these sections of a module. gdbtp gives them an address all the same, because GDB would otherwise
# choose one.
FREED = (".init",)

# The modules whose symbols this command has loaded: name -> path, address of .text, (address, size) of per-CPU
# variables.
ours = {}

# The PATHs of the last `gtp modules', or None if there was none. After this command, GDB's symbols follow modules as
# they are loaded and unloaded.
asked = None

# The result of lsmod.inventory() for which the symbols were last updated.
known = None


class Files:
    """The .ko files under some folders, by module name, in the order of the folders."""

    def __init__(self, folders):
        self.paths = {}
        for folder in folders:
            if os.path.isfile(folder):
                self.add(folder)
            for base, _, names in os.walk(folder):
                for name in names:
                    self.add(os.path.join(base, name))

    def add(self, path):
        name = os.path.basename(path)
        for suffix in (".ko", ".ko.debug"):
            if name.endswith(suffix):
                module = name[:-len(suffix)].replace("-", "_")
                self.paths.setdefault(module, []).append(path)

    def find(self, module, build_id):
        """Return the first file with the module's build-id; if the module has none, the first file."""
        for path in self.paths.get(module, ()):
            file = elf.read(path)
            if build_id is None or file.build_id == build_id:
                return file
        return None


def folders(args, release):
    """Yield the folders to look in: the user's paths, then debug files, then the modules themselves."""
    for arg in args:
        path = os.path.expanduser(arg)
        if not os.path.exists(path):
            raise gdb.GdbError("%s does not exist" % arg)
        yield path
    if release:
        yield "/usr/lib/debug/lib/modules/" + release
        yield "/usr/lib/debug/usr/lib/modules/" + release
        yield os.path.realpath("/lib/modules/" + release)


def quoted(path):
    return '"%s"' % path.replace("\\", "\\\\").replace('"', '\\"')


def without_index_cache(command):
    """Run a command without GDB's index cache. The cache would save the addresses that a module has in this boot, and
    GDB would use them in the next one."""
    try:
        gdb.parameter("index-cache enabled")
    except RuntimeError:
        return command  # GDB before 12 has no such parameter
    return "with index-cache enabled off -- " + command


def add_symbols(path, addresses):
    command = "add-symbol-file %s %#x" % (quoted(path), addresses[".text"])
    for name, address in sorted(addresses.items()):
        if name != ".text" and not name.startswith(FREED):
            command += " -s %s %#x" % (quoted(name), address)
    gdbcall.execute(without_index_cache(command))


def forget(name):
    """Remove the symbols of a module that was unloaded, or loaded again at another address."""
    path, *_ = ours.pop(name)
    percpu.of_modules.pop(os.path.realpath(path), None)
    try:
        gdbcall.execute("remove-symbol-file " + quoted(path))
    except gdb.error:
        pass  # the user has already removed the symbols


def is_there(path):
    """Return whether GDB still has the symbols of a file, which its user may have removed."""
    return os.path.realpath(path) in [os.path.realpath(file.filename) for file in gdb.objfiles() if file.filename]


def load(mod, files, report):
    """Load one module's symbols. Append its name to the list in the report that says how this went."""
    name = mod["name"].string(errors="replace")
    addresses = lsmod.sections(mod)
    if ".text" not in addresses:
        report["no code"].append(name)
        return
    file = files.find(name, lsmod.live_build_id(addresses))
    if file is None:
        found = "no file of this build" if name in files.paths else "no file"
        report[found].append(name)
        return
    place = (os.path.abspath(file.path), addresses[".text"], lsmod.per_cpu(mod))
    if ours.get(name) != place or not is_there(place[0]):
        if name in ours:
            forget(name)
        add_symbols(place[0], addresses)
        ours[name] = place
        percpu.of_modules[os.path.realpath(place[0])] = place[2]
    report["loaded"].append(name)


def look(args, inventory):
    """Make GDB's symbols match the modules of the INVENTORY. Return a report of the changes."""
    global asked, known
    files = Files(folders(args, remote.release()))
    known, asked = inventory, args
    before = points.enabled()
    report = {"loaded": [], "no file": [], "no file of this build": [], "no code": []}
    try:
        for mod in lsmod.all_of_them():
            load(mod, files, report)
        for name in set(ours) - set(report["loaded"]):
            forget(name)
    finally:
        enable_again(before)
    return report


def enable_again(before):
    """Enable the tracepoints that GDB has disabled since BEFORE: GDB disables the tracepoints of events whenever its
    symbols change."""
    lost = before - points.enabled()
    if lost:
        gdbcall.execute("enable " + " ".join(map(str, sorted(lost))))


def follow():
    """Update the symbols if modules were loaded or unloaded since the last `gtp modules'. Return whether any were.

    GDB then sets tracepoints again, pending ones included, if their functions have new symbols. Does nothing while a
    frame is selected, because reading the list of modules needs memory that a frame does not have.
    """
    if asked is None or not remote.may_be_gtp() or traceframe.number() >= 0:
        return False
    try:
        inventory = lsmod.inventory()
        if inventory == known:
            return False
        before = dict(ours)
        look(asked, inventory)
    except (gdb.error, gdb.GdbError, RuntimeError) as error:
        screen.say("note: the symbols of modules are not up to date: %s" % error)
        return False
    tell("symbols loaded of", [name for name in ours if ours[name] != before.get(name)])
    tell("gone", [name for name in before if name not in ours])
    return True


def before_run():
    """Deselect the trace frame, as tstart does anyway, and update the symbols of modules. Called before tstart."""
    if asked is not None and traceframe.number() >= 0:
        gdbcall.execute("tfind none")
    follow()


def tell(what, names):
    if names:
        screen.say("modules: %s: %s" % (what, " ".join(sorted(names))))


class GtpModules(Command):
    """Load the symbols of all modules that the running kernel has loaded.

gtp modules [PATH...]
A PATH is a .ko file with debug information, or a folder that is searched for
them. After them the usual places of the running kernel's modules are searched.
From then on tstart and gtp trace do the same if modules were loaded or
unloaded, so that tracepoints follow a module that is loaded again."""

    def __init__(self):
        super().__init__("gtp modules", gdb.COMMAND_FILES, gdb.COMPLETE_FILENAME)

    def invoke(self, arg, from_tty):
        if not remote.is_connected():
            raise gdb.GdbError(remote.NOT_CONNECTED)
        report = look(gdb.string_to_argv(arg), lsmod.inventory())
        for what, names in report.items():
            if names:
                screen.say("%s: %s" % (what, " ".join(names)))
        if not any(report.values()):
            screen.say("no module is loaded")


GtpModules()
runstate.before_run.append(before_run)
