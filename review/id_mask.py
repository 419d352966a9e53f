"""Masks the question numbers that are sent to a reviewer's browser, in a batch with hidden questions.

A hidden question is newer than all others and would be recognised by its number. All numbers of such a batch
are therefore permuted; the permutation can't be undone without the batch's secret.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_HALF_BITS = 20  # bits of each half; numbers of 40 bits are exact in JavaScript and suffice for any dataset
_MASK = (1 << _HALF_BITS) - 1
_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class IdMask:
    """A batch's permutation of 1 to 2**40; with ``secret`` None numbers stay as they are."""

    secret: int | None

    def mask(self, number: int) -> int:
        """The masked number of a question."""
        if self.secret is None:
            return number
        left, right = (number - 1) >> _HALF_BITS, (number - 1) & _MASK
        for round_number in range(_ROUNDS):
            left, right = right, left ^ self._mix(right, round_number)
        return ((left << _HALF_BITS) | right) + 1

    def unmask(self, masked: int) -> int:
        """The question number of a masked number; 0, which no question has, for an invalid one."""
        if self.secret is None:
            return masked
        if not 1 <= masked <= 1 << (2 * _HALF_BITS):
            return 0
        left, right = (masked - 1) >> _HALF_BITS, (masked - 1) & _MASK
        for round_number in reversed(range(_ROUNDS)):
            left, right = right ^ self._mix(left, round_number), left
        return ((left << _HALF_BITS) | right) + 1

    def _mix(self, half: int, round_number: int) -> int:
        key = (self.secret or 0).to_bytes(8, "big")
        digest = hashlib.blake2b(
            half.to_bytes(3, "big") + bytes([round_number]), key=key, digest_size=4
        ).digest()
        return int.from_bytes(digest, "big") & _MASK
