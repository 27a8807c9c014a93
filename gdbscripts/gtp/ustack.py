# SPDX-License-Identifier: GPL-2.0-only
# The words of a program's stack, as hit/ustack.h has them: its addresses, and the process that it is of.

TAG, TAG_SHIFT = 0x75, 56
PID_SHIFT = 34
DEEPEST = 125  # addresses that are kept
NONE = {1: "[a thread of the kernel, which has no program]", 2: "[a program of 32 bits]",
        3: "[a task that exits, and has no memory any more]"}
CUT_OFF = "[no frame pointer leads on]"


def parted(stack):
    """Return the addresses of a stack, and the word that says whose it is. The kernel's stacks have no such word."""
    if stack and stack[-1] >> TAG_SHIFT == TAG:
        return stack[:-1], stack[-1]
    return stack, None


def pid(whose):
    """Return the process's number, or 0 if there is no stack."""
    return whose % (1 << TAG_SHIFT) >> PID_SHIFT


def none(whose):
    """Return why there is no stack, for a pid of 0."""
    return NONE.get(whose % (1 << PID_SHIFT), "[no stack of a program]")
