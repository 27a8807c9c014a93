# SPDX-License-Identifier: GPL-2.0-only
"""Checks two borders: which files may depend on being in the kernel or in userspace, and which may depend on the
processor."""
import fnmatch
import os
import re

from csource import COMMENT, NOISE, blank
from tree import make_words, room

# base/base.h and the files that it chooses from. They may depend on the host (kernel or userspace) and on the processor.
GROUND = ("base/base.h", "base/base_kernel.h", "base/base_user.h", "base/compat.h", "base/cpu.h")
HOST = re.compile(r'^[ \t]*#[ \t]*include[ \t]+<(?:linux|asm|sys)/[^>]*>|\b__KERNEL__\b', re.M)

# In this project, `ax' is an agent expression, `sp' the interpreter's stack and `rsp' a protocol, so these names do not count.
PROCESSOR = re.compile(
    r"""
    \b(?:r[abcd]x|r[sd]i|rbp|rip|r(?:8|9|1[0-5])|[er]flags|orig_r?ax)\b   # registers
    | (?:->|\.)\s*(?:bp|[bcd]x|[sd]i|cs|ss)\b                              # as struct pt_regs has them
    | \bX86_\w+ | \bx86_\w+
    | \basm\b(?!/) | \b__asm__\b(?!\s*__volatile__\(\s*:::) | \b__builtin_ia32_\w+   # instructions
    | \b(?:rdtsc|rdmsr|wrmsr|cpuid|native_)\w*
    | \b(?:(?:boot|static|this)_cpu_has|cpu_feature_enabled)\b
    | \b(?:INT3|JMP8|JMP32|CALL|RET|NOP)_INSN_\w+
    | \b(?!u?int32)\w*(?:int3|endbr)\w*
    | \b0x(?:cc|e8|e9|eb|c3|0f0b|0f05)\b                                   # opcodes
    | [#]\s*include\s+<asm/(?!(?:local|barrier|ptrace|processor|pgtable)\.h)[^>]*>
    """,
    re.X | re.I,
)
# In Python scripts, a register is a word in a string: "$rsp", "rax rbx". Instructions count only if their names are not also
# words of English or C.
SCRIPT = re.compile(
    r"""
    (?<=["'$% ])(?:r[abcd]x|r[sd]i|r[bsi]p|r(?:8|9|1[0-5])|eflags)(?=["'\ ,)\\$]|$)
    | \b(?:jmpq?|retq|callq|leaq|cmpq|movq|movslq|movsxd|movabs|pushq|popq|pushfq?|xchg|xbegin|endbr64|notrack|repn?z)\b
    """,
    re.X | re.M,
)


def outside(folders, path):
    return not any(path.startswith(folder + "/") for folder in folders)


def hosts(tree):
    """Yield a line for each file that depends on the kernel or on userspace and is in a wrong folder, or is not listed in
    GTP_HOSTED."""
    hosted = make_words(tree.text("shared.mk"), "GTP_HOSTED")
    shared = {room(path) for path in tree.shared}
    for folder in hosted:
        if not any(path.startswith(folder + "/") for path in tree.sources):
            yield f"GTP_HOSTED names {folder}, which has no file"
    for path in tree.module_files():
        if path in GROUND:
            continue
        if outside(hosted, path) and not path.endswith(".h") and path not in tree.shared:
            yield f"{path}: not shared, and in no folder that GTP_HOSTED names"
        if outside(hosted, path) or room(path) in shared:
            text = COMMENT.sub(lambda m: m.group(1) or blank(m), tree.text(path))
            yield from (f"{path}:{line(text, m)}: {m.group().strip()}" for m in HOST.finditer(text))
            for name in tree.sources[path].includes:
                if not outside(hosted, name) and room(name) not in shared and name != "probe/backend.h":
                    yield f'{path}: #include "{name}" is the host\'s'


def line(text, match):
    return text.count("\n", 0, match.start() + len(match.group()) - len(match.group().lstrip())) + 1


def processor(tree):
    """Yield a line for each file that names a register, an opcode or an instruction but fits no pattern in GTP_X86, and for
    each pattern that no longer fits such a file."""
    patterns = make_words(tree.text("shared.mk"), "GTP_X86")
    knowing = {path: found for path in tree.files if (found := first(tree, path))}
    for path, (number, word) in sorted(knowing.items()):
        if not any(fits(path, pattern) for pattern in patterns):
            yield f"{path}:{number}: {word}: not in GTP_X86"
    for pattern in patterns:
        if not any(fits(path, pattern) for path in knowing):
            yield f"GTP_X86 has {pattern}: no file there names a register, an opcode or an instruction"


def fits(path, pattern):
    return os.path.dirname(path) == os.path.dirname(pattern) and fnmatch.fnmatchcase(path, pattern)


def first(tree, path):
    """Return (line, word) for the first word in a file that is specific to x86-64, or None."""
    if path in tree.sources and (tree.folder(path) or path.startswith("user/")):
        if path.endswith(".S"):
            return 1, "assembly"
        text = NOISE.sub(blank, tree.text(path))
        found = PROCESSOR.search(text)
    elif path.startswith("gdbscripts/") and path.endswith(".py"):
        text = re.sub(r"#[^\n]*", "", tree.text(path))
        found = SCRIPT.search(text)
    else:
        return None
    return (line(text, found), found.group().strip()) if found else None
