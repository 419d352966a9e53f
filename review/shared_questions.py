"""Questions that two people or more have judged, converted once for all measures of agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.questions import Question
from domain.verdicts import Verdict
from review.forms import left_by, same_key
from review.scales import codes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQuestion:
    """A question that two people or more have judged, with their latest verdicts."""

    question: Question
    exam_number: int
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadQuestions:
    """The shared questions with all their verdicts in one sequence.

    ``at``, shape (questions, people): the index of each person's verdict on each question, -1 without one.
    ``codes`` (categories by the scale's name) and ``forms`` (corrected questions) are in the order of the
    verdicts.
    """

    shared: Sequence[SharedQuestion]
    exams: NDArray[np.int64]
    people: tuple[int, ...]
    at: NDArray[np.int64]
    codes: Mapping[str, NDArray[np.int64]]
    key_changed: NDArray[np.int64]
    forms: Sequence[Question | None]

    @classmethod
    def of(cls, shared: Sequence[SharedQuestion]) -> ReadQuestions:
        """Convert shared questions."""
        verdicts = [each for one in shared for each in one.verdicts]
        people = sorted({each.person_id for each in verdicts})
        column = {person: place for place, person in enumerate(people)}
        at = np.full((len(shared), len(people)), -1, dtype=np.int64)
        rows = np.repeat(np.arange(len(shared)), [len(one.verdicts) for one in shared])
        at[rows, [column[each.person_id] for each in verdicts]] = np.arange(len(verdicts))
        forms = [left_by(one.question, each) for one in shared for each in one.verdicts]
        changed = [
            -1 if form is None else int(not same_key(form, shared[row].question))
            for row, form in zip(rows.tolist(), forms, strict=True)
        ]
        return cls(
            shared=shared,
            exams=np.array([one.exam_number for one in shared], dtype=np.int64),
            people=tuple(people),
            at=at,
            codes=codes_of(verdicts),
            key_changed=np.array(changed, dtype=np.int64),
            forms=forms,
        )
