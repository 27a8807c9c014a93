# SPDX-License-Identifier: GPL-2.0-only
# Takes apart the words of a program's stack, which hit/ustack.h describes: the addresses, then a word with the process.

TAG, TAG_SHIFT = 0x75, 56
PID_SHIFT = 34
DEEPEST = 125  # the maximum number of addresses that the module keeps of a program's stack
NONE = {1: "[a thread of the kernel, which has no program]", 2: "[a program of 32 bits]",
        3: "[a task that exits, and has no memory any more]", 4: "[in the program]",
        5: "[a program that was just entering the kernel]"}
IN_PROGRAM = NONE[4]  # in place of the kernel's stack, if a sample has interrupted a program
CUT_OFF = "[no frame pointer leads on]"


def parted(stack):
    """Return the addresses of a stack, and the word that names its process. The word is None for a stack of the
    kernel."""
    if stack and stack[-1] >> TAG_SHIFT == TAG:
        return stack[:-1], stack[-1]
    return stack, None


def pid(whose):
    """Return the process's number, or 0 if there is no stack."""
    return whose % (1 << TAG_SHIFT) >> PID_SHIFT


def none(whose):
    """Return the reason why a program's stack is missing. WHOSE is a stack's word for which pid() returns 0."""
    return NONE.get(whose % (1 << PID_SHIFT), "[no stack of a program]")
