"""The hash by which questions are drawn: of the question's id alone, so it is the same everywhere."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence


def draw_hash(key: str) -> int:
    """Signed 64-bit hash of a question's id: BLAKE2b, 8 bytes, big-endian, of its UTF-8 text.

    It is stored with the question when it is imported. A draw mixes it with its seed and takes the lowest, so
    neither the order of the rows nor the machine matters.

    Args:
        key: the question's id.

    Returns:
        -2**63 to 2**63 - 1.

    >>> draw_hash("q1") == draw_hashes(["q0", "q1"])[1]
    True
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def draw_hashes(keys: Sequence[str]) -> tuple[int, ...]:
    """:func:`draw_hash` of each key, in their order; faster for many."""
    blake2b = hashlib.blake2b
    digests = b"".join([blake2b(key.encode(), digest_size=8).digest() for key in keys])
    return struct.unpack(f">{len(keys)}q", digests)
