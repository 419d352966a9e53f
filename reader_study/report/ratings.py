"""Builds the table of ratings of a study for :mod:`measures`, with one answer per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from domain.protocols import CannotDetermineRule
from domain.questions import Answer, normalise_text_answer, option_letter
from domain.studies import Case
from measures.rating_values import NOT_MARKED, REPEAT, TRAINING, UNDETERMINED
from reader_study.open_answers import AnswerScoring, OpenAnswerScore
from reader_study.report.report_data import ReportData

KEY_RATER = "the key"
#: The answer of a prediction whose extraction failed. It is a separate category in agreement.
FAILED_ANSWER = "no answer found"

Row = dict[str, Any]


def build_ratings(data: ReportData) -> pd.DataFrame:
    """Build the table of ratings, with additional columns (difficulty, position, seconds, kind).

    Every answer has ``correct``, because a question may have several correct answers. A question that was
    only reported as faulty counts as unanswered, and so does an open answer that is not marked. "Cannot
    determine" counts as unanswered if the protocol excludes it. An open answer that is marked right has the
    key as its answer, so that raters who gave it in different words agree. ``open_score`` is the score of an
    open answer, "" for other questions.
    """
    excludes_cannot_determine = data.versions[-1].protocol.cannot_determine is CannotDetermineRule.EXCLUDED
    rows: list[Row] = []
    scoring = data.scoring
    cases = {case.blind_case.id: case for case in data.cases}
    readers_by_id = {reader.id: reader for reader in data.readers}
    has_arms = len(data.study.design.arms) > 1
    included_cases = [
        case
        for case in data.cases
        if case.scored and not data.is_excluded(case_id=case.blind_case.id, reader_id=None)
    ]
    rows += [
        _build_row(case, KEY_RATER, "reference", _answer_to_text(case.question.answer), correct="yes")
        for case in included_cases
    ]
    for reading in data.readings:
        case, reader = cases[reading.key.case_id], readers_by_id[reading.key.reader_id]
        if data.is_excluded(case_id=case.blind_case.id, reader_id=reader.id):
            continue
        scored = _score_answer(scoring, case, reading.answer)
        answer_text = UNDETERMINED if reading.cannot_determine else scored.text
        if reading.unanswered or (reading.cannot_determine and excludes_cannot_determine):
            answer_text = ""
        arm = reading.key.arm if has_arms else ""
        rows.append(
            _build_row(
                case, reader.name, "reader", answer_text,
                arm=TRAINING if not case.scored else REPEAT if reading.key.repeat else arm,
                correct=scored.correct if answer_text or scored.correct == NOT_MARKED else "",
                open_score=scored.open_score,
                set_reference=_yes_or_no(reader.of_reference),
                period=str(reading.period) if has_arms else "",
                position=reading.position,
                seconds=reading.seconds_looking,
            )
        )  # fmt: skip
    used_names = {reader.name for reader in data.readers} | {KEY_RATER}
    for model in data.models:
        name = f"{model.name} (model)" if model.name in used_names else model.name
        for case in included_cases:
            prediction = model.predictions.get(case.blind_case.question_number)
            if prediction is None:
                continue
            scored = _score_answer(scoring, case, prediction.answer)
            answer_text = FAILED_ANSWER if prediction.answer is None else scored.text
            rows.append(
                _build_row(
                    case, name, "model", answer_text,
                    correct=scored.correct,
                    open_score=scored.open_score,
                    seconds=prediction.seconds,
                )
            )  # fmt: skip
    columns = list(_build_row(data.cases[0], "", "", "")) if data.cases else []
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoredAnswer:
    """An answer as text, whether it is correct (yes, no, not marked), and the score if it is open."""

    text: str
    correct: str
    open_score: str = ""


def _score_answer(scoring: AnswerScoring, case: Case, answer: Answer | None) -> _ScoredAnswer:
    is_correct = scoring.is_correct(case, answer)
    if not isinstance(answer, str) or not case.question.format.is_free_text:
        return _ScoredAnswer(text=_answer_to_text(answer), correct=_yes_or_no(bool(is_correct)))
    open_score = scoring.score_open(case, answer).value
    if is_correct is None:
        return _ScoredAnswer(text="", correct=NOT_MARKED, open_score=open_score)
    means_key = open_score in (OpenAnswerScore.RIGHT, OpenAnswerScore.EQUAL_TO_KEY)
    return _ScoredAnswer(
        text=_answer_to_text(case.question.answer if means_key else answer),
        correct=_yes_or_no(is_correct),
        open_score=open_score,
    )


def _build_row(
    case: Case,
    rater: str,
    kind: str,
    answer: str,
    *,
    correct: str = "",
    open_score: str = "",
    arm: str = "",
    set_reference: str = "",
    period: str = "",
    position: int | None = None,
    seconds: float | None = None,
) -> Row:
    question = case.question
    options = len(question.format.fixed_answers or question.options)
    return {
        "question_id": question.id,
        "rater": rater,
        "answer": answer,
        "kind": kind,
        "task": str(question.task or ""),
        "category": question.category or "",
        "difficulty": str(question.difficulty or ""),
        "exam": question.exam_id,
        "patient": case.patient or "",
        "n_options": str(options) if options else "",
        "arm": arm,
        "period": period,
        "correct": correct,
        "set_reference": set_reference,
        "format": question.format.value,
        "open_score": open_score,
        "position": position,
        "seconds": seconds,
    }


def _answer_to_text(answer: Answer | None) -> str:
    if answer is None:
        return ""
    if isinstance(answer, str):
        return normalise_text_answer(answer).replace("|", "/")
    return "|".join(option_letter(index) for index in answer)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
