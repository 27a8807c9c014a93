# SPDX-License-Identifier: GPL-2.0-only
# Encodes the wire format of protocol buffers, as far as gdbtp writes it: numbered fields of numbers and of bytes.
import struct

from gtp.text import harmless

VARINT, DOUBLE, BYTES = 0, 1, 2
MASK = 2**64 - 1


def long_varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


SHORT = [long_varint(n) for n in range(1 << 14)]


def tags(wire):
    """Return the encoded tags of the fields 0 to 127 with one wire type."""
    return [long_varint(field << 3 | wire) for field in range(128)]


NUMBERS, DOUBLES, DATA = tags(VARINT), tags(DOUBLE), tags(BYTES)


def number(field, n):
    """Return an encoded field of any integer type other than sint or fixed. A negative number has 64 bits."""
    return NUMBERS[field] + (SHORT[n] if 0 <= n < 1 << 14 else long_varint(n & MASK))


def double(field, n):
    return DOUBLES[field] + struct.pack("<d", n)


def data(field, content):
    """Return an encoded field of bytes, or of an encoded message."""
    size = len(content)
    return DATA[field] + (SHORT[size] if size < 1 << 14 else long_varint(size)) + content


def text(field, content):
    """Return an encoded field of a string."""
    return data(field, harmless.line(content).encode())
