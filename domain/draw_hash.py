"""The hash by which questions are sampled. It depends only on the question's id."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence


def compute_draw_hash(key: str) -> int:
    """Compute the signed 64-bit hash of a question's id: the 8-byte, big-endian BLAKE2b of its UTF-8 text.

    The hash is stored with the question on import. A draw combines the hash with the seed and takes the
    questions with the lowest results, so the result does not depend on the order of rows or the machine.

    Args:
        key: the question's id.

    Returns:
        The hash, -2**63 to 2**63 - 1.

    >>> compute_draw_hash("q1") == compute_draw_hashes(["q0", "q1"])[1]
    True
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def compute_draw_hashes(keys: Sequence[str]) -> tuple[int, ...]:
    """Compute :func:`compute_draw_hash` of many keys; this is faster than one call for each key.

    Args:
        keys: the ids of the questions.

    Returns:
        One hash per key, in the same order.
    """
    blake2b = hashlib.blake2b
    digests = b"".join([blake2b(key.encode(), digest_size=8).digest() for key in keys])
    return struct.unpack(f">{len(keys)}q", digests)
