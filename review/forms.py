"""Compares corrected versions of a question: their keys as text, and their boxes one to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from domain.boxes import LabelledBox
from domain.corrections import corrected
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from measures.boxes import Overlap, match


def left_by(question: Question, verdict: Verdict) -> Question | None:
    """The question as corrected by a verdict; None if it rejects, the same object if it accepts."""
    if verdict.decision is Decision.REJECT:
        return None
    if verdict.decision is Decision.ACCEPT:
        return question
    return corrected(question, verdict.opinion.correction)


def same_key(one: Question, other: Question) -> bool:
    """Whether two versions have the same correct answers, compared as text."""
    return one is other or key_of(one) == key_of(other)


def key_of(question: Question) -> frozenset[object]:
    """All correct answers as text: each is the set of its options, or the text of the answer."""
    answers = (question.answer, *question.also_right)
    return frozenset(
        answer.strip().casefold() if isinstance(answer, str)
        else frozenset(question.options[at].strip().casefold() for at in answer)
        for answer in answers
    )  # fmt: skip


def choices_of(question: Question) -> int:
    """The number of possible answers to a question; 0 for free text and for several options together."""
    return 0 if question.format.takes_several else len(question.format.words or question.options)


def overlap_of_boxes(
    one: Sequence[LabelledBox], other: Sequence[LabelledBox], *, by_label: bool = True
) -> Overlap:
    """Match the boxes of two versions one to one.

    Args:
        one: boxes of one version.
        other: boxes of the other version.
        by_label: whether only boxes of the same label match; always only boxes on the same radiograph.
    """
    if one == other:  # mostly, because boxes are rarely moved
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
