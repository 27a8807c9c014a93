# SPDX-License-Identifier: GPL-2.0-only
# Turns off GDB's function $_shell("COMMAND"), which exists since GDB 14, while gdbtp's scripts are loaded.
#
# GDB itself evaluates text from a trace file or a target before any script can check it: `target tfile FILE` and
# `target remote` set a tracepoint at each location that the file or the target gives, and `*$_shell("...")` is a
# location.
import gdb

from gtp.gdblib import gdbcall

NAME = "_shell"
OFF = """$_shell is off: GDB would run a command that is in a trace file, or that a target sends.
Type the command shell, or set gtp-shell-function on"""


class Switch(gdb.Parameter):
    """If on, an expression in a trace file that you open, or from a target, may run commands on this machine."""

    set_doc = "Set whether $_shell(\"COMMAND\") runs a command."
    show_doc = "Show whether $_shell(\"COMMAND\") runs a command."

    def __init__(self):
        super().__init__("gtp-shell-function", gdb.COMMAND_STATUS, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self):
        return ""

    def get_show_string(self, svalue):
        return "Whether $_shell runs a command is %s." % svalue


class Shell(gdb.Function):
    """$_shell("COMMAND") is the exit status of a shell command. It is off unless you set gtp-shell-function on."""

    def __init__(self, switch):
        super().__init__(NAME)
        self.switch = switch

    def invoke(self, command):
        if not self.switch.value:
            raise gdb.GdbError(OFF)
        gdbcall.execute("shell " + command.string(), shown=True)
        return gdb.convenience_variable("_shell_exitcode")


if gdb.convenience_variable(NAME) is not None:
    Shell(Switch())
