# SPDX-License-Identifier: GPL-2.0-only
"""Makes hostile trace files: good files with random changes, and files with which an earlier gdbtp did harm.

strange(SEED, COUNT, good files) yields (description of the change, bytes).
"""
import random
import re
import struct

TRIP = "touch TRIPPED"
SHELLS = ('$_shell("%s")' % TRIP, '$_shell ("%s")' % TRIP, '0*$_shell("%s")' % TRIP, '($_shell)("%s")' % TRIP,
          'a)\nshell %s\nprint (a' % TRIP, '*(int *) 0\n!=5||%s' % TRIP, "a\r\nshell %s" % TRIP, '| echo | %s' % TRIP,
          '(int (*)($_shell("%s")))a' % TRIP, '*(typeof($_shell("%s")) *) a' % TRIP, 'sizeof($_shell("%s"))' % TRIP,
          '{int} $_shell("%s")' % TRIP, 'a@$_shell("%s")' % TRIP, "a, $_shell(\"%s\")" % TRIP,
          'x\nend\nshell %s\n' % TRIP, "x\n        end\n        shell %s" % TRIP, "python import os; os.system('%s')" % TRIP)
OTHERS = ('$_gdb_setting_str("history filename")', "counter = 7", "counter += 1", "$x = 3", "$pc = 0", "counter++", "main()",
          "(" * 3000 + "a", "-" * 4000 + "a", "a" * 9000, "a@2000000000", "$_siginfo", "a ? b : c", "1/0",
          "(-9223372036854775807L - 1) / -1", "((long)1 << 63) % (-1 - 0 * a)", "0 && ((long)1 << 63) / -1", "sizeof(((long)1 << 63) / -1)",
          "(int (*)(typeof(((long)1 << 63) / -1)))a", "'", '"', "\\",
          "\x1b]0;title\x07", "\x1b[2J", "\u202eevil\u202c", "=1+1", "+A1", "@SUM(A1)", "-2+3", "<script>alert(1)</script>",
          "</title>", "]]>", "*/ }; env { x = 1; /*", "%s%n%d", "{0}", "name\twith\ttabs", "a;b 5", "\x85\u2028x", "\udcff",
          "/etc/passwd", "../../../tmp/x", "$(id)", "`id`", "'; id; '", "-o/tmp/x", "--csv", "")
TYPES = ('int)+(int*)$_shell("%s")+0*(int' % TRIP, 'int*)0)\nshell %s\nprint ((int' % TRIP, "typeof(1)", "struct", "int[99999999]",
         "*" * 3000, "const " * 900, "unsigned", "long long int", "struct thing *", "void (*)(int)", "struct thing[3]")
TEXT = SHELLS + OTHERS + TYPES
END = b"gdbtp: %016d bytes\n"


def text_for_header(chance, digits):
    """Return the hex digits of a hostile text, to replace the hex digits of a text in the header."""
    text = chance.choice(TEXT)
    if chance.random() < 0.3:
        try:
            old = bytes.fromhex(digits).decode(errors="replace")
        except ValueError:
            old = ""
        at = chance.randrange(len(old) + 1)
        text = old[:at] + text + old[at:]
    return text.encode(errors="surrogateescape").hex()


def number(chance):
    return chance.choice(("0", "1", "-1", "ffffffffffffffff", "fffffffffffffffff", "x", "", "7fffffff", "10000",
                          "%x" % chance.getrandbits(chance.choice((8, 16, 32, 64)))))


def changed_line(chance, line):
    """Return a line of the header with a random change."""
    words = line.decode(errors="replace")
    found = list(re.finditer(r"(?<=[:;, ])(?:[0-9a-f]{2}){4,}(?=$|[:;,])", words))
    if found and chance.random() < 0.75:
        at = chance.choice(found)
        return (words[:at.start()] + text_for_header(chance, at.group(0)) + words[at.end():]).encode()
    found = list(re.finditer(r"\b[0-9a-fx]+\b", words))
    if found and chance.random() < 0.7:
        at = chance.choice(found)
        return (words[:at.start()] + number(chance) + words[at.end():]).encode()
    return chance.choice((b"", line + line, line[:len(line) // 2], words.replace(":", ";", 1).encode(), line + b":"))


def added_line(chance, lines):
    """Add a line about a collected expression, or about a variable's name."""
    text = text_for_header(chance, "")
    place = next((line.split(b":")[1].decode() for line in lines if line.startswith(b"tp T")), "0")
    kind = chance.choice(("cmd", "cmd", "cmd", "cond", "at"))
    if kind == "cmd":
        text = b"collect ".hex() + text
    return chance.choice(("tp Z1:%s:%s:0:%x:%s" % (place, kind, len(text) // 2, text), "tsv %s:0:0:%s" % (
        number(chance), text), "status 0;tstop:%s:0;notes:%s:" % (text, text))).encode()


def changed_tail(chance, data):
    """Change the text after the frames. In most cases, correct the length of the text at the end of the file."""
    at = data.find(b"gdbtp: aggregations")
    if at < 0:
        return data
    lines = data[at:].split(b"\n")[:-2]
    for _ in range(chance.randrange(1, 4)):
        i = chance.randrange(1, max(2, len(lines)))
        if i >= len(lines):
            break
        if lines[i].startswith(b"name ") and chance.random() < 0.8:
            parts = lines[i].split(b"\t")
            j = chance.randrange(len(parts))
            parts[j] = chance.choice(TYPES if j == 1 else TEXT).encode(errors="surrogateescape")
            lines[i] = b"\t".join(parts) if j else b"name " + b"\t".join(parts)
        else:
            lines[i] = changed_line(chance, lines[i])
    text = b"\n".join(lines) + b"\n"
    return data[:at] + text + (END % len(text) if chance.random() < 0.9 else END % chance.getrandbits(30))


def changed_frames(chance, data):
    at = data.find(b"\n\n") + 2
    end = data.find(b"gdbtp: aggregations")
    end = len(data) if end < 0 else end
    data = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        if at < end:
            data[chance.randrange(at, end)] = chance.choice((0, 255, chance.getrandbits(8)))
    return bytes(data)


def changed_header(chance, data):
    head, _, rest = data.partition(b"\n\n")
    lines = head.split(b"\n")
    for _ in range(chance.randrange(1, 4)):
        i = chance.randrange(1, len(lines))
        if chance.random() < 0.4:
            lines.insert(i, added_line(chance, lines))
        else:
            lines[i] = changed_line(chance, lines[i])
    return b"\n".join(lines) + b"\n\n" + rest


def cut(chance, data):
    return data[:chance.randrange(len(data))]


CHANGES = (changed_header, changed_header, changed_header, changed_tail, changed_tail, changed_frames, cut)


def by_hand(address):
    """Yield trace files with which an earlier gdbtp ran a command: one for each place from which text could reach GDB."""
    def source(kind, text):
        text = text.encode(errors="surrogateescape")
        return b"tp Z1:%x:%s:0:%x:%s" % (address, kind.encode(), len(text), text.hex().encode())

    def whole(*lines, tail=b""):
        registers = bytes(16 * 8) + struct.pack("<Q", address) + bytes(0xa4 - 17 * 8)
        head = (b"R a4", b"status 0;tstop::0;tframes:1;tcreated:1;tfree:100;tsize:1000;circular:0;disconn:0;starttime:0;"
                b"stoptime:0;username::;notes::", b"tp T1:%x:E:0:0" % address, b"tp A1:%x:R10000" % address)
        frame = struct.pack("<HI", 1, 1 + len(registers)) + b"R" + registers
        return b"\x7fTRACE0\n" + b"\n".join((*head, *lines)) + b"\n\n" + frame + b"\0\0" + tail

    for text in TEXT:
        yield "collected: %r" % text[:60], whole(source("at", "*%#x" % address), source("cmd", "collect " + text))
        yield "condition: %r" % text[:60], whole(source("cond", text), source("cmd", "collect a"))
        yield "place: %r" % text[:60], whole(source("at", "*" + text), source("cmd", "collect a"))
    for text in TYPES + SHELLS:
        kept = "gdbtp: aggregations and stacks, 1\nname key_x\t%s\tx\t\nkey key_y\nrun 0 0 0\n" \
            "aggregation count_a count : key_x\nentry 1 1 :\n" % text
        kept = kept.encode(errors="surrogateescape")
        yield "type: %r" % text[:60], whole(source("cmd", "collect a"), tail=kept + END % len(kept))


def strange(seed, count, files):
    """Yield COUNT files made by random changes of good ones."""
    for n in range(count):
        chance = random.Random("%s:%d" % (seed, n))
        data, done = chance.choice(files), []
        for _ in range(chance.choice((1, 1, 2))):
            change = chance.choice(CHANGES)
            done.append(change.__name__)
            data = change(chance, data) or b"\x7fTRACE0\n"
        yield "%s:%d %s" % (seed, n, " ".join(done)), data
