"""Accuracy from published counts: the number of correct answers per rater and task, without the cases.

Conventions. A row gives a rater's correct answers among ``n`` questions of a task. If a paper prints a
percentage, the count is the whole number whose share is printed like that. If no count of ``n`` is printed
like that, the paper used another ``n`` (it left out unanswered questions, say). The percentage then counts in
the micro and macro mean as printed, but has no interval and no comparison, as its note states. Two raters
with the same ``n`` in a task are assumed to have answered the same questions; their comparison is a range
over every pairing that the margins allow. Otherwise they are compared as two samples (Newcombe).

Edge cases. Without a question nothing is defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.errors import InvalidValue
from measures.overall import average_over_tasks
from measures.paired import PairedRange, compare_margins, newcombe_unpaired
from measures.proportions import CONFIDENCE, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A rater's ``correct`` answers among ``n`` questions of a task.

    ``correct`` is None if only ``share`` (0 to 1) is known.

    Raises:
        InvalidValue: a count that is not 0 to ``n``, or neither a count nor a share from 0 to 1.
    """

    rater: str
    task: str
    correct: int | None
    n: int
    share: float | None = None

    def __post_init__(self) -> None:
        if self.correct is None:
            if self.share is None or not 0 <= self.share <= 1:
                raise InvalidValue("percent", "must be 0 to 100")
        elif not 0 <= self.correct <= self.n:
            raise InvalidValue("correct", f"{self.correct} of {self.n} cannot be")

    @property
    def accuracy(self) -> float:
        """The share of correct answers, 0 to 1; 0 without a question."""
        if self.correct is None:
            return self.share or 0.0
        return self.correct / self.n if self.n else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAccuracy:
    """Accuracy of a rater in a task (0 to 1), with Wilson's interval if the count is known."""

    rater: str
    task: str
    n: int
    correct: int | None
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOverall:
    """Micro and macro accuracy of a rater (0 to 1) over ``tasks`` tasks; None without a question."""

    rater: str
    tasks: int
    n: int
    micro: float | None
    macro: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRange:
    """Accuracy of ``a`` minus accuracy of ``b`` on the same questions, as a range over every pairing.

    ``_least`` and ``_most`` are the smallest and largest value among the pairings that the counts allow: of
    the questions that only ``a`` answered correctly, of the limits of Tango's interval, and of the exact p.
    """

    a: str
    b: str
    task: str
    n: int
    difference: float
    a_only_least: int
    a_only_most: int
    low_least: float
    low_most: float
    high_least: float
    high_most: float
    p_exact_least: float
    p_exact_most: float
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountDifference:
    """Accuracy of ``a`` minus accuracy of ``b`` on different questions (Newcombe)."""

    a: str
    b: str
    task: str
    n_a: int
    n_b: int
    difference: float
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountMeasures:
    """All results of published counts, at one ``confidence``."""

    accuracy: tuple[CountAccuracy, ...]
    overall: tuple[CountOverall, ...]
    paired: tuple[DifferenceRange, ...]
    unpaired: tuple[CountDifference, ...]
    confidence: float


def count_from_percent(percent: float, n: int, *, digits: int) -> int | None:
    """The count of correct answers whose percentage is printed like this.

    Args:
        percent: as printed, 0 to 100.
        n: number of questions.
        digits: digits after the point in print.

    Returns:
        The count nearest to the percentage; None where no count of ``n`` is printed so.

    >>> count_from_percent(83.84, 198, digits=2)
    166
    >>> count_from_percent(83.9, 198, digits=1) is None
    True
    """
    count = round(percent * n / 100)
    if not 0 <= count <= n or n == 0 or abs(100 * count / n - percent) > 0.5000001 * 10**-digits:
        return None
    return count


def measure_counts(counts: Sequence[Count], *, confidence: float = CONFIDENCE) -> CountMeasures:
    """Accuracy of each count, micro and macro mean of each rater, and the difference of each pair of raters.

    Args:
        counts: one per rater and task, each rater and task once.
        confidence: of the intervals.

    Returns:
        Accuracy in the order of ``counts``; means in the order of the raters; differences task by task, in
        ``paired`` for raters with the same n and in ``unpaired`` for others.

    >>> result = measure_counts([
    ...     Count(rater="reader", task="", correct=166, n=198),
    ...     Count(rater="model", task="", correct=153, n=198),
    ... ])
    >>> [round(result.estimate, 4) for result in result.accuracy]
    [0.8384, 0.7727]
    >>> (result.paired[0].a_only_least, result.paired[0].a_only_most)
    (13, 45)
    """
    tasks = list(dict.fromkeys(count.task for count in counts))
    raters = list(dict.fromkeys(count.rater for count in counts))
    paired: list[DifferenceRange] = []
    unpaired: list[CountDifference] = []
    for task in tasks:
        task_counts = [(count, count.correct) for count in counts if count.task == task and count.n]
        for (a, correct_a), (b, correct_b) in combinations(task_counts, 2):
            if correct_a is None or correct_b is None:
                continue
            if a.n == b.n:
                paired.append(
                    _difference_range(a, b, compare_margins(correct_a, correct_b, a.n, confidence=confidence))
                )
            else:
                limits = newcombe_unpaired(correct_a, a.n, correct_b, b.n, confidence=confidence)
                unpaired.append(_unpaired_difference(a, b, limits))
    return CountMeasures(
        accuracy=tuple(_build_accuracy(count, confidence) for count in counts),
        overall=tuple(
            _build_overall(name, [count for count in counts if count.rater == name]) for name in raters
        ),
        paired=tuple(paired),
        unpaired=tuple(unpaired),
        confidence=confidence,
    )


def _build_accuracy(count: Count, confidence: float) -> CountAccuracy:
    if count.correct is None:
        low = high = None
        share, note = count.share, f"no interval: no count of {count.n:,} prints so; is n another?"
    else:
        proportion = wilson(count.correct, count.n, confidence=confidence)
        share, low, high, note = proportion.estimate, proportion.low, proportion.high, proportion.note
    return CountAccuracy(
        rater=count.rater,
        task=count.task,
        n=count.n,
        correct=count.correct,
        estimate=share,
        low=low,
        high=high,
        note=note,
    )


def _build_overall(rater: str, counts: list[Count]) -> CountOverall:
    overall = average_over_tasks([count.accuracy for count in counts], [count.n for count in counts])
    return CountOverall(
        rater=rater, tasks=overall.tasks, n=overall.n, micro=overall.micro, macro=overall.macro
    )


def _difference_range(a: Count, b: Count, paired_range: PairedRange) -> DifferenceRange:
    return DifferenceRange(
        a=a.rater,
        b=b.rater,
        task=a.task,
        n=paired_range.n,
        difference=paired_range.difference,
        a_only_least=paired_range.a_only[0],
        a_only_most=paired_range.a_only[1],
        low_least=paired_range.low[0],
        low_most=paired_range.low[1],
        high_least=paired_range.high[0],
        high_most=paired_range.high[1],
        p_exact_least=paired_range.p_exact[0],
        p_exact_most=paired_range.p_exact[1],
        note=paired_range.note,
    )


def _unpaired_difference(a: Count, b: Count, limits: tuple[float, float]) -> CountDifference:
    return CountDifference(
        a=a.rater,
        b=b.rater,
        task=a.task,
        n_a=a.n,
        n_b=b.n,
        difference=a.accuracy - b.accuracy,
        low=limits[0],
        high=limits[1],
        note="of different questions: not paired",
    )
