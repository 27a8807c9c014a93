# SPDX-License-Identifier: GPL-2.0-only
"""The tree of the sources, read from its lists: git's files, shared.mk, Kbuild, and tables in documents."""
import os
import re
import subprocess

from csource import Source

CODE = (".c", ".h", ".S")
# The folder of the programs that use the module's shared sources. It ranks above all folders of the module.
USER_TOP = "tools"
KERNEL_ONLY = ("<!-- kernel-only: begin -->", "<!-- kernel-only: end -->")
UP_HEADING = "Arrows that run up"


def list_files(root):
    """Return the files that git tracks or would add. In a tree without git, return all files."""
    if os.path.exists(os.path.join(root, ".git")):
        command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
        return sorted({n for n in names if n and os.path.isfile(os.path.join(root, n))})
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", "__pycache__") and not f.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def make_words(text, name):
    """Return all words that a makefile assigns to one variable, with := and += and joined lines."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*$", "", text, flags=re.M))
    return [w for m in re.finditer(rf"^{name}\s*[:+]?=(.*)$", text, re.M) for w in m.group(1).split()]


def rows(text):
    """Yield the cells of every line of a Markdown table, including rules and headings."""
    for line in text.splitlines():
        if line.startswith("|"):
            yield [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


class Tree:
    def __init__(self, root, order=None):
        self.root = root
        self.files = list_files(root)
        self.present = set(self.files)
        makefile, kbuild = self.text("shared.mk"), self.text("Kbuild")
        self.order = order or make_words(makefile, "GTP_FOLDERS")
        self.shared = make_words(makefile, "GTP_SHARED")
        self.objects = [w for w in make_words(kbuild, r"gdbtp-y") if w.endswith(".o")]
        self.sources = {f: Source(f, self.text(f)) for f in self.files if f.endswith(CODE)}
        self.docs = [f for f in self.files if re.match(r"(docs/[\w-]+|[A-Z]+)\.md$", f)]

    def text(self, path):
        if path not in self.present:
            return ""
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
            return f.read()

    def folder(self, path):
        """Return which of the ordered folders contains a file: the longest that matches, or None."""
        fits = [f for f in self.order + [USER_TOP] if path.startswith(f + "/")]
        return max(fits, key=len) if fits else None

    def rank(self, folder):
        """Return a folder's rank in the order, from 1 at the top. The rank of programs and of files in the root is 0."""
        return self.order.index(folder) + 1 if folder in self.order else 0

    def module_files(self):
        """Return the sources and headers of the module's folders, without the programs' files."""
        return [f for f in self.sources if self.folder(f) in self.order]

    def kernel_sources(self):
        """Return the source of each object that Kbuild adds to the shared ones, or None if it has no source."""
        found = {}
        for obj in self.objects:
            stem = obj[: -len(".o")]
            found[obj] = [stem + e for e in (".c", ".S") if stem + e in self.present]
        return found

    def kernel_only(self):
        """Return {folder: names of the files that only the module has}."""
        by_folder = {}
        for paths in self.kernel_sources().values():
            for path in set(paths) - set(self.shared):
                by_folder.setdefault(os.path.dirname(path), []).append(os.path.basename(path))
        return {f: sorted(by_folder[f]) for f in sorted(by_folder, key=lambda f: (self.rank(f), f))}

    def kernel_only_lines(self):
        """Return the list of files that docs/data-path.md must have between its two markers."""
        return [f"- `{f}/`: " + ", ".join(f"`{n}`" for n in names) for f, names in self.kernel_only().items()]

    def arrows_up_table(self):
        """Return {(from, to): reason}, from docs/data-path.md."""
        section = re.search(rf"^#+ {UP_HEADING}$(.*?)(?=^#|\Z)", self.text("docs/data-path.md"), re.M | re.S)
        table = {}
        for cells in rows(section.group(1)) if section else ():
            ends = [quoted(c) for c in cells[:2]]
            if len(cells) == 3 and all(len(e) == 1 for e in ends):
                table[(room(ends[0][0]), room(ends[1][0]))] = cells[2]
        return table


def room(path):
    """Return the room of a file: a name that NAME.c, its header NAME.h and its entry assembly NAME_entry.S share."""
    return os.path.splitext(path)[0].removesuffix("_entry")
