"""Service that compares the difficulty as stated and as judged by juries with the reviewers' ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from sqlmodel import Session

from domain.errors import Refused
from domain.people import Action, Person, require
from domain.vocabulary import Difficulty
from measures.agreement import Weights, agreement_weights
from measures.kappa_intervals import kappa_interval
from quality.service import load_jury_tiers
from records.columns import LatestVerdicts
from review.agreement import AgreementEstimate
from review.service.sample_data import load_sample_data
from storage.review.outcomes import ReviewedQuestionColumns

_TIERS = tuple(Difficulty)


class DifficultySource(StrEnum):
    """Where a difficulty is from: the question as imported, or a jury of language models."""

    STATED = "stated difficulty"
    JURY = "difficulty by a jury"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyAgreement:
    """Quadratically weighted kappa of a source with the reviewers; see :func:`measure_difficulty`."""

    source: DifficultySource
    kappa: AgreementEstimate


def measure_difficulty(db: Session, *, by: Person, dataset: str) -> tuple[DifficultyAgreement, ...]:
    """Compare the stated difficulty and the juries' difficulty with the reviewers' rating.

    For each source, only questions of random batches with a difficulty of this source and a reviewer's rating
    are compared. If the reviewers' ratings of a question differ, the lower median counts. The interval is
    clustered by exam. Kappa describes the judged questions; it is not weighted to the dataset.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    try:
        data = load_sample_data(db, dataset=dataset, names=None)
    except Refused:  # no batch was drawn at random, so nothing is measured
        missing_estimate = AgreementEstimate(n=0, note="not measured yet")
        return tuple(
            DifficultyAgreement(source=source, kappa=missing_estimate) for source in DifficultySource
        )
    verdicts = data.judgements.latest_verdicts
    rated_tiers, exams = _compute_rated_tiers(verdicts)
    jury_tiers = load_jury_tiers(db, by=by, dataset=dataset, question_row_ids=rated_tiers)
    sources = {
        DifficultySource.STATED: _find_stated_tiers(data.drawn_columns),
        DifficultySource.JURY: {number: _TIERS.index(tier) for number, tier in jury_tiers.items()},
    }
    return tuple(
        DifficultyAgreement(source=source, kappa=_compute_kappa(rated_tiers, source_tiers, exams))
        for source, source_tiers in sources.items()
    )


def _compute_rated_tiers(verdicts: LatestVerdicts) -> tuple[dict[int, int], dict[int, int]]:
    """Return the tiers that reviewers chose, and the exams, by question."""
    rows = verdicts.find_latest_rows(verdicts.tiers >= 0)
    tiers_by_question: dict[int, list[int]] = {}
    exams: dict[int, int] = {}
    for row in rows.tolist():
        number = int(verdicts.questions[row])
        tiers_by_question.setdefault(number, []).append(int(verdicts.tiers[row]))
        exams[number] = int(verdicts.exams[row])
    return {
        number: sorted(tiers)[(len(tiers) - 1) // 2] for number, tiers in sorted(tiers_by_question.items())
    }, exams


def _find_stated_tiers(columns: ReviewedQuestionColumns) -> dict[int, int]:
    values, codes = columns.tiers
    return {
        number: _TIERS.index(tier)
        for number, code in zip(columns.numbers.tolist(), codes.tolist(), strict=True)
        if (tier := values[code]) is not None
    }


def _compute_kappa(
    rated_tiers: Mapping[int, int], tiers: Mapping[int, int], exams: Mapping[int, int]
) -> AgreementEstimate:
    numbers = [number for number in rated_tiers if number in tiers]
    if not numbers:
        return AgreementEstimate(n=0, note="not measured yet")
    estimate = kappa_interval(
        np.array([rated_tiers[number] for number in numbers], dtype=np.int64),
        np.array([tiers[number] for number in numbers], dtype=np.int64),
        weights=agreement_weights(len(_TIERS), Weights.QUADRATIC),
        clusters=np.array([exams[number] for number in numbers], dtype=np.int64),
    )
    return AgreementEstimate(
        n=estimate.n,
        estimate=estimate.value,
        low=estimate.low,
        high=estimate.high,
        kind=estimate.method or "",
        note=estimate.note,
    )
