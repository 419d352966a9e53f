"""The hash by which questions are sampled; it depends on the question's id only."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence


def compute_draw_hash(key: str) -> int:
    """Signed 64-bit hash of a question's id: BLAKE2b, 8 bytes, big-endian, of its UTF-8 text.

    It is stored with the question on import. A draw combines it with the seed and takes the questions with
    the lowest results, so the order of the rows and the machine do not matter.

    Args:
        key: the question's id.

    Returns:
        -2**63 to 2**63 - 1.

    >>> compute_draw_hash("q1") == compute_draw_hashes(["q0", "q1"])[1]
    True
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def compute_draw_hashes(keys: Sequence[str]) -> tuple[int, ...]:
    """:func:`compute_draw_hash` of many keys; faster than one call for each.

    Args:
        keys: ids of questions.

    Returns:
        One hash per key, in the same order.
    """
    blake2b = hashlib.blake2b
    digests = b"".join([blake2b(key.encode(), digest_size=8).digest() for key in keys])
    return struct.unpack(f">{len(keys)}q", digests)
