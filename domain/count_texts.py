"""Counts as text, with the noun in the singular or plural."""

from __future__ import annotations


def count_text(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun; ``plural`` is needed if it is not the noun plus "s".

    >>> count_text(1, "question"), count_text(1204, "question"), count_text(2, "box", "boxes")
    ('1 question', '1,204 questions', '2 boxes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
