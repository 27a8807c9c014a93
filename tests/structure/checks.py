# SPDX-License-Identifier: GPL-2.0-only
"""The rules of the tree: each check yields a line for every violation of a rule."""
import ast
import fnmatch
import os
import re

import borders
import pysource
from tree import CODE, KERNEL_ONLY, UP_HEADING, USER_TOP, quoted, room, rows

# The limits of length, which are set only here: the lines of a file, and the lines between the braces of a function.
MAX_FILE = 600
MAX_FUNCTION = 60
# The maximum number of circles (cyclic dependencies) that are printed for one set of files. In such a set each file depends
# on all others, directly or not.
MOST_WAYS = 20
# Documents that describe every file of some folders. A file that is missing there is an error.
DESCRIBING = re.compile(r"docs/(?:jumps|events|jit\w*)\.md$")
EVERY_FILE_OF = re.compile(r"<!-- every file of: (.*?) -->\n(.*?)(?=\n\n[^|]|\Z)", re.S)

checks = []


def check(title):
    def mark(function):
        checks.append((title, function))
        return function

    return mark


@check("shared.mk: folders and shared sources exist")
def shared_exists(tree, graph):
    for folder in tree.order:
        if not any(f.startswith(folder + "/") for f in tree.files):
            yield f"GTP_FOLDERS names {folder}, which has no file"
    for path in tree.shared:
        if path not in tree.present:
            yield f"GTP_SHARED names {path}, which is not there"
        elif tree.folder(path) not in tree.order:
            yield f"{path} is in no folder that GTP_FOLDERS names"


@check("Kbuild and shared.mk: each source is listed once")
def listed_once(tree, graph):
    times = {}
    for path in tree.shared:
        times[path] = times.get(path, 0) + 1
    for obj, paths in tree.kernel_sources().items():
        if len(paths) != 1:
            yield f"Kbuild names {obj}, which has {' and '.join(paths) or 'no source'}"
    for obj in tree.objects:
        for path in tree.kernel_sources()[obj]:
            times[path] = times.get(path, 0) + 1
    included = {name for source in tree.sources.values() for name in source.includes}
    for path in tree.module_files():
        expected = 0 if path.endswith(("_user.c", ".h")) or path in included else 1
        if times.get(path, 0) != expected:
            yield f"{path} is listed {times.get(path, 0)} times in Kbuild and shared.mk, not {expected}"


@check("shared.mk: what knows its host lies where GTP_HOSTED says")
def host_border(tree, graph):
    yield from borders.hosts(tree)


@check("shared.mk: what names a register, an opcode or an instruction is in GTP_X86")
def processor_border(tree, graph):
    yield from borders.processor(tree)


@check('what #include "..." names is there')
def included_exists(tree, graph):
    ends = {tail for path in tree.sources for tail in tails(path)}
    for path in tree.sources:
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+\.[chS])"', tree.text(path), re.M):
            near = os.path.normpath(os.path.join(os.path.dirname(path), name))
            # Programs and tests include files from the folders that their makefiles name.
            known = ends if path.startswith(("tests/", "tools/")) else tree.present
            if near not in tree.present and name not in known:
                yield f'{path}: #include "{name}"'


def tails(path):
    parts = path.split("/")
    return ("/".join(parts[at:]) for at in range(len(parts)))


@check("no circle of files")
def no_circle(tree, graph):
    for circle in graph.circles():
        yield f"{len(circle)} files: " + ", ".join(graph.name(r) for r in circle)
        for number, way in enumerate(graph.ways_round(circle), 1):
            if number > MOST_WAYS:
                yield "  and more"
                break
            yield f"  {number}:"
            yield from ("    " + graph.say(e) for e in way)


@check("arrows run down, or docs/data-path.md says why not")
def runs_down(tree, graph):
    named = tree.arrows_up_table()
    for edge in graph.up():
        if edge not in named:
            yield "up: " + graph.say(edge)


@check(f'docs/data-path.md: "{UP_HEADING}" names arrows that are there, with a reason')
def no_stale_arrow(tree, graph):
    up = set(graph.up())
    for edge, why in tree.arrows_up_table().items():
        if edge not in up:
            yield f"no arrow runs up from {edge[0]} to {edge[1]}"
        elif not why:
            yield f"no reason for {edge[0]} -> {edge[1]}"


@check("docs/data-path.md lists what is kernel-only")
def kernel_only_list(tree, graph):
    begin, end = KERNEL_ONLY
    text = tree.text("docs/data-path.md")
    if begin not in text or end not in text:
        yield f'no "{begin}" and "{end}" around the list that tests/structure/run --kernel-only prints'
        return
    have = [line for line in text.split(begin)[1].split(end)[0].splitlines() if line.strip()]
    want = tree.kernel_only_lines()
    yield from (f"is not so: {line}" for line in have if line not in want)
    yield from (f"missing: {line}" for line in want if line not in have)


@check("README.md: the table of folders names the tree's")
def readme_folders(tree, graph):
    text = tree.text("README.md")
    have = [q for cells in rows(text) for q in quoted(cells[0]) if q.endswith("/")]
    want = {f.split("/")[0] + "/" for f in tree.files if "/" in f and not f.startswith(".")}
    for path in tree.sources:
        folder = os.path.dirname(path)
        if "/" in folder and not folder.startswith("tests/"):
            want.add(folder + "/")
    yield from (f"{f} is not in the table" for f in sorted(want - set(have)))
    yield from (f"the table has {f}, the tree has not" for f in sorted(set(have) - want))
    yield from (f"the table has {f} twice" for f in sorted({f for f in have if have.count(f) > 1}))


@check("documents: the files that their tables name exist")
def named_files_exist(tree, graph):
    for doc in tree.docs:
        for cells in rows(tree.text(doc)):
            for name in (q for cell in cells for q in quoted(cell)):
                if re.match(r"[\w.-]+/[\w./-]+\.(c|h|S|py|md)$", name) and name not in tree.present:
                    yield f"{doc}: {name}"


@check("documents: a table of a folder's files has all of them")
def every_file(tree, graph):
    for doc in tree.docs:
        text = tree.text(doc)
        marked = EVERY_FILE_OF.findall(text)
        if DESCRIBING.match(doc) and not marked:
            yield f'{doc}: no "<!-- every file of: folder/* -->" above its table of files'
        for patterns, table in marked:
            named = {room(q) for cells in rows(table) for q in quoted(cells[0])}
            for pattern in patterns.split():
                fits = {room(f) for f in tree.sources if fits_pattern(f, pattern)}
                if not fits:
                    yield f"{doc}: no file fits {pattern}"
                yield from (f"{doc}: {r}.* is missing" for r in sorted(fits - named))


def fits_pattern(path, pattern):
    """Return whether a path fits a pattern. As in the shell, a star does not match across folders."""
    return os.path.dirname(path) == os.path.dirname(pattern) and fnmatch.fnmatchcase(path, pattern)


@check("dkms.conf, debian/changelog and CHANGELOG.md have the version of base/version.h")
def one_version(tree, graph):
    version = "".join(re.findall(r'^#define GTP_VERSION "(.*)"$', tree.text("base/version.h"), re.M))
    released = re.findall(r"^## \[?(\d[\w.]*)", tree.text("CHANGELOG.md"), re.M)
    dkms = re.findall(r'^PACKAGE_VERSION="(.*)"$', tree.text("dkms.conf"), re.M)
    debian = re.findall(r"^gdbtp \((.*?)\)", tree.text("debian/changelog"), re.M)
    if not version:
        yield "base/version.h defines no GTP_VERSION"
    if dkms != [version]:
        yield f"dkms.conf: PACKAGE_VERSION is {' '.join(dkms) or 'not there'}, not {version}"
    if debian[:1] != [version]:
        yield f"debian/changelog: the newest entry is of {' '.join(debian[:1]) or 'nothing'}, not {version}"
    if released[:1] != [version]:
        yield f"CHANGELOG.md: the newest release is {' '.join(released[:1]) or 'not there'}, not {version}"


@check("docs/reliability.md: the sums are those of docs/reliability-runs.tsv")
def sums_of_runs(tree, graph):
    lines = [line for line in tree.text("docs/reliability-runs.tsv").splitlines() if not line.startswith("#")]
    if not lines:
        return
    names, sums = lines[0].split("\t"), {}
    for run in (dict(zip(names, line.split("\t"))) for line in lines[1:]):
        program, kernel = (run["command"].split() + [""])[:2]
        if program == "tests/jump/soak":
            of = sums.setdefault(kernel, [0, 0, 0, 0])
            of[0] += 1
            for at, figure in enumerate(("rounds", "jumps", "hits"), 1):
                of[at] += int(run[figure] or 0)
    want = {f"| {kernel} | " + " | ".join(f"{n:,}" for n in of) + " |" for kernel, of in sums.items()}
    yield from (f"missing: {row}" for row in sorted(want - set(tree.text("docs/reliability.md").splitlines())))


# Numbers of a header that scripts repeat: (header, name of the number, script, pattern that finds the number in the script).
TFILE, SPACE, USTACK = "trace/tfile_format.h", "base/space.h", "hit/ustack.h"
SPELLED = (
    (TFILE, "GTP_TFILE_LOST_TP", "gdbscripts/gtp/formats/marks.py", r"^NUMBER = (\w+)"),
    (TFILE, "GTP_TFILE_LOST_VAR", "gdbscripts/gtp/formats/marks.py", r"^LOST = (\w+)"),
    (TFILE, "GTP_TFILE_LOST_TP", "tests/lib/stream.py", r"^LOST_TP, LOST = (\w+),"),
    (TFILE, "GTP_TFILE_LOST_VAR", "tests/lib/stream.py", r"^LOST_TP, LOST = \w+, (\w+)"),
    (SPACE, "GTP_SPACE_TAG", "gdbscripts/gtp/formats/space.py", r"^TAG, TAG_SHIFT = (\w+),"),
    (SPACE, "GTP_SPACE_TAG_SHIFT", "gdbscripts/gtp/formats/space.py", r"^TAG, TAG_SHIFT = \w+, (\w+)"),
    (SPACE, "GTP_SPACE_SHIFT", "gdbscripts/gtp/formats/space.py", r"^SHIFT = (\w+)"),
    (USTACK, "GTP_USTACK_TAG", "gdbscripts/gtp/formats/ustack.py", r"^TAG, TAG_SHIFT = (\w+),"),
    (USTACK, "GTP_USTACK_TAG_SHIFT", "gdbscripts/gtp/formats/ustack.py", r"^TAG, TAG_SHIFT = \w+, (\w+)"),
    (USTACK, "GTP_USTACK_PID_SHIFT", "gdbscripts/gtp/formats/ustack.py", r"^PID_SHIFT = (\w+)"),
    (USTACK, "GTP_USTACK_DEPTH", "gdbscripts/gtp/formats/ustack.py", r"^DEEPEST = (\w+)"),
    ("hit/stacks.h", "GTP_STACKS_DEPTH", "gdbscripts/gtp/run/kstack.py", r"^DEEPEST = (\w+)"),
)


@check("scripts have the numbers of the headers that they repeat")
def one_format(tree, graph):
    for header, name, path, pattern in SPELLED:
        want = re.findall(rf"\b{name} = (\w+)", tree.text(header))
        have = re.findall(pattern, tree.text(path), re.M)
        if tree.text(header) and have != want:
            yield f"{path}: {' '.join(have) or 'nothing'} is not {name}, {' '.join(want)}"


@check("docs/man/gtp.4 has every parameter of the module and every monitor command")
def manual_has_all(tree, graph):
    page = tree.text("docs/man/gtp.4")
    sources = {f: tree.text(f) for f in tree.module_files() if f.endswith(".c")}
    for path, text in sources.items():
        for name in re.findall(r"^module_param(?:_named|_cb)?\((\w+)", text, re.M):
            if not re.search(rf"^\.It Va {name}\b", page, re.M):
                yield f"{path}: no parameter {name} in the page"
        if path.endswith("/monitor.c"):
            for name in re.findall(r'^\t\{ "([\w-]+)", \w*print_|^\t\{ "([\w-]+)", monitor_', text, re.M):
                if not re.search(rf"^\.It Ic monitor {''.join(name)}\b", page, re.M):
                    yield f"{path}: no monitor {''.join(name)} in the page"


@check("gdbscripts: strings for GDB, and errors of its commands, pass one place")
def one_door(tree, graph):
    yield from pysource.strings(tree)


@check("scripts: the folders that run without GDB import neither gdb nor other folders")
def without_gdb(tree, graph):
    yield from pysource.rooms(tree)


@check("scripts: no module is named by a participle")
def module_names(tree, graph):
    yield from pysource.names(tree)


def judged(tree):
    """Yield the paths of all files that people read as code. Data for tests is left out."""
    for path in tree.files:
        if path.endswith((*CODE, ".py", ".cc")):
            yield path
        elif os.access(os.path.join(tree.root, path), os.X_OK) and tree.text(path).startswith("#!"):
            yield path


@check(f"no file above {MAX_FILE} lines")
def file_budget(tree, graph, paths=None):
    for path in judged(tree) if paths is None else paths:
        n = tree.text(path).count("\n")
        if n > MAX_FILE:
            yield f"{path}: {n} lines"


@check(f"no function above {MAX_FUNCTION} lines")
def function_budget(tree, graph, paths=None):
    for path in judged(tree) if paths is None else paths:
        try:
            lengths = function_lengths(tree, path)
        except SyntaxError as error:
            yield f"{path}:{error.lineno}: {error.msg}"
            continue
        yield from (f"{path}:{line}: a body of {n} lines" for line, n in lengths if n > MAX_FUNCTION)


def function_lengths(tree, path):
    if path in tree.sources:
        return tree.sources[path].bodies
    text = tree.text(path)
    if not path.endswith(".py") and "python" not in text[:40]:
        return []
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [(n.lineno, n.end_lineno - n.body[0].lineno + 1) for n in nodes]


def figures(tree, graph):
    """Yield lines with figures about the graph of files."""
    lines = {f: s.lines for f, s in tree.sources.items() if f in graph.files}
    bodies = [(n, f, at) for f in graph.files for at, n in tree.sources[f].bodies]
    folders = {}
    for f, n in lines.items():
        folder = tree.folder(f) or "."
        if folder == USER_TOP:
            folder = os.path.dirname(f)
        folders[folder] = folders.get(folder, 0) + n
    largest = max(lines, key=lines.get)
    folder = max(folders, key=folders.get)
    longest = max(bodies)
    circles = graph.circles()
    yield f"folders        {len(folders)}: " + ", ".join(f"{f} {n}" for f, n in folders.items())
    yield f"rooms          {len(graph.rooms)} of {len(graph.files)} files, {sum(lines.values())} lines"
    yield f"edges          {len(graph.edges)}"
    yield f"circles        {len(circles)}, of {', '.join(str(len(c)) for c in circles) or 'no'} files"
    yield f"arrows up      {len(graph.up())}"
    yield f"largest file   {lines[largest]} lines, {largest}"
    yield f"largest folder {folders[folder]} lines, {folder}"
    yield f"longest body   {longest[0]} lines, {longest[1]}:{longest[2]}"
