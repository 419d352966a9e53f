"""What published counts alone say: so many right of so many, by rater and task; nobody knows on which cases.

Conventions. A row is a rater's right answers of ``n`` questions of a task. Where a paper prints a percentage,
the count is the whole number whose share prints so. A percentage that no count of ``n`` prints tells of
another ``n`` (unanswered questions left out, 198 scored of 200): it counts in micro and macro as it stands,
but has no interval and no comparison, and its note says why. Two raters with the same ``n`` in a task are
taken to have answered the same questions: their comparison is a range over every pairing that the margins
allow. Otherwise they are compared as two samples (Newcombe).

Edge cases. No question: not defined. Micro and macro stand for raters with several tasks, both by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from domain.errors import InvalidValue
from measures.overall import over_tasks
from measures.paired import PairedRange, compare_margins, newcombe_unpaired
from measures.proportions import CONFIDENCE, wilson

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """``correct`` of ``n`` questions of a task were right; None where only ``share`` is known, 0 to 1."""

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
        """The share that was right; 0 where there is no question."""
        if self.correct is None:
            return self.share or 0.0
        return self.correct / self.n if self.n else 0.0


def count_printed(percent: float, n: int, *, digits: int) -> int | None:
    """The number right of ``n`` whose share prints as this percentage, to so many digits after the point.

    Of several that do, the one nearest to it; None where no count does.
    """
    count = round(percent * n / 100)
    if not 0 <= count <= n or n == 0 or abs(100 * count / n - percent) > 0.5000001 * 10**-digits:
        return None
    return count


def measure_counts(counts: Sequence[Count], *, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """``accuracy``, ``overall``, ``paired`` (ranges) and ``unpaired`` as flat records, and ``settings``."""
    tasks = list(dict.fromkeys(each.task for each in counts))
    raters = list(dict.fromkeys(each.rater for each in counts))
    paired: list[Record] = []
    unpaired: list[Record] = []
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
    return {
        "accuracy": [_accuracy(each, confidence) for each in counts],
        "overall": [_overall(name, [each for each in counts if each.rater == name]) for name in raters],
        "paired": paired,
        "unpaired": unpaired,
        "settings": {"confidence": confidence, "version": "overread.counts/1"},
    }


def _accuracy(each: Count, confidence: float) -> Record:
    if each.correct is None:
        low = high = None
        share, note = each.share, f"no interval: no count of {each.n:,} prints so; is n another?"
    else:
        found = wilson(each.correct, each.n, confidence=confidence)
        share, low, high, note = found.estimate, found.low, found.high, found.note
    return {
        "rater": each.rater,
        "task": each.task,
        "n": each.n,
        "correct": each.correct,
        "estimate": share,
        "low": low,
        "high": high,
        "note": note,
    }


def _overall(rater: str, own: list[Count]) -> Record:
    found = over_tasks([each.accuracy for each in own], [each.n for each in own])
    return {"rater": rater, "tasks": found.tasks, "n": found.n, "micro": found.micro, "macro": found.macro}


def _range(a: Count, b: Count, found: PairedRange) -> Record:
    return {
        "a": a.rater,
        "b": b.rater,
        "task": a.task,
        "n": found.n,
        "difference": found.difference,
        "a_only_least": found.a_only[0],
        "a_only_most": found.a_only[1],
        "low_least": found.low[0],
        "low_most": found.low[1],
        "high_least": found.high[0],
        "high_most": found.high[1],
        "p_exact_least": found.p_exact[0],
        "p_exact_most": found.p_exact[1],
        "note": found.note,
    }


def _apart(a: Count, b: Count, ends: tuple[float, float]) -> Record:
    return {
        "a": a.rater,
        "b": b.rater,
        "task": a.task,
        "n_a": a.n,
        "n_b": b.n,
        "difference": a.accuracy - b.accuracy,
        "low": ends[0],
        "high": ends[1],
        "note": "of different questions: not paired",
    }
