"""Accuracy from published counts: the number of correct answers per rater and task, without the cases.

Conventions. A row gives a rater's correct answers among ``n`` questions of a task. If a paper prints a
percentage, the count is the whole number whose share is printed like that. If no count of ``n`` is printed
like that, the paper used another ``n`` (it left out unanswered questions, say). The percentage then counts in
the micro and macro mean as printed, but has no interval and no comparison; its note says why. Two raters with
the same ``n`` in a task are assumed to have answered the same questions, and their comparison is a range over
every pairing that the margins allow. Otherwise they are compared as two samples (Newcombe).

Edge cases. Without a question nothing is defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.errors import InvalidValue
from measures.overall import over_tasks
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


def count_printed(percent: float, n: int, *, digits: int) -> int | None:
    """The count of correct answers whose percentage is printed like this.

    Args:
        percent: as printed, 0 to 100.
        n: number of questions.
        digits: digits after the point in print.

    Returns:
        The count nearest to the percentage; None where no count of ``n`` is printed so.

    >>> count_printed(83.84, 198, digits=2)
    166
    >>> count_printed(83.9, 198, digits=1) is None
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

    >>> found = measure_counts([
    ...     Count(rater="reader", task="", correct=166, n=198),
    ...     Count(rater="model", task="", correct=153, n=198),
    ... ])
    >>> [round(result.estimate, 4) for result in found.accuracy]
    [0.8384, 0.7727]
    >>> (found.paired[0].a_only_least, found.paired[0].a_only_most)
    (13, 45)
    """
    tasks = list(dict.fromkeys(each.task for each in counts))
    raters = list(dict.fromkeys(each.rater for each in counts))
    paired: list[DifferenceRange] = []
    unpaired: list[CountDifference] = []
    for task in tasks:
        here = [(each, each.correct) for each in counts if each.task == task and each.n]
        for (a, right_a), (b, right_b) in combinations(here, 2):
            if right_a is None or right_b is None:
                continue
            if a.n == b.n:
                paired.append(_range(a, b, compare_margins(right_a, right_b, a.n, confidence=confidence)))
            else:
                ends = newcombe_unpaired(right_a, a.n, right_b, b.n, confidence=confidence)
                unpaired.append(_apart(a, b, ends))
    return CountMeasures(
        accuracy=tuple(_accuracy(each, confidence) for each in counts),
        overall=tuple(_overall(name, [each for each in counts if each.rater == name]) for name in raters),
        paired=tuple(paired),
        unpaired=tuple(unpaired),
        confidence=confidence,
    )


def _accuracy(each: Count, confidence: float) -> CountAccuracy:
    if each.correct is None:
        low = high = None
        share, note = each.share, f"no interval: no count of {each.n:,} prints so; is n another?"
    else:
        found = wilson(each.correct, each.n, confidence=confidence)
        share, low, high, note = found.estimate, found.low, found.high, found.note
    return CountAccuracy(
        rater=each.rater,
        task=each.task,
        n=each.n,
        correct=each.correct,
        estimate=share,
        low=low,
        high=high,
        note=note,
    )


def _overall(rater: str, own: list[Count]) -> CountOverall:
    found = over_tasks([each.accuracy for each in own], [each.n for each in own])
    return CountOverall(rater=rater, tasks=found.tasks, n=found.n, micro=found.micro, macro=found.macro)


def _range(a: Count, b: Count, found: PairedRange) -> DifferenceRange:
    return DifferenceRange(
        a=a.rater,
        b=b.rater,
        task=a.task,
        n=found.n,
        difference=found.difference,
        a_only_least=found.a_only[0],
        a_only_most=found.a_only[1],
        low_least=found.low[0],
        low_most=found.low[1],
        high_least=found.high[0],
        high_most=found.high[1],
        p_exact_least=found.p_exact[0],
        p_exact_most=found.p_exact[1],
        note=found.note,
    )


def _apart(a: Count, b: Count, ends: tuple[float, float]) -> CountDifference:
    return CountDifference(
        a=a.rater,
        b=b.rater,
        task=a.task,
        n_a=a.n,
        n_b=b.n,
        difference=a.accuracy - b.accuracy,
        low=ends[0],
        high=ends[1],
        note="of different questions: not paired",
    )
