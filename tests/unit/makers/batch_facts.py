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


def facts_of(questions, judgements, assigned, *, people) -> BatchData:
    """``assigned`` are (question, person, state)."""
    sets = tuple({each.errors for each in judgements})
    return BatchData(
        questions=QuestionColumns(
            numbers=column(each.question_number for each in questions),
            exams=column(each.exam_number for each in questions),
            tiers=places((each.tier for each in questions), TIERS),
            tasks=places((each.task for each in questions), TASKS),
            inclusion_probabilities=np.array([each.inclusion_probability for each in questions], dtype=float),
        ),
        assignments=AssignmentColumns(
            questions=column(question for question, _, _ in assigned),
            people=column(person for _, person, _ in assigned),
            states=places((state for _, _, state in assigned), STATES),
        ),
        verdicts=latest_verdicts(
            len(judgements),
            questions=column(each.question_number for each in judgements),
            people=column(each.person_number for each in judgements),
            decisions=places((each.decision for each in judgements), DECISIONS),
            errors=column(sets.index(each.errors) for each in judgements),
            error_sets=sets,
            tiers=places((each.tier for each in judgements), TIERS),
            ratings=np.array(
                [[value or 0 for value in each.ratings] for each in judgements], dtype=np.int8
            ).reshape(-1, len(RATING_IDS)),
            flags=np.array(
                [[-1 if value is None else value for value in each.flags] for each in judgements],
                dtype=np.int8,
            ).reshape(-1, len(FLAG_IDS)),
            first_given_at=np.array(
                [each.first_given_at.replace(tzinfo=None) for each in judgements], dtype="datetime64[us]"
            ),
            first_seconds=np.array([each.first_seconds_looking for each in judgements], dtype=float),
        ),
        people=people,
    )


def latest_verdicts(count, **columns) -> LatestVerdicts:
    """That many verdicts with these columns: accepted, each on its own exam, without reported errors."""
    numbers = np.arange(count)
    zeros, none = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    moments = np.full(count, np.datetime64("2026-01-02", "us"))
    defaults: dict[str, Any] = {
        **dict.fromkeys(("questions", "exams"), numbers),
        **dict.fromkeys(("batches", "people", "errors", "decisions"), zeros),
        **dict.fromkeys(("corrects", "changes_key"), none),
        **dict.fromkeys(("given_at", "first_given_at"), moments),
        "error_sets": (frozenset(),),
        "tiers": zeros - 1,
        "ratings": np.zeros((count, len(RATING_IDS)), dtype=np.int8),
        "flags": np.full((count, len(FLAG_IDS)), -1, dtype=np.int8),
        "first_seconds": zeros.astype(float),
    }
    return LatestVerdicts(**defaults | columns)


def column(values):
    return np.array(list(values), dtype=np.int64)


def places(values, among):
    return np.array([-1 if each is None else among.index(each) for each in values], dtype=np.int8)
