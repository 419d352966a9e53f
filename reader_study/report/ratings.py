"""The answers of a study as a table of ratings for :mod:`measures`, one answer per row."""

from __future__ import annotations

from typing import Any

import pandas as pd

from domain.protocols import CannotDetermineAs
from domain.questions import Answer, letter
from domain.studies import Case
from measures.ratings import REPEAT, TRAINING, UNDETERMINED
from reader_study.report.material import Material

KEY = "the key"
#: The answer of a prediction whose extraction failed; a category of its own for agreement.
FAILED_ANSWER = "no answer found"

Row = dict[str, Any]


def ratings_of(material: Material) -> pd.DataFrame:
    """The table of ratings, with additional columns of the report (difficulty, position, seconds, kind).

    ``correct`` is given for every answer, because a question may have several correct answers. A question
    that was only reported as faulty counts as unanswered; so does "cannot determine" if the protocol excludes
    it.
    """
    left_out = material.versions[-1].protocol.cannot_determine is CannotDetermineAs.LEFT_OUT
    rows: list[Row] = []
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader for reader in material.readers}
    several = len(material.study.design.arms) > 1
    kept = [
        case
        for case in material.cases
        if case.scored and not material.left_out(case_id=case.shown.id, reader_id=None)
    ]
    rows += [_row(case, KEY, "reference", _said(case.question.answer), correct="yes") for case in kept]
    for reading in material.readings:
        case, reader = cases[reading.key.case_id], names[reading.key.reader_id]
        if material.left_out(case_id=case.shown.id, reader_id=reader.id):
            continue
        said = UNDETERMINED if reading.cannot_determine else _said(reading.answer)
        if reading.unanswered or (reading.cannot_determine and left_out):
            said = ""
        arm = reading.key.arm if several else ""
        rows.append(
            _row(
                case, reader.name, "reader", said,
                arm=TRAINING if not case.scored else REPEAT if reading.key.repeat else arm,
                correct="" if not said else _yes(case.is_right(reading.answer)),
                set_reference=_yes(reader.of_reference),
                position=reading.position,
                seconds=reading.seconds_looking,
            )
        )  # fmt: skip
    taken = {reader.name for reader in material.readers} | {KEY}
    for model in material.models:
        name = f"{model.name} (model)" if model.name in taken else model.name
        for case in kept:
            found = model.predictions.get(case.shown.question_number)
            if found is None:
                continue
            said = FAILED_ANSWER if found.answer is None else _said(found.answer)
            correct = _yes(case.is_right(found.answer))
            rows.append(_row(case, name, "model", said, correct=correct, seconds=found.seconds))
    columns = list(_row(material.cases[0], "", "", "")) if material.cases else []
    return pd.DataFrame(rows, columns=columns)


def _row(
    case: Case,
    rater: str,
    kind: str,
    answer: str,
    *,
    correct: str = "",
    arm: str = "",
    set_reference: str = "",
    position: int | None = None,
    seconds: float | None = None,
) -> Row:
    question = case.question
    options = len(question.format.words or question.options)
    return {
        "question_id": question.id,
        "rater": rater,
        "answer": answer,
        "kind": kind,
        "task": str(question.task or ""),
        "category": question.category or "",
        "difficulty": str(question.difficulty or ""),
        "exam": question.exam_id,
        "n_options": str(options) if options else "",
        "arm": arm,
        "correct": correct,
        "set_reference": set_reference,
        "format": question.format.value,
        "position": position,
        "seconds": seconds,
    }


def _said(answer: Answer | None) -> str:
    if answer is None:
        return ""
    if isinstance(answer, str):
        return " ".join(answer.split()).casefold().replace("|", "/")
    return "|".join(letter(index) for index in answer)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
