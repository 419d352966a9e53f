"""Micro accuracy (questions have equal weights) and macro accuracy (tasks have equal weights).

Reports always show both by name, because published tables mix them: ReXVQA's "Overall" is macro for seven
models and micro for the eighth. Both can be computed from the accuracies and counts of the tasks.

Edge cases. A task without questions is ignored. Without a task both values are None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """Micro and macro mean, 0 to 1, of ``n`` questions in ``tasks`` tasks."""

    micro: float | None
    macro: float | None
    n: int
    tasks: int


def average_over_tasks(accuracies: Sequence[float], counts: Sequence[int]) -> Overall:
    """Compute the micro and macro mean of task accuracies.

    Args:
        accuracies: one accuracy per task, 0 to 1.
        counts: the number of questions of each task, in the same order. A task without questions is left out.

    Returns:
        Both means, 0 to 1; None if there is no question.

    Raises:
        ValueError: ``accuracies`` and ``counts`` differ in length.

    >>> result = average_over_tasks([0.75, 1.0], [4, 1])
    >>> (result.micro, result.macro)
    (0.8, 0.875)
    """
    if len(accuracies) != len(counts):
        raise ValueError(f"{len(accuracies)} accuracies, but {len(counts)} counts")
    tasks = [(accuracy, count) for accuracy, count in zip(accuracies, counts, strict=True) if count]
    n = sum(count for _, count in tasks)
    if not tasks:
        return Overall(micro=None, macro=None, n=0, tasks=0)
    return Overall(
        micro=sum(accuracy * count for accuracy, count in tasks) / n,
        macro=sum(accuracy for accuracy, _ in tasks) / len(tasks),
        n=n,
        tasks=len(tasks),
    )
