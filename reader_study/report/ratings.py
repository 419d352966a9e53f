"""Builds the table of ratings of a study for :mod:`measures`, with one answer per row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from domain.protocols import CannotDetermineRule
from domain.questions import Answer, normalise_text_answer, option_letter
from domain.readings import Prediction, Reading
from domain.studies import Case
from domain.vocabulary import AnswerFormat
from measures.rating_values import NOT_MARKED, REPEAT, TRAINING, UNDETERMINED
from reader_study.open_answers import AnswerScoring, OpenAnswerScore
from reader_study.report.report_data import ReportData

KEY_RATER = "the key"
POSITIVE = "yes"
_MIDDLE_SCORE = 6
#: The answer of a prediction whose extraction failed. In agreement it is a separate category, or missing.
FAILED_ANSWER = "no answer found"


def score_reading(reading: Reading) -> int:
    """Score a reading of a yes/no question: higher if the answer is more certainly yes.

    6 plus the confidence (1 to 5) for yes, 6 minus the confidence for no, 6 for "cannot determine". Without a
    confidence, yes is 7 and no is 5. Only the order of scores affects an ROC curve.
    """
    if reading.cannot_determine:
        return _MIDDLE_SCORE
    strength = reading.confidence if reading.confidence is not None else 1
    return _MIDDLE_SCORE + (strength if reading.answer == POSITIVE else -strength)


def score_prediction(prediction: Prediction) -> float | None:
    """Return the probability of yes to a yes/no question, from the stated probability of being correct.

    None if the prediction has no answer or no stated probability.
    """
    if prediction.answer is None or prediction.probability is None:
        return None
    return prediction.probability if prediction.answer == POSITIVE else 1 - prediction.probability


def build_ratings(data: ReportData) -> pd.DataFrame:
    """Build the table of ratings, with additional columns (difficulty, format, open_score,
    position, seconds; also confidence, score and probability, if any answer has one).

    Every answer has ``correct``, because a question may have several correct answers. A question that was
    only reported as faulty counts as unanswered, and so does an open answer that is not marked. "Cannot
    determine" counts as unanswered if the protocol excludes it. An open answer that is marked right has the
    key as its answer, so that raters who gave it in different words agree. ``open_score`` is the score of an
    open answer, "" for other questions. Only models state a ``probability``; it is left out if no answer
    could be extracted.
    """
    excludes_cannot_determine = data.versions[-1].protocol.cannot_determine is CannotDetermineRule.EXCLUDED
    scorer = _Scorer(data.scoring)
    columns = _Columns(data.cases)
    cases = {case.blind_case.id: case for case in data.cases}
    readers_by_id = {reader.id: reader for reader in data.readers}
    has_arms = len(data.study.design.arms) > 1
    states_confidence = any(reading.confidence is not None for reading in data.readings)
    included_cases = [
        case
        for case in data.cases
        if case.scored and not data.is_excluded(case_id=case.blind_case.id, reader_id=None)
    ]
    for case in included_cases:
        columns.add(case, KEY_RATER, "reference", _answer_to_text(case.question.answer), correct="yes")
    for reading in data.readings:
        case, reader = cases[reading.key.case_id], readers_by_id[reading.key.reader_id]
        if data.is_excluded(case_id=case.blind_case.id, reader_id=reader.id):
            continue
        scored = scorer.score(case, reading.answer)
        answer_text = UNDETERMINED if reading.cannot_determine else scored.text
        if reading.unanswered or (reading.cannot_determine and excludes_cannot_determine):
            answer_text = ""
        arm = reading.key.arm if has_arms else ""
        columns.add(
            case, reader.name, "reader", answer_text,
            arm=TRAINING if not case.scored else REPEAT if reading.key.repeat else arm,
            correct=scored.correct if answer_text or scored.correct == NOT_MARKED else "",
            open_score=scored.open_score,
            set_reference=_yes_or_no(reader.of_reference),
            period=str(reading.period) if has_arms else "",
            position=reading.position,
            seconds=reading.seconds_looking,
            confidence=reading.confidence,
            score=score_reading(reading)
            if states_confidence
            and case.question.format is AnswerFormat.CLOSED
            and answer_text
            and (reading.confidence is not None or reading.cannot_determine)
            else None,
        )  # fmt: skip
    used_names = {reader.name for reader in data.readers} | {KEY_RATER}
    for model in data.models:
        name = f"{model.name} (model)" if model.name in used_names else model.name
        answered = [
            (case, prediction)
            for case in included_cases
            if (prediction := model.predictions.get(case.blind_case.question_row_id)) is not None
        ]
        columns.add_model(name, answered, scorer)
    return columns.to_table()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoredAnswer:
    """An answer as text, whether it is correct (yes, no, not marked), and the score if it is open."""

    text: str
    correct: str
    open_score: str = ""


_FAILED = _ScoredAnswer(text=FAILED_ANSWER, correct="no")


class _Scorer:
    """Scores answers; equal answers to a case are scored once."""

    def __init__(self, scoring: AnswerScoring) -> None:
        self._scoring = scoring
        self._scores: dict[tuple[int, Answer | None], _ScoredAnswer] = {}

    def score(self, case: Case, answer: Answer | None) -> _ScoredAnswer:
        key = (case.blind_case.id, answer)
        if key not in self._scores:
            self._scores[key] = self._compute_score(case, answer)
        return self._scores[key]

    def _compute_score(self, case: Case, answer: Answer | None) -> _ScoredAnswer:
        is_correct = self._scoring.is_correct(case, answer)
        if not isinstance(answer, str) or not case.question.format.is_free_text:
            return _ScoredAnswer(text=_answer_to_text(answer), correct=_yes_or_no(bool(is_correct)))
        open_score = self._scoring.score_open(case, answer).value
        if is_correct is None:
            return _ScoredAnswer(text="", correct=NOT_MARKED, open_score=open_score)
        is_equivalent_to_key = open_score in (OpenAnswerScore.RIGHT, OpenAnswerScore.EQUAL_TO_KEY)
        return _ScoredAnswer(
            text=_answer_to_text(case.question.answer if is_equivalent_to_key else answer),
            correct=_yes_or_no(is_correct),
            open_score=open_score,
        )


@dataclass(slots=True, kw_only=True)
class _AnswerColumns:
    """The columns that depend on the answer, and the place of its case."""

    place: list[int] = field(default_factory=list)
    rater: list[str] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    arm: list[str] = field(default_factory=list)
    period: list[str] = field(default_factory=list)
    correct: list[str] = field(default_factory=list)
    set_reference: list[str] = field(default_factory=list)
    open_score: list[str] = field(default_factory=list)
    position: list[int | None] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    confidence: list[int | None] = field(default_factory=list)
    score: list[float | None] = field(default_factory=list)
    probability: list[float | None] = field(default_factory=list)


class _Columns:
    """Collects the table by column. A dictionary per answer would need several times as much memory."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = list(cases)
        self._places = {case.blind_case.id: place for place, case in enumerate(self._cases)}
        self._columns = _AnswerColumns()

    def add(
        self,
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
        confidence: int | None = None,
        score: int | None = None,
    ) -> None:
        columns = self._columns
        columns.place.append(self._places[case.blind_case.id])
        columns.rater.append(rater)
        columns.answer.append(answer)
        columns.kind.append(kind)
        columns.arm.append(arm)
        columns.period.append(period)
        columns.correct.append(correct)
        columns.set_reference.append(set_reference)
        columns.open_score.append(open_score)
        columns.position.append(position)
        columns.seconds.append(seconds)
        columns.confidence.append(confidence)
        columns.score.append(score)
        columns.probability.append(None)

    def add_model(self, rater: str, answered: Sequence[tuple[Case, Prediction]], scorer: _Scorer) -> None:
        """Add a model's answers together; one by one, 800,000 answers would take seconds."""
        columns, n = self._columns, len(answered)
        answers = [
            _FAILED if prediction.answer is None else scorer.score(case, prediction.answer)
            for case, prediction in answered
        ]
        columns.place += [self._places[case.blind_case.id] for case, _ in answered]
        columns.answer += [answer.text for answer in answers]
        columns.correct += [answer.correct for answer in answers]
        columns.open_score += [answer.open_score for answer in answers]
        columns.seconds += [prediction.seconds for _, prediction in answered]
        columns.probability += [
            None if prediction.answer is None else prediction.probability for _, prediction in answered
        ]
        columns.score += [
            score_prediction(prediction) if case.question.format is AnswerFormat.CLOSED else None
            for case, prediction in answered
        ]
        columns.rater += [rater] * n
        columns.kind += ["model"] * n
        for empty_column in (columns.arm, columns.set_reference, columns.period):
            empty_column.extend([""] * n)
        columns.position += [None] * n
        columns.confidence += [None] * n

    def to_table(self) -> pd.DataFrame:
        """Return the table; afterwards, the columns are empty."""
        columns, place = self._columns, np.array(self._columns.place, dtype=np.int64)

        def by_case(values: Iterable[str]) -> pd.Series:
            return pd.Series(np.array([*values], dtype=object)[place], dtype=object)

        def by_answer(name: str, dtype: type = object) -> pd.Series:
            values = getattr(columns, name)
            setattr(columns, name, [])  # frees the memory before the next column is built
            return pd.Series(values, dtype=dtype)

        questions = [case.question for case in self._cases]
        n_options = [len(question.format.fixed_answers or question.options) for question in questions]
        stated: dict[str, pd.Series] = {}
        for name, values in (
            ("confidence", columns.confidence),
            ("score", columns.score),
            ("probability", columns.probability),
        ):
            if any(value is not None for value in values):
                texts = ["" if value is None else str(value) for value in values]
                stated[name] = pd.Series(texts, dtype=object)
        return pd.DataFrame(
            {
                "question_id": by_case(question.id for question in questions),
                "rater": by_answer("rater"),
                "answer": by_answer("answer"),
                "kind": by_answer("kind"),
                "task": by_case(str(question.task or "") for question in questions),
                "category": by_case(question.category or "" for question in questions),
                "difficulty": by_case(str(question.difficulty or "") for question in questions),
                "exam": by_case(question.exam_id for question in questions),
                "patient": by_case(case.patient or "" for case in self._cases),
                "n_options": by_case(str(n) if n else "" for n in n_options),
                "arm": by_answer("arm"),
                "period": by_answer("period"),
                "correct": by_answer("correct"),
                "set_reference": by_answer("set_reference"),
                "format": by_case(question.format.value for question in questions),
                "open_score": by_answer("open_score"),
                "position": by_answer("position", float),
                "seconds": by_answer("seconds", float),
                **stated,
            },
            copy=False,
        )


def _answer_to_text(answer: Answer | None) -> str:
    if answer is None:
        return ""
    if isinstance(answer, str):
        return normalise_text_answer(answer).replace("|", "/")
    return "|".join(option_letter(index) for index in answer)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
