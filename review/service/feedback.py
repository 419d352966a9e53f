"""Loads the feedback that a reviewer is shown after the verdict on a practice question."""

from __future__ import annotations

from sqlmodel import Session

from domain.corrections import CORRECTABLE_FIELDS
from domain.practice import KnownAnswer
from domain.questions import Question, format_answer
from review.practice import agrees_with_known_answer
from review.sheet import Feedback
from storage.intake.questions import load_question
from storage.review.practice import find_known_answer
from storage.review.question_work import BatchForPerson, QuestionWork
from storage.review.verdicts import find_verdict


def load_feedback(
    db: Session, *, reviewer_batch: BatchForPerson, work: QuestionWork, person_id: int
) -> Feedback | None:
    """Return the feedback on a person's first verdict; None before this verdict and outside practice sets."""
    if not reviewer_batch.is_practice or not work.has_verdicts:
        return None
    question_id = work.assigned.question_row_id
    known_answer = find_known_answer(db, question_id=question_id)
    verdict = find_verdict(
        db, batch_id=reviewer_batch.batch.id, question_id=question_id, person_id=person_id, revision=1
    )
    if known_answer is None or verdict is None:
        raise ValueError(f"practice question {question_id} has no known answer or no first verdict")
    is_correct = agrees_with_known_answer(known_answer, verdict)
    if known_answer.is_sound:
        summary = "You accepted a sound question." if is_correct else "This question is sound."
    else:
        summary = (
            "You found the error." if is_correct else "This question has an error. You did not report it."
        )
    question = load_question(db, question_id=question_id)
    return Feedback(is_correct=is_correct, summary=summary, details=_list_details(known_answer, question))


def _list_details(known_answer: KnownAnswer, question: Question) -> tuple[tuple[str, str], ...]:
    details = []
    if known_answer.errors:
        labels = sorted(error.label for error in known_answer.errors)
        details.append(("Kind of error" if len(labels) == 1 else "Kinds of error", ", ".join(labels)))
    for name in CORRECTABLE_FIELDS:
        value = getattr(known_answer.correction, name)
        if value is None:
            continue
        if name == "answer":
            value = format_answer(value, known_answer.correction.options or question.options)
        elif name == "options":
            value = "; ".join(value)
        elif name in ("boxes", "also_right"):
            value = "changed"
        details.append((f"Corrected {_FIELD_LABELS.get(name, name)}", str(value)))
    if known_answer.explanation:
        details.append(("Explanation", known_answer.explanation))
    return tuple(details)


_FIELD_LABELS = {"answer": "key", "also_right": "alternative answers"}
