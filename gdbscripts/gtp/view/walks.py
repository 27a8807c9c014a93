# SPDX-License-Identifier: GPL-2.0-only
"""Makes the texts of paths, argument vectors, lists and memory. The data comes from a frame for which gtp.view.unroll has
collected it, or from the live kernel."""
import gdb

from gtp import cexpr
from gtp.cexpr import ctype
from gtp.formats.tracefile import Unavailable
from gtp.run import bytecode
from gtp.view import cells, image, unroll

MOST = 1024  # the maximum number of names and mounts of a path, because memory may contain a circle
MOST_NAME = 4096
MORE = "..."
# The kernel's functions that make up a name from an inode's number, and the word before this number.
NUMBERED = {"pipefs_dname": "pipe", "sockfs_dname": "socket"}


def path(kind, _steps):
    """Return the function that shows the path of a struct file *, struct path or struct dentry *. Return None for another
    type. The number of steps, as in /path:30, matters only when the value is collected."""
    target = unroll.with_path(kind)
    if target is None:
        return None
    layout = unroll.Layout()
    if target.tag == "dentry":
        return lambda frame, x: text_of(frame, layout, x, 0) if x else None
    skip = unroll.offset(target, "f_path") if target.tag == "file" else 0

    def shown(frame, x):
        if not x:
            return None
        mnt, dentry = (frame.word(x + skip + at, 8) for at in layout.of_path)
        return text_of(frame, layout, dentry, mnt - layout.mnt)
    return shown


def name_of(frame, layout, dentry):
    return frame.read(frame.word(dentry + layout.name, 8), min(frame.word(dentry + layout.length, 4), MOST_NAME))


def text_of(frame, layout, dentry, mount):
    """Return the text of a dentry's path. MOUNT is its struct mount, or 0 for a path within the file system."""
    special = computed(frame, layout, dentry, mount)
    if special:
        return special
    names, whole = names_of(frame, layout, dentry, mount)
    if not names and not whole:
        raise Unavailable
    text = b"/".join(reversed(names))
    gone = not frame.word(dentry + layout.hashed, 8) and frame.word(dentry + layout.parent, 8) != dentry
    return ("" if whole else MORE) + cells.quoted(b"/" + text) + (" (deleted)" if gone else "")


def names_of(frame, layout, dentry, mount):
    """Return the names of a path, the last one first, and true if no name up to the root is missing."""
    names = []
    try:
        for _ in range(MOST):
            up = frame.word(mount + layout.up, 8) if mount else 0
            if mount and dentry == frame.word(mount + layout.root, 8):
                if up == mount:
                    return names, True
                dentry, mount = frame.word(mount + layout.mountpoint, 8), up
                continue
            above = frame.word(dentry + layout.parent, 8)
            if above == dentry:
                return names, True
            names.append(name_of(frame, layout, dentry))
            dentry = above
    except Unavailable:
        pass
    return names, False


def computed(frame, layout, dentry, mount):
    """Return the text for a file that has no place in a tree, such as a pipe, in the form that /proc/PID/fd shows.
    Return None for any other file, and for a namespace that is mounted somewhere."""
    operations = frame.word(dentry + layout.operations, 8)
    function = frame.word(operations + layout.dname, 8) if operations else 0
    if not function or mount and frame.word(mount + layout.root, 8) == dentry == frame.word(dentry + layout.parent, 8):
        return None
    name = image.symbol_of(function) or "%#x" % function
    if name in NUMBERED:
        return "%s:[%d]" % (NUMBERED[name], frame.word(frame.word(dentry + layout.inode, 8) + layout.number, 8))
    if name == "anon_inodefs_dname":
        return "anon_inode:" + cells.plain(cells.quoted(name_of(frame, layout, dentry)))
    if name == "simple_dname":
        return cells.quoted(b"/" + name_of(frame, layout, dentry)) + " (deleted)"
    return "<%s>" % name


def argv(kind, _steps):
    """Return the function that shows an argument vector. Return None for a type that cannot be an argument vector."""
    if not unroll.is_vector(kind):
        return None
    return lambda frame, x: arguments(frame, x) if x else None


def arguments(frame, address):
    """Return the arguments in quotes, with "..." in place of those that are not in the frame."""
    found = []
    for i in range(MOST):
        try:
            pointer = frame.word(address + 8 * i, 8)
        except Unavailable:
            break
        if not pointer:
            return ", ".join(found) if found else "{}"
        data = frame.string(pointer, MOST_NAME)
        found.append(cells.UNAVAILABLE if not data else cells.quoted(data) + ("" if b"\0" in data else MORE))
    if not found:
        raise Unavailable
    return ", ".join([*found, MORE])


def mem(kind, length):
    """Return the function that shows the memory at an address, of the length that an expression gives. Return None for
    a type that is not an address."""
    if not ctype.is_address(kind) or length is None:
        return None
    count = lengths(length)
    if count is None:
        return None

    def shown(frame, x):
        size = count(frame)
        data = frame.read(x, min(size, unroll.MEMORY_BYTES)) if size else b""  # GDB 18 refuses to read 0 bytes
        return all_quoted(data) + (MORE if size > len(data) else "")
    return shown


def entries(kind, argument):
    """Return the function that shows a member of the entries of a list. Return None for a type that is not a list, and
    for an ARGUMENT that is not valid at the selected frame."""
    if not unroll.is_list(kind):
        return None
    try:
        of = unroll.entries(argument, gdb.selected_frame().pc())
    except (gdb.error, gdb.GdbError):
        return None
    text = text_function(of.shown)
    return lambda frame, head: listed(frame, head, of, text) if head else None


def text_function(kind):
    """Return the function that shows a value of a type, given a frame and its address."""
    formats, bare = cells.Formats(), ctype.plain(kind)
    if bare.code not in cells.SCALARS or bare.sizeof > cells.WORD:
        return formats.aggregate(kind)
    scalar = formats.scalar(kind)
    return lambda frame, at: scalar(frame, frame.word(at, bare.sizeof))


def listed(frame, head, of, text):
    """Return the texts of a list's entries, with "..." in place of those that are not in the frame."""
    found, link = [], frame.word(head, 8)
    while link != head and len(found) < MOST:
        try:
            found.append(text(frame, link - of.offset + of.at))
            link = frame.word(link, 8)
        except Unavailable:
            break
    return "{%s}" % ", ".join(found if link == head else [*found, MORE])


def lengths(text):
    """Return a function that takes a frame, or a printers.Memory, and returns an expression's value. Return None if the
    expression cannot be evaluated, or must not be because it comes from a file."""
    try:
        pc = gdb.selected_frame().pc()
        if cexpr.refusal(text, pc):
            return None
        with cexpr.unasked():
            compiled = bytecode.compiled(cexpr.number(text, pc)[0])
    except (gdb.error, gdb.GdbError, bytecode.Unknown):
        return None
    return lambda frame: frame.value(text) if hasattr(frame, "value") else compiled(frame)


def all_quoted(data):
    """Return bytes in quotes, including zeros."""
    return '"%s"' % "\\000".join(cells.quoted(part)[1:-1] for part in data.split(b"\0"))
