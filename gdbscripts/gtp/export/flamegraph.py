# SPDX-License-Identifier: GPL-2.0-only
# Draws a flame graph as one SVG file, or as a part of an HTML page. Also runs in Python without GDB.
#
# Programs that run no scripts, such as those that show a README, show a still picture. In a browser the script replaces
# the picture, and draws as many functions as fit into the window. Text comes from the kernel and its users: all of it
# is escaped here.
import collections
import html
import json
import os
import re
import zlib

from gtp.text import harmless

WIDTH, ROW, SIDE, HEAD = 1200, 20, 8, 76  # measures of the still picture, in pixels
NARROW, WIDE = 1.5, 4
CHAR = 7.25
COLOURS = 10
OTHER, SPECIAL = COLOURS, COLOURS + 1  # colours of groups without their own, of non-functions
ALL = "all"
UNITS = {"ns": (1000, ("ns", "µs", "ms", "s")), "bytes": (1024, ("bytes", "KiB", "MiB", "GiB", "TiB"))}

STILL = """<g class="still">
<text class="words large" x="8" y="28">%s</text>
<text class="words soft" x="8" y="50">%s</text>
%s
<g transform="translate(0 %d)">
%s
</g>
</g>
"""
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" class="gtp-flame" role="group"
	width="%d" height="%d" viewBox="0 0 %d %d">
<title>%s</title>
<style>
%s</style>
%s<script type="application/json" class="data">%s</script>
<script><![CDATA[
%s]]></script>
</svg>
"""


# Text


def clean(text):
    """Return the text with unprintable characters escaped."""
    return harmless.line(text)


def escaped(text):
    return html.escape(clean(text))


def amount(n, unit):
    """Return a weight as text in its unit. The picture's script has a copy of this function."""
    base, units = UNITS.get(unit, (0, (unit,)))
    at, value = 0, n
    while base and value >= base and at + 1 < len(units):
        value, at = value / base, at + 1
    text = "{:,.{}f}".format(value, 3 - min(3, len(str(int(value))))) if at else "{:,}".format(n)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    one = n == 1 and units[at] in ("hits", "bytes")
    return (text + " " + (units[at][:-1] if one else units[at])).strip()


def shortened(text, pixels):
    room = int((pixels - 8) / CHAR)
    if len(text) <= room:
        return text
    return text[:room - 1] + "…" if room >= 3 else ""


def beside(name):
    """Return the text of a file in the folder of flamegraph.py."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read()


# The tree


class Node:
    """A node of the tree: a function with one path of callers. weight: includes the weight of its callees, which are in
    `below` by name."""

    __slots__ = ("name", "weight", "below")

    def __init__(self, name):
        self.name, self.weight, self.below = name, 0, {}

    def add(self, name, weight):
        node = self.below.get(name)
        if node is None:
            node = self.below[name] = Node(name)
        node.weight += weight
        return node

    def ordered(self):
        """Return the callees, the widest first, so that callees too narrow to be seen are side by side."""
        return sorted(self.below.values(), key=lambda node: (-node.weight, node.name))


def tree(rows):
    """Build the tree of functions from the rows (names, weight). Return the root Node."""
    root = Node(ALL)
    for names, weight in rows:
        if weight < 0:
            raise ValueError("a weight is negative, and a picture has no width for it")
        if not weight:
            continue
        node = root
        node.weight += weight
        for name in names:
            node = node.add(clean(name), weight)
    return root


def walk(root):
    """Yield (depth, Node) of all nodes, each before the nodes that it has called."""
    waiting = [(0, root)]
    while waiting:
        depth, node = waiting.pop()
        yield depth, node
        waiting += [(depth + 1, below) for below in reversed(node.ordered())]


# Colours


def preferred(text):
    """Return the colour that a group's name has in every picture unless another group has taken the colour first."""
    return zlib.crc32(text.encode()) % COLOURS


def family(name):
    """Return the first word of a name: functions of one part of the kernel often begin with the same word."""
    return re.match(r"_*([^\W_]*)", name).group(1)


class Colours:
    """A colour for each name. legend: [(group, colour)], the group with the most weight first.

    GROUPS: {name: group}, or None: then names that begin with the same word have the same colour.
    """

    def __init__(self, nodes, groups):
        self.groups = groups if groups is None else {clean(name): group for name, group in groups.items()}
        self.legend = []
        self.slots = {}
        weights = collections.Counter()
        for node in nodes:
            if self.groups and node.name in self.groups:
                weights[self.groups[node.name]] += node.weight
        for group, _ in sorted(weights.items(), key=lambda pair: (-pair[1], pair[0])):
            self.give(group)

    def give(self, group):
        """Give a group the colour that it prefers, or the next free one."""
        order = [(preferred(group) + i) % COLOURS for i in range(COLOURS)]
        free = [slot for slot in order if slot not in self.slots.values()]
        if free:
            self.slots[group] = free[0]
            self.legend.append((clean(group), free[0]))
        elif len(self.legend) == COLOURS:
            self.legend.append(("others", OTHER))

    def of(self, name):
        if name == ALL or name.startswith("["):
            return SPECIAL if name != ALL else OTHER
        if self.groups is None:
            return preferred(family(name))
        return self.slots.get(self.groups.get(name), OTHER)


# The picture


def frame(x, y, width, text, kind):
    """Return one box of the still picture as SVG."""
    label = shortened(text, width)
    return '<g class="f k%d%s"><rect x="%.2f" y="%d" width="%.2f" height="%d"/>%s</g>' % (
        kind, " wide" if width > WIDE else "", x, y, width, ROW,
        '<text x="%.2f" y="%d">%s</text>' % (x + 5, y + 14, escaped(label)) if label else "")


def still_frames(root, colours):
    """Yield (depth, box) for each node that is wide enough to be seen, and one box for all narrow siblings together."""
    scale = (WIDTH - 2 * SIDE) / (root.weight or 1)
    waiting = [(0, 0, root)]
    while waiting:
        depth, start, node = waiting.pop()
        width = node.weight * scale if root.weight else WIDTH - 2 * SIDE
        yield depth, frame(SIDE + start * scale, depth * ROW, width, node.name, colours.of(node.name))
        for below in node.ordered():
            if below.weight * scale < NARROW:
                narrow = sum(n.weight for n in node.below.values() if n.weight * scale < NARROW)
                yield depth + 1, frame(SIDE + start * scale, (depth + 1) * ROW, narrow * scale, "", OTHER)
                break
            waiting.append((depth + 1, start, below))
            start += below.weight


def still_legend(legend):
    """Return the legend of the still picture: the names of the groups in one line, each after its colour."""
    parts, x = [], SIDE
    for group, slot in legend:
        parts.append('<g class="k%d"><rect x="%d" y="59" width="11" height="11" rx="3"/></g>'
                     '<text class="words soft" x="%d" y="69">%s</text>' % (slot, x, x + 17, escaped(group)))
        x += 17 + 8 * len(group) + 24
    return "".join(parts)


def data_of(root, colours, title, unit, total, notes):
    """Return the data that the picture's script draws, as JSON in which neither XML nor HTML finds a tag."""
    names, nodes = {}, []
    for depth, node in walk(root):
        nodes += [depth, names.setdefault(node.name, len(names)), node.weight]
    text = json.dumps({"title": clean(title), "unit": clean(unit), "total": total, "notes": list(map(clean, notes)),
                       "legend": colours.legend, "names": list(names), "classes": list(map(colours.of, names)),
                       "nodes": nodes}, separators=(",", ":"))
    return re.sub("[<>&]", lambda c: "\\u%04x" % ord(c.group()), text)


def svg(rows, title, unit="hits", notes=(), groups=None):
    """Return the text of a flame graph: an SVG file, or an element for the body of an HTML page, where several may be.

    rows: (names, weight), the outermost function first. Weights are whole numbers, 0 or more, and two rows may have the
    same names. Names in brackets are not functions. unit: of the weights; "ns" and "bytes" are shown as ms, MiB and so on.
    notes: sentences below the title. groups: {function: part of the kernel}; each part gets a colour and a place in the
    legend.

    In a page the picture is dark if the reader prefers that, unless data-theme="dark" or "light" of the page's <html>
    chooses. The picture's script does not run if the picture is inserted with innerHTML.
    """
    root = tree(rows)
    colours = Colours([node for _, node in walk(root)], groups)
    total = amount(root.weight, clean(unit)) if root.weight else "nothing was counted"
    boxes = list(still_frames(root, colours))
    height = HEAD + ROW * (1 + max(depth for depth, _ in boxes)) + SIDE
    still = STILL % (escaped(title), escaped("; ".join([total, *notes])), still_legend(colours.legend), HEAD,
                     "\n".join(box for _, box in boxes))
    return PICTURE % (WIDTH, height, WIDTH, height, escaped(title), beside("flamegraph.css"), still,
                      data_of(root, colours, title, unit, total, notes), beside("flamegraph.js"))
