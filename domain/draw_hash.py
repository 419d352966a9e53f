"""The hash by which questions are sampled. It depends only on the question's id."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence


def compute_draw_hash(text: str) -> int:
    """Compute the signed 64-bit hash of a question's id: the 8-byte, big-endian BLAKE2b of its UTF-8 text.

    The hash is stored with the question on import. A draw combines the hash with the seed and takes the
    questions with the lowest results, so the result does not depend on the order of rows or the machine.

    Args:
        text: the question's id, or a text that contains it for other random choices.

    Returns:
        The hash, -2**63 to 2**63 - 1.

    >>> compute_draw_hash("q1") == compute_draw_hashes(["q0", "q1"])[1]
    True
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def compute_draw_hashes(question_ids: Sequence[str]) -> tuple[int, ...]:
    """Compute :func:`compute_draw_hash` of many ids; this is faster than one call for each.

    Args:
        question_ids: the ids of the questions.

    Returns:
        One hash per id, in the same order.
    """
    blake2b = hashlib.blake2b
    digests = b"".join(
        [blake2b(question_id.encode(), digest_size=8).digest() for question_id in question_ids]
    )
    return struct.unpack(f">{len(question_ids)}q", digests)
