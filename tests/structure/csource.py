# SPDX-License-Identifier: GPL-2.0-only
"""Parses one C or assembly file: which files it includes, which names it defines for others, which names it uses."""
import re

# Comments and literals, to be replaced by blanks. Line breaks in them are kept, so that line numbers do not change.
NOISE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*")', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.M)
DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.M)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^)]*)\))?(.*)", re.S)
# A name, but not a member of something and not the tag of a type.
NAME = re.compile(r"(?<![\w.>])(?:(struct|union|enum)\s+)?([A-Za-z_]\w*)|->\s*\w+|\.\s*\w+")
MACRO_OBJECT = re.compile(r"^(?:DEFINE_\w+|DECLARE_WORK|LIST_HEAD|HLIST_HEAD)$")
TYPED_FIRST = re.compile(r"^DEFINE_(?:PER_CPU\w*|STATIC_CALL)$")


def blank(match):
    return " " + "\n" * match.group(0).count("\n")


def groups(head):
    """Return the "name(...)" groups that are not inside another parenthesis, as (name, start, arguments)."""
    found, depth = [], 0
    for m in re.finditer(r"[()]", head):
        if m.group() == "(":
            if depth == 0:
                name = re.search(r"(\w+)\s*$", head[: m.start()])
                opened = (name, m.end())
            depth += 1
        else:
            depth -= 1
            if depth == 0 and opened[0]:
                found.append((opened[0].group(1), opened[0].start(), head[opened[1] : m.start()]))
    return [g for g in found if not g[0].startswith("__")]


def top_level(text):
    """Yield (head, body) of functions and (text, None) of declarations."""
    depth = parens = start = 0
    body = None
    for m in re.finditer(r"\n\}|[{}();]", text):
        c = m.group()
        if c == "\n}":  # in the kernel's style, a } in the first column closes all open braces and parentheses
            depth, parens, c = 1, 0, "}"
        if c in "()":
            parens = max(0, parens + (1 if c == "(" else -1))
        elif c == "{":
            if depth == 0 and parens == 0:
                body = m.end()
            depth += 1
        elif c == "}":
            depth = max(0, depth - 1)
            if depth == 0 and parens == 0 and body is not None:
                head = text[start : body - 1]
                if is_function(head):
                    yield head, text[body : m.start()]
                    start, body = m.end(), None
        elif depth == 0 and parens == 0:
            yield text[start : m.start()], None
            start, body = m.end(), None


def split_value(text):
    """Split a declaration from the object's initializer, at the first = outside of braces."""
    depth = 0
    for m in re.finditer(r"[{}=]", text):
        if m.group() == "=" and depth == 0:
            return text[: m.start()], True, text[m.end() :]
        depth += {"{": 1, "}": -1}.get(m.group(), 0)
    return text, False, ""


def is_function(head):
    outside = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", head))
    return "=" not in outside and bool(re.search(r"\)\s*(?:__\w+\s*(?:\([^)]*\)\s*)?)*$", head))


class Source:
    """A file's text, parsed.

    includes: the words after #include, as written
    defines:  names that other files can use: functions and objects that are not static; in a header
              also static inline functions
    private:  names that only this file can use
    uses:     names in code; declarations of functions are not code, bodies of macros are
    bodies:   (line, lines between the braces) of every function
    """

    def __init__(self, path, text):
        self.path = path
        self.defines, self.private, self.uses = set(), set(), set()
        self.macros, self.by_macro = {}, []
        self.lines = text.count("\n")
        self.includes = INCLUDE.findall(COMMENT.sub(lambda m: m.group(1) or blank(m), text))
        code = NOISE.sub(blank, text)
        if path.endswith(".S"):
            self.bodies = []
            self.read_assembly(code)
        else:
            self.bodies = list(self.find_bodies(code))
            self.read_c(code)

    def find_bodies(self, code):
        """Find the bodies of functions: only they begin with a brace in the first column."""
        start = None
        for n, line in enumerate(code.split("\n"), 1):
            if line.startswith("{"):
                start = n
            elif line.startswith("}") and start:
                yield start, n - start - 1
                start = None

    def read_c(self, code):
        for m in DIRECTIVE.finditer(code):
            macro = DEFINE.match(m.group().replace("\\\n", "  "))
            if macro:
                self.macros[macro.group(1)] = ([a.strip() for a in (macro.group(2) or "").split(",")], macro.group(3))
        code = DIRECTIVE.sub(blank, code)
        for name, (_, body) in self.macros.items():
            self.use(body)
        for head, body in top_level(code):
            if body is None:
                self.declaration(head)
            else:
                self.function(head)
                self.use(body)

    def define(self, name, static):
        if static and not self.path.endswith(".h"):
            self.private.add(name)
        else:
            self.defines.add(name)

    def function(self, head):
        found = groups(head)
        if not found:
            return
        name, start, args = found[-1]
        before = head[:start].split(")")[-1]
        if not before.strip():
            self.by_macro.append((name, [a.strip() for a in args.split(",")]))
            return
        self.define(name, "static" in before.split())

    def expand(self, macros):
        """If a function's head is a macro, NAME(args), replace it by the name that the macro makes."""
        for name, args in self.by_macro:
            params, body = macros.get(name, (["x"], "int x("))
            for p, a in zip(params, args):
                if p:
                    body = re.sub(rf"\b{re.escape(p)}\b", a, body)
            head = re.sub(r"\s*##\s*", "", body)
            found = re.search(r"(\w+)\s*\(", head)
            if found:
                self.define(found.group(1), "static" in head.split())

    def declaration(self, text):
        head, equals, value = split_value(text)
        if equals:
            self.use(value)
        words = head.split()
        if not words or words[0] in ("typedef", "extern"):
            return
        static = "static" in words
        plain = re.sub(r"\{.*\}", " {} ", head, flags=re.S)
        found = groups(plain)
        if found and MACRO_OBJECT.match(found[-1][0]):
            args = found[-1][2].split(",")
            self.define(args[TYPED_FIRST.match(found[-1][0]) is not None].strip(), static)
            self.use(found[-1][2])
            return
        pointer = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)[^()]*\)\s*\(", plain)
        if pointer and (equals or static):
            self.define(pointer.group(1), static)
        elif found and not equals:
            # In a source, a line such as module_init(gtp_init) uses the names in it. In a header, NAME(...) is a declaration.
            if not plain[: found[-1][1]].strip() and not self.path.endswith(".h"):
                self.use(head)
        elif equals or not re.search(r"(?:struct|union|enum)\s*\w*\s*(?:\{\}\s*(?:__\w+)?\s*)?$", plain):
            name = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:__\w+\s*(?:\([^)]*\)\s*)?)*$", plain)
            if name:
                self.define(name.group(1), static)
            if "{" in head:
                self.use(head[head.index("{") :])

    def read_assembly(self, code):
        code = re.sub(r"^[ \t]*#[^\n]*", "", code, flags=re.M)
        for m in re.finditer(r"\.macro\s+(\w+)\s+(\w+)(.*?)\.endm", code, re.S):
            if re.search(rf"SYM_\w*START\w*\(\\{m.group(2)}\b", m.group(3)):
                for call in re.finditer(rf"^\s*{m.group(1)}\s+(\w+)", code, re.M):
                    self.defines.add(call.group(1))
        for m in re.finditer(r"SYM_\w*?START(\w*)\((\w+)", code):
            (self.private if "LOCAL" in m.group(1) else self.defines).add(m.group(2))
        self.defines.update(re.findall(r"^\s*\.globl\s+(\w+)", code, re.M))
        self.use(code)

    def use(self, text):
        for m in NAME.finditer(text):
            if m.group(2) and not m.group(1):
                self.uses.add(m.group(2))
