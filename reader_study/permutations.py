"""Pseudorandom orders that are the same on every machine, and balanced Latin squares."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item", int, str)


def shuffle_items(items: Iterable[Item], *, seed: int, purpose: str) -> list[Item]:
    """Sort items by the BLAKE2b hash of (seed, purpose, item).

    Args:
        items: the items to sort; equal items are interchangeable.
        seed: the seed of the study.
        purpose: a text that distinguishes orders with the same seed.
    """

    def sort_key(item: Item) -> bytes:
        return hashlib.blake2b(f"{seed}\x1f{purpose}\x1f{item}".encode(), digest_size=16).digest()

    return sorted(items, key=lambda item: (sort_key(item), item))


def latin_square(size: int) -> tuple[tuple[int, ...], ...]:
    """Return a Latin square that is balanced for carry-over effects (Williams design).

    Every value is equally often at every position, and equally often directly after every other value.

    Args:
        size: the number of values, 0 or more.

    Returns:
        The rows with the values 0 to size - 1: ``size`` rows if ``size`` is even or 1, otherwise twice as
        many.

    Source: Williams EJ, Aust J Sci Res A 1949;2:149-168.
    """
    first = [(step + 1) // 2 if step % 2 else (size - step // 2) % size for step in range(size)]
    rows = [tuple((value + shift) % size for value in first) for shift in range(size)]
    if size % 2 and size > 1:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)
