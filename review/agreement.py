"""Agreement between reviewers of the same questions, on each aspect of a verdict.

For two reviewers, the measures are percent agreement (Wilson interval), Cohen's kappa and Gwet's AC1; the
package ``measures`` chooses the method of the interval and names it. For all reviewers together, they are the
mean percent agreement of the pairs, Conger's kappa and AC1. Ratings and tiers are ordered, so kappa and AC1
have quadratic weights; AC1 is then called AC2. A pair is compared on the questions in which both judged the
aspect. Intervals are clustered by exam.

Keys are compared as text, because letters change with the options. "Same key" has no kappa, because the
possible answers differ between questions. It has the Brennan-Prediger coefficient instead, with the number of
options of each question. A question that one of the two rejects has no corrected version and is excluded from
the agreement on key and boxes.

Boxes with the same label on the same radiograph are matched one to one. The score of a question is the sum of
the overlaps divided by the larger of the two numbers of boxes (V-score).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.questions import Question
from measures.agreement import SMALL_SAMPLE, Weights, agreement_weights
from measures.boxes import MeanOverlap, mean_overlap
from measures.group_agreement import Coefficient, agreement_coefficient
from measures.kappa_intervals import ac1_interval, kappa_interval
from measures.proportions import wilson_by_cluster
from review.corrected_versions import compute_box_overlap, count_choices, has_same_key, normalize_key
from review.scales import SCALES, Scale
from review.shared_questions import SharedQuestion, SharedQuestionMatrix

GROUP_INTERVAL_METHOD = "Gwet's, by exam"
_KEY_CHANGED = Scale(name="key: kept or changed", group="key", k=2)
_SEED = 7  # seed of the posterior draws and of the bootstrap, so that the results are reproducible


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementEstimate:
    """One estimate over ``n`` questions with its 95 % interval. ``kind`` is the method of the interval.

    If the estimate is not defined, it is None and ``note`` gives the reason.
    """

    n: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    kind: str = ""
    note: str = ""

    @property
    def has_few_questions(self) -> bool:
        """Whether there are too few questions or the estimate is None. Such estimates are shown in grey."""
        return self.n < SMALL_SAMPLE or self.estimate is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """Agreement on one aspect of a verdict. ``weighted`` is True if the values of the aspect are ordered.

    ``alternative`` is a second chance-corrected coefficient: AC1, AC2 if the aspect is weighted, or
    Brennan-Prediger for "same key".
    """

    name: str
    group: str
    weighted: bool
    percent: AgreementEstimate
    kappa: AgreementEstimate
    alternative: AgreementEstimate
    alternative_name: str


def aspect_to_plain(aspect: Aspect) -> dict[str, Any]:
    """Convert an aspect to JSON values. The alternative coefficient is written as ``third``."""
    plain = asdict(aspect)
    alternative = {"third": plain.pop("alternative"), "third_name": plain.pop("alternative_name")}
    return plain | alternative


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """The agreement of two reviewers or of all reviewers. ``person_ids`` has their ids, sorted."""

    person_ids: tuple[int, ...]
    questions: int
    aspects: tuple[Aspect, ...]
    box_overlap: MeanOverlap


def compute_agreement(shared_questions: Sequence[SharedQuestion]) -> tuple[GroupAgreement, ...]:
    """Compute the agreement of each pair of reviewers that shares a question.

    Args:
        shared_questions: the questions that at least two people have judged.

    Returns:
        The agreement of all reviewers, if there are more than two, then the agreement of each pair.
    """
    matrix = SharedQuestionMatrix.from_questions(shared_questions)
    agreements = []
    for pair in combinations(range(len(matrix.people)), 2):
        common_rows = np.flatnonzero((matrix.verdict_index[:, pair] >= 0).all(axis=1))
        if len(common_rows):
            agreements.append(_compute_pair_agreement(matrix, pair, common_rows))
    if len(matrix.people) > 2 and agreements:
        agreements.insert(0, _compute_overall_agreement(matrix))
    return tuple(agreements)


# ------------------------------------------------------------------------------------------------ two people
_CorrectedPair = tuple[SharedQuestion, Question | None, Question | None]


def _compute_pair_agreement(
    matrix: SharedQuestionMatrix, pair: tuple[int, int], rows: NDArray[np.int64]
) -> GroupAgreement:
    exams, pair_index = matrix.exams[rows], matrix.verdict_index[rows][:, pair]
    corrected_pairs = [
        (matrix.shared[question_row], matrix.corrected_questions[first], matrix.corrected_questions[second])
        for question_row, (first, second) in zip(rows.tolist(), pair_index.tolist(), strict=True)
    ]

    def compute_aspect(scale: Scale, all_codes: NDArray[np.int64]) -> Aspect:
        codes = all_codes[pair_index]
        both_judged = (codes >= 0).all(axis=1)
        return _compute_pair_aspect(scale, codes[both_judged, 0], codes[both_judged, 1], exams[both_judged])

    aspects = [compute_aspect(scale, matrix.codes[scale.name]) for scale in SCALES]
    return GroupAgreement(
        person_ids=(matrix.people[pair[0]], matrix.people[pair[1]]),
        questions=len(corrected_pairs),
        aspects=(
            aspects[0],
            _compute_pair_key_aspect(corrected_pairs),
            compute_aspect(_KEY_CHANGED, matrix.key_changed),
            *aspects[1:],
        ),
        box_overlap=_compute_box_overlap(
            [
                (shared_question.exam_row_id, first, second)
                for shared_question, first, second in corrected_pairs
            ]
        ),
    )


def _compute_pair_aspect(
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
        percent=_estimate_percent_agreement(first == second, exams),
        kappa=AgreementEstimate(
            n=n, estimate=kappa.value, low=kappa.low, high=kappa.high, kind=kappa.method or "",
            note=kappa.note,
        ),
        alternative=AgreementEstimate(
            n=n, estimate=ac1.value, low=ac1.low, high=ac1.high, kind=ac1.method or "", note=ac1.note
        ),
        alternative_name="AC2" if scale.weighted else "AC1",
    )  # fmt: skip


def _compute_pair_key_aspect(corrected_pairs: Sequence[_CorrectedPair]) -> Aspect:
    comparable = [
        (shared_question, a, b)
        for shared_question, a, b in corrected_pairs
        if a is not None and b is not None
    ]
    is_same = np.array([has_same_key(a, b) for _, a, b in comparable], dtype=bool)
    exams = np.array([shared_question.exam_row_id for shared_question, _, _ in comparable], dtype=np.int64)
    is_countable = np.array(
        [count_choices(shared_question.question) > 1 for shared_question, _, _ in comparable], dtype=bool
    )
    return _build_same_key_aspect(
        [shared_question.question for shared_question, _, _ in comparable],
        _estimate_percent_agreement(is_same, exams),
        _estimate_percent_agreement(is_same[is_countable], exams[is_countable]),
    )


def _estimate_percent_agreement(agrees: NDArray[np.bool_], exams: NDArray[np.int64]) -> AgreementEstimate:
    share = wilson_by_cluster(agrees, exams)
    return AgreementEstimate(
        n=share.n,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        kind="Wilson, by exam" if share.n else "",
        note=share.note if share.n else "not defined: no question was answered by both",
    )


def _build_same_key_aspect(
    questions: Sequence[Question], percent: AgreementEstimate, countable: AgreementEstimate
) -> Aspect:
    """Build the aspect "same key". ``countable`` covers the questions with a fixed number of answers."""
    chances = [1 / count for question in questions if (count := count_choices(question)) > 1]
    chance = float(np.mean(chances)) if chances else 0.0

    def correct_for_chance(value: float | None) -> float | None:
        return None if value is None else max(-1.0, (value - chance) / (1 - chance))

    return Aspect(
        name="key after correction",
        group="key",
        weighted=False,
        percent=percent,
        kappa=AgreementEstimate(
            n=percent.n, note="not defined: the options differ from question to question"
        ),
        alternative=replace(
            countable,
            estimate=correct_for_chance(countable.estimate),
            low=correct_for_chance(countable.low),
            high=correct_for_chance(countable.high),
        ),
        alternative_name="Brennan-Prediger",
    )


# ---------------------------------------------------------------------------------------------- all together
def _compute_overall_agreement(matrix: SharedQuestionMatrix) -> GroupAgreement:
    def compute_aspect(scale: Scale, all_codes: NDArray[np.int64]) -> Aspect:
        return _compute_overall_aspect(
            scale, np.where(matrix.verdict_index >= 0, all_codes[matrix.verdict_index], -1), matrix.exams
        )

    aspects = [compute_aspect(scale, matrix.codes[scale.name]) for scale in SCALES]
    corrected_pairs = [
        (shared_question.exam_row_id, matrix.corrected_questions[first], matrix.corrected_questions[second])
        for shared_question, verdict_indices in zip(matrix.shared, matrix.verdict_index.tolist(), strict=True)
        for first, second in combinations([index for index in verdict_indices if index >= 0], 2)
    ]
    return GroupAgreement(
        person_ids=matrix.people,
        questions=len(matrix.shared),
        aspects=(
            aspects[0],
            _compute_overall_key_aspect(matrix),
            compute_aspect(_KEY_CHANGED, matrix.key_changed),
            *aspects[1:],
        ),
        box_overlap=_compute_box_overlap(corrected_pairs),
    )


def _compute_overall_key_aspect(matrix: SharedQuestionMatrix) -> Aspect:
    codes = np.full(matrix.verdict_index.shape, -1, dtype=np.int64)
    for row, verdict_indices in enumerate(matrix.verdict_index.tolist()):
        code_by_key: dict[frozenset[object], int] = {}
        for person, verdict_index in enumerate(verdict_indices):
            version = matrix.corrected_questions[verdict_index] if verdict_index >= 0 else None
            if version is not None:
                codes[row, person] = code_by_key.setdefault(normalize_key(version), len(code_by_key))
    has_several = (codes >= 0).sum(axis=1) > 1
    is_countable = has_several & np.array(
        [count_choices(shared_question.question) > 1 for shared_question in matrix.shared], dtype=bool
    )
    unweighted = agreement_weights(max(2, len(matrix.people)), Weights.NONE)
    return _build_same_key_aspect(
        [
            shared_question.question
            for shared_question, is_kept in zip(matrix.shared, has_several, strict=True)
            if is_kept
        ],
        _estimate_group_coefficient(
            codes[has_several], Coefficient.PERCENT, unweighted, matrix.exams[has_several]
        ),
        _estimate_group_coefficient(
            codes[is_countable], Coefficient.PERCENT, unweighted, matrix.exams[is_countable]
        ),
    )


def _compute_overall_aspect(scale: Scale, codes: NDArray[np.int64], exams: NDArray[np.int64]) -> Aspect:
    unweighted = agreement_weights(scale.k, Weights.NONE)
    weights = agreement_weights(scale.k, Weights.QUADRATIC) if scale.weighted else unweighted

    return Aspect(
        name=scale.name,
        group=scale.group,
        weighted=scale.weighted,
        percent=_estimate_group_coefficient(codes, Coefficient.PERCENT, unweighted, exams),
        kappa=_estimate_group_coefficient(codes, Coefficient.CONGER, weights, exams),
        alternative=_estimate_group_coefficient(codes, Coefficient.AC1, weights, exams),
        alternative_name="AC2" if scale.weighted else "AC1",
    )


def _estimate_group_coefficient(
    codes: NDArray[np.int64], coefficient: Coefficient, weights: NDArray[np.float64], exams: NDArray[np.int64]
) -> AgreementEstimate:
    agreement = agreement_coefficient(codes, coefficient, weights=weights, clusters=exams)
    return AgreementEstimate(
        n=agreement.n, estimate=agreement.value, low=agreement.low, high=agreement.high,
        kind="" if agreement.low is None else GROUP_INTERVAL_METHOD, note=agreement.note,
    )  # fmt: skip


def _compute_box_overlap(
    corrected_pairs: Sequence[tuple[int, Question | None, Question | None]],
) -> MeanOverlap:
    overlaps = [
        (exam, compute_box_overlap(first.boxes, second.boxes))
        for exam, first, second in corrected_pairs
        if first and second
    ]
    return mean_overlap(
        [overlap for _, overlap in overlaps], clusters=[exam for exam, _ in overlaps], seed=_SEED
    )


def format_pair_names(agreements: Sequence[GroupAgreement], people: Mapping[int, str]) -> tuple[str, ...]:
    """Return the names of the pairs and of the whole group: "Rosa and Ravi", "all 3 together"."""
    return tuple(
        " and ".join(people[person_id] for person_id in agreement.person_ids)
        if len(agreement.person_ids) == 2
        else f"all {len(agreement.person_ids)} together"
        for agreement in agreements
    )
