"""Sensitivity of the comparison with a model to missing answers, with a tipping-point analysis.

The missing answers of the readers, or of the model, are assumed to be wrong or correct. The tipping point is
a share of the readers' missing answers, the same share for each reader. This share is assumed to be correct,
and the rest wrong. The tipping point is the smallest share that changes the conclusion.

Source: Yan X, Lee S, Li N, J Biopharm Stat 2009;19:1085-1098 (tipping points).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domain.protocols import Hypothesis, Protocol, ReaderEffect
from measures.rating_matrix import RatingMatrix
from measures.records.mrmc import compute_mrmc
from measures.records.settings import Settings
from measures.results import MrmcComparison
from reader_study.report.helper_rules import find_declared_rule
from reader_study.report.report_data import ReportData
from reader_study.report.tables import MissingAnswerScenario

AS_ANALYSED, TIPPING_POINT = "as analysed", "tipping point"
#: The shares that are tried as tipping points, in ascending order.
_SHARES = tuple(step / 20 for step in range(21))


def compute_missing_answer_scenarios(
    data: ReportData, matrix: RatingMatrix, settings: Settings
) -> tuple[MissingAnswerScenario, ...]:
    """Compute the readers' mean minus each model under assumptions about missing answers.

    Returns:
        The scenarios of each model for which an answer of a reader or of the model is missing.
    """
    if not data.models or not data.readers:
        return ()
    missing = (matrix.correct < 0) & _find_expected(data, matrix)
    readers = [column for column in matrix.non_reference_raters if matrix.kinds[column] == "reader"]
    models = [column for column in matrix.non_reference_raters if matrix.kinds[column] == "model"]
    if not readers:
        return ()
    return tuple(
        scenario
        for model in models
        if missing[:, [*readers, model]].any()
        for scenario in _compute_scenarios(
            data.versions[-1].protocol,
            matrix.select_raters([*readers, model]),
            missing[:, [*readers, model]],
            settings,
        )
    )


def _find_expected(data: ReportData, matrix: RatingMatrix) -> NDArray[np.bool_]:
    """Return which answers were expected, shape (questions, raters), without answers that wait for a mark."""
    row_by_question = {question: row for row, question in enumerate(matrix.questions)}
    row_by_case = {
        case.blind_case.id: row_by_question[case.question.id]
        for case in data.cases
        if case.scored and case.question.id in row_by_question
    }
    assigned_cases: dict[tuple[int, str], set[int]] = {}
    has_arms = len(data.study.design.arms) > 1
    for slot in data.slots:
        if not slot.repeat:
            key = (slot.reader_id, slot.arm if has_arms else "")
            assigned_cases.setdefault(key, set()).add(slot.case_id)
    reader_ids = {reader.name: reader.id for reader in data.readers}
    expected = np.zeros(matrix.answers.shape, dtype=np.bool_)
    for column in matrix.non_reference_raters:
        reader_id = reader_ids.get(matrix.persons[column]) if matrix.kinds[column] == "reader" else None
        assigned = set(row_by_case)
        if reader_id is not None and any(key[0] == reader_id for key in assigned_cases):
            assigned = assigned & assigned_cases.get((reader_id, matrix.arms[column]), set())
        for case_id in assigned:
            if not data.is_excluded(case_id=case_id, reader_id=reader_id):
                expected[row_by_case[case_id], column] = True
    return expected & ~matrix.not_marked


def _compute_scenarios(
    protocol: Protocol, matrix: RatingMatrix, missing: NDArray[np.bool_], settings: Settings
) -> Iterator[MissingAnswerScenario]:
    """Yield the scenarios; the model is the last rater. A comparison on too few cases has no scenarios."""
    matrix = replace(matrix, tasks=(), task=np.full(len(matrix.questions), -1))
    if _find_primary(compute_mrmc(matrix, settings), protocol).cases < protocol.needed_cases:
        return
    of_readers, of_model = missing.copy(), missing.copy()
    of_readers[:, -1], of_model[:, :-1] = False, False
    rank = _rank_missing(of_readers, settings.seed)

    def compute(name: str, share: float | None, model: int | None) -> MissingAnswerScenario:
        correct = matrix.correct.copy()
        filled = np.zeros(missing.shape, dtype=np.bool_)
        if share is not None:
            correct[of_readers] = (rank < share)[of_readers]
            filled |= of_readers
        if model is not None:
            correct[of_model] = model
            filled |= of_model
        result = _find_primary(compute_mrmc(replace(matrix, correct=correct), settings), protocol)
        return MissingAnswerScenario(
            model=matrix.raters[-1], scenario=name, share_correct=share,
            filled_readers=int(filled[:, :-1].sum()), filled_model=int(filled[:, -1].sum()),
            difference=result.difference, low=result.low, high=result.high,
            conclusion=_conclude(result, protocol), note=result.note,
        )  # fmt: skip

    analysed = compute(AS_ANALYSED, None, None)
    yield analysed
    if of_readers.any():
        yield compute("missing answers of readers wrong", 0.0, None)
        yield compute("missing answers of readers correct", 1.0, None)
    if of_model.any():
        yield compute("missing answers of the model wrong", None, 0)
        yield compute("missing answers of the model correct", None, 1)
    if of_readers.any() and of_model.any():
        yield compute("against the readers: theirs wrong, the model's correct", 0.0, 1)
        yield compute("against the model: its wrong, the readers' correct", 1.0, 0)
    if of_readers.any() and analysed.conclusion:
        tipping = next(
            (
                scenario
                for scenario in (compute(TIPPING_POINT, share, None) for share in _SHARES)
                if scenario.conclusion != analysed.conclusion
            ),
            None,
        )
        yield tipping or replace(
            analysed, scenario=TIPPING_POINT, note="no share of correct answers changes the conclusion"
        )


def _rank_missing(missing: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """Return random ranks of each rater's missing answers, 0 to below 1; 1 for answers that exist."""
    random = np.random.default_rng(seed)
    rank = np.ones(missing.shape)
    for column in range(missing.shape[1]):
        rows = np.flatnonzero(missing[:, column])
        rank[rows, column] = random.permutation(len(rows)) / max(1, len(rows))
    return rank


def _find_primary(comparisons: tuple[MrmcComparison, ...], protocol: Protocol) -> MrmcComparison:
    """Return the comparison over all arms with the reader effect and the readers of the protocol."""
    candidates = [
        row
        for row in comparisons
        if not row.arm and row.random_readers is (protocol.readers is ReaderEffect.RANDOM)
    ]
    rule = find_declared_rule(candidates, protocol)
    return next(row for row in candidates if row.helpers is rule)


def _conclude(result: MrmcComparison, protocol: Protocol) -> str:
    """Return the conclusion for the hypothesis of the protocol; "" if there is no interval."""
    if result.low is None or result.high is None:
        return ""
    if protocol.hypothesis is Hypothesis.NON_INFERIORITY:
        return "non-inferior" if result.high < protocol.margin else "non-inferiority not shown"
    if result.high < -protocol.margin:
        return "the model is more accurate"
    return "the readers are more accurate" if result.low > protocol.margin else "no difference shown"
