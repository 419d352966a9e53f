"""Agreement between reviewers of the same questions, on each aspect of a verdict.

For two reviewers: percent agreement (Wilson's interval), Cohen's kappa and Gwet's AC1 (``measures`` chooses
the method of the interval and names it). For all together: the same for groups, i.e. the mean over pairs,
Conger's kappa and AC1. Ratings and tiers are ordered and have quadratic weights in kappa and AC1 (then AC2).
A pair uses the questions in which both judged the aspect. Intervals are clustered by exam.

Keys are compared as text, because letters change with the options. "Same key" has no kappa, because the
possible answers differ between questions; it has Brennan and Prediger's coefficient, with each question's own
number of options. A question that one of the two rejects has no corrected version and is left out of the
agreement on key and boxes.

Boxes of one label on one radiograph are matched one to one. The score of a question is the sum of the
overlaps divided by the larger number of boxes (V-score).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from domain.questions import Question
from measures.agreement import FEW, Weights, agreement_weights
from measures.boxes import MeanOverlap, mean_overlap
from measures.group import Coefficient, agreement_of
from measures.kappa_intervals import ac1_interval, kappa_interval
from measures.proportions import wilson_by_cluster
from review.forms import choices_of, key_of, overlap_of_boxes, same_key
from review.scales import SCALES, Scale
from review.shared_questions import ReadQuestions, SharedQuestion

GROUP_INTERVAL = "Gwet's, by exam"
_KEY_CHANGED = Scale(name="key: kept or changed", group="key", k=2)
_SEED = 7  # seed of the posterior draws and of the bootstrap, so that the figures are reproducible


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One value over ``n`` questions with its 95 % interval; ``kind`` is the method of the interval.

    A value that is not defined is None, and ``note`` gives the reason.
    """

    n: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    kind: str = ""
    note: str = ""

    @property
    def few(self) -> bool:
        """Whether there are too few questions, or none; the value is then shown in grey."""
        return self.n < FEW or self.estimate is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """Agreement on one aspect of a verdict; ``weighted`` if its values are ordered.

    ``third_name`` is the name of ``third``: AC1, AC2 if weighted, or Brennan-Prediger for "same key".
    """

    name: str
    group: str
    weighted: bool
    percent: Figure
    kappa: Figure
    third: Figure
    third_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """The agreement of two reviewers, or of all; ``people`` are their ids, sorted."""

    people: tuple[int, ...]
    questions: int
    aspects: tuple[Aspect, ...]
    boxes: MeanOverlap


def agreement_between(shared: Sequence[SharedQuestion]) -> tuple[Between, ...]:
    """Compute the agreement of each pair of reviewers that shares a question.

    Args:
        shared: the questions that two people or more have judged.

    Returns:
        All reviewers together first, if there are more than two, then the pairs.
    """
    read = ReadQuestions.of(shared)
    found = []
    for pair in combinations(range(len(read.people)), 2):
        both = np.flatnonzero((read.at[:, pair] >= 0).all(axis=1))
        if len(both):
            found.append(_pair(read, pair, both))
    if len(read.people) > 2 and found:
        found.insert(0, _everybody(read))
    return tuple(found)


# ------------------------------------------------------------------------------------------------ two people
_Two = tuple[SharedQuestion, Question | None, Question | None]


def _pair(read: ReadQuestions, pair: tuple[int, int], there: NDArray[np.int64]) -> Between:
    exams, at = read.exams[there], read.at[there][:, pair]
    theirs = [
        (read.shared[row], read.forms[first], read.forms[second])
        for row, (first, second) in zip(there.tolist(), at.tolist(), strict=True)
    ]

    def of_two(scale: Scale, every: NDArray[np.int64]) -> Aspect:
        codes = every[at]
        kept = (codes >= 0).all(axis=1)
        return _of_two(scale, codes[kept, 0], codes[kept, 1], exams[kept])

    aspects = [of_two(scale, read.codes[scale.name]) for scale in SCALES]
    return Between(
        people=(read.people[pair[0]], read.people[pair[1]]),
        questions=len(theirs),
        aspects=(aspects[0], _key_of_two(theirs), of_two(_KEY_CHANGED, read.key_changed), *aspects[1:]),
        boxes=_boxes([(one.exam_number, first, second) for one, first, second in theirs]),
    )


def _of_two(
    scale: Scale, first: NDArray[np.int64], second: NDArray[np.int64], exams: NDArray[np.int64]
) -> Aspect:
    weights = agreement_weights(scale.k, Weights.QUADRATIC if scale.weighted else Weights.NONE)
    n = len(first)
    kappa = kappa_interval(first, second, weights=weights, clusters=exams, seed=_SEED)
    ac1 = ac1_interval(first, second, weights=weights, clusters=exams, seed=_SEED)
    return Aspect(
        name=scale.name,
        group=scale.group,
        weighted=scale.weighted,
        percent=_share(first == second, exams),
        kappa=Figure(
            n=n, estimate=kappa.value, low=kappa.low, high=kappa.high, kind=kappa.method or "",
            note=kappa.note,
        ),
        third=Figure(
            n=n, estimate=ac1.value, low=ac1.low, high=ac1.high, kind=ac1.method or "", note=ac1.note
        ),
        third_name="AC2" if scale.weighted else "AC1",
    )  # fmt: skip


def _key_of_two(theirs: Sequence[_Two]) -> Aspect:
    kept = [(one, a, b) for one, a, b in theirs if a is not None and b is not None]
    same = np.array([same_key(a, b) for _, a, b in kept], dtype=bool)
    exams = np.array([one.exam_number for one, _, _ in kept], dtype=np.int64)
    counted = np.array([choices_of(one.question) > 1 for one, _, _ in kept], dtype=bool)
    return _same_key(
        [one.question for one, _, _ in kept], _share(same, exams), _share(same[counted], exams[counted])
    )


def _share(hits: NDArray[np.bool_], exams: NDArray[np.int64]) -> Figure:
    share = wilson_by_cluster(hits, exams)
    return Figure(
        n=share.n,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        kind="Wilson, by exam" if share.n else "",
        note=share.note if share.n else "not defined: no question was answered by both",
    )


def _same_key(questions: Sequence[Question], same: Figure, single: Figure) -> Aspect:
    """The aspect "same key"; ``single`` is over the questions with a fixed number of possible answers."""
    chances = [1 / count for each in questions if (count := choices_of(each)) > 1]
    chance = float(np.mean(chances)) if chances else 0.0

    def beyond(value: float | None) -> float | None:
        return None if value is None else max(-1.0, (value - chance) / (1 - chance))

    return Aspect(
        name="key: the same after correction",
        group="key",
        weighted=False,
        percent=same,
        kappa=Figure(n=same.n, note="not defined: the options differ from question to question"),
        third=replace(
            single, estimate=beyond(single.estimate), low=beyond(single.low), high=beyond(single.high)
        ),
        third_name="Brennan-Prediger",
    )


# ---------------------------------------------------------------------------------------------- all together
def _everybody(read: ReadQuestions) -> Between:
    def of_all(scale: Scale, every: NDArray[np.int64]) -> Aspect:
        return _of_all(scale, np.where(read.at >= 0, every[read.at], -1), read.exams)

    aspects = [of_all(scale, read.codes[scale.name]) for scale in SCALES]
    forms = [
        (one.exam_number, read.forms[first], read.forms[second])
        for one, places in zip(read.shared, read.at.tolist(), strict=True)
        for first, second in combinations([place for place in places if place >= 0], 2)
    ]
    return Between(
        people=read.people,
        questions=len(read.shared),
        aspects=(aspects[0], _key_of_all(read), of_all(_KEY_CHANGED, read.key_changed), *aspects[1:]),
        boxes=_boxes(forms),
    )


def _key_of_all(read: ReadQuestions) -> Aspect:
    codes = np.full(read.at.shape, -1, dtype=np.int64)
    for row, places in enumerate(read.at.tolist()):
        seen: dict[frozenset[object], int] = {}
        for person, place in enumerate(places):
            form = read.forms[place] if place >= 0 else None
            if form is not None:
                codes[row, person] = seen.setdefault(key_of(form), len(seen))
    several = (codes >= 0).sum(axis=1) > 1
    counted = several & np.array([choices_of(one.question) > 1 for one in read.shared], dtype=bool)
    plain = agreement_weights(max(2, len(read.people)), Weights.NONE)
    return _same_key(
        [one.question for one, kept in zip(read.shared, several, strict=True) if kept],
        _of_group(codes[several], Coefficient.PERCENT, plain, read.exams[several]),
        _of_group(codes[counted], Coefficient.PERCENT, plain, read.exams[counted]),
    )


def _of_all(scale: Scale, codes: NDArray[np.int64], exams: NDArray[np.int64]) -> Aspect:
    plain = agreement_weights(scale.k, Weights.NONE)
    weights = agreement_weights(scale.k, Weights.QUADRATIC) if scale.weighted else plain

    return Aspect(
        name=scale.name,
        group=scale.group,
        weighted=scale.weighted,
        percent=_of_group(codes, Coefficient.PERCENT, plain, exams),
        kappa=_of_group(codes, Coefficient.CONGER, weights, exams),
        third=_of_group(codes, Coefficient.AC1, weights, exams),
        third_name="AC2" if scale.weighted else "AC1",
    )


def _of_group(
    codes: NDArray[np.int64], coefficient: Coefficient, weights: NDArray[np.float64], exams: NDArray[np.int64]
) -> Figure:
    found = agreement_of(codes, coefficient, weights=weights, clusters=exams)
    return Figure(
        n=found.n, estimate=found.value, low=found.low, high=found.high,
        kind="" if found.low is None else GROUP_INTERVAL, note=found.note,
    )  # fmt: skip


def _boxes(forms: Sequence[tuple[int, Question | None, Question | None]]) -> MeanOverlap:
    kept = [(exam, overlap_of_boxes(one.boxes, other.boxes)) for exam, one, other in forms if one and other]
    return mean_overlap([overlap for _, overlap in kept], clusters=[exam for exam, _ in kept], seed=_SEED)


def names_of_pairs(found: Sequence[Between], people: Mapping[int, str]) -> tuple[str, ...]:
    """The names of pairs and of the whole group: "Rosa and Ravi", "all 3 together"."""
    return tuple(
        " and ".join(people[each] for each in one.people)
        if len(one.people) == 2
        else f"all {len(one.people)} together"
        for one in found
    )
