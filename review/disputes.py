"""Finds the disagreements between reviewers of a question, and checks adjudications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from domain.adjudications import Adjudication, Dispute
from domain.boxes import LabelledBox
from domain.corrections import CORRECTABLE, corrected, without_unchanged
from domain.errors import InvalidValue
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from measures.boxes import match

_KEY = ("options", "answer", "also_right")
#: Fields of the corrected question that are compared, in the order of display.
FIELDS = ("stem", *_KEY, *(name for name in CORRECTABLE if name not in ("stem", *_KEY)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field in which the corrected questions differ: the machine's value and each reviewer's.

    The value of a reviewer who rejected the question is None.
    """

    field: str
    machine: Any
    values: tuple[Any, ...]


def disputes(question: Question, verdicts: Sequence[Verdict], *, same_box: float) -> frozenset[Dispute]:
    """The kinds of disagreement between the verdicts on a question.

    "Accept" and "revise" are not a dispute about the decision; their corrected questions are compared.
    "Reject" against one of them is.

    Args:
        question: the machine's version.
        verdicts: each person's latest.
        same_box: the smallest IoU at which two boxes are the same, above 0 and up to 1.

    Returns:
        Empty if they agree, or with fewer than two verdicts.
    """
    if len(verdicts) < 2:
        return frozenset()
    found = set()
    rejected = [each.decision is Decision.REJECT for each in verdicts]
    if any(rejected) and not all(rejected):
        found.add(Dispute.DECISION)
    results = [corrected(question, each.opinion.correction) for each in verdicts if not _rejects(each)]
    for other in results[1:]:
        first = results[0]
        if any(getattr(first, name) != getattr(other, name) for name in _KEY):
            found.add(Dispute.KEY)
        if not same_boxes(first.boxes, other.boxes, same_box=same_box):
            found.add(Dispute.BOXES)
        wording = [name for name in FIELDS if name not in (*_KEY, "boxes")]
        if any(getattr(first, name) != getattr(other, name) for name in wording):
            found.add(Dispute.WORDING)
    return frozenset(found)


def same_boxes(one: Sequence[LabelledBox], other: Sequence[LabelledBox], *, same_box: float) -> bool:
    """Whether boxes match one to one: same radiograph, same label, and an IoU of at least ``same_box``."""
    if tuple(one) == tuple(other):
        return True
    if len(one) != len(other):
        return False
    for key in {(each.radiograph, each.label.strip().casefold()) for each in (*one, *other)}:
        ours, theirs = _of(one, key), _of(other, key)
        if len(ours) != len(theirs):
            return False
        pairs = match(np.array(ours), np.array(theirs)).pairs
        if len(pairs) != len(ours) or any(overlap < same_box for _, _, overlap in pairs):
            return False
    return True


def differences(question: Question, verdicts: Sequence[Verdict]) -> tuple[FieldDifference, ...]:
    """The fields in which the corrected questions differ from each other or from the machine's version."""
    results = [None if _rejects(each) else corrected(question, each.opinion.correction) for each in verdicts]
    return tuple(
        FieldDifference(
            field=name,
            machine=getattr(question, name),
            values=tuple(None if each is None else getattr(each, name) for each in results),
        )
        for name in FIELDS
        if any(each is not None and getattr(each, name) != getattr(question, name) for each in results)
    )


def _of(boxes: Sequence[LabelledBox], key: tuple[str, str]) -> list[tuple[float, float, float, float]]:
    return [each.box.as_tuple() for each in boxes if (each.radiograph, each.label.strip().casefold()) == key]


def _rejects(verdict: Verdict) -> bool:
    return verdict.decision is Decision.REJECT


def without_unchanged_fields(adjudication: Adjudication, question: Question) -> Adjudication:
    """The adjudication without corrections that change nothing.

    Raises:
        InvalidValue: the corrected question is not valid.
    """
    correction = without_unchanged(question, adjudication.correction)
    corrected(question, correction)
    decision = adjudication.decision
    if decision is Decision.REVISE and correction.is_empty():
        decision = Decision.ACCEPT
    return replace(adjudication, decision=decision, correction=correction, reason=adjudication.reason.strip())


def check_follows(adjudication: Adjudication, question: Question, verdicts: Sequence[Verdict]) -> None:
    """Check that the people whose verdict is adopted gave that verdict.

    Raises:
        InvalidValue: somebody has not judged the question, or gave another verdict.
    """
    for number in adjudication.follows:
        verdict = next((each for each in verdicts if each.person_id == number), None)
        if verdict is None:
            raise InvalidValue("follows", "names somebody who has not judged this question")
        said = without_unchanged(question, verdict.opinion.correction)
        rejects = verdict.decision is Decision.REJECT
        if rejects != (adjudication.decision is Decision.REJECT) or said != adjudication.correction:
            raise InvalidValue("follows", "names somebody who said otherwise; open the question again")


def stale_dispute_text(last: Adjudication | None) -> str:
    """Why an adjudication is not saved, with the latest one if there is one."""
    if last is None:
        return "This dispute is new: open it again."
    return (
        f"It was settled meanwhile ({last.given_at:%Y-%m-%d %H:%M:%S} UTC): {last.decision.value}, because: "
        f"{last.reason} Open the question again to settle it otherwise."
    )
