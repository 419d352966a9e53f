"""What reviewers of one question disagree on, and field by field how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from domain.adjudications import Dispute
from domain.boxes import LabelledBox
from domain.corrections import CORRECTABLE, corrected
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from measures.boxes import match

_KEY = ("options", "answer", "also_right")
#: Fields of the corrected question that are compared, in the order in which they are shown.
FIELDS = ("stem", *_KEY, *(name for name in CORRECTABLE if name not in ("stem", *_KEY)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field in which the corrected questions differ: the machine's value, then each reviewer's in turn.

    A reviewer who rejected the question has None there: nothing was corrected.
    """

    field: str
    machine: Any
    values: tuple[Any, ...]


def disputes(question: Question, verdicts: Sequence[Verdict], *, same_box: float) -> frozenset[Dispute]:
    """What these verdicts (each person's latest) disagree on; nothing where there is one or none.

    Accepting and correcting are no dispute of decisions by themselves: what they make of the question is
    compared. Rejecting against either is.
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
    """Whether they match one to one: on the same radiograph, of the same label, with at least that IoU."""
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
    """Field by field, where the corrected questions are not all the same and the machine's."""
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
