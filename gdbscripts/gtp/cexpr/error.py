# SPDX-License-Identifier: GPL-2.0-only
"""An error in an expression: the sentence, the place in the text, and the correction."""
import gdb

from gtp.cexpr.expanded import Expanded


class Error(gdb.GdbError):
    """The refusal of an expression. It is raised with an offset into the expression; a caller that has the expression's
    text adds the text."""

    def __init__(self, what, at=None, instead=None):
        super().__init__(what)
        self.what, self.at, self.instead, self.text = what, at, instead, None

    def within(self, text, shift=0):
        """Return the same error for an expression that begins SHIFT characters into TEXT, in terms of what was typed."""
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
