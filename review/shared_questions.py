"""Questions that two people or more have judged, converted once for all measures of agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.questions import Question
from domain.verdicts import Verdict
from review.corrected_versions import apply_verdict, has_same_key
from review.scales import encode_verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQuestion:
    """A question that two people or more have judged, with their latest verdicts."""

    question: Question
    exam_row_id: int
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedQuestionMatrix:
    """The shared questions with all their verdicts in one sequence.

    ``verdict_index``, shape (questions, people), has the index of each person's verdict; -1 if there is none.
    ``codes`` (categories by the scale's name), ``key_changed`` (0 or 1; -1 if rejected) and
    ``corrected_questions`` are in the order of the verdicts.
    """

    shared: Sequence[SharedQuestion]
    exams: NDArray[np.int64]
    people: tuple[int, ...]
    verdict_index: NDArray[np.int64]
    codes: Mapping[str, NDArray[np.int64]]
    key_changed: NDArray[np.int64]
    corrected_questions: Sequence[Question | None]

    @classmethod
    def from_questions(cls, shared: Sequence[SharedQuestion]) -> SharedQuestionMatrix:
        """Convert shared questions."""
        verdicts = [verdict for question in shared for verdict in question.verdicts]
        people = sorted({verdict.person_id for verdict in verdicts})
        column_by_person = {person: index for index, person in enumerate(people)}
        verdict_index = np.full((len(shared), len(people)), -1, dtype=np.int64)
        rows = np.repeat(np.arange(len(shared)), [len(question.verdicts) for question in shared])
        verdict_index[rows, [column_by_person[verdict.person_id] for verdict in verdicts]] = np.arange(
            len(verdicts)
        )
        corrected_questions = [
            apply_verdict(question.question, verdict) for question in shared for verdict in question.verdicts
        ]
        key_changed = [
            -1 if version is None else int(not has_same_key(version, shared[row].question))
            for row, version in zip(rows.tolist(), corrected_questions, strict=True)
        ]
        return cls(
            shared=shared,
            exams=np.array([question.exam_row_id for question in shared], dtype=np.int64),
            people=tuple(people),
            verdict_index=verdict_index,
            codes=encode_verdicts(verdicts),
            key_changed=np.array(key_changed, dtype=np.int64),
            corrected_questions=corrected_questions,
        )
