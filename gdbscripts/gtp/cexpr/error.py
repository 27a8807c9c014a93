# SPDX-License-Identifier: GPL-2.0-only
"""An error in an expression: a sentence about it, its position in the text, and advice on what to write instead."""
import gdb

from gtp.cexpr.expansion import Expanded


class Error(gdb.GdbError):
    """The refusal of an expression. It is raised with an offset into the expression; a caller that has the expression's
    text adds the text."""

    def __init__(self, what, at=None, instead=None):
        super().__init__(what)
        self.what, self.at, self.instead, self.text = what, at, instead, None

    def within(self, text, shift=0):
        """Add TEXT, and the error's position in it, to this error, and return the error. The expression begins SHIFT
        characters into TEXT. If TEXT is an Expanded, use the text and the position that the user typed. Do nothing if
        the error already has a text."""
        if self.text is None:
            self.text = text
            self.at = None if self.at is None else self.at + shift
            if isinstance(text, Expanded):
                self.text, self.at = text.typed, None if self.at is None else text.position(self.at)
        return self

    def __str__(self):
        lines = [self.what]
        if self.text is not None:
            lines.append("  " + self.text)
            if self.at is not None:
                lines.append("  " + " " * min(self.at, len(self.text)) + "^")
        if self.instead:
            lines.append(self.instead)
        return "\n".join(lines)
