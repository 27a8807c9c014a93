# SPDX-License-Identifier: GPL-2.0-only
# Run a GDB script as if somebody typed it. Show each command before its output, and the script's
# comments as plain text.
import re

import gdb


def commands(lines):
    """Yield the script's commands, each as a list of its lines, up to the matching `end`."""
    block, depth = [], 0
    for line in lines:
        line = line.rstrip("\n")
        word = line.split()[0] if line.split() else ""
        if not block and (not word or word.startswith("#")):
            yield [line]
            continue
        block.append(line)
        depth += word in ("actions", "while", "if", "while-stepping")
        depth -= word == "end"
        if depth == 0:
            yield block
            block = []


def typed(block):
    prompts = ["(gdb) "] + ["> "] * (len(block) - 1)
    for prompt, line in zip(prompts, block):
        gdb.write(prompt + line + "\n")


def run(block):
    # "actions" reads its lines from GDB's terminal, so a script cannot pass lines to it. A script
    # can pass them to "commands", which sets a tracepoint's actions, too.
    text = "\n".join(block).replace("actions", "commands", 1 if block[0].startswith("actions") else 0)
    try:
        output = gdb.execute(text, to_string=True)
    except gdb.error as error:
        gdb.write("%s\n" % error)
        gdb.execute("quit 1")
    if block[0].startswith("while"):
        # In a loop, show only what the loop itself prints, not GDB's message about each tfind.
        output = re.sub(r"^(Found trace frame|No trace frame found).*\n", "", output, flags=re.M)
    gdb.write(output)


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set width 0")
with open(globals()["session"]) as script:  # an option -ex of GDB has set `session'
    for block in commands(list(script)[2:]):
        if block[0].startswith("#") or not block[0].strip():
            gdb.write(block[0].lstrip("# ") + "\n")
        else:
            typed(block)
            run(block)
        gdb.flush()
