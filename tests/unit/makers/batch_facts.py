"""A batch's facts as columns, from objects that a test can read."""

from __future__ import annotations

import numpy as np

from review.facts import (
    DECISIONS,
    STATES,
    TASKS,
    TIERS,
    AssignedColumns,
    Facts,
    JudgedColumns,
    QuestionColumns,
)


def facts_of(questions, judgements, assigned, *, people) -> Facts:
    """``assigned`` are (question, person, state)."""
    sets = tuple({each.errors for each in judgements})
    return Facts(
        questions=QuestionColumns(
            numbers=column(each.question_number for each in questions),
            exams=column(each.exam_number for each in questions),
            tiers=places((each.tier for each in questions), TIERS),
            tasks=places((each.task for each in questions), TASKS),
            inclusion_probabilities=np.array([each.inclusion_probability for each in questions], dtype=float),
        ),
        assigned=AssignedColumns(
            questions=column(question for question, _, _ in assigned),
            people=column(person for _, person, _ in assigned),
            states=places((state for _, _, state in assigned), STATES),
        ),
        judged=JudgedColumns(
            questions=column(each.question_number for each in judgements),
            people=column(each.person_number for each in judgements),
            decisions=places((each.decision for each in judgements), DECISIONS),
            errors=column(sets.index(each.errors) for each in judgements),
            error_sets=sets,
            tiers=places((each.tier for each in judgements), TIERS),
            ratings=np.array(
                [[value or 0 for value in each.ratings] for each in judgements], dtype=np.int8
            ).reshape(-1, 4),
            flags=np.array(
                [[-1 if value is None else value for value in each.flags] for each in judgements],
                dtype=np.int8,
            ).reshape(-1, 4),
            first_given_at=np.array(
                [each.first_given_at.replace(tzinfo=None) for each in judgements], dtype="datetime64[us]"
            ),
            first_seconds=np.array([each.first_seconds_looking for each in judgements], dtype=float),
        ),
        people=people,
    )


def column(values):
    return np.array(list(values), dtype=np.int64)


def places(values, among):
    return np.array([-1 if each is None else among.index(each) for each in values], dtype=np.int8)
