"""Orders that look like chance and are the same on every machine: sorted by a hash of seed and purpose."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item", int, str)


def shuffled(items: Iterable[Item], *, seed: int, purpose: str) -> list[Item]:
    """The items in the order of the BLAKE2b hashes of (seed, purpose, item); ties can't be told apart."""

    def place(item: Item) -> bytes:
        return hashlib.blake2b(f"{seed}\x1f{purpose}\x1f{item}".encode(), digest_size=16).digest()

    return sorted(items, key=lambda item: (place(item), item))


def latin_square(size: int) -> tuple[tuple[int, ...], ...]:
    """Rows of 0 to size - 1 in which each value stands as often at each place, and after each other value.

    Williams' design: ``size`` rows where it is even, twice as many where it is odd.

    Source: Williams EJ, Aust J Sci Res A 1949;2:149-168.
    """
    first = [(step + 1) // 2 if step % 2 else (size - step // 2) % size for step in range(size)]
    rows = [tuple((value + shift) % size for value in first) for shift in range(size)]
    if size % 2 and size > 1:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)
