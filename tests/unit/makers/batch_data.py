"""The facts of a batch as columns, built from readable objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from domain.ratings import RATING_IDS
from domain.verdicts import FLAG_IDS
from records.columns import (
    DECISIONS,
    STATES,
    TASKS,
    TIERS,
    AssignmentColumns,
    LatestVerdicts,
    QuestionColumns,
)
from review.batch_counts import BatchData


def make_batch_data(questions, judgements, assigned, *, people) -> BatchData:
    """Return the data of a batch; ``assigned`` has (question, person, state) of each assignment."""
    error_sets = tuple({judgement.errors for judgement in judgements})
    return BatchData(
        questions=QuestionColumns(
            numbers=make_column(question.question_row_id for question in questions),
            exams=make_column(question.exam_row_id for question in questions),
            tiers=encode_values((question.tier for question in questions), TIERS),
            tasks=encode_values((question.task for question in questions), TASKS),
            inclusion_probabilities=np.array(
                [question.inclusion_probability for question in questions], dtype=float
            ),
        ),
        assignments=AssignmentColumns(
            questions=make_column(question for question, _, _ in assigned),
            people=make_column(person for _, person, _ in assigned),
            states=encode_values((state for _, _, state in assigned), STATES),
        ),
        verdicts=make_latest_verdicts(
            len(judgements),
            questions=make_column(judgement.question_row_id for judgement in judgements),
            people=make_column(judgement.person_id for judgement in judgements),
            decisions=encode_values((judgement.decision for judgement in judgements), DECISIONS),
            errors=make_column(error_sets.index(judgement.errors) for judgement in judgements),
            error_sets=error_sets,
            tiers=encode_values((judgement.tier for judgement in judgements), TIERS),
            ratings=np.array(
                [[value or 0 for value in judgement.ratings] for judgement in judgements], dtype=np.int8
            ).reshape(-1, len(RATING_IDS)),
            flags=np.array(
                [[-1 if value is None else value for value in judgement.flags] for judgement in judgements],
                dtype=np.int8,
            ).reshape(-1, len(FLAG_IDS)),
            first_given_at=np.array(
                [judgement.first_given_at.replace(tzinfo=None) for judgement in judgements],
                dtype="datetime64[us]",
            ),
            first_seconds=np.array(
                [judgement.first_seconds_looking for judgement in judgements], dtype=float
            ),
        ),
        people=people,
    )


def make_latest_verdicts(count, **columns) -> LatestVerdicts:
    """Make ``count`` verdicts; without ``columns``, accepted, each on its own exam, without errors."""
    numbers = np.arange(count)
    zeros, no_flags = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    timestamps = np.full(count, np.datetime64("2026-01-02", "us"))
    defaults: dict[str, Any] = {
        **dict.fromkeys(("questions", "exams"), numbers),
        **dict.fromkeys(("batches", "people", "errors", "decisions"), zeros),
        **dict.fromkeys(("corrects", "changes_key"), no_flags),
        **dict.fromkeys(("given_at", "first_given_at"), timestamps),
        "error_sets": (frozenset(),),
        "tiers": zeros - 1,
        "ratings": np.zeros((count, len(RATING_IDS)), dtype=np.int8),
        "flags": np.full((count, len(FLAG_IDS)), -1, dtype=np.int8),
        "first_seconds": zeros.astype(float),
    }
    return LatestVerdicts(**defaults | columns)


def make_column(values):
    return np.array(list(values), dtype=np.int64)


def encode_values(values, categories):
    return np.array([-1 if value is None else categories.index(value) for value in values], dtype=np.int8)
