"""Masks the question ids that are sent to a reviewer's browser, in batches with hidden questions.

A hidden question is newer than all others and would be recognised by its id. All ids of such a batch are
therefore permuted. The permutation cannot be reversed without the secret of the batch.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_HALF_BITS = 20  # bits of each half; ids of 40 bits are exact in JavaScript and suffice for any dataset
_MASK = (1 << _HALF_BITS) - 1
_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class IdMask:
    """The permutation of the ids 1 to 2**40 for a batch. If ``secret`` is None, ids are not changed."""

    secret: int | None

    def mask(self, number: int) -> int:
        """Return the masked id of a question."""
        if self.secret is None:
            return number
        left, right = (number - 1) >> _HALF_BITS, (number - 1) & _MASK
        for round_number in range(_ROUNDS):
            left, right = right, left ^ self._mix(right, round_number)
        return ((left << _HALF_BITS) | right) + 1

    def unmask(self, masked: int) -> int:
        """Return the question id of a masked id, or 0 if the masked id is not valid."""
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
