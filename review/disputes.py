"""Finds the disagreements between reviewers of a question, and checks adjudications."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from domain.adjudications import Adjudication, Dispute
from domain.boxes import LabelledBox
from domain.corrections import CORRECTABLE_FIELDS, apply_correction, drop_unchanged
from domain.errors import InvalidValue
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from measures.boxes import match_boxes

_KEY_FIELDS = ("options", "answer", "also_right")
#: Fields of the corrected question that are compared, in the order of display.
FIELDS = ("stem", *_KEY_FIELDS, *(name for name in CORRECTABLE_FIELDS if name not in ("stem", *_KEY_FIELDS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field in which the corrected questions differ: the imported value and each reviewer's value.

    The value of a reviewer who rejected the question is None.
    """

    field: str
    imported_value: Any
    reviewer_values: tuple[Any, ...]


def find_disputes(question: Question, verdicts: Sequence[Verdict], *, min_iou: float) -> frozenset[Dispute]:
    """Return the kinds of disagreement between the verdicts on a question.

    The decisions differ if some verdicts reject and others do not. "Accept" and "revise" are not different
    decisions: their corrected questions are compared.

    Args:
        question: the imported version of the question.
        verdicts: the latest verdict of each person.
        min_iou: the minimum IoU at which two boxes count as the same, above 0 and up to 1.

    Returns:
        The kinds; empty if the verdicts agree or there are fewer than two verdicts.
    """
    if len(verdicts) < 2:
        return frozenset()
    kinds = set()
    are_rejections = [_is_rejection(verdict) for verdict in verdicts]
    if any(are_rejections) and not all(are_rejections):
        kinds.add(Dispute.DECISION)
    corrected_questions = [
        apply_correction(question, verdict.opinion.correction)
        for verdict in verdicts
        if not _is_rejection(verdict)
    ]
    for version in corrected_questions[1:]:
        first_version = corrected_questions[0]
        if any(getattr(first_version, name) != getattr(version, name) for name in _KEY_FIELDS):
            kinds.add(Dispute.KEY)
        if not boxes_match(first_version.boxes, version.boxes, min_iou=min_iou):
            kinds.add(Dispute.BOXES)
        wording_fields = [name for name in FIELDS if name not in (*_KEY_FIELDS, "boxes")]
        if any(getattr(first_version, name) != getattr(version, name) for name in wording_fields):
            kinds.add(Dispute.WORDING)
    return frozenset(kinds)


def boxes_match(first: Sequence[LabelledBox], second: Sequence[LabelledBox], *, min_iou: float) -> bool:
    """Whether boxes match one to one: same radiograph, same label, and an IoU of at least ``min_iou``."""
    if tuple(first) == tuple(second):
        return True
    if len(first) != len(second):
        return False
    for key in {(box.radiograph, box.label.strip().casefold()) for box in (*first, *second)}:
        first_boxes, second_boxes = _select_boxes(first, key), _select_boxes(second, key)
        if len(first_boxes) != len(second_boxes):
            return False
        pairs = match_boxes(np.array(first_boxes), np.array(second_boxes)).pairs
        if len(pairs) != len(first_boxes) or any(overlap < min_iou for _, _, overlap in pairs):
            return False
    return True


def find_differences(
    question: Question, verdicts: Sequence[Verdict], *, always: Collection[str] = ()
) -> tuple[FieldDifference, ...]:
    """Return the fields in which any corrected question differs from the imported one, and ``always``."""
    corrected_questions = [
        None if _is_rejection(verdict) else apply_correction(question, verdict.opinion.correction)
        for verdict in verdicts
    ]
    return tuple(
        FieldDifference(
            field=name,
            imported_value=getattr(question, name),
            reviewer_values=tuple(
                None if version is None else getattr(version, name) for version in corrected_questions
            ),
        )
        for name in FIELDS
        if name in always
        or any(
            version is not None and getattr(version, name) != getattr(question, name)
            for version in corrected_questions
        )
    )


def _select_boxes(
    boxes: Sequence[LabelledBox], key: tuple[str, str]
) -> list[tuple[float, float, float, float]]:
    return [box.box.as_tuple() for box in boxes if (box.radiograph, box.label.strip().casefold()) == key]


def _is_rejection(verdict: Verdict) -> bool:
    return verdict.decision is Decision.REJECT


def drop_unchanged_fields(adjudication: Adjudication, question: Question) -> Adjudication:
    """Return the adjudication without corrections that change nothing.

    Raises:
        InvalidValue: the corrected question is not valid.
    """
    correction = drop_unchanged(question, adjudication.correction)
    apply_correction(question, correction)
    decision = adjudication.decision
    if decision is Decision.REVISE and correction.is_empty():
        decision = Decision.ACCEPT
    return replace(adjudication, decision=decision, correction=correction, reason=adjudication.reason.strip())


def check_adopted_verdicts(
    adjudication: Adjudication, question: Question, verdicts: Sequence[Verdict]
) -> None:
    """Check that the reviewers whose verdict is adopted gave this verdict.

    Raises:
        InvalidValue: one of them has not judged the question, or gave another verdict.
    """
    for person_id in adjudication.follows:
        verdict = next((candidate for candidate in verdicts if candidate.person_id == person_id), None)
        if verdict is None:
            raise InvalidValue("follows", "names a person who has not judged this question")
        own_correction = drop_unchanged(question, verdict.opinion.correction)
        is_adjudicated_rejection = adjudication.decision is Decision.REJECT
        if _is_rejection(verdict) != is_adjudicated_rejection or own_correction != adjudication.correction:
            raise InvalidValue("follows", "names a person whose verdict differs; open the question again")


def describe_stale_dispute(last: Adjudication | None) -> str:
    """Return why an adjudication is not saved, with the latest adjudication if there is one."""
    if last is None:
        return "This dispute has changed. Open it again."
    return (
        f"It was adjudicated in the meantime ({last.given_at:%Y-%m-%d %H:%M:%S} UTC): "
        f"{last.decision.value}. Reason: {last.reason} Open the question again to change the decision."
    )
