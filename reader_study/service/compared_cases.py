"""Loads one case of a closed study with the answers of all readers and models.

The key and all answers are loaded only after the study is closed. They are never loaded for a marker of the
study, because markers must not know who answered.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from domain.boxes import LabelledBox
from domain.errors import NotFound, Refused
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.questions import Answer, format_answer
from domain.readings import Prediction, Reading
from domain.studies import Case, CaseKind, StudyState, is_excluded
from reader_study.open_answers import AnswerScoring, build_scoring
from storage.intake.exams import load_exam
from storage.reader_study import marks as mark_storage
from storage.reader_study import studies as study_storage
from storage.reader_study.cases import list_blind_cases, load_case
from storage.reader_study.predictions import iterate_predictions, list_models
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import iterate_readings


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAnswer:
    """A rater's answer to a case as text. ``is_correct`` is None for an open answer that is not marked.

    ``note`` states why an answer is missing or not analysed, and what the reader reported.
    """

    rater: str
    kind: str
    arm: str
    text: str
    is_correct: bool | None
    confidence: int | None
    seconds: float | None
    boxes: tuple[LabelledBox, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCase:
    """A case with its key, its exam, and the first answers of readers, then of models."""

    case: Case
    exam: Exam
    answers: tuple[ComparedAnswer, ...]


def load_compared_case(db: Session, *, by: Person, study: str, number: int) -> ComparedCase:
    """Load a case with all answers.

    Args:
        db: a session.
        by: the acting person.
        study: the name of the study.
        number: the number of the case in the study.

    Raises:
        NotFound: the study does not exist, or has no scored case with this number.
        Refused: the study is open, or the person marks its open answers.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    check_may_compare(db, by=by, study=study)
    case_ids = {
        case.number: case.id
        for case in list_blind_cases(db, study_id=loaded_study.id)
        if case.kind is CaseKind.SCORED
    }
    if number not in case_ids:
        raise NotFound(
            f"{study} has no scored case {number}. The cases on which readers and models differ are in the "
            "report, under “Cases on which readers and models differ most”."
        )
    case = load_case(db, case_id=case_ids[number])
    protocol = study_storage.list_protocols(db, study_id=loaded_study.id)[-1].protocol
    scoring = build_scoring(protocol, mark_storage.list_latest_marks(db, study_id=loaded_study.id))
    exclusions = study_storage.list_exclusions(db, study_id=loaded_study.id)
    readers = {reader.id: reader for reader in list_readers(db, study_id=loaded_study.id)}
    has_arms = len(loaded_study.design.arms) > 1
    answers = [
        _build_reader_answer(
            case,
            reading,
            scoring,
            rater=readers[reading.key.reader_id].name,
            arm=reading.key.arm if has_arms else "",
            excluded=is_excluded(exclusions, case_id=case.blind_case.id, reader_id=reading.key.reader_id),
        )
        for reading in iterate_readings(db, study_id=loaded_study.id, case_id=case.blind_case.id)
        if not reading.key.repeat
    ]
    for model in list_models(db, dataset_id=loaded_study.dataset_id):
        if protocol.includes_model(model.name):
            predictions = iterate_predictions(
                db, model_id=model.id, question_ids=[case.blind_case.question_row_id]
            )
            answers += [
                _build_model_answer(case, prediction, scoring, rater=model.name) for prediction in predictions
            ]
    return ComparedCase(
        case=case, exam=load_exam(db, exam_id=case.blind_case.exam_row_id), answers=tuple(answers)
    )


def check_may_compare(db: Session, *, by: Person, study: str) -> None:
    """Check that a person may see keys and answers of single cases.

    Raises:
        NotFound: the study does not exist.
        Refused: the study is open, or the person marks its open answers.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    if loaded_study.state is not StudyState.CLOSED:
        raise Refused(
            f"{study} is open: keys and answers of single cases stay hidden until it is closed. Close it in "
            "“Readers and protocol” once all readers have finished."
        )
    if loaded_study.id in dict(mark_storage.list_marker_roles(db, person_id=by.id)):
        raise Refused(
            f"You mark open answers of {study} without knowing who answered, so you cannot see who gave "
            "which answer. Ask a coordinator who does not mark them."
        )


def _build_reader_answer(
    case: Case, reading: Reading, scoring: AnswerScoring, *, rater: str, arm: str, excluded: bool
) -> ComparedAnswer:
    text = "cannot determine" if reading.cannot_determine else _answer_to_text(case, reading.answer)
    notes = (
        "excluded from the analysis" if excluded else "",
        f"reported: {reading.faulty}" if reading.faulty else "",
    )
    is_correct = None if reading.unanswered else scoring.is_correct(case, reading.answer)
    return ComparedAnswer(
        rater=rater, kind="reader", arm=arm, text=text, is_correct=is_correct,
        confidence=reading.confidence, seconds=reading.seconds_looking, boxes=reading.boxes,
        note="; ".join(filter(None, notes)),
    )  # fmt: skip


def _build_model_answer(
    case: Case, prediction: Prediction, scoring: AnswerScoring, *, rater: str
) -> ComparedAnswer:
    return ComparedAnswer(
        rater=rater, kind="model", arm="", text=_answer_to_text(case, prediction.answer),
        is_correct=scoring.is_correct(case, prediction.answer), confidence=None, seconds=prediction.seconds,
        boxes=prediction.boxes, note="no answer was found in the reply" if prediction.failed else "",
    )  # fmt: skip


def _answer_to_text(case: Case, answer: Answer | None) -> str:
    return "" if answer is None else format_answer(answer, case.question.options)
