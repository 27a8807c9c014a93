# SPDX-License-Identifier: GPL-2.0-only
"""An expression in which gdbtp has replaced names with C text. It maps each of its positions to the text that the user
typed."""
import bisect


class Expanded(str):
    """The expanded text, a str. typed: the text as the user has typed it."""

    def __new__(cls, pieces, typed):
        """PIECES are (position in TYPED, the piece as typed, its replacement), in the order of positions."""
        pieces = list(pieces)
        self = super().__new__(cls, "".join(new for _, _, new in pieces))
        self.typed, self.pieces, self.starts, end = typed, pieces, [], 0
        for _, _, new in pieces:
            self.starts.append(end)
            end += len(new)
        return self

    def position(self, at):
        """Return the position in the typed text that belongs to a position in the expanded text."""
        if at >= len(self):
            return len(self.typed)
        i = bisect.bisect_right(self.starts, at) - 1
        start, old, new = self.pieces[i]
        return start + (at - self.starts[i] if old == new else 0)

    def part(self, at, text):
        """Return TEXT, a part of this expanded text at position AT, as an Expanded of its own. TEXT must not begin or
        end in the middle of a replacement."""
        first, end = self.position(at), self.position(at + len(text))
        found = []
        for start, (typed_at, old, new) in zip(self.starts, self.pieces):
            left, right = max(at - start, 0), min(at + len(text) - start, len(new))
            if left < right:
                same = old == new
                found.append((typed_at + (left if same else 0) - first, old[left:right] if same else old, new[left:right]))
        return Expanded(found, self.typed[first:end].rstrip())


def part(text, at, piece):
    """Return PIECE, the part of TEXT that begins at position AT. If TEXT is an Expanded, the result is an Expanded
    too."""
    return text.part(at, piece) if isinstance(text, Expanded) else piece


def typed(text):
    """Return an expression as it was typed."""
    return getattr(text, "typed", text)
