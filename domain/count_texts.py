"""Counts and durations as text, with the noun in the singular or plural."""

from __future__ import annotations


def count_text(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun; ``plural`` is needed if it is not the noun plus "s".

    >>> count_text(1, "question"), count_text(1204, "question"), count_text(2, "box", "boxes")
    ('1 question', '1,204 questions', '2 boxes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration_text(seconds: float) -> str:
    """Return a duration in hours and minutes, at least one minute.

    >>> duration_text(20), duration_text(150), duration_text(3_700)
    ('1 minute', '2 minutes', '1 h 2 min')
    """
    minutes = max(1, round(seconds / 60))
    hours, remaining_minutes = divmod(minutes, 60)
    return f"{hours:,} h {remaining_minutes} min" if hours else count_text(minutes, "minute")
