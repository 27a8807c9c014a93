# SPDX-License-Identifier: GPL-2.0-only
"""An expression in which names were replaced by C, and where each part of it stands in the text that was typed."""
import bisect


class Expanded(str):
    """The expanded text. typed: what it was made of."""

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
        """Return the position in the typed text of a position in this one."""
        if at >= len(self):
            return len(self.typed)
        i = bisect.bisect_right(self.starts, at) - 1
        start, old, new = self.pieces[i]
        return start + (at - self.starts[i] if old == new else 0)

    def part(self, at, text):
        """Return TEXT, which is at AT in this one, as an Expanded of its own. Its ends are ends of pieces, or in pieces that
        were not replaced."""
        first, end = self.position(at), self.position(at + len(text))
        found = []
        for start, (typed_at, old, new) in zip(self.starts, self.pieces):
            left, right = max(at - start, 0), min(at + len(text) - start, len(new))
            if left < right:
                same = old == new
                found.append((typed_at + (left if same else 0) - first, old[left:right] if same else old, new[left:right]))
        return Expanded(found, self.typed[first:end].rstrip())


def part(text, at, piece):
    """Return a PIECE of a text, at AT, which knows what was typed if the text does."""
    return text.part(at, piece) if isinstance(text, Expanded) else piece


def typed(text):
    """Return an expression as it was typed."""
    return getattr(text, "typed", text)
