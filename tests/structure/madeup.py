# SPDX-License-Identifier: GPL-2.0-only
"""Tests the checks with a made-up tree that passes all of them. Each case changes the tree once, and states the line that a
check must then yield."""
import os
import tempfile

import checks
from graph import Graph
from tree import Tree

MAP = """# The path
<!-- kernel-only: begin -->
- `top/`: `root.c`
- `low/`: `entry.S`
<!-- kernel-only: end -->

## Arrows that run up

| From | To | Why |
|---|---|---|
| `low/entry.S` | `top/user.c` | the one call that assembly makes |

## Behind it
"""

GOOD = {
    "shared.mk": (
        "GTP_SHARED := \\\n\ttop/user.c \\\n\tlow/part/deep.c \\\n\tlow/ground.c\n\n"
        "GTP_FOLDERS := top low/part low base\nGTP_HOSTED := top low\nGTP_X86 := low/*.S\n"
    ),
    "Kbuild": "gdbtp-y := $(GTP_SHARED:.c=.o)\ngdbtp-y += top/root.o low/entry.o\n",
    "README.md": "| folder | job |\n|---|---|\n| `top/` | a |\n| `low/`, `low/part/` | b |\n| `docs/`, `base/`, `debian/`, `gdbscripts/` | c |\n",
    "docs/data-path.md": MAP,
    "base/version.h": '#define GTP_VERSION "0.3"\n',
    "dkms.conf": 'PACKAGE_VERSION="0.3"\n',
    "debian/changelog": "gdbtp (0.3) unstable; urgency=medium\n\ngdbtp (0.2) unstable; urgency=medium\n",
    "CHANGELOG.md": "## [Unreleased]\n\n## [0.3] - some day\n\n## [0.2]\n",
    "docs/jumps.md": "<!-- every file of: low/part/* -->\n| file | job |\n|---|---|\n| `low/part/deep.c` | deep |\n",
    "gdbscripts/gtp/gdblib/gdbcall.py": "import gdb\n\ngdb.execute('help')\n",
    "top/root.c": '#include "top/user.h"\nint root(void)\n{\n\treturn use() + ground;\n}\n',
    "top/user.h": "int use(void);\n",
    "top/user.c": '#include "user.h"\n#include "low/part/deep.h"\nHANDLER(use)\n{\n\treturn deep(0); /* root() */\n}\n',
    "low/part/deep.h": "#define HANDLER(name) int name(void)\nint deep(int);\n",
    "low/part/deep.c": 'extern int ground;\nint deep(int n)\n{\n\tputs("root");\n\treturn n + ground;\n}\n',
    "low/ground.c": (
        "int ground = 1;\n"
        "static int use(void)\n{\n\treturn 2;\n}\n"
        "static int two(struct root *r)\n{\n\treturn use() + r->root;\n}\n"
    ),
    "low/entry.S": "SYM_FUNC_START(entry)\n\tcall use\nSYM_FUNC_END(entry)\n",
}

LONG_BODY = "int ground = 1;\nint two(void)\n{\n" + "\tx();\n" * (checks.MAX_FUNCTION + 1) + "}\n"

# ({path: its new text, or (old part, new part)}, check, words): after this change to the good tree, the check must yield a
# line with these words. No other check may yield a line.
CASES = (
    ("the tree in order", {}, None, ""),
    (
        "a circle of two files in one folder, by names alone",
        {
            "shared.mk": ("low/ground.c", "low/ground.c low/a.c low/b.c"),
            "low/a.c": "int a(void)\n{\n\treturn b();\n}\n",
            "low/b.c": "int (*calls)(void) = a;\nint b(void)\n{\n\treturn 0;\n}\n",
        },
        checks.no_circle,
        "low/b.c -> low/a.c (a)",
    ),
    (
        "a circle by an include and a name, over folders",
        {"top/user.c": ("deep(0)", "root()")},
        checks.no_circle,
        "top/root.c -> top/user.c (#include, use)",
    ),
    (
        "an arrow that runs up by a name",
        {
            "shared.mk": ("low/ground.c", "low/ground.c low/lone.c"),
            "low/lone.c": "int lone(void)\n{\n\treturn root();\n}\n",
        },
        checks.runs_down,
        "low/lone.c -> top/root.c (root)",
    ),
    (
        "an arrow that runs up by an include",
        {"low/lone.h": '#include "top/user.h"\n'},
        checks.runs_down,
        "low/lone.h -> top/user.c (#include)",
    ),
    (
        "an arrow that runs up from a folder to one inside of it",
        {
            "low/ground.c": '#include "part/other.h"\nint ground = 1;\n',
            "low/part/other.h": "",
            "docs/jumps.md": ("deep.c", "deep.c`, `low/part/other.h"),
        },
        checks.runs_down,
        "low/ground.c -> low/part/other.h (#include)",
    ),
    (
        "a row without its arrow",
        {"low/entry.S": ("use", "there")},
        checks.no_stale_arrow,
        "from low/entry to top/user",
    ),
    (
        "a row without a reason",
        {"docs/data-path.md": ("the one call that assembly makes", "")},
        checks.no_stale_arrow,
        "no reason for low/entry -> top/user",
    ),
    (
        "a shared source that is not there",
        {"shared.mk": ("low/ground.c", "low/ground.c low/gone.c")},
        checks.shared_exists,
        "low/gone.c, which is not there",
    ),
    (
        "a folder that is not there",
        {"shared.mk": ("low/part low", "low/part gone low")},
        checks.shared_exists,
        "GTP_FOLDERS names gone",
    ),
    ("a source that no list has", {"low/new.c": ""}, checks.listed_once, "low/new.c is listed 0 times"),
    (
        "a source listed twice",
        {"Kbuild": ("top/root.o", "top/root.o low/ground.o")},
        checks.listed_once,
        "low/ground.c is listed 2 times",
    ),
    (
        "an object without a source",
        {"Kbuild": ("top/root.o", "top/root.o top/gone.o")},
        checks.listed_once,
        "top/gone.o, which has no source",
    ),
    (
        "a kernel-only source where both hosts' are",
        {
            "Kbuild": ("top/root.o", "top/root.o base/lone.o"),
            "base/lone.c": "",
            "docs/data-path.md": ("`entry.S`\n", "`entry.S`\n- `base/`: `lone.c`\n"),
        },
        checks.host_border,
        "base/lone.c: not shared, and in no folder that GTP_HOSTED names",
    ),
    (
        "a shared folder's header that knows the kernel",
        {"base/lone.h": "/* <linux/fs.h> */\n#include <linux/fs.h>\n"},
        checks.host_border,
        "base/lone.h:2: #include <linux/fs.h>",
    ),
    (
        "a shared source in the kernel's folder that knows where it runs",
        {"low/ground.c": ("int ground = 1;\n", "int ground = 1;\n#ifdef __KERNEL__\n#endif\n")},
        checks.host_border,
        "low/ground.c:2: __KERNEL__",
    ),
    (
        "a shared source that includes what is the kernel's",
        {"low/ground.c": ("int ground = 1;\n", '#include "low/lone.h"\nint ground = 1;\n'), "low/lone.h": ""},
        checks.host_border,
        'low/ground.c: #include "low/lone.h" is the host\'s',
    ),
    (
        "a folder of the host's that is not there",
        {"shared.mk": ("GTP_HOSTED := top", "GTP_HOSTED := gone top")},
        checks.host_border,
        "GTP_HOSTED names gone",
    ),
    (
        "a register outside of the border",
        {"low/ground.c": ("r->root", "r->root + regs.rdi /* rsi */")},
        checks.processor_border,
        "low/ground.c:8: rdi: not in GTP_X86",
    ),
    (
        "an opcode outside of the border",
        {"low/ground.c": ("return 2", "return 0xe9")},
        checks.processor_border,
        "low/ground.c:4: 0xe9: not in GTP_X86",
    ),
    (
        "an instruction outside of the border",
        {"low/ground.c": ("return 2", 'asm("pause");\n\treturn 2')},
        checks.processor_border,
        "low/ground.c:4: asm: not in GTP_X86",
    ),
    (
        "a length of an instruction outside of the border",
        {"low/ground.c": ("return 2", "return JMP32_INSN_SIZE")},
        checks.processor_border,
        "low/ground.c:4: JMP32_INSN_SIZE: not in GTP_X86",
    ),
    (
        "a register in a script outside of the border",
        {"gdbscripts/gtp/gdblib/gdbcall.py": ("'help'", "'print $rdi'")},
        checks.processor_border,
        "gdbscripts/gtp/gdblib/gdbcall.py:3: rdi: not in GTP_X86",
    ),
    (
        "an instruction in a script outside of the border",
        {"gdbscripts/gtp/gdblib/gdbcall.py": ("'help'", "'call|jmp +[*]'")},
        checks.processor_border,
        "gdbscripts/gtp/gdblib/gdbcall.py:3: jmp: not in GTP_X86",
    ),
    (
        "a place inside of the border that has nothing of the processor",
        {"shared.mk": ("GTP_X86 := low/*.S", "GTP_X86 := low/*.S top/*")},
        checks.processor_border,
        "GTP_X86 has top/*",
    ),
    (
        "an include of a file that has moved",
        {"low/lone.h": '#include "low/gone.h"\n'},
        checks.included_exists,
        'low/lone.h: #include "low/gone.h"',
    ),
    (
        "a kernel-only file that is not in the map",
        {"docs/data-path.md": ("- `top/`: `root.c`\n", "")},
        checks.kernel_only_list,
        "missing: - `top/`: `root.c`",
    ),
    (
        "a map without its markers",
        {"docs/data-path.md": ("kernel-only", "kernel")},
        checks.kernel_only_list,
        'no "<!-- kernel-only: begin -->"',
    ),
    (
        "a folder that is not in README",
        {"README.md": ("`low/part/`", "low/part")},
        checks.readme_folders,
        "low/part/ is not in the table",
    ),
    (
        "a folder that is only in README",
        {"README.md": ("`docs/`", "`docs/`, `gone/`")},
        checks.readme_folders,
        "the table has gone/",
    ),
    (
        "a table that names a file that is gone",
        {"docs/data-path.md": ("| the one", "| `low/gone.c` the one")},
        checks.named_files_exist,
        "low/gone.c",
    ),
    (
        "a version that DKMS does not have",
        {"dkms.conf": ("0.3", "0.2")},
        checks.one_version,
        "dkms.conf: PACKAGE_VERSION is 0.2",
    ),
    (
        "a version that Debian does not have",
        {"debian/changelog": ("0.3", "0.2")},
        checks.one_version,
        "the newest entry is of 0.2",
    ),
    (
        "a parameter that the manual page does not have",
        {"low/ground.c": ("int ground = 1;\n", "int ground = 1;\nmodule_param_named(depth, ground, int, 0);\n")},
        checks.manual_has_all,
        "no parameter depth in the page",
    ),
    (
        "a string for GDB that does not pass the one place",
        {"gdbscripts/gtp/commands/table.py": "import gdb\n\n\ndef own(text):\n    return gdb.parse_and_eval(text)\n"},
        checks.one_door,
        "gdbscripts/gtp/commands/table.py:5: gdb.parse_and_eval",
    ),
    (
        "a command of GDB's whose errors are no sentences",
        {"gdbscripts/gtp/commands/table.py": "import gdb\n\n\nclass Own(gdb.Command):\n    def invoke(self, arg, tty):\n        pass\n"},
        checks.one_door,
        "gdbscripts/gtp/commands/table.py:4: class Own",
    ),
    (
        "text for the terminal that does not pass the one place",
        {"gdbscripts/gtp/commands/table.py": "import gdb\n\ngdb.write('x')\n"},
        checks.one_door,
        "gdbscripts/gtp/commands/table.py:3: gdb.write",
    ),
    (
        "text that a shell reads",
        {"gdbscripts/gtp/commands/table.py": "import subprocess\n\nsubprocess.run('x', shell=True)\n"},
        checks.one_door,
        "gdbscripts/gtp/commands/table.py:3: shell=",
    ),
    (
        "a file that imports gdb in a folder that runs without GDB",
        {"gdbscripts/gtp/formats/head.py": "import gdb\n"},
        checks.without_gdb,
        "gdbscripts/gtp/formats/head.py:1: imports gdb",
    ),
    (
        "a file that imports another folder in a folder that runs without GDB",
        {"gdbscripts/gtp/shell/run.py": "from gtp.text import harmless\nfrom gtp.gdblib import gdbcall\n"},
        checks.without_gdb,
        "gdbscripts/gtp/shell/run.py:2: imports gtp.gdblib",
    ),
    (
        "a module that is named by a participle",
        {"gdbscripts/gtp/run/asked.py": "import os\n"},
        checks.module_names,
        "gdbscripts/gtp/run/asked.py: asked is a participle",
    ),
    (
        "a version without its changes",
        {"CHANGELOG.md": ("## [0.3]", "#")},
        checks.one_version,
        "the newest release is 0.2",
    ),
    ("a table that forgets a file", {"low/part/new.h": ""}, checks.every_file, "low/part/new.* is missing"),
    (
        "a run that the sums leave out",
        {"docs/reliability-runs.tsv": "command\trounds\tjumps\thits\ntests/jump/soak 6.1 --seed 7\t1\t1000\t3\n"},
        checks.sums_of_runs,
        "missing: | 6.1 | 1 | 1 | 1,000 | 3 |",
    ),
    (
        "a script with another number than the trace file's",
        {
            "trace/tfile_format.h": "GTP_TFILE_LOST_TP = 0xffff, GTP_TFILE_LOST_VAR = 0x200,\n",
            "README.md": ("`base/`", "`base/`, `trace/`, `tests/`"),
            "gdbscripts/gtp/formats/marks.py": "NUMBER = 0xffff\nLOST = 0x201\n",
            "tests/lib/stream.py": "LOST_TP, LOST = 0xffff, 0x200\n",
        },
        checks.one_format,
        "gdbscripts/gtp/formats/marks.py: 0x201 is not GTP_TFILE_LOST_VAR, 0x200",
    ),
    (
        "a document without its marker",
        {"docs/jumps.md": ("every file of", "some of")},
        checks.every_file,
        "docs/jumps.md: no",
    ),
    (
        "a file that is too long, by what comes last in it",
        {"low/entry.S": ("SYM_FUNC_END", "\n" * checks.MAX_FILE + "SYM_FUNC_END")},
        checks.file_budget,
        f"low/entry.S: {checks.MAX_FILE + 3} lines",
    ),
    (
        "a function that is too long",
        {"low/ground.c": LONG_BODY},
        checks.function_budget,
        f"low/ground.c:3: a body of {checks.MAX_FUNCTION + 1}",
    ),
    (
        "a script's function that is too long",
        {"low/long.py": "def f():\n" + "    pass\n" * (checks.MAX_FUNCTION + 1)},
        checks.function_budget,
        "low/long.py:1",
    ),
)


def write(root, changes):
    files = dict(GOOD)
    for path, text in changes.items():
        if isinstance(text, tuple):
            old, new = text
            assert old in files[path], f"{path} has no {old!r} to change"
            text = files[path].replace(old, new)
        files[path] = text
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as f:
            f.write(text)


def wrong_with(changes, wanted, words):
    """Yield a line for each failure of a case."""
    with tempfile.TemporaryDirectory() as root:
        write(root, changes)
        tree = Tree(root)
        graph = Graph(tree)
        said = {function: list(function(tree, graph)) for _, function in checks.checks}
    for function, lines in said.items():
        if function is wanted:
            if not any(words in line for line in lines):
                yield f"{function.__name__} does not say {words!r}; it says: {lines}"
        else:
            yield from (f"{function.__name__} says: {line}" for line in lines)


def results():
    for title, changes, wanted, words in CASES:
        yield f"made up: {title}", wrong_with(changes, wanted, words)
