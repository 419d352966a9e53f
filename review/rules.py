"""The rules for verdicts, which depend on the settings of the batch and on the question."""

from __future__ import annotations

from dataclasses import fields, replace

from domain.batches import BatchSettings, FormScope, Mode
from domain.corrections import Correction, apply_correction, drop_unchanged
from domain.errors import InvalidValue, NotFound, Refused
from domain.exams import Exam
from domain.people import Person
from domain.questions import Question, format_answer
from domain.ratings import RATING_IDS, RATINGS
from domain.verdicts import FLAGS, Decision, OwnAnswer, Verdict, check_decision

#: The fields that can be corrected in a batch that requests the key only.
KEY_FIELDS = frozenset({"options", "answer"})

#: The required fields of an opinion in addition to the ratings, with their names in messages.
REQUIRED_FIELDS = {
    **{field.id: f"{field.label.lower()} (yes or no)" for field in FLAGS if field.required},
    "difficulty": "your own difficulty",
}
FIELD_LABELS = {**{rating.id: rating.label.lower() for rating in RATINGS}, **REQUIRED_FIELDS}


def build_question_not_found(person: Person, *, batch_id: int) -> NotFound:
    """Return the error for a question that does not exist or is not the person's, without saying which."""
    return NotFound(
        f"This question of batch {batch_id} does not exist or is not assigned to {person.display_name}. "
        "Open Review again to continue with the next one, or ask a coordinator."
    )


def drop_unchanged_corrections(verdict: Verdict, *, question: Question) -> Verdict:
    """Return the verdict without corrections that equal the question's own values."""
    opinion = verdict.opinion
    correction = drop_unchanged(question, opinion.correction)
    if correction == opinion.correction:
        return verdict
    check_decision(verdict.decision, replace(opinion, correction=correction))
    return replace(verdict, opinion=replace(opinion, correction=correction))


def has_same_content(first: Verdict, second: Verdict) -> bool:
    """Whether two verdicts have the same content. Their times may differ, as in a repeated request."""
    return (first.decision, first.opinion, first.why) == (second.decision, second.opinion, second.why)


def list_required_ratings(parts: FormScope, *, has_explanation: bool) -> tuple[str, ...]:
    """Return the ids of the required ratings.

    Args:
        parts: the form fields that the batch requests.
        has_explanation: whether the question has an explanation.
    """
    if parts is FormScope.KEY:
        return ()
    return tuple(
        rating.id
        for rating in RATINGS
        if (has_explanation or not rating.requires_explanation)
        and (rating.rates_image or parts is FormScope.ALL)
    )


def check_required_fields(verdict: Verdict, *, question: Question, settings: BatchSettings) -> None:
    """Check that all required fields are judged, and that only requested fields are corrected.

    A rejected question requires only a reason, which :class:`domain.verdicts.Verdict` checks.

    Raises:
        Refused: a required field is missing, or a field is corrected that the batch does not request.
    """
    if settings.parts is FormScope.KEY:
        disallowed = set(_list_corrected_fields(verdict.opinion.correction)) - KEY_FIELDS
        if disallowed:
            raise Refused(
                f"This batch requests the answer key only; {', '.join(sorted(disallowed))} cannot be "
                "corrected here. Remove the correction, or describe it in the comment."
            )
        return
    if verdict.decision is Decision.REJECT:
        return
    required = list_required_ratings(settings.parts, has_explanation=bool(question.explanation.strip()))
    if settings.parts is FormScope.ALL:
        required = (*required, *REQUIRED_FIELDS)
    if settings.one_key_accept:
        required = tuple(name for name in required if name != "difficulty")
    missing = [FIELD_LABELS[name] for name in required if _read_field(verdict, name) is None]
    if missing:
        raise Refused(f"Not judged yet: {', '.join(missing)}. A {verdict.decision} needs all of them.")


def check_own_answer(own_answer: OwnAnswer | None, *, settings: BatchSettings) -> None:
    """Check that the reviewer's own answer exists, if the batch requires it.

    Raises:
        Refused: the own answer is missing.
    """
    if settings.mode is Mode.ANSWER_FIRST and own_answer is None:
        raise Refused("This batch requires your own answer first. Submit it to see the answer key.")


def check_fixed_alignment(verdict: Verdict, *, fixed_rating: int | None) -> None:
    """Check that image alignment has not changed since the report was opened.

    Raises:
        Refused: the rating differs from ``fixed_rating``.
    """
    if fixed_rating is not None and verdict.opinion.ratings.image_alignment != fixed_rating:
        raise Refused(
            f"Image alignment was rated {fixed_rating} before the report was opened, so it is locked. Set it "
            f"back to {fixed_rating}; describe in the comment what the report changed."
        )


def check_correction(verdict: Verdict, *, question: Question, exam: Exam) -> None:
    """Check that the corrected question is valid and its boxes are inside their radiographs.

    Raises:
        InvalidValue: the corrected question is not valid, or a box is outside its radiograph.
    """
    corrected_question = apply_correction(question, verdict.opinion.correction)
    if verdict.opinion.correction.boxes is None:
        return
    for number, labelled_box in enumerate(corrected_question.boxes, start=1):
        radiograph = exam.find_radiograph(labelled_box.radiograph)
        if radiograph.rows is None or radiograph.columns is None:
            continue  # the image was not imported, so its size is unknown
        if not labelled_box.box.lies_within(rows=radiograph.rows, columns=radiograph.columns):
            raise InvalidValue(
                "boxes",
                f"box {number} ({labelled_box.label or 'no label'}) is outside radiograph {radiograph.id}, "
                f"which is {radiograph.columns} x {radiograph.rows} pixels; move it onto the image",
            )


def describe_stale_verdict(submitted: Verdict, saved: Verdict | None) -> str:
    """Return the message for a verdict that was changed elsewhere, with both decisions and their times."""
    if saved is None:
        return (
            f"This form was opened for revision {submitted.revision}, but no verdict of yours is saved. "
            "Open the question again."
        )
    return (
        f"Not saved: revision {saved.revision} of your verdict on this question already exists"
        f" ({_describe_verdict(saved)}); this form has {_describe_verdict(submitted)} as revision"
        f" {submitted.revision}. Open the question again: it shows the saved verdict, and a change becomes"
        " the next revision."
    )


def format_own_answer(own_answer: OwnAnswer, *, options: tuple[str, ...]) -> str:
    """Format an own answer for the user."""
    answer = "cannot determine" if own_answer.answer is None else format_answer(own_answer.answer, options)
    return f"{answer}, confidence {own_answer.confidence}"


def _read_field(verdict: Verdict, name: str) -> object:
    return getattr(verdict.opinion.ratings if name in RATING_IDS else verdict.opinion, name)


def _list_corrected_fields(correction: Correction) -> list[str]:
    return [field.name for field in fields(correction) if getattr(correction, field.name) is not None]


def _describe_verdict(verdict: Verdict) -> str:
    return f"{verdict.decision}, {verdict.given_at:%Y-%m-%d %H:%M:%S} UTC"
