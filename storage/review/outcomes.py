"""Outcomes of the questions of batches. Estimates for the whole dataset are computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlmodel import Session

from domain.adjudications import AdjudicationSummary
from domain.batches import AssignmentState, DerivedNames
from domain.verdicts import Decision
from domain.vocabulary import Difficulty
from records.values import from_json
from storage.review.latest_verdicts import changes_key, factorize, read_columns
from storage.rows.adjudications import AdjudicationRow
from storage.rows.batches import AssignmentRow, BatchQuestionRow
from storage.rows.datasets import ExamRow, QuestionRow
from storage.rows.verdicts import VerdictRow
from storage.sampling.exclude_copies import exclude_hidden
from terminology.taxonomy import derive_value, get_column

#: The features, besides the tier, by which questions of a dataset can be grouped.
FEATURES = ("task", "category", "generator", "prompt_version")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewedQuestionColumns:
    """Drawn questions that were judged or skipped, ordered by id (``numbers``).

    ``clusters`` has equal values for questions of one patient, or of one exam if no patient is stated.
    The tier and each of :data:`FEATURES` are stored as (distinct values, index of each question's value). A
    missing feature is "", a missing tier is None.
    """

    numbers: NDArray[np.int64]
    clusters: NDArray[np.int64]
    tiers: tuple[tuple[Difficulty | None, ...], NDArray[np.int64]]
    features: Mapping[str, tuple[tuple[str, ...], NDArray[np.int64]]]

    def indices_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the questions with these ids."""
        return np.searchsorted(self.numbers, numbers)

    def derive_feature(self, name: str, names: DerivedNames) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return one of :data:`FEATURES`, or a feature that is derived from one of them.

        The result has a value for each distinct raw value, so values may recur. ``names`` has the values of
        derived features by raw value.
        """
        values, codes = self.features[get_column(name)]
        return tuple(derive_value(name, value, names) for value in values), codes

    def feature_by_question(self, name: str, names: DerivedNames) -> dict[int, str]:
        """Return the values of :meth:`derive_feature` by question id."""
        values, codes = self.derive_feature(name, names)
        return {
            number: values[code]
            for number, code in zip(self.numbers.tolist(), codes.tolist(), strict=True)
        }  # fmt: skip


def load_reviewed_questions(db: Session, *, batch_ids: Sequence[int]) -> ReviewedQuestionColumns:
    """Return the questions of these batches that are judged or skipped in one of them."""
    table = QuestionRow.__table__.c
    reviewed_ids = [
        select(row_type.question_id).where(row_type.batch_id.in_(batch_ids))
        for row_type in (VerdictRow, AssignmentRow)
    ]
    reviewed_ids[1] = reviewed_ids[1].where(AssignmentRow.state == AssignmentState.SKIPPED.value)
    drawn_question_ids = select(BatchQuestionRow.question_id).where(BatchQuestionRow.batch_id.in_(batch_ids))
    statement = (
        select(
            table.id, table.exam_id, ExamRow.patient, table.difficulty, *(table[name] for name in FEATURES)
        )
        .join(ExamRow, ExamRow.id == table.exam_id)
        .where(table.id.in_(reviewed_ids[0].union(reviewed_ids[1])), table.id.in_(drawn_question_ids))
        .order_by(table.id)
    )
    numbers, exams, patients, tiers, *features = read_columns(db, statement)
    return ReviewedQuestionColumns(
        numbers=np.array(numbers, dtype=np.int64),
        clusters=_number_clusters(exams, patients),
        tiers=factorize(tiers, lambda tier: Difficulty(tier) if tier else None),
        features={
            name: factorize(values, lambda value: value or "")
            for name, values in zip(FEATURES, features, strict=True)
        },
    )


def _number_clusters(exams: Sequence[int], patients: Sequence[str | None]) -> NDArray[np.int64]:
    """Number the patients. An exam without a patient counts as a patient of its own."""
    cluster_keys = [
        (patient or "").strip().casefold() or exam for exam, patient in zip(exams, patients, strict=True)
    ]
    return factorize(cluster_keys, lambda key: key)[1]


def load_adjudication_outcomes(db: Session, *, batch_ids: Sequence[int]) -> list[AdjudicationSummary]:
    """Return every adjudication in these batches in order of time. The last one of each question counts."""
    statement = (
        select(
            AdjudicationRow.question_id,
            AdjudicationRow.batch_id,
            AdjudicationRow.decision,
            AdjudicationRow.follows,
            AdjudicationRow.correction,
            AdjudicationRow.given_at,
        )
        .where(AdjudicationRow.batch_id.in_(batch_ids))
        .order_by(AdjudicationRow.given_at, AdjudicationRow.revision)
    )
    return [
        AdjudicationSummary(
            question_row_id=row[0],
            batch_id=row[1],
            decision=Decision(row[2]),
            follows=tuple(from_json(row[3])),
            key_changed=changes_key(row[4]),
            given_at=row[5],
        )
        for row in db.execute(statement)
    ]


def load_skipped_questions(db: Session, *, batch_ids: Sequence[int]) -> set[tuple[int, int]]:
    """Return (batch id, question id) of questions that were skipped and not reopened."""
    statement = (
        select(AssignmentRow.batch_id, AssignmentRow.question_id)
        .where(
            AssignmentRow.batch_id.in_(batch_ids),
            AssignmentRow.state == AssignmentState.SKIPPED.value,
            exclude_hidden(AssignmentRow.question_id),
        )
        .distinct()
    )
    return {(row[0], row[1]) for row in db.execute(statement)}
