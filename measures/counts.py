"""Accuracy from published counts: the number of correct answers per rater and task, without the cases.

Conventions. A row states a rater's correct answers among ``n`` questions of a task. If a paper prints a
percentage, the count is the integer whose percentage of ``n`` rounds to it. If no count does, the paper used
another ``n``; for example, it left out unanswered questions. The percentage then counts in the micro and
macro mean as printed, but it has no interval and no comparison, and its note gives the reason. Two raters
with the same ``n`` in a task are assumed to have answered the same questions. Their comparison is a range
over all pairings that the margins allow. Other raters are compared as two samples (Newcombe).

Edge cases. Without a question, no result is defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.errors import InvalidValue
from measures.overall import average_over_tasks
from measures.paired import PairedRange, compare_margins, newcombe_unpaired
from measures.proportions import CONFIDENCE, clopper_pearson, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A rater's ``correct`` answers among ``n`` questions of a task.

    ``correct`` is None if only ``share`` (0 to 1) is known.

    Raises:
        InvalidValue: the count is not 0 to ``n``, or there is neither a count nor a share from 0 to 1.
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
            raise InvalidValue(
                "correct", f"must be 0 to {self.n} (the number of questions), not {self.correct}"
            )

    @property
    def accuracy(self) -> float:
        """The share of correct answers, 0 to 1; 0 if ``n`` is 0."""
        if self.correct is None:
            return self.share or 0.0
        return self.correct / self.n if self.n else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAccuracy:
    """The accuracy of a rater in a task (0 to 1), with intervals if the count is known.

    ``low`` and ``high`` are Wilson's limits, ``corrected_…`` those with Newcombe's continuity correction, and
    ``exact_…`` those of Clopper and Pearson.
    """

    rater: str
    task: str
    n: int
    correct: int | None
    estimate: float | None
    low: float | None
    high: float | None
    corrected_low: float | None
    corrected_high: float | None
    exact_low: float | None
    exact_high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOverall:
    """The micro and macro accuracy of a rater (0 to 1) over ``tasks`` tasks; None if ``n`` is 0."""

    rater: str
    tasks: int
    n: int
    micro: float | None
    macro: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRange:
    """Accuracy of ``a`` minus accuracy of ``b`` on the same questions, as a range over all possible pairings.

    ``…_least`` and ``…_most`` are the smallest and largest value of the pairings that the counts allow:
    ``a_only`` is the number of questions that only ``a`` answered correctly, ``low`` and ``high`` are the
    limits of Tango's interval, and ``p_exact`` is McNemar's exact p.
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
    """All results of published counts; ``confidence`` is the confidence level of all intervals."""

    accuracy: tuple[CountAccuracy, ...]
    overall: tuple[CountOverall, ...]
    paired: tuple[DifferenceRange, ...]
    unpaired: tuple[CountDifference, ...]
    confidence: float


def count_from_percent(percent: float, n: int, *, digits: int) -> int | None:
    """Find the count of correct answers whose percentage rounds to the printed one.

    Args:
        percent: the printed percentage, 0 to 100.
        n: the number of questions.
        digits: the number of printed decimal digits.

    Returns:
        The count nearest to the percentage; None if the percentage of no count of ``n`` rounds to it.

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
    """Compute the accuracy of each count, the means of each rater, and the difference of each pair of raters.

    Args:
        counts: one count per rater and task.
        confidence: the confidence level of the intervals.

    Returns:
        Accuracies in the order of ``counts``, means in the order of the raters, differences in the order of
        the tasks. ``paired`` contains the pairs of raters with the same n, ``unpaired`` the other pairs.

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
                    _build_difference_range(
                        a, b, compare_margins(correct_a, correct_b, a.n, confidence=confidence)
                    )
                )
            else:
                limits = newcombe_unpaired(correct_a, a.n, correct_b, b.n, confidence=confidence)
                unpaired.append(_build_unpaired_difference(a, b, limits))
    return CountMeasures(
        accuracy=tuple(_build_accuracy(count, confidence) for count in counts),
        overall=tuple(
            _build_overall(rater, [count for count in counts if count.rater == rater]) for rater in raters
        ),
        paired=tuple(paired),
        unpaired=tuple(unpaired),
        confidence=confidence,
    )


def _build_accuracy(count: Count, confidence: float) -> CountAccuracy:
    if count.correct is None:
        return CountAccuracy(
            rater=count.rater,
            task=count.task,
            n=count.n,
            correct=None,
            estimate=count.share,
            low=None,
            high=None,
            corrected_low=None,
            corrected_high=None,
            exact_low=None,
            exact_high=None,
            note=f"no interval: no count of {count.n:,} gives this percentage; check n",
        )
    share = wilson(count.correct, count.n, confidence=confidence)
    corrected = wilson(count.correct, count.n, confidence=confidence, continuity_corrected=True)
    exact = clopper_pearson(count.correct, count.n, confidence=confidence)
    return CountAccuracy(
        rater=count.rater,
        task=count.task,
        n=count.n,
        correct=count.correct,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        corrected_low=corrected.low,
        corrected_high=corrected.high,
        exact_low=exact.low,
        exact_high=exact.high,
        note=share.note,
    )


def _build_overall(rater: str, counts: list[Count]) -> CountOverall:
    overall = average_over_tasks([count.accuracy for count in counts], [count.n for count in counts])
    return CountOverall(
        rater=rater, tasks=overall.tasks, n=overall.n, micro=overall.micro, macro=overall.macro
    )


def _build_difference_range(a: Count, b: Count, paired_range: PairedRange) -> DifferenceRange:
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


def _build_unpaired_difference(a: Count, b: Count, limits: tuple[float, float]) -> CountDifference:
    return CountDifference(
        a=a.rater,
        b=b.rater,
        task=a.task,
        n_a=a.n,
        n_b=b.n,
        difference=a.accuracy - b.accuracy,
        low=limits[0],
        high=limits[1],
        note="different questions: not paired",
    )
