"""Numbers of questions as a reviewer's browser gets them, in a batch that has hidden questions.

A hidden question is younger than all others, so its own number would tell it. All numbers of such a batch
are therefore put through a permutation that nobody can undo without the batch's own secret.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_HALF = 20  # bits of each half; 40 together: JavaScript and addresses take them, and no dataset is larger
_MASK = (1 << _HALF) - 1
_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Veil:
    """A batch's permutation of 1 to 2**40; with ``secret`` None every number is shown as it is."""

    secret: int | None

    def shown(self, number: int) -> int:
        """The number that stands for that question on the wire."""
        if self.secret is None:
            return number
        left, right = (number - 1) >> _HALF, (number - 1) & _MASK
        for at in range(_ROUNDS):
            left, right = right, left ^ self._mixed(right, at)
        return ((left << _HALF) | right) + 1

    def meant(self, shown: int) -> int:
        """The question that a number of the wire stands for; 0, which none has, where it can be none."""
        if self.secret is None:
            return shown
        if not 1 <= shown <= 1 << (2 * _HALF):
            return 0
        left, right = (shown - 1) >> _HALF, (shown - 1) & _MASK
        for at in reversed(range(_ROUNDS)):
            left, right = right ^ self._mixed(left, at), left
        return ((left << _HALF) | right) + 1

    def _mixed(self, half: int, at: int) -> int:
        key = (self.secret or 0).to_bytes(8, "big")
        digest = hashlib.blake2b(half.to_bytes(3, "big") + bytes([at]), key=key, digest_size=4).digest()
        return int.from_bytes(digest, "big") & _MASK
