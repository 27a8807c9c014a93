# SPDX-License-Identifier: GPL-2.0-only
# The command `gtp print`: the value of a C expression in the selected frame.
import re

import gdb

from gtp import cexpr
from gtp.gdblib import gdbcall, screen
from gtp.gdblib.command import Command
from gtp.places import names
from gtp.view import bytype, forms, printers

RESULT = "_gtp_value"
GDB_FORMAT = re.compile(r"/\d*[xduotcazfsibhwgr]{1,3}")


def named(text):
    """Return the expression with C for the names that the selected trace frame's tracepoint has."""
    number = gdb.convenience_variable("tracepoint")
    if number is None or int(number) < 0:
        return text
    return names.expand(text, int(number), gdb.selected_frame().pc())


def form_of(given, text):
    """Return the Form that the user has given, or that a return value has by itself. Return None if GDB's print shows
    the value."""
    if not given:
        return bytype.Returned if text in bytype.RETURNED else None
    if given[1:].partition(":")[0] not in forms.FORMS and GDB_FORMAT.fullmatch(given):
        return None
    return forms.parsed("%s %s" % (given, text))[0]


def in_form(value, form):
    """Return the text of a value in a Form, or None if the form has no text for it."""
    show = form.show(value.type)
    return printers.text_of(value, show) if show else None


class GtpPrint(Command):
    """Print the value of a C expression.

gtp print[/FORMAT] EXPRESSION
Like print, but takes every expression that gtp collect takes: macros,
this_cpu(x), container_of(), comparisons with strings. In a trace frame it uses
the collected values. FORMAT is one of GDB's, or
  /ip     an IP address, a struct sockaddr: 10.0.0.1, [::1]:80
  /port   two bytes in network order: 443
  /mac    six bytes, or a pointer to them: 52:54:00:12:34:56
  /err    an error's name: -2 (ENOENT)
  /flags  the kernel's names of a type's bits: GFP_KERNEL|__GFP_ZERO; which
          ones, /flags:NAME says: gfp, vm, page, open, mmap, prot, clone, tcp, an
          enum, one of its constants, or one of the flags if they are macros
  /time   nanoseconds: 1.5 us      /bytes  a size: 4 KiB
  /dev    a dev_t: 8:1             /sym    an address: vfs_read+0x10
  /id     a kuid_t: 1000           /pid    a struct pid *: 0x... (1234)
  /path   of a struct file *, struct path or struct dentry *: "/etc/passwd"
  /argv   a char **: "ls", "-l"    /mem:N  N bytes at an address: "GET /"
  /list:(TYPE, LINK, MEMBER)  of a struct list_head's entries: {120, 121}
A value that does not fit the format is printed without it. gtp table, gtp live
and gtp collect take /FORMAT before each expression. Types such as struct
in_addr, __be16, ktime_t, dev_t, kuid_t and gfp_t have a format by themselves,
in GDB's print as well: /x and /d show the number, print -raw all of it."""

    def __init__(self):
        super().__init__("gtp print", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, arg, from_tty):
        found = re.match(r"(/\w+(?::(?:%s))?)?\s*(.*)" % forms.ARGUMENT, arg.strip(), re.S)
        given, text = found.group(1) or "", found.group(2)
        if not text:
            raise gdb.GdbError("gtp print takes an expression")
        form = form_of(given, text)
        value = cexpr.value(named(text))
        if value.type.code == gdb.TYPE_CODE_FUNC:  # a convenience variable would lose the function's address
            value = value.address
        gdb.set_convenience_variable(RESULT, value)
        try:
            told = gdbcall.execute("print%s $%s" % ("" if form else given, RESULT))
        finally:
            gdb.set_convenience_variable(RESULT, None)
        shown = in_form(value, form) if form else None
        screen.put(told if shown is None else "%s = %s\n" % (told.partition(" = ")[0], shown))


GtpPrint()
