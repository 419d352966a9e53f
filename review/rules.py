"""Rules that a verdict must follow, from the batch's settings and the question."""

from __future__ import annotations

from dataclasses import fields, replace

from domain.batches import BatchSettings, Mode, Parts
from domain.corrections import Correction, corrected, without_unchanged
from domain.errors import InvalidValue, NotFound, Refused
from domain.exams import Exam
from domain.people import Person
from domain.questions import Question, answer_text
from domain.ratings import RATING_NAMES, RATINGS
from domain.verdicts import FLAGS, Decision, OwnAnswer, Verdict, check_decision

#: The fields that may be corrected in a batch that asks for the key only.
KEY_FIELDS = frozenset({"options", "answer"})

#: Required fields of an opinion in addition to the ratings, with their names in messages.
REQUIRED = {
    **{each.id: f"{each.label.lower()} (yes or no)" for each in FLAGS if each.required},
    "difficulty": "your own difficulty",
}
WORDS = {**{each.id: each.label.lower() for each in RATINGS}, **REQUIRED}


def not_theirs(person: Person, *, batch_id: int) -> NotFound:
    """The error for a question that is not the person's; the same if it does not exist."""
    return NotFound(
        f"This question of batch number {batch_id} is not there or not assigned to "
        f"{person.display_name}. Open Review again to go on with the next one, or ask a coordinator."
    )


def only_real_changes(verdict: Verdict, *, question: Question) -> Verdict:
    """The verdict without corrections that equal the question's own values."""
    opinion = verdict.opinion
    correction = without_unchanged(question, opinion.correction)
    if correction == opinion.correction:
        return verdict
    check_decision(verdict.decision, replace(opinion, correction=correction))
    return replace(verdict, opinion=replace(opinion, correction=correction))


def same_content(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts have the same content; times may differ, as in a repeated request."""
    return (one.decision, one.opinion, one.why) == (other.decision, other.opinion, other.why)


def asked_ratings(parts: Parts, *, explained: bool) -> tuple[str, ...]:
    """The ids of the required ratings.

    Args:
        parts: of the form that the batch asks for.
        explained: whether the question has an explanation.
    """
    if parts is Parts.KEY:
        return ()
    return tuple(
        each.id
        for each in RATINGS
        if (explained or not each.of_explanation) and (each.of_image or parts is Parts.ALL)
    )


def check_asked_parts(verdict: Verdict, *, question: Question, settings: BatchSettings) -> None:
    """Check that all required fields were judged, and nothing else was corrected.

    A rejected question needs only the reason, which :class:`domain.verdicts.Verdict` checks.

    Raises:
        Refused: a required field is missing, or a field was corrected that the batch does not ask for.
    """
    if settings.parts is Parts.KEY:
        beyond = set(_corrected_fields(verdict.opinion.correction)) - KEY_FIELDS
        if beyond:
            raise Refused(
                f"This batch asks for the key only; {', '.join(sorted(beyond))} can't be corrected here. "
                "Take it out, or say it in the comment."
            )
        return
    if verdict.decision is Decision.REJECT:
        return
    asked = asked_ratings(settings.parts, explained=bool(question.explanation.strip()))
    if settings.parts is Parts.ALL:
        asked = (*asked, *REQUIRED)
    missing = [WORDS[name] for name in asked if _judged(verdict, name) is None]
    if missing:
        raise Refused(f"Not judged yet: {', '.join(missing)}. A {verdict.decision} needs all of them.")


def check_own_answer(own: OwnAnswer | None, *, settings: BatchSettings) -> None:
    """Check that the reviewer's own answer exists, if the batch requires it.

    Raises:
        Refused: it is missing.
    """
    if settings.mode is Mode.ANSWER_FIRST and own is None:
        raise Refused("This batch wants your own answer first. Commit it; the key is shown then.")


def check_fixed_alignment(verdict: Verdict, *, fixed: int | None) -> None:
    """Check that image alignment has not changed since the report was opened.

    Raises:
        Refused: it differs from ``fixed``.
    """
    if fixed is not None and verdict.opinion.ratings.image_alignment != fixed:
        raise Refused(
            f"Image alignment was rated {fixed} before the report was opened, and that rating stays. "
            f"Set it back to {fixed}; say in the comment what the report changed."
        )


def check_correction(verdict: Verdict, *, question: Question, exam: Exam) -> None:
    """Check that the corrected question is valid and its boxes are on their radiographs.

    Raises:
        InvalidValue: it is not.
    """
    after = corrected(question, verdict.opinion.correction)
    if verdict.opinion.correction.boxes is None:
        return
    for number, each in enumerate(after.boxes, start=1):
        radiograph = exam.radiograph(each.radiograph)
        if radiograph.rows is None or radiograph.columns is None:
            continue  # the image was not imported, so its size is unknown
        if not each.box.lies_within(rows=radiograph.rows, columns=radiograph.columns):
            raise InvalidValue(
                "boxes",
                f"box {number} ({each.label or 'no label'}) lies off radiograph {radiograph.id}, "
                f"which is {radiograph.columns} x {radiograph.rows} pixels; move it onto the image",
            )


def stale_text(mine: Verdict, saved: Verdict | None) -> str:
    """The message for a verdict that was changed elsewhere, with both decisions and their times."""
    if saved is None:
        return (
            f"This form was opened for revision {mine.revision}, but no verdict of yours is saved. "
            "Open the question again."
        )
    return (
        f"Not saved: revision {saved.revision} of your verdict on this question is there already "
        f"({_said(saved)}); this form says {_said(mine)} as revision {mine.revision}. "
        "Open the question again: it shows the saved verdict, and a change becomes the next revision."
    )


def own_answer_text(own: OwnAnswer, *, options: tuple[str, ...]) -> str:
    """An own answer as text for the user."""
    answer = "cannot determine" if own.answer is None else answer_text(own.answer, options)
    return f"{answer}, confidence {own.confidence}"


def _judged(verdict: Verdict, name: str) -> object:
    return getattr(verdict.opinion.ratings if name in RATING_NAMES else verdict.opinion, name)


def _corrected_fields(correction: Correction) -> list[str]:
    return [each.name for each in fields(correction) if getattr(correction, each.name) is not None]


def _said(verdict: Verdict) -> str:
    return f"{verdict.decision}, {verdict.given_at:%Y-%m-%d %H:%M:%S} UTC"
