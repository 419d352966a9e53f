"""Corrected forms of one question compared: their keys as text, and their boxes one to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from domain.boxes import LabelledBox
from domain.corrections import corrected
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from measures.boxes import Overlap, match


def left_by(question: Question, verdict: Verdict) -> Question | None:
    """The form that a verdict leaves: None where it rejects, the very same question where it accepts."""
    if verdict.decision is Decision.REJECT:
        return None
    if verdict.decision is Decision.ACCEPT:
        return question
    return corrected(question, verdict.opinion.correction)


def same_key(one: Question, other: Question) -> bool:
    """Whether the two have the same right answers, as text."""
    return one is other or key_of(one) == key_of(other)


def key_of(question: Question) -> frozenset[object]:
    """All right answers as text: each the set of its options, or the answer in words."""
    answers = (question.answer, *question.also_right)
    return frozenset(
        answer.strip().casefold() if isinstance(answer, str)
        else frozenset(question.options[at].strip().casefold() for at in answer)
        for answer in answers
    )  # fmt: skip


def choices_of(question: Question) -> int:
    """How many answers there are to choose from; 0 where no number can be named."""
    return 0 if question.format.takes_several else len(question.format.words or question.options)


def overlap_of_boxes(
    one: Sequence[LabelledBox], other: Sequence[LabelledBox], *, by_label: bool = True
) -> Overlap:
    """All boxes of a question, matched one to one within each radiograph, and label unless said otherwise."""
    if one == other:  # as mostly: nobody moved a box
        return _each_on_itself(len(one))
    ours, theirs = _by_kind(one, by_label=by_label), _by_kind(other, by_label=by_label)
    pairs: list[tuple[int, int, float]] = []
    for kind in sorted({*ours, *theirs}):
        mine, others = ours.get(kind, []), theirs.get(kind, [])
        found = match([one[at].box.as_tuple() for at in mine], [other[at].box.as_tuple() for at in others])
        pairs += [(mine[first], others[second], overlap) for first, second, overlap in found.pairs]
    total = sum(overlap for _, _, overlap in pairs)
    most = max(len(one), len(other))
    return Overlap(
        truths=len(one),
        predictions=len(other),
        pairs=tuple(sorted(pairs)),
        score=total / most if most else None,
        per_truth=total / len(one) if one else None,
        per_match=total / len(pairs) if pairs else None,
    )


@cache
def _each_on_itself(n: int) -> Overlap:
    whole = 1.0 if n else None
    return Overlap(
        truths=n, predictions=n, pairs=tuple((at, at, 1.0) for at in range(n)),
        score=whole, per_truth=whole, per_match=whole,
    )  # fmt: skip


def _by_kind(boxes: Sequence[LabelledBox], *, by_label: bool) -> dict[tuple[str, str], list[int]]:
    places: dict[tuple[str, str], list[int]] = {}
    for at, each in enumerate(boxes):
        label = each.label.strip().casefold() if by_label else ""
        places.setdefault((each.radiograph, label), []).append(at)
    return places
