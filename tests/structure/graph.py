# SPDX-License-Identifier: GPL-2.0-only
"""The graph of dependencies between files, made from includes and used names. Finds its circles (cyclic dependencies), and
its arrows that lead to a higher folder."""
import os

from tree import USER_TOP, room


class Graph:
    """rooms is {room: its files}; a room is a source with its header. edges is {(from, to): used names}; for an include, one
    of the names is "#include"."""

    def __init__(self, tree):
        self.tree = tree
        self.rooms, self.edges = {}, {}
        files = tree.module_files() + [f for f in tree.sources if f.startswith(USER_TOP + "/")]
        files += [f for f in tree.sources if "/" not in f]
        for f in sorted(set(files)):
            self.rooms.setdefault(room(f), []).append(f)
        self.files = [f for fs in self.rooms.values() for f in fs]
        self.home = {f: r for r, fs in self.rooms.items() for f in fs}
        self.move_in()
        self.add_includes()
        for world in self.worlds():
            self.add_names(world)

    def move_in(self):
        """Move a header without a source of its own into the room of the only file that includes it, if both are in the same
        folder."""
        users = {}
        for f in self.files:
            for g in self.included(f):
                users.setdefault(g, set()).add(self.home[f])
        for header, rooms in users.items():
            alone = rooms - {self.home[header]}
            if header.endswith(".h") and self.rooms.get(room(header)) == [header] and len(alone) == 1:
                owner = alone.pop()
                if os.path.dirname(owner) == os.path.dirname(header) and self.rooms[owner][0].endswith((".c", ".S")):
                    self.rooms[owner].append(header)
                    self.home[header] = owner
                    del self.rooms[room(header)]

    def included(self, f):
        """Yield the files of the graph that a file includes, by a path from the root or from its own folder."""
        for name in self.tree.sources[f].includes:
            for place in (name, os.path.join(os.path.dirname(f), name), os.path.join("include", name)):
                place = os.path.normpath(place)
                if place in self.home:
                    yield place
                    break

    def worlds(self):
        """Yield the two worlds, which are sets of files that are linked together: the module, and the programs with the
        shared sources.

        If kernel/jit/exec_kernel.c and user/jit/exec_user.c define the same name, it has one definition in each world.
        """
        shared = set(self.tree.shared)
        kernel = {f for fs in self.tree.kernel_sources().values() for f in fs}
        headers = {f for f in self.files if f.endswith(".h")}
        yield shared | kernel | {f for f in headers if not f.startswith(USER_TOP + "/")}
        yield {f for f in self.files if f not in kernel} | headers

    def add(self, a, b, why):
        if a != b:
            self.edges.setdefault((a, b), set()).add(why)

    def add_includes(self):
        for f in self.files:
            for g in self.included(f):
                self.add(self.home[f], self.home[g], "#include")

    def add_names(self, world):
        sources = [self.tree.sources[f] for f in sorted(world) if f in self.tree.sources]
        macros = {name: m for s in sources for name, m in s.macros.items()}
        home = {}
        for s in sources:
            s.expand(macros)
            for name in s.defines:
                home.setdefault(name, set()).add(self.home[s.path])
        for s in sources:
            for name in (s.uses - s.private) & home.keys():
                # Two definitions in one world belong to two programs. Add no edge, because it is not known which of them is
                # used.
                if len(home[name]) == 1:
                    self.add(self.home[s.path], next(iter(home[name])), name)

    def up(self):
        """Return (from, to) for every arrow to a higher folder, which is one that is earlier in the order of folders."""
        rank = {r: self.tree.rank(self.tree.folder(fs[0])) for r, fs in self.rooms.items()}
        return sorted(e for e in self.edges if rank[e[1]] < rank[e[0]])

    def circles(self):
        """Return the strongly connected sets of more than one room, the largest first, by Tarjan's algorithm."""
        out = {r: [] for r in self.rooms}
        for a, b in sorted(self.edges):
            out[a].append(b)
        index, low, stack, found = {}, {}, [], []

        def visit(start):
            work = [(start, iter(out[start]))]
            index[start] = low[start] = len(index)
            stack.append(start)
            while work:
                node, rest = work[-1]
                for b in rest:
                    if b not in index:
                        index[b] = low[b] = len(index)
                        stack.append(b)
                        work.append((b, iter(out[b])))
                        break
                    if b in stack:
                        low[node] = min(low[node], index[b])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == index[node]:
                        at = stack.index(node)
                        found.append(sorted(stack[at:]))
                        del stack[at:]

        for r in sorted(out):
            if r not in index:
                visit(r)
        return sorted((c for c in found if len(c) > 1), key=lambda c: (-len(c), c))

    def ways_round(self, circle):
        """Yield circles within a strongly connected set, the shortest first. No two of them share an arrow."""
        left = {e for e in self.edges if e[0] in circle and e[1] in circle}
        while True:
            ways = [w for w in (way_round(left, start) for start in circle) if w]
            if not ways:
                return
            way = min(ways, key=len)
            left -= set(way)
            yield way

    def say(self, edge, most=4):
        """Return an edge in words: file -> file (the names that the first uses of the second)."""
        names = sorted(self.edges[edge])
        more = f", {len(names) - most} more" if len(names) > most else ""
        return f"{self.name(edge[0])} -> {self.name(edge[1])} ({', '.join(names[:most])}{more})"

    def name(self, a):
        return min(self.rooms[a], key=lambda f: ".c.S.h".index(os.path.splitext(f)[1]))

    def dot(self):
        """Return the graph for Graphviz: a cluster for each folder, bold edges in circles, red edges to a higher folder."""
        up = set(self.up())
        ring = {r: n for n, c in enumerate(self.circles()) for r in c}
        lines = ["digraph gdbtp {", "\trankdir=TB; node [shape=box, fontsize=10];"]
        folders = {}
        for r, fs in self.rooms.items():
            folders.setdefault(self.tree.folder(fs[0]) or ".", []).append(r)
        for folder, rooms in folders.items():
            lines.append(f'\tsubgraph "cluster_{folder}" {{ label="{folder}";')
            lines += [f'\t\t"{r}" [label="{os.path.basename(r)}"];' for r in rooms]
            lines.append("\t}")
        for a, b in sorted(self.edges):
            style = ["color=red"] if (a, b) in up else []
            style += ["style=bold"] if a in ring and ring[a] == ring.get(b) else []
            lines.append(f'\t"{a}" -> "{b}"' + (f" [{', '.join(style)}]" if style else "") + ";")
        return "\n".join(lines + ["}"])


def way_round(edges, start):
    """Return the shortest way from a room to itself, as edges, or None if there is none."""
    out = {}
    for a, b in sorted(edges):
        out.setdefault(a, []).append(b)
    came, queue = {start: None}, [start]
    for node in queue:
        for b in out.get(node, ()):
            if b == start:
                way = [(node, b)]
                while came[way[0][0]] is not None:
                    way.insert(0, (came[way[0][0]], way[0][0]))
                return way
            if b not in came:
                came[b] = node
                queue.append(b)
    return None
