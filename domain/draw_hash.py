"""The hash by which questions are drawn: of the question's id alone, so it is the same everywhere."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence


def draw_hash(key: str) -> int:
    """A signed 64-bit hash of a question's id: BLAKE2b, 8 bytes, big-endian, of its UTF-8 text.

    It is stored with the question when it comes in. A draw mixes it with its seed and takes the lowest,
    so neither the order of the rows nor the machine has a say.
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def draw_hashes(keys: Sequence[str]) -> tuple[int, ...]:
    """``draw_hash`` of each, in their order; quicker for many."""
    blake2b = hashlib.blake2b
    digests = b"".join([blake2b(key.encode(), digest_size=8).digest() for key in keys])
    return struct.unpack(f">{len(keys)}q", digests)
