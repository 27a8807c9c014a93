# SPDX-License-Identifier: GPL-2.0-only
"""Makes texts for numbers and bytes."""
import socket
import struct

MOST_ERRNO = 4095  # the kernel's MAX_ERRNO: IS_ERR() is true for that many of the highest addresses
MINOR_BITS = 20  # minor bits of the kernel's dev_t; the dev_t of programs is different
SECOND = 10**9
UNITS = (("s", SECOND), ("ms", 10**6), ("us", 1000))
SIZES = ((1 << 60, "EiB"), (1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
MAC = 6  # the size of a MAC address, in bytes


def signed(number, size):
    """Return the signed number that an unsigned one of SIZE bytes represents."""
    top = 1 << 8 * size - 1
    return ((number & 2 * top - 1) ^ top) - top


def cut(number, size):
    """Return the lowest SIZE bytes of a number."""
    return number & (1 << 8 * size) - 1


def integer(number, size, is_signed):
    """Return the integer in the lowest SIZE bytes of a number."""
    return signed(number, size) if is_signed else cut(number, size)


def ip(data):
    """Return the text of an IP address of 4 or 16 bytes."""
    return socket.inet_ntop(socket.AF_INET if len(data) == 4 else socket.AF_INET6, data)


def endpoint(data):
    """Return address and port of a struct sockaddr_in or sockaddr_in6. Return None for another family, or if the
    structure is cut."""
    family = int.from_bytes(data[:2], "little")
    if family == socket.AF_INET and len(data) >= 8:
        return "%s:%d" % (ip(data[4:8]), struct.unpack_from(">H", data, 2)[0])
    if family == socket.AF_INET6 and len(data) >= 28:
        scope = int.from_bytes(data[24:28], "little")
        return "[%s%s]:%d" % (ip(data[8:24]), "%%%d" % scope if scope else "", struct.unpack_from(">H", data, 2)[0])
    return None


def port(number):
    """Return the port number for two bytes in network order that were read as a number in this machine's byte order."""
    return str((number & 0xff) << 8 | number >> 8 & 0xff)


def mac(data):
    return data.hex(":")


def device(number):
    """Return a dev_t as major:minor."""
    return "%d:%d" % (number >> MINOR_BITS, number & (1 << MINOR_BITS) - 1)


def error(number, names):
    """Return text such as -2 (ENOENT). Return None if the number is not an error, or has no name."""
    name = names.get(-number) if -MOST_ERRNO <= number < 0 else None
    return "%d (%s)" % (number, name) if name else None


def error_pointer(word, names):
    """Return the pointer and the error's name if ERR_PTR() has made the pointer, else None."""
    name = names.get(2**64 - word) if word >= 2**64 - MOST_ERRNO else None
    return "%#x (%s)" % (word, name) if name else None


def time(ns):
    """Return a time in ns as text, in the largest unit of which there is at least one, with all its digits."""
    for unit, size in UNITS:
        if abs(ns) >= size:
            whole, rest = divmod(abs(ns), size)
            text = ("%d.%0*d" % (whole, len(str(size)) - 1, rest)).rstrip("0").rstrip(".")
            return "%s%s %s" % ("-" if ns < 0 else "", text, unit)
    return "%d ns" % ns


def size(number):
    """Return a number of bytes in the largest unit of which there is at least one, with three digits."""
    for i, (unit, name) in enumerate(SIZES):
        if abs(number) >= unit:
            value = number / unit
            text = "%.*f" % (0 if number % unit == 0 else 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0, value)
            # Rounding may yield 1024, which is one of the next unit.
            return "%s1.00 %s" % (text[:-4], SIZES[i - 1][1]) if i and text in ("1024", "-1024") else "%s %s" % (text, name)
    return "%d B" % number


def flags(number, table, joint="|"):
    """Return names for the bits of a number, as the kernel's trace_print_flags_seq() prints them. TABLE is [(mask,
    name)] in its order. An entry may also be (mask, value, name): the name applies if the bits of the mask have this
    value."""
    found, rest = [], number
    for mask, *value, name in table:
        if mask and rest & mask and rest & mask == (value or [mask])[0]:
            found.append(name)
            rest &= ~mask
    if not found:
        zero = next((name for mask, *_, name in table if not mask), None)
        return (zero or "0") if not number else None
    return joint.join(found + (["%#x" % rest] if rest else []))


def choice(number, names):
    """Return the name of a number in {value: name}. If it has none, and each name stands for one bit, return the names of
    the number's bits. Otherwise return None."""
    if number in names:
        return names[number]
    if any(value < 0 or value & value - 1 for value in names):
        return None
    return flags(number, sorted(names.items()))


def named(number, names):
    """Return the names for a number: choice() if NAMES is {value: name}, flags() if it is a table of masks."""
    return choice(number, names) if isinstance(names, dict) else flags(number, names)


# Values in the text of dprintfs, which the shell command `gtp` shows: see gtp.view.formdict.

def carried(view):
    """Return a function that takes an unsigned number of 64 bits and returns its text, or None if the form has no text
    for it."""
    form, size_ = view["form"], view["size"]
    names = view.get("names")
    if isinstance(names, dict):  # JSON turns keys into texts
        names = {int(value): name for value, name in names.items()}

    def number(x):
        return integer(x, size_, view["signed"])
    return {"err": lambda x: error_pointer(x, names) if view["pointer"] else error(signed(x, size_), names),
            "flags": lambda x: named(cut(x, size_), names),
            "ip": lambda x: ip(cut(x, 4).to_bytes(4, "little")), "port": port,
            "dev": lambda x: device(cut(x, 4)), "time": lambda x: time(number(x)), "bytes": lambda x: size(number(x)),
            "x": lambda x: "%#x" % cut(x, size_), "d": lambda x: str(signed(x, size_)), "u": lambda x: str(cut(x, size_))}[form]
