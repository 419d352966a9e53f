"""Micro and macro accuracy over several tasks: every question has the same weight, or every task.

Reports always show both by name, because published tables mix them: ReXVQA's "Overall" is macro for seven
models and micro for the eighth. Both can be computed from the accuracies and counts of the tasks.

Edge cases. A task without a question counts in neither. Without a task both are None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """Shares 0 to 1 over ``n`` questions of ``tasks`` tasks."""

    micro: float | None
    macro: float | None
    n: int
    tasks: int


def average_over_tasks(accuracies: Sequence[float], counts: Sequence[int]) -> Overall:
    """Micro and macro mean of task accuracies.

    Args:
        accuracies: one per task, 0 to 1.
        counts: number of questions per task, in the same order; a task without one is left out.

    Returns:
        Both means, 0 to 1; None without a question.

    Raises:
        ValueError: ``accuracies`` and ``counts`` differ in length.

    >>> result = average_over_tasks([0.75, 1.0], [4, 1])
    >>> (result.micro, result.macro)
    (0.8, 0.875)
    """
    if len(accuracies) != len(counts):
        raise ValueError(f"{len(accuracies)} accuracies, {len(counts)} counts")
    known = [(share, n) for share, n in zip(accuracies, counts, strict=True) if n]
    n = sum(count for _, count in known)
    if not known:
        return Overall(micro=None, macro=None, n=0, tasks=0)
    return Overall(
        micro=sum(share * count for share, count in known) / n,
        macro=sum(share for share, _ in known) / len(known),
        n=n,
        tasks=len(known),
    )
